// SPDX-License-Identifier: MIT
// The memory of sparse arrays and of arrays with deferred mapping.
#include "array_tiles.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "memory_device.h"
#include "mutex.h"

struct tiled_storage {
    struct em_storage storage;
    struct dm_window window;
    bool is_sparse;
    struct dm_mutex wiping;
    bool dirty; // written since the last wipe; atomic
    struct dm_sparse sparse;
    uint64_t slot_count;
    // The memory that each tile is mapped to (references): first the tiles of the levels, then
    // those of the tails. There is a single slot if the array has deferred mapping.
    struct dm_physical **slot;
    uint64_t first_slot[DM_LAYOUT_LEVELS_MAX];
    uint64_t tail_slot;
};

static void tiled_level_tiles(const struct tiled_storage *s, uint32_t level, uint32_t tiles[3])
{
    dm_sparse_tiles(&s->sparse, &s->storage.layout, level, tiles);
}

static uint64_t tiled_tail_tiles(const struct tiled_storage *s)
{
    return s->sparse.miptail_B / DM_TILE_B;
}

// ---- the storage

static void tiled_release(struct em_storage *storage)
{
    struct tiled_storage *s = storage->owner;
    dm_window_finish(&s->window);
    dm_mutex_destroy(&s->wiping);
    for (uint64_t i = 0; i < s->slot_count; i++)
        dm_physical_unref(s->slot[i]);
    dm_free(s->slot);
    dm_free(s);
}

// "Reads of unmapped tiles return zero, writes to them are dropped": the bytes of such writes are
// wiped before the next read. A write marks the storage when it is submitted and again when it has
// ended, because a read may wipe in between.
static void tiled_mark_dirty(const struct em_access *access)
{
    struct tiled_storage *s = ((struct em_storage *)access->owner)->owner;
    if (em_access_writes(access))
        __atomic_store_n(&s->dirty, true, __ATOMIC_RELAXED);
}

static bool tiled_begin_access(struct em_access *access)
{
    tiled_mark_dirty(access);
    return false;
}

static void tiled_end_access(struct em_access *access, CUresult result)
{
    (void)result;
    tiled_mark_dirty(access);
}

static const struct em_watch_ops watch_ops = {.begin = tiled_begin_access, .end = tiled_end_access};

static void tiled_before_read(struct em_storage *storage)
{
    struct tiled_storage *s = storage->owner;
    dm_mutex_lock(&s->wiping); // another reader waits until the wipe is done
    if (__atomic_exchange_n(&s->dirty, false, __ATOMIC_RELAXED))
        dm_window_wipe(&s->window);
    dm_mutex_unlock(&s->wiping);
}

static void tiled_number_slots(struct tiled_storage *s)
{
    if (!s->is_sparse) {
        s->slot_count = 1;
        return;
    }
    for (uint32_t l = 0; l < s->sparse.miptail_first_level; l++) {
        uint32_t tiles[3];
        tiled_level_tiles(s, l, tiles);
        s->first_slot[l] = s->slot_count;
        s->slot_count += (uint64_t)tiles[0] * tiles[1] * tiles[2] * s->storage.layout.layers;
    }
    s->tail_slot = s->slot_count;
    s->slot_count += tiled_tail_tiles(s) * dm_sparse_tails(&s->sparse, &s->storage.layout);
}

CUresult em_tiled_create(const struct em_array_plan *plan, struct em_storage **out)
{
    em_assert_locked();
    struct tiled_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating an array");
    s->storage = (struct em_storage){.references = 1,
                                     .layout = plan->layout,
                                     .size_B = plan->layout.size_B,
                                     .owner = s,
                                     .release = tiled_release};
    s->is_sparse =
        plan->desc.Flags & CUDA_ARRAY3D_SPARSE && !dm_sparse_init(&s->sparse, &plan->layout);
    tiled_number_slots(s);
    s->slot = dm_calloc(s->slot_count, sizeof *s->slot);
    if (!s->slot || dm_window_init(&s->window, &em_space, plan->layout.size_B, s->is_sparse)) {
        dm_free(s->slot);
        dm_free(s);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of addresses for an array of %llu bytes",
                       (unsigned long long)plan->layout.size_B);
    }
    dm_mutex_init(&s->wiping, LEAF);
    s->storage.address = s->window.va;
    s->storage.watch = s->is_sparse ? &watch_ops : NULL;
    s->storage.before_read = s->is_sparse ? tiled_before_read : NULL;
    // If nothing is mapped when a copy runs, the copy must fault in every thread.
    s->storage.may_fault = !s->is_sparse;
    *out = &s->storage;
    return CUDA_SUCCESS;
}

bool em_is_tiled(const struct em_storage *storage)
{
    return storage->release == tiled_release;
}

const struct dm_sparse *em_tiled_sparse(const struct em_storage *storage)
{
    const struct tiled_storage *s = storage->owner;
    return s->is_sparse ? &s->sparse : NULL;
}

void em_tiled_extent(const struct em_storage *storage, uint32_t level, uint32_t tiles[3])
{
    tiled_level_tiles(storage->owner, level, tiles);
}

uint64_t em_tiled_tail(const struct em_storage *storage)
{
    return tiled_tail_tiles(storage->owner);
}

uint64_t em_tiled_range_B(const struct em_storage *storage, const struct em_tile_range *r)
{
    switch (r->part) {
    case EM_TILES_WHOLE:
        return storage->size_B;
    case EM_TILES_LEVEL:
        return (uint64_t)r->count[0] * r->count[1] * r->count[2] * DM_TILE_B;
    default:
        return r->tail_count * DM_TILE_B;
    }
}

// ---- mapping

// Pages to back. They are merged if they follow each other in the window and in the memory.
struct run {
    struct tiled_storage *s;
    const struct dm_physical *physical;
    uint64_t at, from, size_B;
    int status;
};

static void tiled_run_flush(struct run *run)
{
    if (run->size_B && !run->status)
        run->status = run->physical ? dm_window_back(&run->s->window, run->at, run->size_B,
                                                     run->physical, run->from)
                                    : dm_window_unback(&run->s->window, run->at, run->size_B);
    run->size_B = 0;
}

static void tiled_run_add(struct run *run, uint64_t at, uint64_t from, uint64_t size_B)
{
    if (!run->size_B || at != run->at + run->size_B || from != run->from + run->size_B) {
        tiled_run_flush(run);
        run->at = at;
        run->from = from;
    }
    run->size_B += size_B;
}

static void tiled_run_add_tile(struct run *run, const struct dm_tile *tile, uint64_t from)
{
    struct dm_tile_run runs[DM_TILE_RUNS_MAX];
    unsigned count = dm_layout_tile_runs(&run->s->storage.layout, &run->s->sparse, tile, runs);
    for (unsigned i = 0; i < count; i++)
        tiled_run_add(run, runs[i].array_B, from + runs[i].tile_B, runs[i].size_B);
}

static void tiled_set_slot(struct tiled_storage *s, uint64_t slot, struct dm_physical *physical)
{
    struct dm_physical *before = s->slot[slot];
    s->slot[slot] = physical ? dm_physical_ref(physical) : NULL;
    dm_physical_unref(before);
}

// Visits the tiles of a range. Adds their pages to `run`, or stores `physical` in their slots if
// `run` is NULL.
static void tiled_each_tile(struct tiled_storage *s, const struct em_tile_range *r, struct run *run,
                            struct dm_physical *physical, uint64_t offset)
{
    uint32_t tiles[3];
    tiled_level_tiles(s, r->level, tiles);
    uint64_t first = s->first_slot[r->level] + (uint64_t)tiles[0] * tiles[1] * tiles[2] * r->layer;
    for (uint32_t z = 0; z < r->count[2]; z++)
        for (uint32_t y = 0; y < r->count[1]; y++)
            for (uint32_t x = 0; x < r->count[0]; x++, offset += DM_TILE_B) {
                struct dm_tile tile = {
                    r->level, r->layer, {r->at[0] + x, r->at[1] + y, r->at[2] + z}};
                uint64_t row = (uint64_t)tile.at[2] * tiles[1] + tile.at[1];
                if (run)
                    tiled_run_add_tile(run, &tile, offset);
                else
                    tiled_set_slot(s, first + row * tiles[0] + tile.at[0], physical);
            }
}

static void tiled_run_add_tail(struct run *run, const struct em_tile_range *r, uint64_t offset)
{
    const struct tiled_storage *s = run->s;
    struct dm_tile_run tail = dm_layout_tail_run(&s->storage.layout, &s->sparse, r->layer,
                                                 r->tail_at * DM_TILE_B, r->tail_count * DM_TILE_B);
    if (tail.size_B)
        tiled_run_add(run, tail.array_B, offset, tail.size_B);
}

// Backs the pages of a range, or unbacks them if `physical` is NULL.
static int tiled_back(struct tiled_storage *s, const struct em_tile_range *r,
                      const struct dm_physical *physical, uint64_t offset)
{
    struct run run = {.s = s, .physical = physical};
    if (r->part == EM_TILES_LEVEL)
        tiled_each_tile(s, r, &run, NULL, offset);
    else if (r->part == EM_TILES_TAIL)
        tiled_run_add_tail(&run, r, offset);
    else
        tiled_run_add(&run, 0, offset, s->window.size);
    tiled_run_flush(&run);
    return run.status;
}

CUresult em_tiled_map(struct em_storage *storage, const struct em_tile_range *r,
                      struct dm_physical *physical, uint64_t offset)
{
    em_assert_locked();
    struct tiled_storage *s = storage->owner;
    CUresult result = CUDA_SUCCESS;
    int status = tiled_back(s, r, physical, offset);
    if (status) {
        result = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                         "the array's memory cannot be mapped (%s); if the process has too many "
                         "mappings, raise vm.max_map_count",
                         strerror(-status));
        physical = NULL; // unmap the rest, because no slot would hold the memory
        tiled_back(s, r, NULL, 0);
    }
    if (r->part == EM_TILES_LEVEL)
        tiled_each_tile(s, r, NULL, physical, 0);
    else if (r->part == EM_TILES_TAIL)
        for (uint64_t i = 0; i < r->tail_count; i++)
            tiled_set_slot(s, s->tail_slot + r->layer * tiled_tail_tiles(s) + r->tail_at + i,
                           physical);
    else
        tiled_set_slot(s, 0, physical);
    return result;
}
