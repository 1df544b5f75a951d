// SPDX-License-Identifier: MIT
// Batches of copies: checked as a whole, then copied one after the other until one fails.
#pragma once
#include <cuda.h>

struct em_stream;

// The arguments of cuMemcpyBatchAsync. The attributes number i apply to the copies from
// attr_starts[i] on.
struct em_copy_list {
    const CUdeviceptr *dsts, *srcs;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attrs;
    const size_t *attr_starts;
    size_t attr_count;
};

// cuMemcpyBatchAsync and cuMemcpy3DBatchAsync. *fail (never NULL) gets the number of the operation
// at fault, or SIZE_MAX if no single operation is. Take the lock.
CUresult em_copy_batch(const struct em_copy_list *list, struct em_stream *stream, size_t *fail);
CUresult em_copy_batch_3d(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                          struct em_stream *stream, size_t *fail);
