// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Ordered Memory Allocator". The structures are the driver's under
// other names.
#include "location.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps) &&
                   offsetof(struct cudaMemPoolProps, usage) == offsetof(CUmemPoolProps, usage),
               "properties of pools");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                   offsetof(struct cudaMemAccessDesc, flags) == offsetof(CUmemAccessDesc, flags),
               "descriptions of accesses");
_Static_assert(sizeof(struct cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
               "exported pointers");
_Static_assert(cudaMemPoolAttrUsedMemHigh == (int)CU_MEMPOOL_ATTR_USED_MEM_HIGH,
               "attributes of pools");

// ---- allocations. One of no bytes succeeds and has no address.

// There is nothing to allocate, but the rules about capture hold (recorded: null_objects
// nulls/malloc-async-0-0). Freeing NULL makes the same checks.
static cudaError_t pool_nothing(cudaStream_t stream)
{
    return rt_error(rt_cu.cuMemFreeAsync(0, stream));
}

cudaError_t rt_cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    CUdeviceptr address = 0;
    *devPtr = NULL;
    if (!size)
        return pool_nothing(hStream);
    RT_TRY(rt_cu.cuMemAllocAsync(&address, size, hStream));
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t rt_cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                       cudaStream_t stream)
{
    CUdeviceptr address = 0;
    if (!memPool)
        return rt_fail(cudaErrorInvalidValue, "argument memPool is NULL");
    *ptr = NULL;
    if (!size)
        return pool_nothing(stream);
    RT_TRY(rt_cu.cuMemAllocFromPoolAsync(&address, size, memPool, stream));
    *ptr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t rt_cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    return rt_error(rt_cu.cuMemFreeAsync((CUdeviceptr)(uintptr_t)devPtr, hStream));
}

// ---- pools

cudaError_t rt_cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    return rt_error(rt_cu.cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
}

cudaError_t rt_cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return rt_error(rt_cu.cuMemPoolDestroy(memPool));
}

cudaError_t rt_cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return rt_error(rt_cu.cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t rt_cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                       void *value)
{
    return rt_error(rt_cu.cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t rt_cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                       void *value)
{
    return rt_error(rt_cu.cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t rt_cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                    size_t count)
{
    return rt_error(rt_cu.cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count));
}

cudaError_t rt_cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                    struct cudaMemLocation *location)
{
    return rt_error(
        rt_cu.cuMemPoolGetAccess((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location));
}

// ---- the pools of a location

cudaError_t rt_cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type)
{
    return rt_error(rt_cu.cuMemGetDefaultMemPool(memPool, (CUmemLocation *)location,
                                                 (CUmemAllocationType)type));
}

cudaError_t rt_cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                 enum cudaMemAllocationType type)
{
    return rt_error(
        rt_cu.cuMemGetMemPool(memPool, (CUmemLocation *)location, (CUmemAllocationType)type));
}

cudaError_t rt_cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                 cudaMemPool_t memPool)
{
    if (!memPool)
        return rt_fail(cudaErrorInvalidValue, "argument memPool is NULL");
    return rt_error(
        rt_cu.cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, memPool));
}

cudaError_t rt_cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return rt_error(rt_cu.cuDeviceGetDefaultMemPool(memPool, device));
}

cudaError_t rt_cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return rt_error(rt_cu.cuDeviceGetMemPool(memPool, device));
}

cudaError_t rt_cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return rt_error(rt_cu.cuDeviceSetMemPool(device, memPool));
}

// ---- shared with other processes

cudaError_t rt_cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                                  enum cudaMemAllocationHandleType handleType,
                                                  unsigned int flags)
{
    return rt_error(rt_cu.cuMemPoolExportToShareableHandle(
        shareableHandle, memPool, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t rt_cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                    enum cudaMemAllocationHandleType handleType,
                                                    unsigned int flags)
{
    return rt_error(rt_cu.cuMemPoolImportFromShareableHandle(
        memPool, shareableHandle, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t rt_cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    return rt_error(rt_cu.cuMemPoolExportPointer((CUmemPoolPtrExportData *)exportData,
                                                 (CUdeviceptr)(uintptr_t)ptr));
}

cudaError_t rt_cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
                                        struct cudaMemPoolPtrExportData *exportData)
{
    CUdeviceptr address = 0;
    RT_TRY(rt_cu.cuMemPoolImportPointer(&address, memPool, (CUmemPoolPtrExportData *)exportData));
    *ptr = (void *)(uintptr_t)address;
    return cudaSuccess;
}
