// SPDX-License-Identifier: MIT
// Two-level segregated bins of blocks in units of 512 bytes, in chunks of 2 MiB. Large blocks come
// straight from the address space.
#include "heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "guard.h"
#include "heap_chunk.h"
#include "kept.h"
#include "kn_fill.h"
#include "pkey.h"

enum {
    LARGE_ALIGN = 32 << 20, // for blocks of this size and more
};

// Makes an owner for `spans` (dm_chunk_of).
static void *chunk_tag(struct dm_chunk *c)
{
    return (char *)c + 1;
}

// The first bin whose blocks all have at least `grains` grains.
static unsigned bin_above(unsigned grains)
{
    if (grains < 16)
        return grains;
    unsigned k = 31u - (unsigned)__builtin_clz(grains);
    return dm_heap_bin(grains + (1u << (k - 3)) - 1);
}

static void bin_add(struct dm_heap *heap, struct dm_block *b)
{
    unsigned i = dm_heap_bin(b->grains);
    b->previous = NULL;
    b->next = heap->bins[i];
    if (b->next)
        b->next->previous = b;
    heap->bins[i] = b;
    heap->filled[i / 64] |= UINT64_C(1) << (i % 64);
}

static void bin_remove(struct dm_heap *heap, struct dm_block *b)
{
    if (b->next)
        b->next->previous = b->previous;
    if (b->previous) {
        b->previous->next = b->next;
        return;
    }
    unsigned i = dm_heap_bin(b->grains);
    heap->bins[i] = b->next;
    if (!b->next)
        heap->filled[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

// Returns the smallest of the first blocks of a bin that have at least `grains` grains, or NULL. Of
// equal ones it is the block that was freed last: the driver, too, hands it out again first
// (recorded).
static struct dm_block *bin_best(const struct dm_heap *heap, unsigned i, unsigned grains)
{
    struct dm_block *best = NULL, *b = heap->bins[i];
    for (unsigned looks = 4; b && looks > 0; b = b->next, looks--)
        if (b->grains >= grains && (!best || b->grains < best->grains))
            best = b;
    return best;
}

static struct dm_block *bin_find(const struct dm_heap *heap, unsigned grains)
{
    struct dm_block *b = bin_best(heap, dm_heap_bin(grains), grains);
    if (b)
        return b;
    unsigned i = bin_above(grains);
    uint64_t low = i < 64 ? heap->filled[0] & (~UINT64_C(0) << i) : 0;
    if (low)
        return bin_best(heap, (unsigned)__builtin_ctzll(low), grains);
    uint64_t high = i < 64 ? heap->filled[1] : heap->filled[1] & (~UINT64_C(0) << (i - 64));
    return high ? bin_best(heap, 64 + (unsigned)__builtin_ctzll(high), grains) : NULL;
}

static void chunk_mark_start(struct dm_chunk *c, unsigned grain)
{
    c->starts[grain / 64] |= UINT64_C(1) << (grain % 64);
    c->nonempty |= UINT64_C(1) << (grain / 64);
}

static void chunk_clear_start(struct dm_chunk *c, unsigned grain)
{
    c->starts[grain / 64] &= ~(UINT64_C(1) << (grain % 64));
    if (!c->starts[grain / 64])
        c->nonempty &= ~(UINT64_C(1) << (grain / 64));
}

// Maps memory at an address of its own: kept memory, or else fresh memory.
static int heap_map_span(struct dm_heap *heap, uint64_t span, uint64_t align,
                         struct dm_physical **physical, uint64_t *va)
{
    int r = dm_va_reserve(heap->space, span, align, 0, va);
    if (r)
        return r;
    r = dm_space_take(heap->space, heap->vram, *va, span, heap->map_flags, physical);
    if (r != -ENOENT)
        goto done;
    r = dm_physical_create(heap->vram, span, 0, physical);
    if (r == -ENOMEM && heap->space->kept.size_B) { // kept blocks hold parts of the arena
        dm_kept_drop(heap->space, 0, UINT64_MAX);
        r = dm_physical_create(heap->vram, span, 0, physical);
    }
    if (r)
        goto done;
    r = dm_space_map(heap->space, *va, *physical, 0, span, heap->map_flags);
    if (r)
        dm_physical_unref(*physical);
done:
    if (r)
        dm_va_free(heap->space, *va);
    return r;
}

static int heap_unmap_span(struct dm_heap *heap, uint64_t va, struct dm_physical *physical)
{
    int r = dm_space_give(heap->space, va, physical, heap->map_flags);
    if (r == 0)
        dm_va_free(heap->space, va);
    return r;
}

static void chunk_free_whole(struct dm_heap *heap, struct dm_chunk *c)
{
    struct dm_block *b = &c->blocks[0];
    b->va = c->va;
    b->chunk = c;
    b->grains = DM_HEAP_GRAINS;
    b->grains_below = 0;
    b->used = false;
    chunk_mark_start(c, 0);
    bin_add(heap, b);
}

static void chunk_wipe(void *chunk)
{
    struct dm_chunk *c = chunk;
    uint64_t dirty_B = (uint64_t)c->dirty * DM_HEAP_GRAIN;
    kn_fill8_rows((void *)(uintptr_t)c->va, dirty_B, 0, dirty_B, 1);
}

// Takes an empty chunk back into use. Its memory becomes zero, like that of a fresh one.
static int chunk_revive(struct dm_heap *heap)
{
    struct dm_chunk *c = heap->spare;
    int r = dm_vram_commit(heap->vram, DM_HEAP_CHUNK);
    if (r)
        return r;
    // Clearing is cheaper than the page faults of fresh pages.
    uint32_t rights = dm_pkey_enter();
    r = dm_guarded(chunk_wipe, c, NULL) ? -ENOMEM : 0;
    dm_pkey_leave(rights);
    if (r) {
        dm_vram_uncommit(heap->vram, DM_HEAP_CHUNK);
        return r;
    }
    c->physical->committed = DM_HEAP_CHUNK;
    c->dirty = 0;
    heap->spare = c->next;
    heap->spares--;
    chunk_free_whole(heap, c);
    return 0;
}

static int heap_add_chunk(struct dm_heap *heap)
{
    if (heap->spare)
        return chunk_revive(heap);
    // Most of it are block descriptors that are never used, so they stay zero pages.
    uint64_t at;
    int r = dm_sys_mmap(0, sizeof(struct dm_chunk), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &at);
    if (r)
        return r;
    struct dm_chunk *c = (struct dm_chunk *)(uintptr_t)at;
    r = heap_map_span(heap, DM_HEAP_CHUNK, DM_HEAP_CHUNK, &c->physical, &c->va);
    if (r)
        goto fail_chunk;
    r = dm_rangemap_insert(&heap->spans, c->va, DM_HEAP_CHUNK, chunk_tag(c));
    if (r)
        goto fail_back;
    chunk_free_whole(heap, c);
    return 0;
fail_back:
    heap_unmap_span(heap, c->va, c->physical);
fail_chunk:
    dm_sys_munmap(at, sizeof *c);
    return r;
}

static int heap_drop_chunk(struct dm_heap *heap, struct dm_chunk *c)
{
    int r = heap_unmap_span(heap, c->va, c->physical);
    if (r)
        return r;
    dm_rangemap_remove(&heap->spans, c->va, NULL);
    dm_sys_munmap((uint64_t)(uintptr_t)c, sizeof *c);
    return 0;
}

void dm_heap_init(struct dm_heap *heap, struct dm_space *space, struct dm_vram *vram)
{
    memset(heap, 0, sizeof *heap);
    heap->space = space;
    heap->vram = vram;
    heap->map_flags = DM_MAP_READ | DM_MAP_WRITE;
    heap->spares_most = DM_HEAP_SPARES;
    dm_rangemap_init(&heap->spans);
}

void dm_heap_prepare(struct dm_heap *heap)
{
    dm_rangemap_prepare(&heap->spans);
    dm_rangemap_prepare(&heap->space->reserved);
    dm_rangemap_prepare(&heap->space->mapped);
}

void dm_heap_trim(struct dm_heap *heap, unsigned kept)
{
    while (heap->spares > kept) {
        struct dm_chunk *next = heap->spare->next;
        if (heap_drop_chunk(heap, heap->spare))
            return;
        heap->spare = next;
        heap->spares--;
    }
}

void dm_heap_finish(struct dm_heap *heap)
{
    struct dm_range range;
    while (dm_rangemap_next(&heap->spans, 0, &range)) {
        struct dm_chunk *c = dm_chunk_of(range.owner);
        struct dm_large *l = range.owner;
        heap_unmap_span(heap, range.start, c ? c->physical : l->physical);
        dm_rangemap_remove(&heap->spans, range.start, NULL);
        if (c)
            dm_sys_munmap((uint64_t)(uintptr_t)c, sizeof *c);
        else
            dm_free(l);
    }
    dm_rangemap_finish(&heap->spans);
    dm_heap_init(heap, heap->space, heap->vram);
}

static int heap_alloc_large(struct dm_heap *heap, uint64_t size, struct dm_block **out)
{
    if (size > heap->vram->total)
        return -ENOMEM;
    struct dm_large *l = dm_calloc(1, sizeof *l);
    if (!l)
        return -ENOMEM;
    l->span = (size + DM_HEAP_CHUNK - 1) & ~(uint64_t)(DM_HEAP_CHUNK - 1);
    uint64_t align = l->span >= LARGE_ALIGN ? LARGE_ALIGN : DM_HEAP_CHUNK;
    int r = heap_map_span(heap, l->span, align, &l->physical, &l->block.va);
    if (r)
        goto fail_alloc;
    r = dm_rangemap_insert(&heap->spans, l->block.va, l->span, l);
    if (r)
        goto fail_back;
    l->block.size = size;
    l->block.used = true;
    *out = &l->block;
    return 0;
fail_back:
    heap_unmap_span(heap, l->block.va, l->physical);
fail_alloc:
    dm_free(l);
    return r;
}

int dm_heap_alloc(struct dm_heap *heap, uint64_t size, struct dm_block **out)
{
    if (size == 0)
        return -EINVAL;
    if (size > DM_HEAP_SMALL) {
        int r = heap_alloc_large(heap, size, out);
        if (r == 0)
            heap->blocks++;
        return r;
    }
    unsigned grains = (unsigned)((size + DM_HEAP_GRAIN - 1) / DM_HEAP_GRAIN);
    struct dm_block *b = bin_find(heap, grains);
    if (!b) {
        int r = heap_add_chunk(heap);
        if (r)
            return r;
        b = bin_find(heap, grains);
    }
    bin_remove(heap, b);
    struct dm_chunk *c = b->chunk;
    if (b->grains > grains) {
        struct dm_block *over = dm_block_above(b), *rest = b + grains;
        rest->va = b->va + (uint64_t)grains * DM_HEAP_GRAIN;
        rest->chunk = c;
        rest->grains = (uint16_t)(b->grains - grains);
        rest->grains_below = (uint16_t)grains;
        rest->used = false;
        if (over)
            over->grains_below = rest->grains;
        b->grains = (uint16_t)grains;
        chunk_mark_start(c, dm_block_grain(rest));
        bin_add(heap, rest);
    }
    b->used = true;
    b->size = size;
    b->owner = NULL;
    c->used++;
    unsigned start = dm_block_grain(b), end = start + grains;
    b->was_zero = start >= c->dirty;
    if (end > c->dirty)
        c->dirty = end;
    heap->blocks++;
    *out = b;
    return 0;
}

static void chunk_emptied(struct dm_heap *heap, struct dm_chunk *c)
{
    bin_remove(heap, &c->blocks[0]);
    if (heap->spares >= heap->spares_most && heap_drop_chunk(heap, c) == 0)
        return;
    // cuMemGetInfo must show the memory as free at once.
    dm_vram_uncommit(heap->vram, c->physical->committed);
    c->physical->committed = 0;
    c->next = heap->spare;
    heap->spare = c;
    heap->spares++;
}

void dm_heap_set_unwritten(struct dm_block *b)
{
    struct dm_chunk *c = b->chunk;
    if (c && b->was_zero && dm_block_grain(b) + b->grains == c->dirty)
        c->dirty = dm_block_grain(b);
}

int dm_heap_free(struct dm_heap *heap, struct dm_block *b)
{
    struct dm_chunk *c = b->chunk;
    if (!c) {
        struct dm_large *l = (struct dm_large *)b;
        int r = heap_unmap_span(heap, b->va, l->physical);
        if (r)
            return r;
        dm_rangemap_remove(&heap->spans, b->va, NULL);
        dm_free(l);
        heap->blocks--;
        return 0;
    }
    heap->blocks--;
    c->used--;
    b->used = false;
    b->owner = NULL;
    struct dm_block *over = dm_block_above(b),
                    *under = b->grains_below ? b - b->grains_below : NULL;
    if (over && !over->used) {
        bin_remove(heap, over);
        chunk_clear_start(c, dm_block_grain(over));
        b->grains = (uint16_t)(b->grains + over->grains);
    }
    if (under && !under->used) {
        bin_remove(heap, under);
        chunk_clear_start(c, dm_block_grain(b));
        under->grains = (uint16_t)(under->grains + b->grains);
        b = under;
    }
    over = dm_block_above(b);
    if (over)
        over->grains_below = b->grains;
    bin_add(heap, b);
    if (c->used == 0)
        chunk_emptied(heap, c);
    return 0;
}

struct dm_block *dm_heap_find(const struct dm_heap *heap, uint64_t va)
{
    void *owner = dm_rangemap_owner(&heap->spans, va);
    if (!owner)
        return NULL;
    struct dm_chunk *c = dm_chunk_of(owner);
    struct dm_block *b = c ? dm_block_at(c, (unsigned)((va - c->va) / DM_HEAP_GRAIN))
                           : &((struct dm_large *)owner)->block;
    return b->used && va - b->va < b->size ? b : NULL;
}

bool dm_heap_is_fresh(const struct dm_block *block)
{
    return !block->chunk;
}

uint64_t dm_heap_span_end(const struct dm_block *block)
{
    return block->chunk ? block->chunk->va + DM_HEAP_CHUNK
                        : block->va + ((const struct dm_large *)block)->span;
}

struct dm_physical *dm_heap_physical(const struct dm_block *block, uint64_t *offset)
{
    *offset = block->chunk ? block->va - block->chunk->va : 0;
    return block->chunk ? block->chunk->physical : ((const struct dm_large *)block)->physical;
}

struct dm_block *dm_heap_next(const struct dm_heap *heap, uint64_t va)
{
    struct dm_range range;
    for (; dm_rangemap_next(&heap->spans, va, &range); va = range.start + range.size) {
        struct dm_chunk *c = dm_chunk_of(range.owner);
        if (!c) {
            if (range.start >= va)
                return &((struct dm_large *)range.owner)->block;
            continue;
        }
        if (c->used == 0)
            continue;
        for (struct dm_block *b =
                 va > c->va ? dm_block_at(c, (unsigned)((va - c->va) / DM_HEAP_GRAIN)) : c->blocks;
             b; b = dm_block_above(b))
            if (b->used && b->va >= va)
                return b;
    }
    return NULL;
}
