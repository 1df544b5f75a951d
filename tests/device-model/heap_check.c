// SPDX-License-Identifier: MIT
// Checks every invariant of a heap's bookkeeping.
#include "heap_check.h"

#include <errno.h>

#include "heap_chunk.h"

static int check_chunk(const struct dm_heap *heap, struct dm_chunk *c, uint64_t *blocks,
                       uint64_t *free_blocks)
{
    unsigned used = 0, below = 0, marks = 0;
    for (unsigned grain = 0; grain < DM_HEAP_GRAINS;) {
        const struct dm_block *b = &c->blocks[grain];
        if (b->chunk != c || b->grains == 0 || b->grains_below != below ||
            grain + b->grains > DM_HEAP_GRAINS ||
            b->va != c->va + (uint64_t)grain * DM_HEAP_GRAIN ||
            dm_block_at(c, grain + b->grains - 1) != b)
            return -EILSEQ;
        if (b->used ? grain + b->grains > c->dirty : below && !(b - below)->used)
            return -EILSEQ;
        used += b->used;
        *free_blocks += !b->used;
        marks++;
        below = b->grains;
        grain += below;
    }
    for (unsigned w = 0; w < DM_HEAP_WORDS; w++) {
        marks -= (unsigned)__builtin_popcountll(c->starts[w]);
        if ((c->starts[w] != 0) != (c->nonempty >> w & 1))
            return -EILSEQ;
    }
    *blocks += used;
    return used == c->used && marks == 0 && c->physical->vram == heap->vram ? 0 : -EILSEQ;
}

int heap_check(const struct dm_heap *heap)
{
    struct dm_range range;
    uint64_t blocks = 0, free_blocks = 0, binned = 0, spares = 0;
    for (uint64_t at = 0; dm_rangemap_next(&heap->spans, at, &range);
         at = range.start + range.size) {
        struct dm_chunk *c = dm_chunk_of(range.owner);
        if (!c)
            blocks++;
        else if (check_chunk(heap, c, &blocks, &free_blocks))
            return -EILSEQ;
    }
    for (unsigned i = 0; i < DM_HEAP_BINS; i++) {
        if ((heap->bins[i] != NULL) != (heap->filled[i / 64] >> (i % 64) & 1))
            return -EILSEQ;
        for (const struct dm_block *b = heap->bins[i]; b; b = b->next, binned++)
            if (b->used || dm_heap_bin(b->grains) != i || (b->next && b->next->previous != b))
                return -EILSEQ;
    }
    for (const struct dm_chunk *c = heap->spare; c; c = c->next)
        spares++;
    return blocks == heap->blocks && binned + spares == free_blocks && spares == heap->spares
               ? 0
               : -EILSEQ;
}
