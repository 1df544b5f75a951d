// SPDX-License-Identifier: MIT
// Access rights of the device and the host to mappings made by cuMemMap.
#include "virtual_memory.h"

#include "arithmetic.h"
#include "call.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "virtual_range.h"

static CUresult check_access(const CUmemAccessDesc *d, uint64_t address, uint64_t end)
{
    if (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && d->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "flags is %d, but must be CU_MEM_ACCESS_FLAGS_PROT_NONE (0), PROT_READ (1) or "
            "PROT_READWRITE (3)",
            (int)d->flags);
    switch (d->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return em_device_check_location(d->location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        for (uint64_t at = address; at < end;) {
            struct em_allocation *a = em_memory_find(at, 1);
            if (!em_physical_on_host(em_mapped_object(a)))
                return em_fail(
                    CUDA_ERROR_NOT_SUPPORTED,
                    "location.type is %d, but the host cannot access device memory, which is "
                    "mapped at %#llx",
                    (int)d->location.type, (unsigned long long)a->base);
            at = a->base + a->size;
        }
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "location.type %d is not a location that can have access",
                       (int)d->location.type);
    }
}

// Precondition: em_lock held, and check_access accepted the description.
static CUresult set_access(const CUmemAccessDesc *d, uint64_t address, uint64_t end)
{
    em_assert_locked();
    for (uint64_t at = address; at < end;) {
        struct em_allocation *a = em_memory_find(at, 1);
        struct em_virtual_mapping *m = a->owner;
        unsigned before = a->access;
        if (d->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            a->access = (unsigned)d->flags;
        else
            m->numa_access = (unsigned)d->flags;
        if (dm_space_protect(&em_space, a->base, a->size, em_virtual_page_flags(m))) {
            a->access = before;
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                           "the access to the pages at %#llx cannot be changed",
                           (unsigned long long)a->base);
        }
        at = a->base + a->size;
    }
    return CUDA_SUCCESS;
}

CUresult em_virtual_set_access(uint64_t address, uint64_t size, const CUmemAccessDesc *desc,
                               size_t count)
{
    uint64_t end;
    if (!address || !size || !dm_add(address, size, &end) || !count)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "ptr is %#llx, size is %llu and count is %zu: all must be nonzero, and ptr + size "
            "must not overflow",
            (unsigned long long)address, (unsigned long long)size, count);
    em_lock();
    CUresult r = em_device_lost();
    for (size_t i = 0; !r && i < count; i++) {
        if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            r = em_virtual_wait(address, end, (unsigned)desc[i].flags);
    }
    if (!r)
        r = em_virtual_check_whole(address, end, true);
    for (size_t i = 0; !r && i < count; i++)
        r = check_access(&desc[i], address, end);
    for (size_t i = 0; !r && i < count; i++)
        r = set_access(&desc[i], address, end);
    em_unlock();
    return r;
}

CUresult em_virtual_get_access(uint64_t address, const CUmemLocation *location,
                               unsigned long long *out)
{
    em_lock();
    struct em_allocation *a = em_memory_find(address, 1);
    struct em_virtual_mapping *m = a && a->kind == EM_MEMORY_VIRTUAL ? a->owner : NULL;
    bool host = m && em_physical_on_host(m->object);
    CUresult r = CUDA_SUCCESS;
    if (!a) {
        char text[256];
        *out = 0;
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "no memory is mapped at ptr: %s",
                    em_memory_text(address, text, sizeof text));
    } else if (location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
               (unsigned)location->id < (unsigned)em_device_count) {
        *out = m ? a->access : 0;
    } else if (location->type == CU_MEM_LOCATION_TYPE_HOST) {
        *out = host ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
    } else if (location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA) {
        *out = host ? m->numa_access : 0;
    } else {
        r = em_fail(CUDA_ERROR_INVALID_DEVICE, "location {type %d, id %d} does not exist",
                    (int)location->type, location->id);
    }
    em_unlock();
    return r;
}
