// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": batches of copies. The first versions return the index
// of the operation that failed.
#include "api_bodies.h"
#include "copy_batch.h"

CUresult api_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                size_t *failIdx, struct em_stream *hStream)
{
    size_t fail;
    const struct em_copy_list list = {dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs};
    CUresult r = em_copy_batch(&list, hStream, &fail);
    if (failIdx)
        *failIdx = fail;
    return r;
}

CUresult api_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                   size_t numAttrs, struct em_stream *hStream)
{
    return api_cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL,
                                  hStream);
}

CUresult api_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                  unsigned long long flags, struct em_stream *hStream)
{
    size_t fail;
    CUresult r = em_copy_batch_3d(opList, numOps, flags, hStream, &fail);
    if (failIdx)
        *failIdx = fail;
    return r;
}

CUresult api_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                     unsigned long long flags, struct em_stream *hStream)
{
    return api_cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream);
}
