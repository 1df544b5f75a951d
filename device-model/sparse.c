// SPDX-License-Identifier: MIT
// Sparse arrays: the shape of tiles and mip tails, and their places in the block-linear layout.
#include "sparse.h"

#include "arithmetic.h"

#include <errno.h>
#include <stddef.h>

// The largest element of any array format. A 3D tile of larger ones would be shallower than a
// block.
#define WORD_B_MAX 16u

// A tile is the most cubic (3D) or square (2D) box of elements in 64 KiB, x longest.
bool dm_sparse_tile(const struct dm_layout *layout, unsigned log2[3])
{
    unsigned elements_log2, x_log2, y_log2, z_log2 = 0;

    if (layout->kind != DM_LAYOUT_BLOCK_LINEAR || layout->dimensions == 1 || layout->cube ||
        layout->word_B > WORD_B_MAX || (layout->word_B & (layout->word_B - 1)))
        return false;
    elements_log2 = dm_log2_up(DM_TILE_B / layout->word_B);
    if (layout->dimensions == 3) {
        x_log2 = (elements_log2 + 2) / 3;
        y_log2 = (elements_log2 - x_log2 + 1) / 2;
        z_log2 = elements_log2 - x_log2 - y_log2;
    } else {
        x_log2 = (elements_log2 + 1) / 2;
        y_log2 = elements_log2 - x_log2;
    }
    log2[0] = x_log2;
    log2[1] = y_log2;
    log2[2] = z_log2;
    return true;
}

// The tail begins at the first level that is smaller than a tile in some direction. If that is
// level 0, all layers share one tail.
int dm_sparse_init(struct dm_sparse *sparse, const struct dm_layout *layout)
{
    unsigned tile_log2[3];
    uint32_t first = 0;
    uint64_t tail_B = 0;

    if (!dm_sparse_tile(layout, tile_log2))
        return -EINVAL;
    sparse->tile_width_px = layout->block_px << tile_log2[0];
    sparse->tile_height_px = layout->block_px << tile_log2[1];
    sparse->tile_depth = 1u << tile_log2[2];

    while (first < layout->levels && layout->level[first].width_px >= sparse->tile_width_px &&
           layout->level[first].height_px >= sparse->tile_height_px &&
           layout->level[first].depth >= sparse->tile_depth)
        first++;
    if (first == 0)
        tail_B = layout->total_B;
    else if (first < layout->levels)
        for (uint32_t i = first; i < layout->levels; i++)
            tail_B += layout->level[i].size_B;
    sparse->miptail_first_level = first;
    sparse->miptail_B = dm_div_up(tail_B, DM_TILE_B) * DM_TILE_B; // at most the array's size_B
    sparse->single_miptail = first == 0;
    return 0;
}

void dm_sparse_tiles(const struct dm_sparse *sparse, const struct dm_layout *layout, uint32_t level,
                     uint32_t tiles[3])
{
    const struct dm_layout_level *v = &layout->level[level];

    tiles[0] = (uint32_t)dm_div_up(v->width_px, sparse->tile_width_px);
    tiles[1] = (uint32_t)dm_div_up(v->height_px, sparse->tile_height_px);
    tiles[2] = (uint32_t)dm_div_up(v->depth, sparse->tile_depth);
}

uint32_t dm_sparse_tails(const struct dm_sparse *sparse, const struct dm_layout *layout)
{
    if (!sparse->miptail_B)
        return 0;
    return sparse->single_miptail ? 1 : layout->layers;
}

bool dm_sparse_axis(uint32_t tile_px, uint32_t level_px, uint32_t offset_px, uint32_t extent_px,
                    uint32_t *first_tile, uint32_t *tiles)
{
    uint64_t end_px = (uint64_t)offset_px + extent_px;

    if (!extent_px || offset_px % tile_px || end_px > level_px ||
        (end_px % tile_px && end_px != level_px))
        return false;
    *first_tile = offset_px / tile_px;
    *tiles = (uint32_t)dm_div_up(extent_px, tile_px);
    return true;
}

// Appends a run, or extends the last one if the new one continues it on both sides.
static unsigned append(struct dm_tile_run *runs, unsigned count, struct dm_tile_run run)
{
    struct dm_tile_run *last = count ? &runs[count - 1] : NULL;

    if (last && last->array_B + last->size_B == run.array_B &&
        last->tile_B + last->size_B == run.tile_B) {
        last->size_B += run.size_B;
        return count;
    }
    runs[count] = run;
    return count + 1;
}

// The memory of a tile is itself block-linear, in columns that are one GOB wide. A tile takes each
// block of the level as a whole (block <= tile in y and z) or cuts it into pieces of as many rows
// of GOBs as the tile is high. Either way one column of a block inside the tile is contiguous in
// the array: a piece.
//
//          x, in GOBs              tile's memory          array's memory (width W GOBs)
//        +----+----+----+
//      y | p0 | p1 | p2 |         p0 p1 p2 | p3 p4 p5     p0 p1 p2 ... W | p3 p4 p5 ... W
//        +----+----+----+
//        | p3 | p4 | p5 |
//        +----+----+----+         then the next z         then the next z
unsigned dm_layout_tile_runs(const struct dm_layout *layout, const struct dm_sparse *sparse,
                             const struct dm_tile *tile, struct dm_tile_run runs[DM_TILE_RUNS_MAX])
{
    const struct dm_layout_level *v = &layout->level[tile->level];
    uint64_t layer_B = v->offset_B + tile->layer * v->layer_stride_B, tile_B = 0;
    // The tile, in GOBs along x and y and in slices.
    uint32_t columns =
        sparse->tile_width_px / layout->block_px * layout->element_B / DM_GOB_WIDTH_B;
    uint32_t rows = sparse->tile_height_px / layout->block_px / DM_GOB_HEIGHT;
    uint32_t x0 = tile->at[0] * columns, y0 = tile->at[1] * rows;
    uint32_t z0 = tile->at[2] * sparse->tile_depth;
    // The level's blocks, and the pieces of them that a tile holds.
    uint32_t block_rows = 1u << v->block_height_log2_gob;
    uint32_t block_depth = 1u << v->block_depth_log2_gob;
    uint32_t piece_rows = rows < block_rows ? rows : block_rows;
    uint64_t piece_B = (uint64_t)piece_rows * block_depth * DM_GOB_B;
    uint64_t block_B = (uint64_t)block_rows * block_depth * DM_GOB_B;
    unsigned count = 0;

    for (uint32_t z = z0; z < z0 + sparse->tile_depth; z += block_depth)
        for (uint32_t y = y0; y < y0 + rows; y += piece_rows)
            for (uint32_t x = x0; x < x0 + columns; x++, tile_B += piece_B) {
                uint64_t block_row, block, in_block_B;

                if (x >= v->width_gob || y >= v->height_gob || z >= v->depth)
                    continue;
                block_row =
                    (uint64_t)(z / block_depth) * (v->height_gob / block_rows) + y / block_rows;
                block = block_row * v->width_gob + x;
                in_block_B = (uint64_t)(y % block_rows) * block_depth * DM_GOB_B;
                count = append(
                    runs, count,
                    (struct dm_tile_run){layer_B + block * block_B + in_block_B, tile_B, piece_B});
            }
    return count;
}

struct dm_tile_run dm_layout_tail_run(const struct dm_layout *layout,
                                      const struct dm_sparse *sparse, uint32_t layer,
                                      uint64_t tail_B, uint64_t size_B)
{
    const struct dm_layout_level *v = &layout->level[sparse->miptail_first_level];
    struct dm_tile_run run = {.tile_B = tail_B};
    uint64_t end_B = layout->size_B;

    if (sparse->single_miptail) {
        run.array_B = tail_B;
    } else {
        // The tail of a layer is the end of its chain of levels.
        run.array_B = v->offset_B + layer * v->layer_stride_B + tail_B;
        if (layer + 1 < layout->layers)
            end_B = (layer + 1) * v->layer_stride_B;
    }
    if (run.array_B < end_B)
        run.size_B = size_B < end_B - run.array_B ? size_B : end_B - run.array_B;
    return run;
}
