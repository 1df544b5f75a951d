// SPDX-License-Identifier: MIT
// Checks the mappings of cuMemMapArrayAsync, and performs them as a command.
#include "array_map.h"

#include "alloc.h"
#include "arithmetic.h"
#include "array_tiles.h"
#include "call.h"
#include "command.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "quirk.h"
#include "stream.h"
#include "virtual_memory.h"

struct map_entry {
    struct em_storage *storage;   // a reference
    struct dm_physical *physical; // a reference; NULL if the entry unmaps
    uint64_t offset;
    struct em_tile_range range;
};

struct map_command {
    struct em_command command;
    unsigned count;
    struct map_entry entries[];
};

// ---- the command

static CUresult map_run(struct em_command *command)
{
    struct map_command *c = (struct map_command *)command;
    CUresult r = CUDA_SUCCESS;
    em_lock();
    for (unsigned i = 0; i < c->count && !r; i++)
        r = em_tiled_map(c->entries[i].storage, &c->entries[i].range, c->entries[i].physical,
                         c->entries[i].offset);
    em_unlock();
    return r;
}

static CUresult map_clone(struct em_command *command)
{
    em_assert_locked();
    struct map_command *c = (struct map_command *)command;
    for (unsigned i = 0; i < c->count; i++) {
        em_storage_ref(c->entries[i].storage);
        if (c->entries[i].physical)
            dm_physical_ref(c->entries[i].physical);
    }
    return CUDA_SUCCESS;
}

static void map_release(struct em_command *command)
{
    em_assert_locked();
    struct map_command *c = (struct map_command *)command;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->entries[i].storage) // NULL if the check of this entry failed
            em_storage_unref(c->entries[i].storage);
        dm_physical_unref(c->entries[i].physical);
    }
}

static const struct em_command_ops map_ops = {
    .name = "mapping of array memory", .run = map_run, .clone = map_clone, .release = map_release};

// ---- checks

// Finds the array or mipmapped array, which must be sparse or have deferred mapping.
// Precondition: em_lock held.
static CUresult map_find_storage(const CUarrayMapInfo *m, struct em_storage **out, unsigned *flags,
                                 const struct em_device **device)
{
    em_assert_locked();
    struct em_array *a;
    struct em_mipmap *p;
    CUresult r;
    switch ((int)m->resourceType) {
    case CU_RESOURCE_TYPE_ARRAY:
        r = em_object_get(EM_ARRAY, m->resource.array, CUDA_ERROR_INVALID_VALUE, &a);
        if (r)
            return r;
        if (a->parent)
            return em_fail(
                CUDA_ERROR_INVALID_VALUE,
                "CUarray #%u is a level of CUmipmappedArray #%u; pass the mipmapped array",
                a->object.number, a->parent->object.number);
        *out = a->storage;
        *flags = a->desc.Flags;
        *device = a->object.context->device;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r = em_object_get(EM_MIPMAP, m->resource.mipmap, CUDA_ERROR_INVALID_VALUE, &p);
        if (r)
            return r;
        *out = p->storage;
        *flags = p->desc.Flags;
        *device = p->object.context->device;
        break;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "resourceType is %d; it must be CU_RESOURCE_TYPE_ARRAY or "
                       "CU_RESOURCE_TYPE_MIPMAPPED_ARRAY",
                       (int)m->resourceType);
    }
    // "resource … must be a sparse CUDA array or mipmapped array", or one with deferred mapping
    if (!em_is_tiled(*out))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the flags of the array are %#x; create it with CUDA_ARRAY3D_SPARSE or "
                       "CUDA_ARRAY3D_DEFERRED_MAPPING",
                       *flags);
    return CUDA_SUCCESS;
}

static CUresult map_level_range(const CUarrayMapInfo *m, const struct em_storage *storage,
                                const struct dm_sparse *sparse, struct em_tile_range *range)
{
    const unsigned *offset = &m->subresource.sparseLevel.offsetX,
                   *extent = &m->subresource.sparseLevel.extentWidth;
    unsigned level = m->subresource.sparseLevel.level, layer = m->subresource.sparseLevel.layer;
    // A level in the mip tail is mapped through CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL.
    if (level >= sparse->miptail_first_level || layer >= storage->layout.layers)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "level is %u and layer %u, but the array has %u levels outside of its mip "
                       "tail and %u layers",
                       level, layer, sparse->miptail_first_level, storage->layout.layers);
    const struct dm_layout_level *v = &storage->layout.level[level];
    const uint32_t tile[3] = {sparse->tile_width_px, sparse->tile_height_px, sparse->tile_depth},
                   most[3] = {v->width_px, v->height_px, v->depth};
    *range = (struct em_tile_range){.part = EM_TILES_LEVEL, .level = level, .layer = layer};
    // "These offsets and extents must be aligned to the corresponding tile dimension." An extent
    // may end where the level ends, but not beyond, in the last tile (recorded: sparse_edges).
    for (unsigned i = 0; i < 3; i++)
        if (!dm_sparse_axis(tile[i], most[i], offset[i], extent[i], &range->at[i],
                            &range->count[i]))
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "%s is %u and the extent %u; they must be multiples of the tile (%u "
                           "texels) within the level (%u texels)",
                           i == 0   ? "offsetX"
                           : i == 1 ? "offsetY"
                                    : "offsetZ",
                           offset[i], extent[i], tile[i], most[i]);
    return CUDA_SUCCESS;
}

static CUresult map_tail_range(const CUarrayMapInfo *m, const struct em_storage *storage,
                               const struct dm_sparse *sparse, struct em_tile_range *range)
{
    uint64_t offset = m->subresource.miptail.offset, size = m->subresource.miptail.size, end;
    unsigned tails = dm_sparse_tails(sparse, &storage->layout);
    if (m->subresource.miptail.layer >= tails)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "layer is %u, but the array has %u mip tails",
                       m->subresource.miptail.layer, tails);
    if (!size || offset % DM_TILE_B || size % DM_TILE_B || !dm_add(offset, size, &end) ||
        end > sparse->miptail_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "bytes %llu to %llu of the mip tail; they must lie within its %llu bytes "
                       "and be multiples of %u",
                       (unsigned long long)offset, (unsigned long long)(offset + size),
                       (unsigned long long)sparse->miptail_B, DM_TILE_B);
    *range = (struct em_tile_range){.part = EM_TILES_TAIL,
                                    .layer = m->subresource.miptail.layer,
                                    .tail_at = offset / DM_TILE_B,
                                    .tail_count = size / DM_TILE_B};
    return CUDA_SUCCESS;
}

static CUresult map_find_range(const CUarrayMapInfo *m, const struct em_storage *storage,
                               struct em_tile_range *range)
{
    const struct dm_sparse *sparse = em_tiled_sparse(storage);
    *range = (struct em_tile_range){.part = EM_TILES_WHOLE};
    if (!sparse) // "the subresource is ignored for arrays with deferred mapping"
        return CUDA_SUCCESS;
    switch ((int)m->subresourceType) {
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL:
        return map_level_range(m, storage, sparse, range);
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL:
        return map_tail_range(m, storage, sparse, range);
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "subresourceType %d is not a CUarraySparseSubresourceType",
                       (int)m->subresourceType);
    }
}

// Precondition: em_lock held.
static CUresult map_find_memory(const CUarrayMapInfo *m, uint64_t need_B, struct dm_physical **out)
{
    em_assert_locked();
    struct em_physical_object *o;
    uint64_t end;
    CUresult r = em_physical_get(m->memHandle.memHandle, &o);
    if (r)
        return r;
    // "the memory must have been created with CU_MEM_CREATE_USAGE_TILE_POOL"
    if (!o->tile_pool)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "CUmemGenericAllocationHandle #%u was created without "
                       "CU_MEM_CREATE_USAGE_TILE_POOL; set it in usage",
                       o->object.number);
    if (m->offset % DM_TILE_B || !dm_add(m->offset, need_B, &end) || end > o->size)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "offset is %llu; it must be a multiple of %u, and CUmemGenericAllocationHandle #%u "
            "must have %llu bytes from there on (it has %llu bytes)",
            m->offset, DM_TILE_B, o->object.number, (unsigned long long)need_B,
            (unsigned long long)o->size);
    *out = o->physical;
    return CUDA_SUCCESS;
}

static CUresult map_check_info(const CUarrayMapInfo *m)
{
    if (m->memOperationType != CU_MEM_OPERATION_TYPE_MAP &&
        m->memOperationType != CU_MEM_OPERATION_TYPE_UNMAP)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "memOperationType %d is not a CUmemOperationType",
                       (int)m->memOperationType);
    // "CU_MEM_OPERATION_TYPE_MAP … memHandleType must be set to CU_MEM_HANDLE_TYPE_GENERIC"; it is
    // not looked at if nothing is mapped (recorded: sparse_edges lists/unmap-wrong-1).
    if (m->memOperationType == CU_MEM_OPERATION_TYPE_MAP &&
        m->memHandleType != CU_MEM_HANDLE_TYPE_GENERIC)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "memHandleType is %d; it must be CU_MEM_HANDLE_TYPE_GENERIC",
                       (int)m->memHandleType);
    // "If memOperationType is … CU_MEM_OPERATION_TYPE_UNMAP … memHandle must be NULL."
    if (m->memOperationType == CU_MEM_OPERATION_TYPE_UNMAP && m->memHandle.memHandle &&
        !em_quirk(UNMAP_WITH_MEMORY))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "memHandle is %#llx; it must be 0 with CU_MEM_OPERATION_TYPE_UNMAP",
                       (unsigned long long)m->memHandle.memHandle);
    // "flags … must be set to 0"
    if (m->flags || m->reserved[0] || m->reserved[1])
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags are %#x; flags and reserved must be 0",
                       m->flags);
    return CUDA_SUCCESS;
}

// Fills an entry and takes its references. Precondition: em_lock held.
static CUresult map_make_entry(const CUarrayMapInfo *m, struct map_entry *e)
{
    em_assert_locked();
    const struct em_device *device;
    struct em_storage *storage;
    struct dm_physical *physical = NULL;
    unsigned flags;
    CUresult r = map_check_info(m);
    if (!r)
        r = map_find_storage(m, &storage, &flags, &device);
    if (!r)
        r = map_find_range(m, storage, &e->range);
    if (r)
        return r;
    // "deviceBitMask: … must contain only the bit of the device of the array"
    if (device->ordinal > 31 || m->deviceBitMask != 1u << device->ordinal)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "deviceBitMask is %#x; it must be the bit of device %d, which the array belongs to",
            m->deviceBitMask, device->ordinal);
    if (m->memOperationType == CU_MEM_OPERATION_TYPE_MAP)
        r = map_find_memory(m, em_tiled_range_B(storage, &e->range), &physical);
    if (r)
        return r;
    em_storage_ref(storage);
    e->storage = storage;
    e->physical = physical ? dm_physical_ref(physical) : NULL;
    e->offset = m->offset;
    return CUDA_SUCCESS;
}

CUresult em_array_map_prepare(const CUarrayMapInfo *list, unsigned count, struct em_command **out)
{
    em_assert_locked();
    struct map_command *c = NULL;
    size_t size_B = 0;
    CUresult r = CUDA_SUCCESS;
    if (!__builtin_mul_overflow(count, sizeof *c->entries, &size_B) &&
        size_B <= UINT32_MAX - sizeof *c)
        c = dm_calloc(1, sizeof *c + size_B);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while mapping %u entries",
                       count);
    c->command = (struct em_command){.ops = &map_ops, .size_B = (uint32_t)(sizeof *c + size_B)};
    c->count = count;
    for (unsigned i = 0; i < count && !r; i++)
        r = map_make_entry(&list[i], &c->entries[i]);
    if (r)
        em_command_free(&c->command);
    else
        *out = &c->command;
    return r;
}

CUresult em_array_map(const CUarrayMapInfo *list, unsigned count, struct em_stream *stream)
{
    struct em_command *command;
    em_lock();
    CUresult r = em_array_map_prepare(list, count, &command);
    if (!r) {
        r = em_issue(stream, command, EM_SUBMIT_ASYNC);
        dm_free(command);
    }
    em_unlock();
    return r;
}
