// SPDX-License-Identifier: MIT
// Creates, releases, exports and imports the physical memory of CUmemGenericAllocationHandles.
#include "physical_object.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "device.h"
#include "import.h"
#include "inject.h"
#include "lock.h"
#include "record.h"
#include "memory.h"
#include "memory_device.h"
#include "quirk.h"
#include "virtual_memory.h"

bool em_physical_on_host(const struct em_physical_object *o)
{
    return o->prop.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

CUresult em_physical_get(CUmemGenericAllocationHandle handle, struct em_physical_object **out)
{
    em_assert_locked();
    CUresult r = em_object_get(EM_PHYSICAL, handle, CUDA_ERROR_INVALID_VALUE, out);
    if (!r && !(*out)->handles)
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "CUmemGenericAllocationHandle #%u has been released, and only its mappings keep "
            "the memory; take a handle with cuMemRetainAllocationHandle",
            (*out)->object.number);
    return r;
}

static void physical_finish(struct em_object *object)
{
    struct em_physical_object *o = (struct em_physical_object *)object;
    if (__builtin_expect(em_recording, 0))
        em_record_memory_end(o->object.handle);
    dm_physical_unref(o->physical);
    dm_free(o);
}

void em_physical_end_if_unused(struct em_physical_object *o)
{
    em_assert_locked();
    if (!o->handles && !o->mappings)
        em_object_retire(&o->object);
}

// Makes an object of `physical` and takes over its reference, also on failure.
// Precondition: em_lock held.
static CUresult start_physical(struct dm_physical *physical, const CUmemAllocationProp *prop,
                               uint64_t size, bool imported, CUmemGenericAllocationHandle *out)
{
    em_assert_locked();
    CUresult r;
    struct em_physical_object *o = dm_calloc(1, sizeof *o);
    if (!o) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                    "out of host memory while creating an allocation handle");
        goto drop;
    }
    // Physical memory belongs to no context.
    r = em_object_start(&o->object, EM_PHYSICAL, NULL, physical_finish);
    if (r) {
        dm_free(o);
        goto drop;
    }
    o->prop = *prop;
    o->physical = physical;
    o->size = size;
    o->handles = 1;
    o->imported = imported;
    if (__builtin_expect(em_recording, 0))
        em_record_memory(&(struct em_record_memory){.id = o->object.handle,
                                                    .kind = "physical memory",
                                                    .size_B = size,
                                                    .physical = em_record_physical(physical)});
    *out = o->object.handle;
    return CUDA_SUCCESS;
drop:
    dm_physical_unref(physical);
    return r;
}

static CUresult check_handle_types(CUmemAllocationProp *p, bool host)
{
    const unsigned known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                           CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    unsigned asked = (unsigned)p->requestedHandleTypes;
    if (asked & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "requestedHandleTypes is %#x, but handles of Windows do not exist on Linux",
                       asked);
    if (host && asked)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "requestedHandleTypes is %#x, but memory at CU_MEM_LOCATION_TYPE_HOST "
                       "cannot be exported; pass 0",
                       asked);
    if (asked & CU_MEM_HANDLE_TYPE_FABRIC)
        return em_fail(CUDA_ERROR_NOT_PERMITTED,
                       "requestedHandleTypes is %#x, but fabric handles need an IMEX channel",
                       asked);
    p->requestedHandleTypes = (CUmemAllocationHandleType)(asked & known);
    return CUDA_SUCCESS;
}

// Checks the location, and changes it to the one that cuMemGetAllocationPropertiesFromHandle
// returns.
static CUresult check_location(CUmemAllocationProp *p, struct em_device **device)
{
    switch (p->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if ((unsigned)p->location.id >= (unsigned)em_device_count)
            return em_device_bad_as("prop.location.id", p->location.id);
        return em_device_get(p->location.id, device);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (p->location.id)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "location.id is %d, but this host has only NUMA node 0", p->location.id);
        break;
    case CU_MEM_LOCATION_TYPE_HOST: // "location.id is ignored"
        p->location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        p->location.id = 0;
        break;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "location.type %d is not a location where physical memory can be created",
                       (int)p->location.type);
    }
    return em_device_get(0, device);
}

static CUresult check_properties(CUmemAllocationProp *p, struct em_device **device, bool *tile_pool)
{
    bool host = p->location.type == CU_MEM_LOCATION_TYPE_HOST;
    CUresult r = check_location(p, device);
    if (!r)
        r = check_handle_types(p, host);
    if (r)
        return r;
    if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "type is %d, but must be CU_MEM_ALLOCATION_TYPE_PINNED (%d)", (int)p->type,
                       (int)CU_MEM_ALLOCATION_TYPE_PINNED);
    if (p->win32HandleMetaData)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "win32HandleMetaData is %p, but must be NULL on Linux",
                       p->win32HandleMetaData);
    bool numa = p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if (p->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC ||
        (numa && p->allocFlags.compressionType))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "allocFlags.compressionType is %d, but must be CU_MEM_ALLOCATION_COMP_NONE%s",
            p->allocFlags.compressionType,
            numa ? " for host memory" : " or CU_MEM_ALLOCATION_COMP_GENERIC");
    if (numa && p->allocFlags.gpuDirectRDMACapable)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "allocFlags.gpuDirectRDMACapable is %d, but must be 0 for host memory",
                       p->allocFlags.gpuDirectRDMACapable);
    // Only plain memory may have a usage. Unknown bits are ignored, and the properties that the
    // program reads back have no usage.
    bool used =
        p->allocFlags.usage & (CU_MEM_CREATE_USAGE_TILE_POOL | CU_MEM_CREATE_USAGE_HW_DECOMPRESS);
    *tile_pool = p->allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL;
    if (p->allocFlags.reserved[0] || (used && p->allocFlags.compressionType) ||
        (*tile_pool && p->requestedHandleTypes))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "allocFlags.usage %#x cannot be combined with compressionType %d and "
                       "requestedHandleTypes %#x; set those and allocFlags.reserved to 0",
                       p->allocFlags.usage, p->allocFlags.compressionType,
                       (unsigned)p->requestedHandleTypes);
    p->allocFlags.usage = 0;
    p->allocFlags.gpuDirectRDMACapable = !!p->allocFlags.gpuDirectRDMACapable;
    if (p->allocFlags.gpuDirectRDMACapable)
        p->allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    memset(p->allocFlags.reserved, 0, sizeof p->allocFlags.reserved);
    return CUDA_SUCCESS;
}

CUresult em_physical_create(uint64_t size, const CUmemAllocationProp *prop,
                            CUmemGenericAllocationHandle *out)
{
    CUmemAllocationProp p = *prop;
    struct em_device *device;
    struct em_device_memory *memory;
    struct dm_physical *physical;
    // "size: must be a multiple of the granularity"
    if (!size || size % EM_VIRTUAL_GRANULE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "size is %llu, but must be a multiple of %d and not 0",
                       (unsigned long long)size, EM_VIRTUAL_GRANULE);
    bool tile_pool;
    CUresult r = check_properties(&p, &device, &tile_pool);
    if (!r)
        r = em_device_lost();
    if (r)
        return r;
    em_lock();
    r = em_device_memory(device, &memory);
    if (r)
        goto unlock;
    // Only memory that can be exported needs its own file and descriptor.
    unsigned flags = p.requestedHandleTypes ? DM_PHYSICAL_EXPORTABLE : 0;
    int status = em_inject(EM_INJECT_MEMORY)
                     ? -ECANCELED
                     : dm_physical_create(&memory->vram, size, flags, &physical);
    if (status)
        r = em_out_of_device_memory(device->ordinal, "physical memory", size, status);
    else
        r = start_physical(physical, &p, size, false, out);
    if (!r)
        ((struct em_physical_object *)em_object_peek(EM_PHYSICAL, *out))->tile_pool = tile_pool;
unlock:
    em_unlock();
    return r;
}

CUresult em_physical_release(CUmemGenericAllocationHandle handle)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (!r) {
        o->handles--;
        em_physical_end_if_unused(o);
    }
    em_unlock();
    return r;
}

CUresult em_physical_retain(uint64_t address, CUmemGenericAllocationHandle *out)
{
    em_lock();
    struct em_allocation *a = em_memory_find(address, 1);
    CUresult r = CUDA_SUCCESS;
    if (!a || a->kind != EM_MEMORY_VIRTUAL) {
        char text[256];
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "addr is not in a mapping made by cuMemMap: %s",
                    em_memory_text(address, text, sizeof text));
    } else {
        struct em_physical_object *o = em_mapped_object(a);
        o->handles++;
        *out = o->object.handle;
    }
    em_unlock();
    return r;
}

CUresult em_physical_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (!r)
        *out = o->prop;
    em_unlock();
    return r;
}

CUresult em_physical_export(CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                            int *fd)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (!r && (o->imported || !((unsigned)o->prop.requestedHandleTypes & (unsigned)type) ||
               type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        r = em_mistake(M13, CUDA_ERROR_INVALID_VALUE,
                       "CUmemGenericAllocationHandle #%u %s; handleType is %d", o->object.number,
                       o->imported ? "was imported and cannot be exported again"
                                   : "was not created with this type in requestedHandleTypes",
                       (int)type);
    if (!r && dm_physical_export(o->physical, fd))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of file descriptors while exporting memory");
    em_unlock();
    return r;
}

CUresult em_physical_import(int fd, CUmemGenericAllocationHandle *out)
{
    struct dm_import_info info;
    struct em_device *device;
    struct em_device_memory *memory;
    struct dm_physical *physical;
    int status = dm_import_recognise(fd, &info);
    if (!status && info.kind == DM_FD_POOL)
        return em_mistake(M12, CUDA_ERROR_NOT_SUPPORTED,
                          "file descriptor %d is a memory pool; import it with "
                          "cuMemPoolImportFromShareableHandle",
                          fd);
    // Only memory that this driver exported is a shareable handle. A card's driver returns its most
    // general code for all other descriptors.
    if (status || info.kind != DM_FD_OWN || info.error)
        return em_mistake(
            M12, em_quirk(IMPORT_BAD_FD) ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_VALUE,
            "file descriptor %d is %s, not memory that cuMemExportToShareableHandle exported", fd,
            info.what);
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUresult r = em_device_get(0, &device);
    if (r)
        return r;
    em_lock();
    r = em_device_memory(device, &memory);
    if (r)
        goto unlock;
    status = dm_physical_import(&memory->vram, fd, &info, &physical);
    if (status)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                    "the memory of file descriptor %d cannot be imported: %s", fd,
                    strerror(-status));
    else
        r = start_physical(physical, &prop, physical->size, true, out);
unlock:
    em_unlock();
    return r;
}
