// SPDX-License-Identifier: MIT
// Layouts: the rules that place levels, layers, slices and rows, in one function for each kind.
#include "layout.h"

#include "arithmetic.h"
#include "sparse.h"
#include "tiled.h"

#include <errno.h>
#include <stddef.h>

// The card maps arrays in pages of 64 KiB: sizes are rounded up to pages, and arrays start on a
// page.
#define PAGE_B 65536u
#define BLOCK_HEIGHT_LOG2_MOST 4u
#define BLOCK_DEPTH_LOG2_MOST 4u
#define LLVMPIPE_TILE_PX 4u
#define LLVMPIPE_ALIGN_B 64u
#define LLVMPIPE_START_ALIGN_B 16u // from its memory requirements; newer versions require more
#define SWIFTSHADER_ALIGN_B 16u

// The extent of a level in texels; missing dimensions count as 1.
static uint64_t level_extent(uint64_t extent_px, uint32_t level)
{
    return dm_layout_minify(extent_px ? extent_px : 1, level);
}

static unsigned min_u(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned max_u(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

// The functions of arithmetic.h for terms of a longer formula: `*ok` becomes false on overflow and
// stays false.
static uint64_t checked_mul(uint64_t a, uint64_t b, bool *ok)
{
    uint64_t product;

    *ok &= dm_mul(a, b, &product);
    return product;
}

static uint64_t checked_add(uint64_t a, uint64_t b, bool *ok)
{
    uint64_t sum;

    *ok &= dm_add(a, b, &sum);
    return sum;
}

static uint64_t checked_align_up(uint64_t value, uint64_t alignment, bool *ok)
{
    uint64_t rounded;

    *ok &= dm_round_up(value, alignment, &rounded);
    return rounded;
}

// The largest log2 up to `most` whose block of unit << log2 is at most 1.5 times the extent.
static unsigned block_log2(unsigned most, unsigned unit, uint64_t extent)
{
    unsigned log2 = most;

    while (log2 && ((uint64_t)unit << log2) * 2 > extent * 3)
        log2--;
    return log2;
}

// Rounds up to a multiple of 1 << log2. Extents are small, so this cannot overflow.
static uint64_t round_up_log2(uint64_t extent, unsigned log2)
{
    return dm_div_up(extent, UINT64_C(1) << log2) << log2;
}

static void halve_block_heights(struct dm_layout *l)
{
    for (uint32_t i = 0; i < l->levels; i++)
        if (l->level[i].block_height_log2_gob)
            l->level[i].block_height_log2_gob--;
}

// Blocks of an array that has tiles are as high and deep as a tile, so that a tile is a row of
// blocks [sparse_tiles]. An array that is smaller than a tile in some direction has the usual ones.
static void choose_tiles(const struct dm_layout *l, unsigned *height_log2, unsigned *depth_log2)
{
    const struct dm_layout_level *v = &l->level[0];
    unsigned log2[3];

    if (!dm_sparse_tile(l, log2) || v->width_px < l->block_px << log2[0] ||
        v->height_px < l->block_px << log2[1] || v->depth < 1u << log2[2])
        return;
    *height_log2 = log2[1] - dm_log2_up(DM_GOB_HEIGHT);
    *depth_log2 = log2[2];
}

// A GOB is 64 bytes by 8 rows; kn_tile.h draws the order inside it. A block is a stack of GOBs, on
// top of each other in 2D arrays and one behind the other in 3D arrays, so that texels that are
// close in the image are close in memory. Each cell is a GOB, and the number is its place in
// memory:
//
//   48x20 texels of 4 bytes:          32x16x2 texels of 4 bytes:
//   blocks of 2 GOBs, rows 20 to      blocks of 2 slices
//   31 are padding                    slice 0     slice 1
//   ┌────┬────┬────┐                  ┌────┬────┐ ┌────┬────┐
//   │  0 │  2 │  4 │                  │  0 │  2 │ │  1 │  3 │
//   │  1 │  3 │  5 │                  ├────┼────┤ ├────┼────┤
//   ├────┼────┼────┤                  │  4 │  6 │ │  5 │  7 │
//   │  6 │  8 │ 10 │                  └────┴────┘ └────┴────┘
//   │  7 │  9 │ 11 │
//   └────┴────┴────┘
//
// A layer holds the chain of levels. Only its end is rounded up, to the block of level 0:
//
//   offset_B of level 0   of level 1    of level 2           layer_stride_B
//   ▼                     ▼             ▼                    ▼
//   ┌─────────────────────┬─────────────┬─────────┬──────────┬─────────────────
//   │ level 0             │ level 1     │ level 2 │ padding  │ level 0 of layer 1 …
//   └─────────────────────┴─────────────┴─────────┴──────────┴─────────────────
//
// Blocks of level 0 have up to 16 GOBs: high blocks for 2D arrays, deep blocks for 3D arrays, and
// one GOB for 1D arrays. The choice depends on the extent in texels, even if an element is a block
// of texels. Each further level shrinks the block to the size that covers its extent in elements.
// Images of video formats follow another rule (desc->block_height_log2_least).
static bool place_block_linear(struct dm_layout *l, const struct dm_layout_desc *desc)
{
    bool ok = true;
    unsigned height_log2 = 0, depth_log2 = 0, least_log2 = 0;
    uint64_t offset_B = 0, stride_B;

    if (l->dimensions == 2) {
        least_log2 = desc->block_height_log2_least;
        height_log2 =
            least_log2 ? desc->block_height_log2_most
                       : block_log2(BLOCK_HEIGHT_LOG2_MOST, DM_GOB_HEIGHT, l->level[0].height_px);
    }
    if (l->dimensions == 3)
        depth_log2 = block_log2(BLOCK_DEPTH_LOG2_MOST, 1, l->level[0].depth);
    if (desc->like) {
        height_log2 = desc->like->block_height_log2_gob;
        depth_log2 = desc->like->block_depth_log2_gob;
    }
    if (desc->sparse)
        choose_tiles(l, &height_log2, &depth_log2);
    for (uint32_t i = 0; i < l->levels; i++) {
        struct dm_layout_level *v = &l->level[i];
        uint64_t rows_gob = dm_div_up(v->height_el, DM_GOB_HEIGHT);
        unsigned level_height_log2 = max_u(min_u(height_log2, dm_log2_up(rows_gob)), least_log2);
        unsigned level_depth_log2 = min_u(depth_log2, dm_log2_up(v->depth));
        uint64_t depth = round_up_log2(v->depth, level_depth_log2);

        v->block_height_log2_gob = (uint8_t)level_height_log2;
        v->block_depth_log2_gob = (uint8_t)level_depth_log2;
        v->width_gob = dm_div_up((uint64_t)v->width_el * l->element_B, DM_GOB_WIDTH_B);
        v->height_gob = (uint32_t)round_up_log2(rows_gob, level_height_log2);
        v->pitch_B = (uint64_t)v->width_gob * DM_GOB_WIDTH_B;
        v->slice_B = checked_mul(v->pitch_B, (uint64_t)v->height_gob * DM_GOB_HEIGHT, &ok);
        v->size_B = checked_mul(v->slice_B, depth, &ok);
        v->offset_B = offset_B;
        offset_B = checked_add(offset_B, v->size_B, &ok);
    }
    stride_B = offset_B;
    if (l->layered)
        stride_B = checked_align_up(offset_B,
                                    (uint64_t)DM_GOB_B << l->level[0].block_height_log2_gob
                                                       << l->level[0].block_depth_log2_gob,
                                    &ok);
    for (uint32_t i = 0; i < l->levels; i++)
        l->level[i].layer_stride_B = stride_B;
    if (desc->half_blocks)
        halve_block_heights(l);
    l->total_B = checked_mul(stride_B, l->layers, &ok);
    l->size_B = checked_align_up(l->total_B, PAGE_B, &ok);
    l->alignment_B = PAGE_B;
    return ok;
}

static bool place_pitch(struct dm_layout *l, uint64_t pitch_B)
{
    bool ok = true;
    struct dm_layout_level *v = &l->level[0];
    uint64_t row_B = (uint64_t)v->width_el * l->element_B;

    if (l->levels != 1 || (pitch_B && pitch_B < row_B))
        return false;
    v->offset_B = 0;
    v->pitch_B = pitch_B ? pitch_B : row_B;
    v->slice_B = checked_mul(v->pitch_B, v->height_el, &ok);
    v->size_B = checked_mul(v->slice_B, v->depth, &ok);
    v->layer_stride_B = v->size_B;
    l->total_B = l->size_B = checked_mul(v->size_B, l->layers, &ok);
    l->alignment_B = 1;
    return ok;
}

// Rows and columns are rounded up to the rasteriser's 4 by 4 texels (1D images: only columns).
// Levels are rounded up to 64 bytes. So are pitches, except those of compressed formats.
static bool place_llvmpipe(struct dm_layout *l)
{
    bool ok = true;
    uint64_t offset_B = 0;

    for (uint32_t i = 0; i < l->levels; i++) {
        struct dm_layout_level *v = &l->level[i];
        uint64_t columns = checked_align_up(v->width_px, LLVMPIPE_TILE_PX, &ok);
        uint64_t rows = l->dimensions == 1 ? v->height_px
                                           : checked_align_up(v->height_px, LLVMPIPE_TILE_PX, &ok);

        v->pitch_B = dm_div_up(columns, l->block_px) * l->element_B;
        if (l->block_px == 1)
            v->pitch_B = checked_align_up(v->pitch_B, LLVMPIPE_ALIGN_B, &ok);
        v->slice_B = checked_mul(v->pitch_B, dm_div_up(rows, l->block_px), &ok);
        v->layer_stride_B = v->slice_B;
        v->size_B = checked_mul(checked_mul(v->slice_B, v->depth, &ok), l->layers, &ok);
        v->offset_B = offset_B;
        offset_B = checked_add(offset_B, checked_align_up(v->size_B, LLVMPIPE_ALIGN_B, &ok), &ok);
    }
    l->total_B = l->size_B = offset_B;
    l->alignment_B = LLVMPIPE_START_ALIGN_B;
    return ok;
}

static bool place_swiftshader(struct dm_layout *l)
{
    bool ok = true;
    uint64_t offset_B = 0;
    unsigned border = l->cube && l->block_px == 1;

    for (uint32_t i = 0; i < l->levels; i++) {
        struct dm_layout_level *v = &l->level[i];

        if (l->block_px > 1) {
            v->pitch_B = (uint64_t)v->width_el * l->element_B;
            v->slice_B = checked_mul(v->pitch_B, v->height_el, &ok);
        } else {
            v->pitch_B = checked_align_up(v->width_px + 2 * border, 2, &ok) * l->element_B;
            v->slice_B =
                checked_mul(v->pitch_B, checked_align_up(v->height_px + 2 * border, 2, &ok), &ok);
            v->slice_B = checked_align_up(v->slice_B, SWIFTSHADER_ALIGN_B, &ok);
        }
        v->size_B = checked_mul(v->slice_B, v->depth, &ok);
        v->offset_B = offset_B + border * (v->pitch_B + l->element_B);
        offset_B = checked_add(offset_B, v->size_B, &ok);
    }
    for (uint32_t i = 0; i < l->levels; i++)
        l->level[i].layer_stride_B = offset_B;
    l->total_B = l->size_B = checked_mul(offset_B, l->layers, &ok);
    l->alignment_B = SWIFTSHADER_ALIGN_B;
    return ok;
}

uint32_t dm_layout_levels_most(uint64_t width_px, uint64_t height_px, uint64_t depth)
{
    uint64_t extent = width_px | height_px | depth;
    uint32_t levels = 1;

    while (extent >>= 1)
        levels++;
    return levels;
}

static bool desc_is_valid(const struct dm_layout_desc *d)
{
    uint32_t most = dm_layout_levels_most(d->width_px, d->height_px, d->depth);

    return d->width_px && d->width_px <= DM_LAYOUT_EXTENT_MAX &&
           d->height_px <= DM_LAYOUT_EXTENT_MAX && d->depth <= DM_LAYOUT_EXTENT_MAX &&
           d->layers <= DM_LAYOUT_EXTENT_MAX && d->element_B && d->element_B <= 64 &&
           (!d->word_B || d->word_B >= d->element_B) && d->block_px <= 16 && d->levels &&
           d->levels <= most && d->levels <= DM_LAYOUT_LEVELS_MAX && !(d->depth && d->layers) &&
           !(d->depth && !d->height_px) && !(d->cube && !d->layers);
}

int dm_layout_init(struct dm_layout *layout, const struct dm_layout_desc *desc)
{
    struct dm_layout l = {.kind = desc->kind};
    bool ok = false;

    if (!desc_is_valid(desc))
        return -EINVAL;
    l.dimensions = desc->depth ? 3 : desc->height_px ? 2 : 1;
    l.layered = desc->layers != 0;
    l.cube = desc->cube;
    l.element_B = desc->element_B;
    l.word_B = desc->word_B ? desc->word_B : desc->element_B;
    l.block_px = desc->block_px ? desc->block_px : 1;
    l.layers = desc->layers ? desc->layers : 1;
    l.levels = desc->levels;
    for (uint32_t i = 0; i < l.levels && i < DM_LAYOUT_LEVELS_MAX; i++) {
        struct dm_layout_level *v = &l.level[i];

        v->width_px = level_extent(desc->width_px, i);
        v->height_px = level_extent(desc->height_px, i);
        v->depth = level_extent(desc->depth, i);
        v->width_el = dm_div_up(v->width_px, l.block_px);
        v->height_el = dm_div_up(v->height_px, l.block_px);
    }
    switch (desc->kind) {
    case DM_LAYOUT_BLOCK_LINEAR:
        ok = place_block_linear(&l, desc);
        break;
    case DM_LAYOUT_PITCH:
        ok = place_pitch(&l, desc->pitch_B);
        break;
    case DM_LAYOUT_LLVMPIPE:
        ok = place_llvmpipe(&l);
        break;
    case DM_LAYOUT_SWIFTSHADER:
        ok = place_swiftshader(&l);
        break;
    }
    if (!ok || l.size_B > INT64_MAX)
        return -EINVAL;
    *layout = l;
    return 0;
}

uint64_t dm_layout_depth(const struct dm_layout *layout, uint32_t level)
{
    return layout->layered ? layout->layers : layout->level[level].depth;
}

uint64_t dm_layout_locate_B(const struct dm_layout *layout, uint32_t level, uint64_t x_B,
                            uint64_t y, uint64_t z)
{
    const struct dm_layout_level *v;
    uint64_t layer_B, slice;
    struct kn_tiled tiled;

    if (level >= layout->levels || z >= dm_layout_depth(layout, level))
        return DM_LAYOUT_NOWHERE;
    v = &layout->level[level];
    if (x_B >= (uint64_t)v->width_el * layout->element_B || y >= v->height_el)
        return DM_LAYOUT_NOWHERE;
    layer_B = v->offset_B + (layout->layered ? z : 0) * v->layer_stride_B;
    slice = layout->layered ? 0 : z;
    if (layout->kind != DM_LAYOUT_BLOCK_LINEAR)
        return layer_B + slice * v->slice_B + y * v->pitch_B + x_B;
    tiled = dm_level_tiled(v);
    return layer_B + kn_tiled_offset_B(&tiled, x_B, y, slice);
}

uint64_t dm_layout_locate(const struct dm_layout *layout, uint32_t level, uint64_t x_el, uint64_t y,
                          uint64_t z)
{
    if (x_el >= DM_LAYOUT_EXTENT_MAX)
        return DM_LAYOUT_NOWHERE;
    return dm_layout_locate_B(layout, level, x_el * layout->element_B, y, z);
}

int dm_layout_span(const struct dm_layout *layout, const struct dm_layout_box *box,
                   uint64_t *first_B, uint64_t *end_B)
{
    uint64_t x_end, y_end, z_end, first, last;

    if (!box->width_B || !box->height || !box->depth || !dm_add(box->x_B, box->width_B, &x_end) ||
        !dm_add(box->y, box->height, &y_end) || !dm_add(box->z, box->depth, &z_end))
        return -EINVAL;
    // In each layout the offset is a sum of three terms, one of x, one of y and one of z. A term
    // never falls as its coordinate rises. So no byte lies before the first or after the last.
    first = dm_layout_locate_B(layout, box->level, box->x_B, box->y, box->z);
    last = dm_layout_locate_B(layout, box->level, x_end - 1, y_end - 1, z_end - 1);
    if (first == DM_LAYOUT_NOWHERE || last == DM_LAYOUT_NOWHERE)
        return -EINVAL;
    *first_B = first;
    *end_B = last + 1;
    return 0;
}

int dm_layout_layer(const struct dm_layout *layout, uint32_t layer, struct dm_layout *out)
{
    if (layer >= layout->layers)
        return -EINVAL;
    *out = *layout;
    out->layered = out->cube = false;
    out->layers = 1;
    for (uint32_t i = 0; i < out->levels; i++)
        out->level[i].offset_B += layer * out->level[i].layer_stride_B;
    return 0;
}

struct dm_layout_desc dm_layout_describe(const struct dm_layout *layout)
{
    const struct dm_layout_level *v = &layout->level[0];

    return (struct dm_layout_desc){
        .kind = layout->kind,
        .element_B = layout->element_B,
        .word_B = layout->word_B,
        .block_px = layout->block_px,
        .width_px = v->width_px,
        .height_px = layout->dimensions > 1 ? v->height_px : 0,
        .depth = layout->dimensions > 2 ? v->depth : 0,
        .layers = layout->layered ? layout->layers : 0,
        .levels = layout->levels,
        .cube = layout->cube,
        .pitch_B = layout->kind == DM_LAYOUT_PITCH ? v->pitch_B : 0,
    };
}

void dm_layout_memory_requirements(const struct dm_layout *layout, uint64_t *size_B,
                                   uint64_t *alignment_B)
{
    *size_B = layout->size_B;
    *alignment_B = layout->alignment_B;
}
