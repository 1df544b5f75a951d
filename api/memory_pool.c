// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Ordered Memory Allocator", and the memory pools of devices.
#include "api_bodies.h"
#include "call.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "pool.h"
#include "pool_share.h"
#include "stream.h"

static CUmemLocation of_device(int ordinal)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
}

static CUmemoryPool handle_of(const struct em_pool *p)
{
    return (CUmemoryPool)(uintptr_t)p->object.handle;
}

// ---- which pool

// "The default mempool of a device contains device memory from that device."
static CUresult pool_at(const CUmemLocation *location, CUresult (*which)(const CUmemLocation *, struct em_pool **), CUmemoryPool *out)
{
    struct em_pool *p;
    em_lock();
    CUresult r = which(location, &p);
    if (!r)
        *out = handle_of(p);
    em_unlock();
    return r;
}

// The device is looked at before the pointer here, and after it in cuDeviceGetMemPool: so the card does.
CUresult api_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (r)
        return r;
    if (!pool_out)
        return em_null("pool_out");
    CUmemLocation l = of_device(dev);
    return pool_at(&l, em_pool_standard, pool_out);
}

// "Returns: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE": the current pool's calls take a device that does not exist for any other wrong value.
static CUresult check_ordinal(CUdevice dev)
{
    struct em_device *device;
    return em_device_get(dev, &device) ? em_fail(CUDA_ERROR_INVALID_VALUE, "there is no device %d", dev) : CUDA_SUCCESS;
}

CUresult api_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    CUresult r = check_ordinal(dev);
    CUmemLocation l = of_device(dev);
    return r ? r : pool_at(&l, em_pool_current, pool);
}

static CUresult set_pool(const CUmemLocation *location, CUmemoryPool handle)
{
    struct em_pool *p;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r)
        r = em_pool_set_current(location, p);
    em_unlock();
    return r;
}

CUresult api_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    CUresult r = check_ordinal(dev);
    CUmemLocation l = of_device(dev);
    return r ? r : set_pool(&l, pool);
}

static CUresult check_type(CUmemAllocationType type)
{
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "Cardless has no memory pools of managed memory");
    return type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS
                                                 : em_fail(CUDA_ERROR_INVALID_VALUE, "type %d is no kind of memory that pools hold", (int)type);
}

static CUresult check_place(const CUmemLocation *location, CUmemAllocationType type)
{
    CUresult r = em_pool_location(location);
    return r ? r : check_type(type);
}

CUresult api_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult r = check_place(location, type);
    return r ? r : pool_at(location, em_pool_standard, pool_out);
}

CUresult api_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult r = check_place(location, type);
    return r ? r : pool_at(location, em_pool_current, pool);
}

CUresult api_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult r = check_place(location, type);
    return r ? r : set_pool(location, pool);
}

// ---- pools

// Pools larger than all addresses of a process.
#define MAX_SIZE_END (UINT64_C(1) << 47)

static CUresult check_props(const CUmemPoolProps *p)
{
    const unsigned shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    // Managed memory has no exportable handles.
    if (p->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED && p->handleTypes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a pool of managed memory cannot be exported");
    if (check_type(p->allocType))
        return p->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (em_pool_location(&p->location))
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)p->handleTypes & ~shareable)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "handleTypes %#x hold what cannot be exported on Linux", (unsigned)p->handleTypes);
    // "IPC is not supported for CU_MEM_LOCATION_TYPE_HOST": it takes a place, CU_MEM_LOCATION_TYPE_HOST_NUMA.
    if (p->handleTypes && p->location.type == CU_MEM_LOCATION_TYPE_HOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a pool at CU_MEM_LOCATION_TYPE_HOST cannot be shared; one at CU_MEM_LOCATION_TYPE_HOST_NUMA can");
    for (size_t i = 0; i < sizeof p->reserved; i++)
        if (p->reserved[i])
            return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved[%zu] is not 0: clear the structure", i);
    if (p->maxSize >= MAX_SIZE_END)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "maxSize %zu is more than there are addresses", p->maxSize);
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

// A pool whose memory is this process's. Precondition: em_lock held.
static CUresult own_pool(CUmemoryPool handle, struct em_pool **out)
{
    CUresult r = em_pool_get(handle, out);
    if (!r && (*out)->imported)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "this is for the process that made the memory pool; here it was imported");
    return r;
}

CUresult api_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct em_pool *p;
    em_lock();
    CUresult r = own_pool(pool, &p);
    if (!r)
        em_pool_trim(p, minBytesToKeep);
    em_unlock();
    return r;
}

static CUresult no_attribute(CUmemPool_attribute attr)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%d is no attribute of memory pools, or cannot be set", (int)attr);
}

// "value must be of type int" for the REUSE attributes, cuuint64_t for the others.
static CUresult set_attribute(struct em_pool *p, CUmemPool_attribute attr, const void *value)
{
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        p->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *(const int *)value != 0;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        p->threshold = *(const cuuint64_t *)value;
        return CUDA_SUCCESS;
    // "High watermark … it is illegal to set this attribute to a non-zero value."
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*(const cuuint64_t *)value)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "a high watermark can be set to 0 only");
        if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
            p->used_high_B = p->used_B;
        else
            p->reserved_high_B = p->reserved_B;
        return CUDA_SUCCESS;
    default:
        return no_attribute(attr);
    }
}

static CUresult get_attribute(const struct em_pool *p, CUmemPool_attribute attr, void *value)
{
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = p->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = p->threshold;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        *(cuuint64_t *)value = p->reserved_B;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        *(cuuint64_t *)value = p->reserved_high_B;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *(cuuint64_t *)value = p->used_B;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(cuuint64_t *)value = p->used_high_B;
        return CUDA_SUCCESS;
    default:
        return no_attribute(attr);
    }
}

CUresult api_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct em_pool *p;
    if (!value)
        return em_null("value");
    em_lock();
    CUresult r = own_pool(pool, &p);
    if (!r)
        r = set_attribute(p, attr, value);
    em_unlock();
    return r;
}

CUresult api_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct em_pool *p;
    if (!value)
        return em_null("value");
    em_lock();
    CUresult r = own_pool(pool, &p);
    if (!r)
        r = get_attribute(p, attr, value);
    em_unlock();
    return r;
}

// ---- access

static CUresult check_access(const struct em_pool *p, const CUmemAccessDesc *d)
{
    bool none = d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE, known = none || d->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    bool on_device = p->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    // "Only the flags CU_MEM_ACCESS_FLAGS_PROT_NONE and CU_MEM_ACCESS_FLAGS_PROT_READWRITE are supported."
    if (d->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "access to a memory pool is none or for reading and writing");
    if (d->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        struct em_device *device;
        CUresult r = em_device_get(d->location.id, &device);
        if (!r && !known)
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "%d is no kind of access", (int)d->flags);
        if (!r && none && on_device && p->location.id == d->location.id)
            r = em_fail(CUDA_ERROR_INVALID_DEVICE, "a device cannot lose the access to its own memory pool");
        return r;
    }
    if (on_device)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "access to a device's memory pool is given to devices, not to locations of type %d",
                       (int)d->location.type);
    if (!known || (d->location.type != CU_MEM_LOCATION_TYPE_HOST && d->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "access %d to the host's memory pool for a location of type %d", (int)d->flags,
                       (int)d->location.type);
    return none ? em_fail(CUDA_ERROR_NOT_SUPPORTED, "the host cannot lose the access to its own memory pool") : CUDA_SUCCESS;
}

CUresult api_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    struct em_pool *p;
    em_lock();
    CUresult r = em_pool_get(pool, &p);
    for (size_t i = 0; i < count && !r; i++)
        r = check_access(p, &map[i]);
    for (size_t i = 0; i < count && !r; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            continue;
        uint64_t bit = map[i].location.id < 64 ? UINT64_C(1) << map[i].location.id : 0;
        p->access = map[i].flags ? p->access | bit : p->access & ~bit;
    }
    em_unlock();
    return r;
}

CUresult api_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    struct em_pool *p;
    bool on_host, may = false;
    em_lock();
    CUresult r = em_pool_get(memPool, &p);
    if (r)
        goto unlock;
    on_host = p->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    switch ((int)location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if ((unsigned)location->id >= (unsigned)em_device_count)
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "location.id is %d: there are %d devices", location->id, em_device_count);
        else
            may = location->id < 64 && p->access >> location->id & 1;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        may = on_host;
        break;
    default:
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "locations of type %d have no access to memory pools", (int)location->type);
    }
    if (!r)
        *flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
unlock:
    em_unlock();
    return r;
}

// ---- allocating and freeing

// From `pool`, or where that is NULL from the current pool of the stream's device.
static CUresult allocate(CUdeviceptr *dptr, size_t bytesize, const CUmemoryPool *pool, CUstream hStream)
{
    struct em_stream *stream;
    struct em_pool *p;
    uint64_t address = 0;
    *dptr = 0;
    CUresult r = em_stream_get(hStream, &stream);
    if (r)
        return r;
    CUmemLocation l = of_device(stream->object.context->device->ordinal);
    em_lock();
    r = pool ? em_pool_get(*pool, &p) : em_pool_current(&l, &p);
    if (!r)
        r = em_pool_alloc(p, bytesize, &address);
    em_unlock();
    em_stream_put(stream);
    *dptr = address;
    return r;
}

CUresult api_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream);
}

CUresult api_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return allocate(dptr, bytesize, &pool, hStream);
}

CUresult api_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return dptr ? em_pool_free_async(dptr, hStream) : CUDA_SUCCESS;
}

// ---- sharing

CUresult api_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType, unsigned long long flags)
{
    int fd;
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags are %#llx; they must be 0", flags);
    if (!handle_out)
        return em_null("handle_out");
    CUresult r = em_pool_export(pool, (unsigned)handleType, &fd);
    if (!r)
        *(int *)handle_out = fd;
    return r;
}

CUresult api_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType, unsigned long long flags)
{
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags are %#llx; they must be 0", flags);
    if (!handleType)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "handleType is 0, CU_MEM_HANDLE_TYPE_NONE");
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "memory pools can be imported from file descriptors only");
    return em_pool_import((int)(intptr_t)handle, pool_out);
}

CUresult api_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    return em_pool_export_pointer(ptr, shareData_out);
}

CUresult api_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
    uint64_t address;
    CUresult r = em_pool_import_pointer(pool, shareData, &address);
    if (!r)
        *ptr_out = address;
    return r;
}
