// SPDX-License-Identifier: MIT
// The heap's bookkeeping, for heap.c and for the test that checks it.
#pragma once
#include <stddef.h>

#include "heap.h"

enum {
    DM_HEAP_GRAINS = DM_HEAP_CHUNK / DM_HEAP_GRAIN,
    DM_HEAP_WORDS = DM_HEAP_GRAINS / 64,
};

struct dm_chunk {
    uint64_t va;
    struct dm_physical *physical;
    struct dm_chunk *next; // in the list of spare chunks
    unsigned used;         // blocks in use
    unsigned dirty; // number of grains, from the start, that may have been written since the chunk
                    // was zero
    uint64_t starts[DM_HEAP_WORDS]; // bit g is set if a block, used or free, starts at grain g
    uint64_t nonempty;              // bit w is set if starts[w] is not 0
    struct dm_block blocks[DM_HEAP_GRAINS];
};

struct dm_large {
    struct dm_block block;
    struct dm_physical *physical;
    uint64_t span;
};

// The lowest bit of an owner in `spans` is set if it is a chunk. Returns NULL for a struct
// dm_large.
static inline struct dm_chunk *dm_chunk_of(void *owner)
{
    return (uintptr_t)owner & 1 ? (struct dm_chunk *)((char *)owner - 1) : NULL;
}

static inline unsigned dm_block_grain(const struct dm_block *b)
{
    return (unsigned)(b - b->chunk->blocks);
}

// Bins: one for each size up to 15 grains, then eight for each power of two.
static inline unsigned dm_heap_bin(unsigned grains)
{
    if (grains < 16)
        return grains;
    unsigned k = 31u - (unsigned)__builtin_clz(grains);
    return 16 + (k - 4) * 8 + ((grains >> (k - 3)) & 7);
}

// Finds the block, used or free, that contains a grain.
static inline struct dm_block *dm_block_at(struct dm_chunk *c, unsigned grain)
{
    unsigned word = grain / 64;
    uint64_t bits = c->starts[word] & (~UINT64_C(0) >> (63 - grain % 64));
    if (!bits) {
        // Grain 0 always starts a block, so there is a lower word.
        word = 63 - (unsigned)__builtin_clzll(c->nonempty & ((UINT64_C(1) << word) - 1));
        bits = c->starts[word];
    }
    return &c->blocks[word * 64 + 63 - (unsigned)__builtin_clzll(bits)];
}

// Returns NULL if the block is the last one of its chunk.
static inline struct dm_block *dm_block_above(struct dm_block *b)
{
    unsigned grain = dm_block_grain(b) + b->grains;
    return grain < DM_HEAP_GRAINS ? &b->chunk->blocks[grain] : NULL;
}
