// SPDX-License-Identifier: MIT
// A heap of device memory, for cuMemAlloc and arrays: small blocks share chunks of 2 MiB, and large
// blocks have memory of their own.
//
// It follows the driver (recorded on an H100 under driver 580): below 2 MiB, a block is a multiple
// of 512 bytes in a chunk of 2 MiB. Larger blocks are multiples of 2 MiB on a 2 MiB boundary, and
// blocks of 32 MiB and more begin on a 32 MiB boundary. A chunk is taken from the device's memory
// with its first block and given back with its last. The memory of a fresh chunk or large block is
// zero, except for bytes that a kernel has stored outside of all blocks. A small block in a chunk
// that is in use has the bytes of its predecessors.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rangemap.h"
#include "space.h"

enum {
    DM_HEAP_GRAIN = 512,
    DM_HEAP_CHUNK = 2 << 20,
    DM_HEAP_SMALL = DM_HEAP_CHUNK - DM_HEAP_GRAIN, // the largest block that shares a chunk
    DM_HEAP_BINS = 88,
    DM_HEAP_SPARES = 8,
};

struct dm_chunk;

// One allocation. It lives until dm_heap_free.
struct dm_block {
    uint64_t va;
    uint64_t size; // as requested
    void *owner;   // belongs to the caller; NULL at first
    // Fields of the heap:
    struct dm_chunk *chunk; // NULL: a large block
    struct dm_block *next, *previous;
    uint16_t grains,
        grains_below; // size of this block, and of the one right below it in the chunk (0: this is
                      // the first)
    bool used;
    bool was_zero; // when it was allocated; of blocks in chunks
};

struct dm_heap {
    struct dm_space *space;
    struct dm_vram *vram;
    unsigned map_flags; // DM_MAP_*: READ and WRITE after dm_heap_init; the caller may add HOST
                        // before the first block
    struct dm_rangemap spans; // chunks and large blocks
    struct dm_block *bins[DM_HEAP_BINS];
    uint64_t filled[2];     // a bit for each bin that has a block
    struct dm_chunk *spare; // empty chunks: not committed, but still mapped, so that a steady state
                            // needs no system calls
    unsigned spares, spares_most; // spares_most: DM_HEAP_SPARES, unless the caller sets it
    uint64_t blocks;              // in use
};

void dm_heap_init(struct dm_heap *heap, struct dm_space *space, struct dm_vram *vram);
// Allocates the memory that the heap and its space need for their first block, as far as possible.
void dm_heap_prepare(struct dm_heap *heap);
// Frees everything. No dm_block remains valid.
void dm_heap_finish(struct dm_heap *heap);

// Returns 0, -EINVAL for size 0, or -ENOMEM if the device's memory or the host's is exhausted.
int dm_heap_alloc(struct dm_heap *heap, uint64_t size, struct dm_block **out);
// States that nobody has written the block, which is about to be freed: if it was zero, its bytes
// need not be cleared when the chunk is used again.
void dm_heap_set_unwritten(struct dm_block *block);
// Returns 0, or -ENOMEM if the kernel has no mappings left to split one (large blocks only). The
// block then stays in use.
int dm_heap_free(struct dm_heap *heap, struct dm_block *block);
// Finds the block in use that contains va, counting its requested size and not the rounded one.
// Returns NULL if no block contains it.
struct dm_block *dm_heap_find(const struct dm_heap *heap, uint64_t va);
// Whether a block has memory of its own, which no earlier block has used. It begins with zeros.
bool dm_heap_is_fresh(const struct dm_block *block);
// Returns the end of the chunk that a block is in, or of the memory of a large block.
uint64_t dm_heap_span_end(const struct dm_block *block);
// Returns the physical memory of a block, and the block's offset in it.
struct dm_physical *dm_heap_physical(const struct dm_block *block, uint64_t *offset);
// Finds the first block in use that starts at or above va. Returns NULL if no block does.
struct dm_block *dm_heap_next(const struct dm_heap *heap, uint64_t va);
// Gives the memory of empty chunks back to the host, except `kept` of them.
void dm_heap_trim(struct dm_heap *heap, unsigned kept);
