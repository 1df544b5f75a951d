// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": advice on managed memory, and its migration.
#include "location.h"

_Static_assert(cudaMemAdviseUnsetAccessedBy == (int)CU_MEM_ADVISE_UNSET_ACCESSED_BY, "advice");
_Static_assert(cudaMemRangeAttributeLastPrefetchLocationId ==
                   (int)CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
               "attributes of ranges");
_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "arrays of pointers");

cudaError_t rt_cudaMemPrefetchAsync(const void *devPtr, size_t count,
                                    struct cudaMemLocation location, unsigned int flags,
                                    cudaStream_t stream)
{
    return rt_error(rt_cu.cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)devPtr, count,
                                             rt_location(location), flags, stream));
}

cudaError_t rt_cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                         struct cudaMemLocation *prefetchLocs,
                                         size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                         unsigned long long flags, cudaStream_t stream)
{
    return rt_error(rt_cu.cuMemPrefetchBatchAsync((CUdeviceptr *)dptrs, sizes, count,
                                                  (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
                                                  numPrefetchLocs, flags, stream));
}

cudaError_t rt_cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                        unsigned long long flags, cudaStream_t stream)
{
    return rt_error(
        rt_cu.cuMemDiscardBatchAsync((CUdeviceptr *)dptrs, sizes, count, flags, stream));
}

cudaError_t rt_cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                                   struct cudaMemLocation *prefetchLocs,
                                                   size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                                   unsigned long long flags, cudaStream_t stream)
{
    return rt_error(rt_cu.cuMemDiscardAndPrefetchBatchAsync(
        (CUdeviceptr *)dptrs, sizes, count, (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
        numPrefetchLocs, flags, stream));
}

cudaError_t rt_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location)
{
    return rt_error(rt_cu.cuMemAdvise((CUdeviceptr)(uintptr_t)devPtr, count, (CUmem_advise)advice,
                                      rt_location(location)));
}

cudaError_t rt_cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                        enum cudaMemRangeAttribute attribute, const void *devPtr,
                                        size_t count)
{
    return rt_error(rt_cu.cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute,
                                                 (CUdeviceptr)(uintptr_t)devPtr, count));
}

cudaError_t rt_cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                         enum cudaMemRangeAttribute *attributes,
                                         size_t numAttributes, const void *devPtr, size_t count)
{
    return rt_error(
        rt_cu.cuMemRangeGetAttributes(data, dataSizes, (CUmem_range_attribute *)attributes,
                                      numAttributes, (CUdeviceptr)(uintptr_t)devPtr, count));
}
