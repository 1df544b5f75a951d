// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": many copies in one call. The structures are the
// driver's under other names.
#include "rt.h"

#define SAME_SIZE(runtime, driver)                                                                 \
    _Static_assert(sizeof(runtime) == sizeof(driver), #runtime " and " #driver)
SAME_SIZE(struct cudaMemcpyAttributes, CUmemcpyAttributes);
SAME_SIZE(struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);
_Static_assert(offsetof(struct cudaMemcpyAttributes, flags) == offsetof(CUmemcpyAttributes, flags),
               "attributes");
_Static_assert(offsetof(struct cudaMemcpy3DBatchOp, extent) ==
                   offsetof(CUDA_MEMCPY3D_BATCH_OP, extent),
               "operations");
_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "arrays of pointers");

cudaError_t rt_cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                    size_t count, struct cudaMemcpyAttributes *attrs,
                                    size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    return rt_error(rt_cu.cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs,
                                             (size_t *)sizes, count, (CUmemcpyAttributes *)attrs,
                                             attrsIdxs, numAttrs, stream));
}

cudaError_t rt_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
                                      unsigned long long flags, cudaStream_t stream)
{
    return rt_error(
        rt_cu.cuMemcpy3DBatchAsync(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, flags, stream));
}
