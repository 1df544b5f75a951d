// SPDX-License-Identifier: MIT
// How many blocks of a kernel a multiprocessor holds, from the device's limits and the kernel's
// needs. The number of registers of a host function is what its table says.
#pragma once
#include <cuda.h>

#include "module.h"

// ---- Precondition: em_lock held ----

// "COOPERATIVE_LAUNCH_TOO_LARGE" if the blocks cannot all run at the same time.
CUresult em_occupancy_check_cooperative(const struct em_function *f, struct em_extent3 blocks,
                                        struct em_extent3 threads, unsigned shared_B);
// A cluster must not have more blocks than allowed, and must divide the grid.
CUresult em_occupancy_check_cluster(const struct em_function *f, struct em_extent3 cluster,
                                    struct em_extent3 blocks);

// ---- Precondition: em_lock not held ----

CUresult em_occupancy_blocks(CUfunction f, int threads, size_t shared_B, unsigned flags, int *out);
// cuOccupancyMaxPotentialBlockSize. `to_shared` may be NULL: then blocks have `shared_B` bytes.
CUresult em_occupancy_potential(CUfunction f, CUoccupancyB2DSize to_shared, size_t shared_B,
                                int limit, unsigned flags, int *blocks, int *threads);
CUresult em_occupancy_shared(CUfunction f, int blocks, int threads, size_t *out);
CUresult em_occupancy_cluster_size(CUfunction f, const CUlaunchConfig *config, int *out);
CUresult em_occupancy_clusters(CUfunction f, const CUlaunchConfig *config, int *out);
