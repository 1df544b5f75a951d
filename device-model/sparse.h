// SPDX-License-Identifier: MIT
// Sparse arrays: how a block-linear array is cut into tiles of 64 KiB, and which bytes of the array
// each tile covers. A tile, or 64 KiB of a mip tail, is what cuMemMapArrayAsync maps at once.
#pragma once

#include "layout.h"

#define DM_TILE_B 65536u
#define DM_TILE_RUNS_MAX (DM_TILE_B / DM_GOB_B) // no run is shorter than a GOB

struct dm_sparse {
    uint32_t tile_width_px, tile_height_px, tile_depth;
    uint32_t miptail_first_level; // number of levels if there is no tail (CUarrays then report 0)
    uint64_t miptail_B;           // of one tail; 0: no tail
    bool single_miptail;          // all layers share one tail; otherwise each has its own
};

// Position of one tile: level, layer, and tiles along x, y and z.
struct dm_tile {
    uint32_t level, layer;
    uint32_t at[3];
};

// Consecutive bytes of the array that are consecutive in the memory mapped to it, too.
struct dm_tile_run {
    uint64_t array_B; // offset from the start of the array
    uint64_t tile_B;  // offset from the start of the tile's or the tail's memory
    uint64_t size_B;
};

// The shape of a tile, in elements: width, height and depth. Returns false if such an array cannot
// be sparse (see dm_sparse_init). Only `kind`, `dimensions`, `cube` and `word_B` of the layout
// count.
bool dm_sparse_tile(const struct dm_layout *layout, unsigned log2[3]);

// Computes the sparse properties of an array. Returns 0, or -EINVAL if such an array cannot be
// sparse: 1D arrays, cubes, layouts other than block-linear, elements that are longer than 16 bytes
// or not a power of two.
int dm_sparse_init(struct dm_sparse *sparse, const struct dm_layout *layout);

// Number of tiles of a level along x, y and z. The last ones may reach past the level's edge.
void dm_sparse_tiles(const struct dm_sparse *sparse, const struct dm_layout *layout, uint32_t level,
                     uint32_t tiles[3]);

// Number of mip tails: 0, 1, or one for each layer.
uint32_t dm_sparse_tails(const struct dm_sparse *sparse, const struct dm_layout *layout);

// Converts a range of texels along one axis to tiles. Returns false unless the range starts on a
// tile, and ends on a tile inside the level or at the level's edge.
bool dm_sparse_axis(uint32_t tile_px, uint32_t level_px, uint32_t offset_px, uint32_t extent_px,
                    uint32_t *first_tile, uint32_t *tiles);

// Fills `runs` with the byte runs that a tile covers, in the order of the tile's memory, and
// returns their number. A tile at an edge has fewer than 64 KiB: the parts outside of the array
// leave gaps in the tile's memory.
unsigned dm_layout_tile_runs(const struct dm_layout *layout, const struct dm_sparse *sparse,
                             const struct dm_tile *tile, struct dm_tile_run runs[DM_TILE_RUNS_MAX]);

// Returns the bytes [tail_B, tail_B + size_B) of the mip tail of `layer` (0 for a shared tail) as a
// run of the array. size_B is 0 if they all lie outside of the array, because a tail is rounded up
// to whole tiles.
struct dm_tile_run dm_layout_tail_run(const struct dm_layout *layout,
                                      const struct dm_sparse *sparse, uint32_t layer,
                                      uint64_t tail_B, uint64_t size_B);
