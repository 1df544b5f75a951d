// SPDX-License-Identifier: MIT
// Managed memory: one copy that host and device both reach at all times, so that prefetches and
// attachments only have their place in a stream.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_stream;

// All take the lock. What is not managed memory is CUDA_ERROR_INVALID_VALUE.

// cuMemAllocManaged in the current context; size is not 0.
CUresult em_managed_alloc(uint64_t size, unsigned flags, uint64_t *out);
// cuMemAdvise. `lenient`: for what is not managed memory nothing is done.
CUresult em_managed_advise(uint64_t address, uint64_t size, CUmem_advise advice,
                           CUmemLocation location, bool lenient);
CUresult em_managed_prefetch(uint64_t address, uint64_t size, CUmemLocation location,
                             struct em_stream *stream);
// cuStreamAttachMemAsync; `flags` is one of CU_MEM_ATTACH_*.
CUresult em_managed_attach(uint64_t address, uint64_t size, unsigned flags,
                           struct em_stream *stream);

// Ranges that are discarded, and prefetched where there are locations.
struct em_managed_batch {
    const CUdeviceptr *dptrs;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *locations; // NULL: a discard alone
    const size_t *firsts; // from which operation on each location holds: 0, then ascending
    size_t location_count;
};
CUresult em_managed_run_batch(const struct em_managed_batch *batch, struct em_stream *stream);

// cuMemRangeGetAttributes; the attributes and their room are checked.
CUresult em_managed_attributes(uint64_t address, uint64_t size, size_t count,
                               const CUmem_range_attribute *attributes, void *const *data,
                               const size_t *sizes_B);
