// SPDX-License-Identifier: MIT
// Pools as objects, and the default and current pool of each location.
#include "pool.h"

#include <assert.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "captured.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "memory_host.h"
#include "order.h"
#include "pool_memory.h"
#include "pool_share.h"
#include "quirk.h"
#include "stream.h"

// The default and the current pool of each device, then of the host, then of the host's only NUMA
// node. The same of managed memory follow, and then those that prefer no location. NULL until the
// first use.
static struct place {
    struct em_pool *standard, *current;
} * places;

static bool is_host(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

CUresult em_pool_location(const CUmemLocation *l, bool managed, CUresult no_pools)
{
    switch ((int)l->type) {
    // "When the allocation type is CU_MEM_ALLOCATION_TYPE_MANAGED, the location type can also be
    // CU_MEM_LOCATION_TYPE_NONE to indicate no preferred location".
    case CU_MEM_LOCATION_TYPE_NONE:
        if (managed)
            return CUDA_SUCCESS;
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "location.type is 0 (CU_MEM_LOCATION_TYPE_INVALID), which is not a location");
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return em_device_check_location(l->id);
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return !l->id ? CUDA_SUCCESS
                      : em_fail(CUDA_ERROR_INVALID_VALUE,
                                "location.id is %d, but the host has only NUMA node 0", l->id);
    default:
        return em_fail(no_pools,
                       "location.type is %d, but locations of this type have no memory pools",
                       (int)l->type);
    }
}

// Precondition: em_pool_location has accepted the location.
static CUresult place_of(const CUmemLocation *l, bool managed, struct place **out)
{
    const int each = em_device_count + 2; // places of one kind of memory
    if (!places)
        places = dm_calloc(2 * (size_t)each + 1, sizeof *places);
    if (!places)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating the default memory pools");
    int n = l->type == CU_MEM_LOCATION_TYPE_NONE     ? each
            : l->type == CU_MEM_LOCATION_TYPE_DEVICE ? l->id
                                                     : em_device_count;
    n += l->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    *out = &places[managed ? each + n : n];
    return CUDA_SUCCESS;
}

static void pool_finish(struct em_object *object)
{
    em_pool_drop((struct em_pool *)object);
}

// `size` rounded up to whole blocks. Cannot overflow, because no device has 2^58 bytes or more
// (dm_vram_init).
static uint64_t whole_blocks(const struct dm_vram *vram, uint64_t size)
{
    assert(size <= vram->total);
    return dm_div_up(size, EM_POOL_BLOCK) * EM_POOL_BLOCK;
}

CUresult em_pool_new(const struct em_device *device, CUmemLocation location, bool managed,
                     struct em_pool **out)
{
    em_assert_locked();
    struct em_device_memory *memory;
    struct dm_vram *vram;
    CUresult r = em_device_memory(device, &memory);
    if (r)
        return r;
    vram = &memory->vram;
    const bool on_host = is_host(&location) || managed;
    if (on_host)
        r = em_host_books(&vram);
    if (r)
        return r;
    struct em_pool *p = dm_calloc(1, sizeof *p);
    if (!p)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating a memory pool");
    p->device = device;
    p->location = location;
    p->managed = managed;
    p->vram = vram;
    p->access = on_host || device->ordinal >= 64 ? 0 : UINT64_C(1) << device->ordinal;
    for (int i = 0; i < 3; i++)
        p->reuse[i] = 1;
    p->capacity_B = whole_blocks(vram, vram->total);
    *out = p;
    return CUDA_SUCCESS;
}

CUresult em_pool_start(struct em_pool *p)
{
    em_assert_locked();
    CUresult r = em_object_start(&p->object, EM_POOL, NULL, pool_finish);
    if (!r)
        em_pools_enter(p);
    return r;
}

void em_pool_drop(struct em_pool *p)
{
    em_assert_locked();
    em_pools_remove(p);
    em_pool_release_memory(p);
    dm_physical_unref(p->file);
    dm_free(p);
}

static const struct em_device *device_of(const CUmemLocation *location)
{
    return &em_devices[location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : 0];
}

CUresult em_pool_create(const CUmemPoolProps *props, CUmemoryPool *out)
{
    struct em_pool *p = NULL;
    em_lock();
    CUresult r = em_device_lost();
    if (!r)
        r = em_pool_new(device_of(&props->location), props->location,
                        props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED, &p);
    if (r)
        goto unlock;
    p->handle_types = (unsigned)props->handleTypes;
    if (props->maxSize && props->maxSize < p->vram->total)
        p->capacity_B = whole_blocks(p->vram, props->maxSize);
    if (p->handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        r = em_pool_make_file(p);
    if (!r)
        r = em_pool_start(p);
    if (r)
        em_pool_drop(p);
    else
        *out = (CUmemoryPool)(uintptr_t)p->object.handle;
unlock:
    em_unlock();
    return r;
}

CUresult em_pool_get(CUmemoryPool handle, struct em_pool **out)
{
    em_assert_locked();
    return em_object_get(EM_POOL, handle, CUDA_ERROR_INVALID_VALUE, out);
}

CUresult em_pool_destroy(CUmemoryPool handle)
{
    struct em_pool *p;
    struct place *place;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r && p->standard)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "CUmemoryPool #%u is the default memory pool of its location, which cannot be "
                    "destroyed",
                    p->object.number);
    // "If any pointers obtained from this pool haven't been freed … the function will return
    // immediately"; the driver refuses that for imported pointers.
    if (!r && p->imported && p->imports && em_quirk(POOL_IMPORT_IN_USE))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "pointers imported from CUmemoryPool #%u have not been freed",
                    p->object.number);
    if (r || (p->imported && --p->import_count))
        goto unlock;
    // "Destroying the current mempool of a device sets the default mempool of that device as the
    // current mempool for that device."
    if (places && !place_of(&p->location, p->managed, &place) && place->current == p)
        place->current = place->standard;
    p->threshold = 0;
    em_object_retire(&p->object);
unlock:
    em_unlock();
    return r;
}

// Returns the default pool of a location, and creates it at the first use.
// Precondition: em_lock held.
static CUresult standard_of(const CUmemLocation *location, bool managed, struct em_pool **out)
{
    em_assert_locked();
    struct place *place;
    CUresult r = place_of(location, managed, &place);
    if (r)
        return r;
    if (!place->standard) {
        struct em_pool *p;
        r = em_pool_new(device_of(location), *location, managed, &p);
        if (r)
            return r;
        p->standard = true;
        r = em_pool_start(p);
        if (r) {
            em_pool_drop(p);
            return r;
        }
        place->standard = p;
        if (!place->current)
            place->current = p;
    }
    *out = place->standard;
    return CUDA_SUCCESS;
}

// Returns the pool that cuMemAllocAsync uses at a location. Precondition: em_lock held.
static CUresult current_of(const CUmemLocation *location, bool managed, struct em_pool **out)
{
    em_assert_locked();
    struct em_pool *standard;
    struct place *place;
    CUresult r = standard_of(location, managed, &standard);
    if (!r)
        r = place_of(location, managed, &place);
    if (!r)
        *out = place->current;
    return r;
}

// Precondition: em_lock held.
static CUresult set_current(const CUmemLocation *location, bool managed, struct em_pool *p)
{
    em_assert_locked();
    struct em_pool *standard;
    struct place *place, *own;
    CUresult r = standard_of(location, managed, &standard);
    if (!r)
        r = place_of(location, managed, &place);
    if (!r)
        r = place_of(&p->location, p->managed, &own);
    if (r)
        return r;
    if (p->imported)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "CUmemoryPool #%u was imported and cannot be allocated from, so it cannot become "
            "the current one",
            p->object.number);
    if (own != place)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "CUmemoryPool #%u is a pool of %s memory at location {type %d, id %d}, not of "
            "%s memory at {type %d, id %d}",
            p->object.number, p->managed ? "managed" : "pinned", (int)p->location.type,
            p->location.id, managed ? "managed" : "pinned", (int)location->type, location->id);
    place->current = p;
    return CUDA_SUCCESS;
}

CUresult em_pool_of_location(const CUmemLocation *location, bool managed, enum em_pool_which which,
                             CUmemoryPool *out)
{
    struct em_pool *p;
    em_lock();
    CUresult r = which == EM_POOL_STANDARD ? standard_of(location, managed, &p)
                                           : current_of(location, managed, &p);
    if (!r)
        *out = (CUmemoryPool)(uintptr_t)p->object.handle;
    em_unlock();
    return r;
}

CUresult em_pool_choose(const CUmemLocation *location, bool managed, CUmemoryPool handle)
{
    struct em_pool *p;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r)
        r = set_current(location, managed, p);
    em_unlock();
    return r;
}

CUresult em_pool_choose_any(const CUmemLocation *location, CUmemoryPool handle)
{
    struct em_pool *p;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r)
        r = set_current(location, p->managed, p);
    em_unlock();
    return r;
}

CUresult em_pool_alloc_async(const CUmemoryPool *handle, uint64_t size, struct em_stream *stream,
                             uint64_t *out)
{
    struct em_pool *p;
    CUmemLocation l = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                       .id = stream->object.context->device->ordinal};
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = {.bytesize = size}};
    bool captured = em_stream_is_captured(stream);
    em_lock();
    CUresult r = handle ? em_pool_get(*handle, &p) : current_of(&l, false, &p);
    if (!r && captured)
        node.alloc.poolProps =
            (CUmemPoolProps){.allocType = p->managed ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                                     : CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = p->location};
    else if (!r)
        r = em_pool_alloc(p, size, out);
    if (em_unlikely(em_order_on) && !r && !captured && *out)
        em_order_allocate(stream, *out, size);
    em_unlock();
    if (r || !captured)
        return r;
    if (!size) { // adds no node (recorded: graph_rules, failing)
        *out = 0;
        return CUDA_SUCCESS;
    }
    r = em_capture->allocate(stream, &node);
    *out = node.alloc.dptr;
    return r;
}
