// SPDX-License-Identifier: MIT
// Storage whose memory comes from cuMemMapArrayAsync: at once (deferred mapping), or tile by tile
// (sparse).
#pragma once
#include "array.h"
#include "backing.h"
#include "sparse.h"

// The part that one entry maps: the whole array, a box of tiles in one level and layer, or a range
// of a mip tail.
struct em_tile_range {
    enum { EM_TILES_WHOLE, EM_TILES_LEVEL, EM_TILES_TAIL } part;
    uint32_t level, layer;
    uint32_t at[3], count[3];     // in tiles
    uint64_t tail_at, tail_count; // in the tail, in tiles of 64 KiB
};

// Creates the storage with nothing mapped. Precondition: em_lock held.
CUresult em_tiled_create(const struct em_array_plan *plan, struct em_storage **out);
// Returns true if em_tiled_create made the storage.
bool em_is_tiled(const struct em_storage *storage);
// Returns the tiles of a sparse array, or NULL if the array has deferred mapping.
const struct dm_sparse *em_tiled_sparse(const struct em_storage *storage);
// The number of tiles of a level in x, y and z, and of the mip tail of one layer.
void em_tiled_extent(const struct em_storage *storage, uint32_t level, uint32_t tiles[3]);
uint64_t em_tiled_tail(const struct em_storage *storage);
// Returns the bytes of memory that a range needs.
uint64_t em_tiled_range_B(const struct em_storage *storage, const struct em_tile_range *range);
// Maps a valid range to the memory from `offset` on, or unmaps it if `physical` is NULL. Holds a
// reference to the memory until the range is mapped again or the array ends. If it returns
// CUDA_ERROR_OUT_OF_MEMORY, the previous mapping of the range is lost.
// Precondition: em_lock held.
CUresult em_tiled_map(struct em_storage *storage, const struct em_tile_range *range,
                      struct dm_physical *physical, uint64_t offset);
