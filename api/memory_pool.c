// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Ordered Memory Allocator", and the memory pools of devices.
#include "api_bodies.h"
#include "call.h"
#include "captured.h"
#include "device.h"
#include "pool.h"
#include "pool_share.h"
#include "record_content.h"

static CUmemLocation of_device(int ordinal)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
}

// ---- choosing a pool

// This call checks the device before the pointer, and cuDeviceGetMemPool after it, as the driver
// does.
CUresult api_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (r)
        return r;
    if (!pool_out)
        return em_null("pool_out");
    CUmemLocation l = of_device(dev);
    return em_pool_of_location(&l, false, EM_POOL_STANDARD, pool_out);
}

// "Returns: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE": the calls about the current pool treat a
// device that does not exist as any other wrong value.
static CUresult check_ordinal(CUdevice dev)
{
    return (unsigned)dev < (unsigned)em_device_count
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "dev (%d) is not a device", dev);
}

CUresult api_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    CUresult r = check_ordinal(dev);
    CUmemLocation l = of_device(dev);
    return r ? r : em_pool_of_location(&l, false, EM_POOL_CURRENT, pool);
}

CUresult api_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    CUresult r = check_ordinal(dev);
    CUmemLocation l = of_device(dev);
    return r ? r : em_pool_choose_any(&l, pool);
}

static CUresult check_type(CUmemAllocationType type)
{
    return type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE,
                         "the allocation type %d is not a kind of memory that pools hold",
                         (int)type);
}

static bool is_managed(CUmemAllocationType type)
{
    return type == CU_MEM_ALLOCATION_TYPE_MANAGED;
}

static CUresult check_place(const CUmemLocation *location, CUmemAllocationType type)
{
    CUresult r = em_pool_location(location, is_managed(type), CUDA_ERROR_NOT_SUPPORTED);
    return r ? r : check_type(type);
}

CUresult api_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                    CUmemAllocationType type)
{
    CUresult r = check_place(location, type);
    return r ? r : em_pool_of_location(location, is_managed(type), EM_POOL_STANDARD, pool_out);
}

CUresult api_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult r = check_place(location, type);
    return r ? r : em_pool_of_location(location, is_managed(type), EM_POOL_CURRENT, pool);
}

CUresult api_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult r = check_place(location, type);
    return r ? r : em_pool_choose(location, is_managed(type), pool);
}

// ---- pools

// A pool may not be larger than half of the address space of a process (recorded: pool_edges
// created/at-most-2^46: 2^45 + 1 bytes are accepted, and 2^46 - 1, which takes as many blocks as
// 2^46, is not).
#define MAX_SIZE_END ((UINT64_C(1) << 46) - EM_POOL_BLOCK)

static CUresult check_props(const CUmemPoolProps *p)
{
    const unsigned shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    // Managed memory cannot be exported.
    if (is_managed(p->allocType) && p->handleTypes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a pool of managed memory cannot be exported");
    if (is_managed(p->allocType) && (p->maxSize || p->usage))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "maxSize (%zu) and usage (%u) of a pool of managed memory must be 0",
                       p->maxSize, p->usage);
    CUresult r = check_type(p->allocType);
    // "Specifying CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT … will result in
    // CUDA_ERROR_INVALID_VALUE".
    const bool unknown =
        is_managed(p->allocType) && p->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    if (!r)
        r = em_pool_location(&p->location, is_managed(p->allocType),
                             unknown ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE);
    if (r)
        return r;
    if ((unsigned)p->handleTypes & ~shareable)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "handleTypes (%#x) contain types that do not exist on Linux",
                       (unsigned)p->handleTypes);
    // "IPC is not supported for CU_MEM_LOCATION_TYPE_HOST". It needs
    // CU_MEM_LOCATION_TYPE_HOST_NUMA.
    if (p->handleTypes && p->location.type == CU_MEM_LOCATION_TYPE_HOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a pool at CU_MEM_LOCATION_TYPE_HOST cannot be shared; one at "
                       "CU_MEM_LOCATION_TYPE_HOST_NUMA can");
    for (size_t i = 0; i < sizeof p->reserved; i++)
        if (p->reserved[i])
            return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved[%zu] is not 0: clear the structure",
                           i);
    if (p->maxSize > MAX_SIZE_END)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "maxSize (%zu) exceeds half of the address space, %llu bytes", p->maxSize,
                       (unsigned long long)MAX_SIZE_END);
    return CUDA_SUCCESS;
}

CUresult api_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult r = check_props(poolProps);
    return r ? r : em_pool_create(poolProps, pool);
}

CUresult api_cuMemPoolDestroy(CUmemoryPool pool)
{
    return em_pool_destroy(pool);
}

CUresult api_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    return em_pool_trim_to(pool, minBytesToKeep);
}

CUresult api_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    return value ? em_pool_set_attribute(pool, attr, value) : em_null("value");
}

CUresult api_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    return value ? em_pool_get_attribute(pool, attr, value) : em_null("value");
}

CUresult api_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    return em_pool_set_access(pool, map, count);
}

CUresult api_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                CUmemLocation *location)
{
    return em_pool_get_access(memPool, location, flags);
}

// ---- allocating and freeing

// Allocates from `pool`, or if it is NULL from the current pool of the stream's device.
static CUresult allocate(CUdeviceptr *dptr, size_t bytesize, const CUmemoryPool *pool,
                         struct em_stream *hStream)
{
    uint64_t address;
    CUresult r = em_pool_alloc_async(pool, bytesize, hStream, &address);
    *dptr = r ? 0 : address;
    return r;
}

CUresult api_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, struct em_stream *hStream)
{
    return allocate(dptr, bytesize, NULL, hStream);
}

CUresult api_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                     struct em_stream *hStream)
{
    return allocate(dptr, bytesize, &pool, hStream);
}

// Freeing address 0 does nothing, in any stream. But while a stream is being captured, the rules
// about capture come first (recorded: random_captures).
CUresult api_check_cuMemFreeAsync(CUdeviceptr dptr)
{
    bool may_be_captured = __atomic_load_n(&em_captures, __ATOMIC_ACQUIRE);
    return dptr || may_be_captured ? CUDA_SUCCESS : API_DONE;
}

CUresult api_cuMemFreeAsync(CUdeviceptr dptr, struct em_stream *hStream)
{
    return dptr ? em_pool_free_async(dptr, hStream) : CUDA_SUCCESS;
}

// ---- sharing

CUresult api_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                              CUmemAllocationHandleType handleType,
                                              unsigned long long flags)
{
    int fd;
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) must be 0", flags);
    if (!handle_out)
        return em_null("handle_out");
    CUresult r = em_pool_export(pool, (unsigned)handleType, &fd);
    if (!r && em_recording_contents)
        em_record_fd(fd, false);
    if (!r)
        *(int *)handle_out = fd;
    return r;
}

CUresult api_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                CUmemAllocationHandleType handleType,
                                                unsigned long long flags)
{
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) must be 0", flags);
    // Recorded: pool_edges imports: CU_MEM_HANDLE_TYPE_WIN32 and (with a handle)
    // CU_MEM_HANDLE_TYPE_FABRIC are types that do not work here; others do not exist.
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
        handleType != CU_MEM_HANDLE_TYPE_WIN32 && handleType != CU_MEM_HANDLE_TYPE_FABRIC)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "handleType (%#x) is not a type of handle that pools have",
                       (unsigned)handleType);
    if (handleType == CU_MEM_HANDLE_TYPE_FABRIC && !handle)
        return em_null("handle");
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "memory pools can be imported from file descriptors only");
    if (em_recording_contents)
        em_record_fd((int)(intptr_t)handle, true);
    return em_pool_import((int)(intptr_t)handle, pool_out);
}

CUresult api_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    return em_pool_export_pointer(ptr, shareData_out);
}

CUresult api_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                                    CUmemPoolPtrExportData *shareData)
{
    uint64_t address;
    CUresult r = em_pool_import_pointer(pool, shareData, &address);
    if (!r)
        *ptr_out = address;
    return r;
}
