// SPDX-License-Identifier: MIT
// The memory of arrays that get it from cuMemMapArrayAsync: as a whole (deferred mapping), or tile
// by tile (sparse).
#pragma once
#include "array.h"
#include "backing.h"
#include "sparse.h"

// A part that is mapped at once: the whole array, a box of tiles of one level and layer, or a piece
// of a mip tail.
struct em_tile_range {
    enum { EM_TILES_WHOLE, EM_TILES_LEVEL, EM_TILES_TAIL } part;
    uint32_t level, layer;
    uint32_t at[3], count[3];     // in tiles
    uint64_t tail_at, tail_count; // in tiles of 64 KiB of the tail
};

// The storage of such an array, with nothing mapped. Precondition: em_lock held.
CUresult em_tiled_create(const struct em_array_plan *plan, struct em_storage **out);
// Whether a storage is one.
bool em_is_tiled(const struct em_storage *storage);
// The sparse array's tiles; NULL: the mapping is deferred as a whole.
const struct dm_sparse *em_tiled_sparse(const struct em_storage *storage);
// Tiles of a level in x, y and z; of a mip tail (of one layer).
void em_tiled_extent(const struct em_storage *storage, uint32_t level, uint32_t tiles[3]);
uint64_t em_tiled_tail(const struct em_storage *storage);
// Bytes of memory that a range takes.
uint64_t em_tiled_range_B(const struct em_storage *storage, const struct em_tile_range *range);
// Maps a valid range to the memory from `offset` on, or (NULL) to nothing. What it takes references
// to is let go when it is mapped otherwise or the array ends. CUDA_ERROR_OUT_OF_MEMORY: part of the
// range may have been mapped. Precondition: em_lock held.
CUresult em_tiled_map(struct em_storage *storage, const struct em_tile_range *range,
                      struct dm_physical *physical, uint64_t offset);
