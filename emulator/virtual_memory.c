// SPDX-License-Identifier: MIT
// Virtual memory management.
#include "virtual_memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "device.h"
#include "funnel.h"
#include "import.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "pool_share.h"
#include "quirk.h"

// A mapping made by cuMemMap: what em_allocation.owner is.
struct virtual_mapping {
    struct em_allocation allocation;
    struct em_physical_object *object;
    unsigned numa_access; // what cuMemSetAccess gave the host, for memory that lies there
};

struct em_physical_object *em_mapped_object(const struct em_allocation *a)
{
    return ((const struct virtual_mapping *)a->owner)->object;
}

static bool on_host(const struct em_physical_object *o)
{
    return o->prop.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

// ---- addresses

// The driver reserves in steps of 32 MiB and lets mappings reach into what it has reserved beyond the size asked for.
enum { RESERVATION_STEP = 32 << 20 };

CUresult em_virtual_reserve(uint64_t size, uint64_t alignment, uint64_t hint, uint64_t *out)
{
    const uint64_t step = EM_VIRTUAL_GRANULE;
    uint64_t whole, va;
    // "size: must be a multiple of the granularity"; "alignment: of the reserved range, a power of two"
    if (!size || size % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size %llu is no multiple of %llu", (unsigned long long)size, (unsigned long long)step);
    const uint64_t most_alignment = UINT64_C(1) << 57; // the card's addresses have so many bits
    if ((alignment & (alignment - 1)) || alignment > most_alignment)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "alignment %llu is no power of two up to 2^57", (unsigned long long)alignment);
    if (hint % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the fixed address %#llx is no multiple of %llu", (unsigned long long)hint,
                       (unsigned long long)step);
    const uint64_t user_end = UINT64_C(1) << 47;
    if (!em_round_up(size, RESERVATION_STEP, &whole) || whole >= user_end || (hint && hint >= user_end - 2 * step))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu bytes at %#llx are outside of the address space", (unsigned long long)size,
                       (unsigned long long)hint);
    em_lock();
    CUresult r = CUDA_SUCCESS;
    if (!dm_space_contains(&em_space, hint)) // a place outside of the device's addresses is no more than a wish
        hint = 0;
    if (dm_va_reserve(&em_space, whole, alignment > step ? alignment : step, hint, &va)) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no room in the address space for %llu bytes", (unsigned long long)size);
        goto unlock;
    }
    if ((r = em_reservation_enter(va, size, &em_space)))
        dm_va_free(&em_space, va);
    else
        *out = va;
unlock:
    em_unlock();
    return r;
}

CUresult em_virtual_free(uint64_t address, uint64_t size)
{
    uint64_t base, have;
    em_lock();
    CUresult r = CUDA_SUCCESS;
    if (!em_reservation_find(address, &base, &have) || base != address || have != size)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "no reservation begins at %#llx and has %llu bytes", (unsigned long long)address,
                    (unsigned long long)size);
    else if (em_memory_touches(base, have) || dm_va_free(&em_space, base))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "something is still mapped in the reservation at %#llx", (unsigned long long)base);
    else
        em_reservation_leave(base);
    em_unlock();
    return r;
}

// ---- physical memory

CUresult em_physical_get(CUmemGenericAllocationHandle handle, struct em_physical_object **out)
{
    CUresult r = em_object_get(EM_PHYSICAL, handle, CUDA_ERROR_INVALID_VALUE, out);
    if (!r && !(*out)->handles)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "CUmemGenericAllocationHandle #%u has been released; its mappings keep the memory alone",
                    (*out)->object.number);
    return r;
}

static void physical_finish(struct em_object *object)
{
    struct em_physical_object *o = (struct em_physical_object *)object;
    dm_physical_unref(o->physical);
    dm_free(o);
}

// Ends the object when nothing holds it any more. Precondition: em_lock held.
static void physical_let_go(struct em_physical_object *o)
{
    if (!o->handles && !o->mappings)
        em_object_retire(&o->object);
}

// Wraps memory, whose reference goes to the object also on failure. Precondition: em_lock held.
static CUresult start_physical(struct dm_physical *physical, const CUmemAllocationProp *prop, uint64_t size, bool imported,
                               CUmemGenericAllocationHandle *out)
{
    CUresult r;
    struct em_physical_object *o = dm_calloc(1, sizeof *o);
    if (!o) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for an allocation handle");
        goto drop;
    }
    // Physical memory belongs to no context.
    if ((r = em_object_start(&o->object, EM_PHYSICAL, NULL, physical_finish))) {
        dm_free(o);
        goto drop;
    }
    o->prop = *prop;
    o->physical = physical;
    o->size = size;
    o->handles = 1;
    o->imported = imported;
    *out = o->object.handle;
    return CUDA_SUCCESS;
drop:
    dm_physical_unref(physical);
    return r;
}

static CUresult check_handle_types(CUmemAllocationProp *p, bool host)
{
    const unsigned known =
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    unsigned asked = (unsigned)p->requestedHandleTypes;
    if (asked & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "requestedHandleTypes %#x asks for handles of Windows", asked);
    if (host && asked)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "requestedHandleTypes %#x: memory at CU_MEM_LOCATION_TYPE_HOST cannot be exported", asked);
    if (asked & CU_MEM_HANDLE_TYPE_FABRIC)
        return em_fail(CUDA_ERROR_NOT_PERMITTED, "requestedHandleTypes %#x asks for fabric handles, which need an IMEX channel", asked);
    p->requestedHandleTypes = (CUmemAllocationHandleType)(asked & known);
    return CUDA_SUCCESS;
}

// Checks where the memory is to lie, and writes down what cuMemGetAllocationPropertiesFromHandle tells of it.
static CUresult check_location(CUmemAllocationProp *p, struct em_device **device)
{
    switch (p->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return em_device_get(p->location.id, device);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (p->location.id)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "location.id %d: this host has NUMA node 0 alone", p->location.id);
        break;
    case CU_MEM_LOCATION_TYPE_HOST: // "location.id is ignored"
        p->location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        p->location.id = 0;
        break;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "location.type %d is no place for memory", (int)p->location.type);
    }
    return em_device_get(0, device);
}

static CUresult check_properties(CUmemAllocationProp *p, struct em_device **device, bool *tile_pool)
{
    bool host = p->location.type == CU_MEM_LOCATION_TYPE_HOST;
    CUresult r = check_location(p, device);
    if (r || (r = check_handle_types(p, host)))
        return r;
    if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "type %d: memory is CU_MEM_ALLOCATION_TYPE_PINNED", (int)p->type);
    if (p->win32HandleMetaData)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "win32HandleMetaData is set");
    bool numa = p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if (p->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC || (numa && p->allocFlags.compressionType))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "allocFlags.compressionType %d cannot be had there", p->allocFlags.compressionType);
    if (numa && p->allocFlags.gpuDirectRDMACapable)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "allocFlags.gpuDirectRDMACapable is for device memory");
    // A usage goes with plain memory alone. Bits that are no usage are not looked at, and none is told again.
    bool used = p->allocFlags.usage & (CU_MEM_CREATE_USAGE_TILE_POOL | CU_MEM_CREATE_USAGE_HW_DECOMPRESS);
    *tile_pool = p->allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL;
    if (p->allocFlags.reserved[0] || (used && p->allocFlags.compressionType) || (*tile_pool && p->requestedHandleTypes))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "allocFlags.usage %#x does not go with compressionType %d and requestedHandleTypes %#x",
                       p->allocFlags.usage, p->allocFlags.compressionType, (unsigned)p->requestedHandleTypes);
    p->allocFlags.usage = 0;
    p->allocFlags.gpuDirectRDMACapable = !!p->allocFlags.gpuDirectRDMACapable;
    if (p->allocFlags.gpuDirectRDMACapable)
        p->allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    memset(p->allocFlags.reserved, 0, sizeof p->allocFlags.reserved);
    return CUDA_SUCCESS;
}

CUresult em_physical_create(uint64_t size, const CUmemAllocationProp *prop, CUmemGenericAllocationHandle *out)
{
    CUmemAllocationProp p = *prop;
    struct em_device *device;
    struct em_device_memory *memory;
    struct dm_physical *physical;
    // "size: must be a multiple of the granularity"
    if (!size || size % EM_VIRTUAL_GRANULE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size %llu is no multiple of %d", (unsigned long long)size, EM_VIRTUAL_GRANULE);
    bool tile_pool;
    CUresult r = check_properties(&p, &device, &tile_pool);
    if (r)
        return r;
    em_lock();
    if ((r = em_device_memory(device, &memory)))
        goto unlock;
    int status = dm_physical_create(&memory->vram, size, DM_PHYSICAL_EXPORTABLE, &physical);
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
        physical_let_go(o);
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
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "no mapping made by cuMemMap is there: %s", em_memory_text(address, text, sizeof text));
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

CUresult em_physical_export(CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, int *fd)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (!r && (o->imported || !((unsigned)o->prop.requestedHandleTypes & (unsigned)type) || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        r = em_mistake(M13, CUDA_ERROR_INVALID_VALUE, "CUmemGenericAllocationHandle #%u %s; handle type %d is asked for", o->object.number,
                       o->imported ? "was imported and cannot be exported again" : "was not made with this type in requestedHandleTypes", (int)type);
    if (!r && dm_physical_export(o->physical, fd))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no file descriptor can be had");
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
    if (em_pool_is_file(fd))
        return em_mistake(M12, CUDA_ERROR_NOT_SUPPORTED, "file descriptor %d is of a memory pool, which cuMemPoolImportFromShareableHandle takes",
                          fd);
    // Only memory of this driver's own is a shareable handle; the driver gives its most general code for all else.
    if (status || info.kind != DM_FD_OWN || info.error)
        return em_mistake(M12, em_quirk(IMPORT_BAD_FD) ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_VALUE,
                          "file descriptor %d is %s, not memory that cuMemExportToShareableHandle exported", fd, info.what);
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUresult r = em_device_get(0, &device);
    if (r)
        return r;
    em_lock();
    if ((r = em_device_memory(device, &memory)))
        goto unlock;
    status = dm_physical_import(&memory->vram, fd, &info, &physical);
    if (status)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the memory behind file descriptor %d cannot be taken over: %s", fd, strerror(-status));
    else
        r = start_physical(physical, &prop, physical->size, true, out);
unlock:
    em_unlock();
    return r;
}

// ---- mappings

static void mapping_release(struct em_allocation *a)
{
    struct virtual_mapping *m = a->owner;
    dm_space_unmap(&em_space, a->base, a->size);
    m->object->mappings--;
    physical_let_go(m->object);
    dm_free(m);
}

// Whether [address, end) can be mapped: it begins in a reservation and does not leave it. The driver reserves in steps, and asks no more than that
// each step be reserved. Precondition: em_lock held.
static CUresult check_reserved(uint64_t address, uint64_t size)
{
    uint64_t base, have, end, reserved_end;
    if (!em_reservation_find(address, &base, &have))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not in a range that cuMemAddressReserve returned", (unsigned long long)address);
    reserved_end = base + have;
    while (em_quirk(RESERVATION_STEP)) {
        uint64_t step_end;
        if (em_round_up(reserved_end, RESERVATION_STEP, &step_end))
            reserved_end = step_end;
        if (!em_reservation_find(reserved_end, &base, &have))
            break;
        reserved_end = base + have;
    }
    if (!em_add(address, size, &end) || end > reserved_end)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx + %llu leaves what is reserved, which ends at %#llx", (unsigned long long)address,
                       (unsigned long long)size, (unsigned long long)reserved_end);
    return CUDA_SUCCESS;
}

static CUresult check_map(uint64_t address, uint64_t size, uint64_t offset, const struct em_physical_object *o)
{
    if (!address || !size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%llu bytes at %#llx", (unsigned long long)size, (unsigned long long)address);
    if (o->tile_pool)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "memory of a tile pool is mapped by cuMemMapArrayAsync alone");
    // "offset must be 0", and the driver maps whole allocations alone.
    if (offset || size != o->size)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "offset %llu, %llu bytes: an allocation (of %llu bytes here) is mapped whole",
                       (unsigned long long)offset, (unsigned long long)size, (unsigned long long)o->size);
    if (address % EM_VIRTUAL_GRANULE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no multiple of %d", (unsigned long long)address, EM_VIRTUAL_GRANULE);
    CUresult r = check_reserved(address, size);
    if (!r && em_memory_touches(address, size)) {
        char text[256];
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "something is mapped there: %s",
                    em_memory_text(em_memory_touches(address, size)->base, text, sizeof text));
    }
    return r;
}

// What the host and the device may do comes to this for the pages. Precondition: em_lock held.
static unsigned page_flags(const struct virtual_mapping *m)
{
    unsigned flags = on_host(m->object) ? DM_MAP_READ | DM_MAP_WRITE | DM_MAP_HOST : 0;
    if (m->allocation.access & CU_MEM_ACCESS_FLAGS_PROT_READ)
        flags |= DM_MAP_READ;
    if (m->allocation.access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE && m->object->physical->writable)
        flags |= DM_MAP_WRITE;
    return flags;
}

CUresult em_virtual_map(uint64_t address, uint64_t size, uint64_t offset, CUmemGenericAllocationHandle handle)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (r || (r = check_map(address, size, offset, o)))
        goto unlock;
    struct virtual_mapping *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mapping");
        goto unlock;
    }
    m->object = o;
    m->allocation = (struct em_allocation){
        .base = address,
        .size = size,
        .host = on_host(o) ? address : 0,
        .kind = EM_MEMORY_VIRTUAL,
        .device = on_host(o) ? 0 : o->prop.location.id,
        .handle_types = (unsigned)o->prop.requestedHandleTypes,
        .block_id = o->object.number,
        .rdma_capable = o->prop.allocFlags.gpuDirectRDMACapable,
        .physical = o->physical,
        .owner = m,
        .release = mapping_release,
    };
    int status = dm_space_map(&em_space, address, o->physical, 0, size, page_flags(m));
    if (status) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu bytes cannot be mapped: %s", (unsigned long long)size, strerror(-status));
        goto free_mapping;
    }
    if ((r = em_memory_enter(&m->allocation)))
        goto unmap;
    o->mappings++;
    goto unlock;
unmap:
    dm_space_unmap(&em_space, address, size);
free_mapping:
    dm_free(m);
unlock:
    em_unlock();
    return r;
}

// The first mapping at or above `address` that begins below `end`, or NULL; *cut tells of one that reaches out of [address, end).
static struct em_allocation *next_mapping(uint64_t address, uint64_t end, uint64_t from, bool *cut)
{
    struct em_allocation *a = from < end ? em_memory_touches(from, end - from) : NULL;
    *cut = a && (a->kind != EM_MEMORY_VIRTUAL || a->base < address || a->base + a->size > end);
    return a;
}

// Whether [address, end) holds whole mappings alone; with `no_holes`, nothing else. Precondition: em_lock held.
static CUresult check_whole(uint64_t address, uint64_t end, bool no_holes)
{
    bool cut;
    uint64_t from = address;
    for (struct em_allocation *a; (a = next_mapping(address, end, from, &cut)); from = a->base + a->size) {
        if (cut)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "[%#llx, %#llx) cuts through the mapping of %llu bytes at %#llx", (unsigned long long)address,
                           (unsigned long long)end, (unsigned long long)a->size, (unsigned long long)a->base);
        if (no_holes && a->base != from)
            break;
    }
    if (no_holes && from != end)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %#llx", (unsigned long long)from);
    return CUDA_SUCCESS;
}

// Whether the device may do more in some mapping of [address, end) than `kept`. Precondition: em_lock held.
static bool loses_access(uint64_t address, uint64_t end, unsigned kept)
{
    bool cut;
    uint64_t from = address;
    for (struct em_allocation *a; (a = next_mapping(address, end, from, &cut)); from = a->base + a->size) {
        if (a->kind == EM_MEMORY_VIRTUAL && a->access & ~kept)
            return true;
    }
    return false;
}

// Mappings belong to no context. The manual leaves it to the program to wait for what uses them; work that comes too late would touch pages that
// are gone, so all of it is waited for where access is lost. Gives up the lock meanwhile: check again afterwards. Precondition: em_lock held.
static CUresult wait_for_users(uint64_t address, uint64_t end, unsigned kept)
{
    struct em_context *context;
    CUresult r = CUDA_SUCCESS;
    uint64_t up_to = em_funnel.tickets;
    while (!r && loses_access(address, end, kept) && (context = em_context_with_work(up_to)))
        r = em_memory_wait_until(context, up_to);
    return r;
}

CUresult em_virtual_unmap(uint64_t address, uint64_t size)
{
    uint64_t end;
    bool cut;
    if (!size || !em_add(address, size, &end))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx + %llu is no range", (unsigned long long)address, (unsigned long long)size);
    em_lock();
    CUresult r = wait_for_users(address, end, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (!r && !em_reservation_find(address, NULL, NULL))
        r = check_reserved(address, size);
    if (!r)
        r = check_whole(address, end, false);
    for (struct em_allocation *a; !r && (a = next_mapping(address, end, address, &cut));)
        em_memory_leave(a);
    em_unlock();
    return r;
}

static CUresult check_access(const CUmemAccessDesc *d, uint64_t address, uint64_t end)
{
    if (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && d->flags != CU_MEM_ACCESS_FLAGS_PROT_READ && d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags %d are no kind of access", (int)d->flags);
    switch (d->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if ((unsigned)d->location.id >= (unsigned)em_device_count)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "there is no device %d", d->location.id);
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        for (uint64_t at = address; at < end;) {
            struct em_allocation *a = em_memory_find(at, 1);
            if (!on_host(em_mapped_object(a)))
                return em_fail(CUDA_ERROR_NOT_SUPPORTED, "the host cannot reach device memory");
            at = a->base + a->size;
        }
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "location.type %d cannot be given access", (int)d->location.type);
    }
}

// Precondition: em_lock held; checked.
static CUresult give_access(const CUmemAccessDesc *d, uint64_t address, uint64_t end)
{
    for (uint64_t at = address; at < end;) {
        struct em_allocation *a = em_memory_find(at, 1);
        struct virtual_mapping *m = a->owner;
        unsigned before = a->access;
        if (d->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            a->access = (unsigned)d->flags;
        else
            m->numa_access = (unsigned)d->flags;
        if (dm_space_protect(&em_space, a->base, a->size, page_flags(m))) {
            a->access = before;
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the pages at %#llx cannot be protected otherwise", (unsigned long long)a->base);
        }
        at = a->base + a->size;
    }
    return CUDA_SUCCESS;
}

CUresult em_virtual_set_access(uint64_t address, uint64_t size, const CUmemAccessDesc *desc, size_t count)
{
    uint64_t end;
    if (!address || !size || !em_add(address, size, &end) || !count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx + %llu with %zu descriptions", (unsigned long long)address, (unsigned long long)size, count);
    em_lock();
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; !r && i < count; i++) {
        if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            r = wait_for_users(address, end, (unsigned)desc[i].flags);
    }
    if (!r)
        r = check_whole(address, end, true);
    for (size_t i = 0; !r && i < count; i++)
        r = check_access(&desc[i], address, end);
    for (size_t i = 0; !r && i < count; i++)
        r = give_access(&desc[i], address, end);
    em_unlock();
    return r;
}

CUresult em_virtual_get_access(uint64_t address, const CUmemLocation *location, unsigned long long *out)
{
    em_lock();
    struct em_allocation *a = em_memory_find(address, 1);
    struct virtual_mapping *m = a && a->kind == EM_MEMORY_VIRTUAL ? a->owner : NULL;
    bool host = m && on_host(m->object);
    CUresult r = CUDA_SUCCESS;
    if (!a) {
        char text[256];
        *out = 0;
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped there: %s", em_memory_text(address, text, sizeof text));
    } else if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && (unsigned)location->id < (unsigned)em_device_count) {
        *out = m ? a->access : 0;
    } else if (location->type == CU_MEM_LOCATION_TYPE_HOST) {
        *out = host ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
    } else if (location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA) {
        *out = host ? m->numa_access : 0;
    } else {
        r = em_fail(CUDA_ERROR_INVALID_DEVICE, "location %d of type %d does not exist", location->id, (int)location->type);
    }
    em_unlock();
    return r;
}
