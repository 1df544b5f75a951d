// SPDX-License-Identifier: MIT
// The device heap behind cuMemAlloc: small blocks in shared 2 MiB chunks, large ones on their own.
//
// As the card does it (recorded on an H100 under driver 580): up to 1 MiB a block is a multiple of
// 512 bytes in a chunk of 2 MiB; above that it is a multiple of 2 MiB on a 2 MiB boundary, and from
// 32 MiB on begins on a 32 MiB boundary. A chunk is taken from the device's memory with its first
// block and given back with its last. Memory of a fresh chunk or large block is zero; a small block
// in a chunk that others use has the bytes of its predecessor.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rangemap.h"
#include "space.h"

enum {
    DM_HEAP_GRAIN = 512,
    DM_HEAP_CHUNK = 2 << 20,
    DM_HEAP_SMALL = 1 << 20, // the largest block that shares a chunk
    DM_HEAP_BINS = 88,
};

struct dm_chunk;

// One allocation. Lives until dm_heap_free.
struct dm_block {
    uint64_t va;
    uint64_t size; // as asked for
    void *owner;   // the caller's, NULL at first
    // The heap's:
    struct dm_chunk *chunk; // NULL: a large block
    struct dm_block *next, *previous;
    uint16_t grains,
        grains_below; // of this block, and of the one right below it in the chunk (0: the first)
    bool used;
};

struct dm_heap {
    struct dm_space *space;
    struct dm_vram *vram;
    unsigned map_flags;       // DM_MAP_*: READ and WRITE from dm_heap_init; the caller may add HOST
                              // before the first block
    struct dm_rangemap spans; // chunks and large blocks
    struct dm_block *bins[DM_HEAP_BINS];
    uint64_t filled[2]; // which bins have a block
    struct dm_chunk
        *spare; // empty chunks, out of the books but still mapped: no system calls in steady state
    unsigned spares;
    uint64_t blocks; // in use
};

void dm_heap_init(struct dm_heap *heap, struct dm_space *space, struct dm_vram *vram);
// Frees everything; every dm_block dies.
void dm_heap_finish(struct dm_heap *heap);

// -EINVAL: size 0; -ENOMEM: beyond the device's memory, or out of the host's.
int dm_heap_alloc(struct dm_heap *heap, uint64_t size, struct dm_block **out);
// -ENOMEM, and the block lives on, where the kernel has no mapping left to split (large blocks
// only).
int dm_heap_free(struct dm_heap *heap, struct dm_block *block);
// The block in use that contains va: within the size asked for, not the bytes rounded up. NULL:
// none.
struct dm_block *dm_heap_find(const struct dm_heap *heap, uint64_t va);
// The physical memory behind a block, and where the block lies in it.
struct dm_physical *dm_heap_physical(const struct dm_block *block, uint64_t *offset);
// The first block in use that starts at or above va; NULL: no more.
struct dm_block *dm_heap_next(const struct dm_heap *heap, uint64_t va);
// Gives empty chunks back to the host.
void dm_heap_trim(struct dm_heap *heap);
