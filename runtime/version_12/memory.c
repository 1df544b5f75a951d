// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": advice and migration with the number of a device in
// place of a location, and batches that report which copy failed.
#include "../rt.h"
#include "old_driver.h"

cudaError_t rt12_cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                      cudaStream_t stream)
{
    return rt_error(rt12_old()->old_cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)devPtr, count,
                                                       dstDevice, stream));
}

cudaError_t rt12_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                               int device)
{
    return rt_error(rt12_old()->old_cuMemAdvise((CUdeviceptr)(uintptr_t)devPtr, count,
                                                (CUmem_advise)advice, device));
}

cudaError_t rt12_cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
                                      struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs,
                                      size_t numAttrs, size_t *failIdx, cudaStream_t stream)
{
    return rt_error(rt12_old()->old_cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs,
                                                       sizes, count, (CUmemcpyAttributes *)attrs,
                                                       attrsIdxs, numAttrs, failIdx, stream));
}

cudaError_t rt12_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
                                        size_t *failIdx, unsigned long long flags,
                                        cudaStream_t stream)
{
    return rt_error(rt12_old()->old_cuMemcpy3DBatchAsync(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList,
                                                         failIdx, flags, stream));
}
