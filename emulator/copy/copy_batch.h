// SPDX-License-Identifier: MIT
// Batches of copies: checked as a whole, then done one after the other until one fails.
#pragma once
#include <cuda.h>

struct em_stream;

// cuMemcpyBatchAsync and cuMemcpy3DBatchAsync. *fail (never NULL) gets the number of the operation
// at fault, or SIZE_MAX where none of them is. Take the lock.
CUresult em_copy_batch(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes,
                       size_t count, const CUmemcpyAttributes *attrs, const size_t *attr_starts,
                       size_t attr_count, struct em_stream *stream, size_t *fail);
CUresult em_copy_batch_3d(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                          struct em_stream *stream, size_t *fail);
