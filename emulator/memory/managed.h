// SPDX-License-Identifier: MIT
// Managed memory: host and device share one copy at all times, so prefetches and attachments only
// take their turn in a stream.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_stream;

// All functions take the lock, and return CUDA_ERROR_INVALID_VALUE for memory of another kind.

// cuMemAllocManaged in the current context; size is not 0.
CUresult em_managed_alloc(uint64_t size, unsigned flags, uint64_t *out);
// cuMemAdvise. If `lenient` is set, memory of another kind is ignored without an error.
CUresult em_managed_advise(uint64_t address, uint64_t size, CUmem_advise advice,
                           CUmemLocation location, bool lenient);
CUresult em_managed_prefetch(uint64_t address, uint64_t size, CUmemLocation location,
                             struct em_stream *stream);
// cuStreamAttachMemAsync; `flags` is one of CU_MEM_ATTACH_*.
CUresult em_managed_attach(uint64_t address, uint64_t size, unsigned flags,
                           struct em_stream *stream);

// Ranges to discard, and to prefetch if `locations` is set.
struct em_managed_batch {
    const CUdeviceptr *dptrs;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations; // NULL to discard only
    const size_t *firsts;           // index of the first range for each location: 0, then ascending
    size_t location_count;
};
CUresult em_managed_run_batch(const struct em_managed_batch *batch, struct em_stream *stream);

// cuMemRangeGetAttributes. The caller has checked the attributes and their sizes.
CUresult em_managed_attributes(uint64_t address, uint64_t size, size_t count,
                               const CUmem_range_attribute *attributes, void *const *data,
                               const size_t *sizes_B);
