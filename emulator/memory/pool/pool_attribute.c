// SPDX-License-Identifier: MIT
// The attributes of a pool, and the devices that may use its memory.
#include "call.h"
#include "device.h"
#include "lock.h"
#include "pointer_check.h"
#include "pool.h"

// Returns a pool that this process created. Precondition: em_lock held.
static CUresult own_pool(CUmemoryPool handle, struct em_pool **out)
{
    em_assert_locked();
    CUresult r = em_pool_get(handle, out);
    if (!r && (*out)->imported)
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "CUmemoryPool #%u was imported; call this function in the process that created it",
            (*out)->object.number);
    return r;
}

CUresult em_pool_trim_to(CUmemoryPool handle, uint64_t keep_B)
{
    struct em_pool *p;
    em_lock();
    CUresult r = own_pool(handle, &p);
    if (!r)
        em_pool_trim(p, keep_B);
    em_unlock();
    return r;
}

// ---- attributes

static CUresult no_attribute(CUmemPool_attribute attr)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "memory pool attribute %d does not exist or cannot be set", (int)attr);
}

// "value must be of type int" for the REUSE attributes, cuuint64_t for the others.
static size_t value_size(CUmemPool_attribute attr)
{
    return attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int)
                                                                     : sizeof(cuuint64_t);
}

static CUresult set_attribute(struct em_pool *p, CUmemPool_attribute attr, const void *value)
{
    CUresult r = em_readable_object("value", value, value_size(attr));
    if (r)
        return r;
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
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "value is %llu, but a high watermark can be set to 0 only",
                           (unsigned long long)*(const cuuint64_t *)value);
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

CUresult em_pool_set_attribute(CUmemoryPool handle, CUmemPool_attribute attr, const void *value)
{
    struct em_pool *p;
    em_lock();
    CUresult r = own_pool(handle, &p);
    if (!r)
        r = set_attribute(p, attr, value);
    em_unlock();
    return r;
}

CUresult em_pool_get_attribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value)
{
    struct em_pool *p;
    CUresult r = em_writable_object("value", value, value_size(attr));
    if (r)
        return r;
    em_lock();
    r = own_pool(handle, &p);
    if (!r)
        r = get_attribute(p, attr, value);
    em_unlock();
    return r;
}

// ---- access

static CUresult check_access(const struct em_pool *p, const CUmemAccessDesc *d)
{
    bool no_access = d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE,
         known = no_access || d->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    bool on_device = p->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    // "Only the flags CU_MEM_ACCESS_FLAGS_PROT_NONE and CU_MEM_ACCESS_FLAGS_PROT_READWRITE are
    // supported."
    if (d->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "flags is CU_MEM_ACCESS_FLAGS_PROT_READ, but access to a memory pool is "
                       "CU_MEM_ACCESS_FLAGS_PROT_NONE or CU_MEM_ACCESS_FLAGS_PROT_READWRITE");
    if (d->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        struct em_device *device;
        CUresult r = em_device_get(d->location.id, &device);
        if (!r && !known)
            r = em_fail(CUDA_ERROR_INVALID_VALUE,
                        "flags is %d, but must be CU_MEM_ACCESS_FLAGS_PROT_NONE (0) or "
                        "CU_MEM_ACCESS_FLAGS_PROT_READWRITE (3)",
                        (int)d->flags);
        if (!r && no_access && on_device && !p->managed && p->location.id == d->location.id)
            r = em_fail(CUDA_ERROR_INVALID_DEVICE,
                        "flags is CU_MEM_ACCESS_FLAGS_PROT_NONE, but device %d cannot lose the "
                        "access to its own memory pool",
                        d->location.id);
        return r;
    }
    if (on_device && !p->managed)
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "location.type is %d, but only devices can have access to a device's memory pool",
            (int)d->location.type);
    if (!known || (d->location.type != CU_MEM_LOCATION_TYPE_HOST &&
                   d->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags is %d and location.type is %d: the memory pool takes "
                       "CU_MEM_ACCESS_FLAGS_PROT_READWRITE (3) for locations on the host",
                       (int)d->flags, (int)d->location.type);
    if (no_access && !p->managed)
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "flags is CU_MEM_ACCESS_FLAGS_PROT_NONE, but the host cannot lose the access "
            "to its own memory pool");
    return CUDA_SUCCESS;
}

CUresult em_pool_set_access(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count)
{
    struct em_pool *p;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    for (size_t i = 0; i < count && !r; i++)
        r = check_access(p, &map[i]);
    for (size_t i = 0; i < count && !r; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
            p->host_access = map[i].flags != 0;
            continue;
        }
        uint64_t bit = map[i].location.id < 64 ? UINT64_C(1) << map[i].location.id : 0;
        p->access = map[i].flags ? p->access | bit : p->access & ~bit;
    }
    em_unlock();
    return r;
}

CUresult em_pool_get_access(CUmemoryPool handle, const CUmemLocation *location,
                            CUmemAccess_flags *out)
{
    struct em_pool *p;
    bool on_host, may = false;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (r)
        goto unlock;
    on_host = p->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    switch ((int)location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        r = em_device_check_location(location->id);
        if (!r)
            may = location->id < 64 && p->access >> location->id & 1;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        may = p->managed ? p->host_access : on_host;
        break;
    default:
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "location.type is %d, but locations of this type have no access to memory pools",
            (int)location->type);
    }
    if (!r)
        *out = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
unlock:
    em_unlock();
    return r;
}
