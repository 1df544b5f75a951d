// SPDX-License-Identifier: MIT
// The fuzz target `sparse`: cuMemMapArrayAsync.
#include "sparse_model.h"

// The verdict on an entry of the list. REFUSED: neither the manual nor a recording says with which
// code. A handle of memory that does not exist crashes the driver (recorded: sparse_edges handles).
enum verdict { VALID, INVALID, REFUSED }; // of a list: the greatest one

// A range of tiles, or of pages of a part.
struct range {
    struct array *array;
    struct part *part; // or NULL
    unsigned level, layer, at[3], count[3], first, pages;
    int memory_page; // or ABSENT
};

static enum verdict judge_level(const struct model *m, const CUarrayMapInfo *e, struct range *g)
{
    const struct array *a = g->array;
    const unsigned offset[3] = {e->subresource.sparseLevel.offsetX,
                                e->subresource.sparseLevel.offsetY,
                                e->subresource.sparseLevel.offsetZ};
    const unsigned extent[3] = {e->subresource.sparseLevel.extentWidth,
                                e->subresource.sparseLevel.extentHeight,
                                e->subresource.sparseLevel.extentDepth};
    g->level = e->subresource.sparseLevel.level;
    g->layer = e->subresource.sparseLevel.layer;
    if (g->level >= a->tail_first || g->layer >= a->layers)
        return INVALID;
    const struct level *l = &a->levels[g->level];
    const unsigned size[3] = {l->width, l->height, l->depth};
    g->pages = 1;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t last = (uint64_t)offset[i] + extent[i];
        // Up to the end of a tile or of the level (recorded: sparse_edges extents).
        if (!extent[i] || offset[i] % m->tile[i] || last > size[i] ||
            (last % m->tile[i] && last != size[i]))
            return INVALID;
        g->at[i] = offset[i] / m->tile[i];
        g->count[i] = (extent[i] + m->tile[i] - 1) / m->tile[i];
        g->pages *= g->count[i];
    }
    return VALID;
}

static enum verdict judge_range(const struct model *m, const CUarrayMapInfo *e, struct range *g)
{
    struct array *a = g->array;
    if (sp_is_deferred(a)) { // "the subresource is ignored"
        g->part = &a->parts[0];
        g->pages = g->part->page_count;
        return VALID;
    }
    if (e->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL)
        return judge_level(m, e, g);
    if (e->subresourceType != CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL)
        return INVALID;
    const unsigned long long offset = e->subresource.miptail.offset,
                             size = e->subresource.miptail.size;
    if (e->subresource.miptail.layer >= a->part_count || !size || offset % PAGE_B ||
        size % PAGE_B || offset > a->tail_B || size > a->tail_B - offset)
        return INVALID;
    g->part = &a->parts[e->subresource.miptail.layer];
    g->first = (unsigned)(offset / PAGE_B);
    g->pages = (unsigned)(size / PAGE_B);
    return VALID;
}

struct entry {
    CUarrayMapInfo info;
    struct array *array; // or NULL: the resource is not one that the call takes
    int memory;          // or ABSENT: not memory that the call takes
    bool no_memory;      // its handle does not exist
    struct range range;
};

static enum verdict judge(const struct model *m, struct entry *e)
{
    const CUarrayMapInfo *i = &e->info;
    const bool map = i->memOperationType == CU_MEM_OPERATION_TYPE_MAP;
    if ((!map && i->memOperationType != CU_MEM_OPERATION_TYPE_UNMAP) ||
        (map && i->memHandleType != CU_MEM_HANDLE_TYPE_GENERIC) || i->flags || i->reserved[0] ||
        i->reserved[1] || i->deviceBitMask != 1 || !e->array)
        return INVALID;
    // "memHandle must be NULL", which the driver does not check (recorded: unmap-with-handle).
    if (!map && i->memHandle.memHandle && !sp_as_driver())
        return INVALID;
    e->range = (struct range){.array = e->array, .memory_page = ABSENT};
    if (judge_range(m, i, &e->range) == INVALID)
        return INVALID;
    if (!map)
        return VALID;
    if (e->no_memory)
        return REFUSED;
    if (e->memory == ABSENT || i->offset % PAGE_B || i->offset / PAGE_B > MEMORY_PAGES ||
        e->range.pages > MEMORY_PAGES - i->offset / PAGE_B)
        return INVALID;
    e->range.memory_page = e->memory * MEMORY_PAGES + (int)(i->offset / PAGE_B);
    return VALID;
}

static void apply(const struct range *g)
{
    int page = g->memory_page;
    if (g->part) {
        for (unsigned i = 0; i < g->pages; i++)
            g->part->page[g->first + i] = page == ABSENT ? ABSENT : page + (int)i;
        sp_forget(g->part, g->array);
        return;
    }
    for (unsigned z = 0; z < g->count[2]; z++) {
        for (unsigned y = 0; y < g->count[1]; y++) {
            for (unsigned x = 0; x < g->count[0]; x++) {
                const unsigned tile[3] = {g->at[0] + x, g->at[1] + y, g->at[2] + z};
                *sp_slot_of(g->array, g->level, g->layer, tile) = page;
                page += page != ABSENT;
            }
        }
    }
}

// One of the tiles of a range, or the first level of a part.
static void note_spot(struct fuzz_input *in, struct model *m, const struct range *g)
{
    struct spot *s = &m->spots[m->spot_count++ % SPOTS];
    *s = (struct spot){.array = g->array, .level = g->level, .z = g->layer};
    if (g->part) {
        s->level = sp_is_deferred(g->array) ? 0 : g->array->tail_first;
        s->z = g->array->part_count > 1 ? (unsigned)(g->part - g->array->parts) : 0;
        return;
    }
    s->x = (g->at[0] + fuzz_below(in, g->count[0])) * m->tile[0];
    s->y = (g->at[1] + fuzz_below(in, g->count[1])) * m->tile[1];
    s->z += (g->at[2] + fuzz_below(in, g->count[2])) * m->tile[2];
}

static void any_level(struct fuzz_input *in, const struct model *m, struct entry *e)
{
    CUarrayMapInfo *i = &e->info;
    const struct array *a = e->array;
    const unsigned n = fuzz_below(in, a->tail_first < 3 ? a->tail_first + 1 : 3);
    const struct level *l = &a->levels[n < a->count ? n : 0];
    const unsigned size[3] = {l->width, l->height, l->depth};
    unsigned offset[3], extent[3];
    for (unsigned k = 0; k < 3; k++) {
        const unsigned first = fuzz_below(in, l->tiles[k]);
        const unsigned tiles = 1 + fuzz_below(in, l->tiles[k] - first);
        offset[k] = first * m->tile[k];
        extent[k] = tiles * m->tile[k];
        if (!fuzz_chance(in, 8) && offset[k] + extent[k] > size[k])
            extent[k] = size[k] - offset[k];
    }
    if (fuzz_chance(in, 12))
        offset[fuzz_below(in, 3)] = (unsigned)fuzz_size(in, m->tile[0]);
    if (fuzz_chance(in, 12))
        extent[fuzz_below(in, 3)] = (unsigned)fuzz_size(in, m->tile[0]);
    i->subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    i->subresource.sparseLevel.level = n;
    i->subresource.sparseLevel.layer = fuzz_below(in, a->layers + fuzz_chance(in, 16));
    i->subresource.sparseLevel.offsetX = offset[0];
    i->subresource.sparseLevel.offsetY = offset[1];
    i->subresource.sparseLevel.offsetZ = offset[2];
    i->subresource.sparseLevel.extentWidth = extent[0];
    i->subresource.sparseLevel.extentHeight = extent[1];
    i->subresource.sparseLevel.extentDepth = extent[2];
}

static void any_tail(struct fuzz_input *in, struct entry *e)
{
    CUarrayMapInfo *i = &e->info;
    const struct array *a = e->array;
    i->subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    i->subresource.miptail.layer = fuzz_below(in, a->part_count + fuzz_chance(in, 16));
    i->subresource.miptail.size = a->tail_B;
    if (fuzz_chance(in, 4)) {
        i->subresource.miptail.offset = fuzz_below(in, 3) * (unsigned long long)PAGE_B;
        i->subresource.miptail.size = fuzz_below(in, 3) * (unsigned long long)PAGE_B;
    }
    if (fuzz_chance(in, 16))
        i->subresource.miptail.offset = fuzz_size(in, a->tail_B);
    if (fuzz_chance(in, 16))
        i->subresource.miptail.size = fuzz_size(in, a->tail_B);
}

// Changes a member that says nothing about the range.
static void spoil(struct fuzz_input *in, const struct model *m, struct entry *e)
{
    CUarrayMapInfo *i = &e->info;
    CUarray level;
    switch (fuzz_below(in, 12)) {
    case 0:
        i->memOperationType = (CUmemOperationType)fuzz_take(in, 1);
        break;
    case 1:
        i->memHandleType = (CUmemHandleType)(1 + fuzz_take(in, 1));
        break;
    case 2:
        i->deviceBitMask = (unsigned)fuzz_take(in, fuzz_chance(in, 2) ? 1 : 4);
        break;
    case 3:
        i->flags = (unsigned)fuzz_take(in, 1);
        break;
    case 4:
        i->reserved[fuzz_below(in, 2)] = (unsigned)fuzz_take(in, 1);
        break;
    case 5:
        i->resourceType = (CUresourcetype)(2 + fuzz_take(in, 1));
        e->array = NULL;
        break;
    case 6:
        i->resource.array = NULL;
        e->array = NULL;
        break;
    case 7: // a level
        if (e->array->mip) {
            FUZZ_OK(sp_level_of(e->array, 0, &level));
            i->resourceType = CU_RESOURCE_TYPE_ARRAY;
            i->resource.array = level;
            e->array = NULL;
        }
        break;
    case 8:
        i->offset = fuzz_size(in, (uint64_t)MEMORY_PAGES * PAGE_B);
        break;
    case 9:
        i->memHandle.memHandle = m->plain;
        e->memory = ABSENT;
        break;
    case 10:
        i->memHandle.memHandle = fuzz_below(in, 2) ? 0 : UINT64_MAX - fuzz_take(in, 1);
        e->no_memory = true;
        break;
    default:
        i->subresourceType = (CUarraySparseSubresourceType)(2 + fuzz_take(in, 1));
    }
}

static struct entry any_entry(struct fuzz_input *in, struct model *m, struct array *a)
{
    struct entry e = {.array = a, .memory = (int)fuzz_below(in, fuzz_chance(in, 3) ? MEMORIES : 1)};
    CUarrayMapInfo *i = &e.info;
    i->resourceType = a->mip ? CU_RESOURCE_TYPE_MIPMAPPED_ARRAY : CU_RESOURCE_TYPE_ARRAY;
    if (a->mip)
        i->resource.mipmap = a->mip;
    else
        i->resource.array = a->plain;
    i->memOperationType =
        fuzz_chance(in, 4) ? CU_MEM_OPERATION_TYPE_UNMAP : CU_MEM_OPERATION_TYPE_MAP;
    i->memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    while (e.memory != ABSENT && !m->memories[e.memory].alive)
        e.memory--;
    i->memHandle.memHandle = e.memory == ABSENT ? m->plain : m->memories[e.memory].handle;
    if (i->memOperationType == CU_MEM_OPERATION_TYPE_UNMAP && !fuzz_chance(in, 8))
        i->memHandle.memHandle = 0;
    i->offset = fuzz_below(in, fuzz_chance(in, 4) ? MEMORY_PAGES : 3) * (unsigned long long)PAGE_B;
    i->deviceBitMask = 1;
    if (sp_is_sparse(a) && a->part_count && (!a->tail_first || fuzz_chance(in, 3)))
        any_tail(in, &e);
    else
        any_level(in, m, &e);
    if (fuzz_chance(in, 12))
        spoil(in, m, &e);
    return e;
}

static bool is_as_judged(CUresult r, enum verdict verdict)
{
    switch (verdict) {
    case VALID:
        return !r;
    case INVALID:
        return r == CUDA_ERROR_INVALID_VALUE;
    default:
        return r != CUDA_SUCCESS;
    }
}

// Maps and unmaps. A list is refused as a whole if one of its entries is.
void sp_map(struct fuzz_input *in, struct model *m)
{
    CUarrayMapInfo list[LIST_MOST];
    struct entry entries[LIST_MOST];
    enum verdict verdict = VALID;
    unsigned count = fuzz_chance(in, 3) ? 1 + fuzz_below(in, LIST_MOST) : 1;
    for (unsigned i = 0; i < count; i++) {
        struct array *a = sp_any_array(in, m);
        if (!a)
            return;
        entries[i] = any_entry(in, m, a);
        list[i] = entries[i].info;
        const enum verdict one = judge(m, &entries[i]);
        verdict = one > verdict ? one : verdict;
    }
    const CUresult r = cuMemMapArrayAsync(list, count, fuzz_chance(in, 2) ? m->stream : NULL);
    const CUarrayMapInfo *e = &list[0];
    const struct array *a = entries[0].array;
    FUZZ_CHECK(is_as_judged(r, verdict),
               "%u entries, of %zu x %zu x %zu with flags %#x and %u levels: operation %d, "
               "subresource %d, level %u, layer %u, offset %u %u %u, extent %u %u %u, tail %llu, "
               "%llu, memory %d from %llu: %d, verdict %d",
               count, a ? a->desc.Width : 0, a ? a->desc.Height : 0, a ? a->desc.Depth : 0,
               a ? a->desc.Flags : 0, a ? a->count : 0, (int)e->memOperationType,
               (int)e->subresourceType, e->subresource.sparseLevel.level,
               e->subresource.sparseLevel.layer, e->subresource.sparseLevel.offsetX,
               e->subresource.sparseLevel.offsetY, e->subresource.sparseLevel.offsetZ,
               e->subresource.sparseLevel.extentWidth, e->subresource.sparseLevel.extentHeight,
               e->subresource.sparseLevel.extentDepth, e->subresource.miptail.offset,
               e->subresource.miptail.size, entries[0].memory, e->offset, (int)r, (int)verdict);
    for (unsigned i = 0; !r && i < count; i++) {
        apply(&entries[i].range);
        note_spot(in, m, &entries[i].range);
    }
}

void sp_map_nothing(const struct model *m)
{
    CUarrayMapInfo info = {.deviceBitMask = 1};
    FUZZ_CHECK(cuMemMapArrayAsync(NULL, 1, m->stream) == CUDA_ERROR_INVALID_VALUE &&
                   cuMemMapArrayAsync(&info, 0, m->stream) == CUDA_ERROR_INVALID_VALUE,
               "an empty list");
}
