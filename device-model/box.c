// SPDX-License-Identifier: MIT
// Box copies and fills: converts surfaces to the descriptions that kernels/ takes, and chooses the
// kernel.
#include "box.h"

#include "kn.h"
#include "tiled.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// The place of a box in a surface: block-linear, or rows and slices at fixed distances.
struct view {
    uint8_t *start; // linear: first byte of the box; tiled: start of the surface
    bool tiled;
    struct kn_tiled shape; // tiled only, as is `at`
    struct dm_position at;
    uint64_t pitch_B, slice_B; // linear only
};

static bool surface_has_tiled_layers(const struct dm_surface *s)
{
    return s->layout && s->layout->kind == DM_LAYOUT_BLOCK_LINEAR && s->layout->layered;
}

static bool extent_fits(uint64_t start, uint64_t count, uint64_t end)
{
    return start <= end && count <= end - start;
}

static int check_linear_box(const struct dm_surface *s, struct dm_position at,
                            struct dm_box_extent extent)
{
    uint64_t rows = extent.height ? extent.height - 1 : 0,
             slices = extent.depth ? extent.depth - 1 : 0;
    uint64_t y, z, x, height_B, row_B, slice_B, last;
    bool wrong;

    if (__builtin_add_overflow(at.x_B, extent.width_B, &x) ||
        __builtin_add_overflow(at.y, rows, &y) || __builtin_add_overflow(at.z, slices, &z))
        return -EINVAL;
    if (__builtin_mul_overflow(rows, s->pitch_B, &height_B) ||
        __builtin_add_overflow(height_B, extent.width_B, &height_B))
        return -EINVAL;
    if ((rows && s->pitch_B < extent.width_B) || (slices && s->slice_B < height_B))
        return -EINVAL;
    wrong = __builtin_mul_overflow(y, s->pitch_B, &row_B);
    wrong |= __builtin_mul_overflow(z, s->slice_B, &slice_B);
    wrong |= __builtin_add_overflow(row_B, slice_B, &last);
    wrong |= __builtin_add_overflow(last, x, &last);
    wrong |= __builtin_add_overflow(last, (uint64_t)(uintptr_t)s->base, &last);
    return wrong ? -EINVAL : 0;
}

int dm_box_check(const struct dm_surface *s, struct dm_position at, struct dm_box_extent extent)
{
    const struct dm_layout_level *v;

    if (!s->layout)
        return check_linear_box(s, at, extent);
    if (s->level >= s->layout->levels)
        return -EINVAL;
    v = &s->layout->level[s->level];
    if (!extent_fits(at.x_B, extent.width_B, (uint64_t)v->width_el * s->layout->element_B) ||
        !extent_fits(at.y, extent.height, v->height_el) ||
        !extent_fits(at.z, extent.depth, dm_layout_depth(s->layout, s->level)))
        return -EINVAL;
    return 0;
}

static struct view view_of(const struct dm_surface *s, struct dm_position at)
{
    const struct dm_layout *layout = s->layout;
    const struct dm_layout_level *v;
    struct view view = {.start = s->base, .pitch_B = s->pitch_B, .slice_B = s->slice_B, .at = at};

    if (layout) {
        struct dm_layout_rows rows = dm_layout_rows(layout, s->level);

        v = &layout->level[s->level];
        view.start += rows.offset_B;
        view.pitch_B = rows.pitch_B;
        view.slice_B = rows.slice_B;
        view.tiled = layout->kind == DM_LAYOUT_BLOCK_LINEAR;
        if (view.tiled) {
            view.shape = dm_level_tiled(v);
            if (layout->layered) {
                view.start += at.z * v->layer_stride_B;
                view.at.z = 0;
            }
            return view;
        }
    }
    view.start += at.z * view.slice_B + at.y * view.pitch_B + at.x_B;
    return view;
}

static struct kn_surface surface_of(const struct view *v)
{
    return (struct kn_surface){v->start, v->shape, v->at.x_B, v->at.y, v->at.z};
}

static struct kn_linear linear_of(const struct view *v)
{
    return (struct kn_linear){v->start, v->pitch_B, v->slice_B};
}

static struct kn_box box_of(struct dm_box_extent e)
{
    return (struct kn_box){e.width_B, e.height, e.depth};
}

static uint64_t span_B(const struct view *v, struct dm_box_extent e)
{
    return (e.depth - 1) * v->slice_B + (e.height - 1) * v->pitch_B + e.width_B;
}

// Copies as if through a buffer, for any two pitches. Rows ascend in both places by at least their
// width, so a row that moves down can only overwrite the source of a lower row, and a row that
// moves up only that of a higher row. So the rows that move down are copied from the bottom, and
// the others from the top.
static void move_overlapping_rows(const struct view *d, const struct view *s,
                                  struct dm_box_extent e)
{
    uint64_t rows = e.depth * e.height;

    for (uint64_t i = 0; i < 2 * rows; i++) {
        bool upwards = i >= rows;
        uint64_t row = upwards ? 2 * rows - 1 - i : i, z = row / e.height, y = row % e.height;
        uint8_t *to = d->start + z * d->slice_B + y * d->pitch_B,
                *from = s->start + z * s->slice_B + y * s->pitch_B;

        if (upwards == ((uintptr_t)to >= (uintptr_t)from))
            kn_move(to, from, e.width_B);
    }
}

static void copy_linear_boxes(const struct view *d, const struct view *s, struct dm_box_extent e)
{
    uintptr_t d0 = (uintptr_t)d->start, s0 = (uintptr_t)s->start;
    struct kn_linear to = linear_of(d), from = linear_of(s);
    struct kn_box box = box_of(e);

    if (d0 < s0 + span_B(s, e) && s0 < d0 + span_B(d, e))
        move_overlapping_rows(d, s, e);
    else
        kn_copy_box(&to, &from, &box);
}

// Divides an extent into pieces that end at multiples of `unit` in the destination. Pieces are
// numbered in an order in which no piece is overwritten before it has been read: the one that is
// farthest in the direction of the move comes first.
struct pieces {
    uint64_t extent, unit, phase, count;
    bool upwards;
};

static struct pieces pieces_of(uint64_t extent, uint64_t unit, uint64_t to, uint64_t from)
{
    uint64_t phase = to % unit;

    return (struct pieces){extent, unit, phase, (phase + extent + unit - 1) / unit, to > from};
}

static uint64_t piece_at(const struct pieces *p, uint64_t i, uint64_t *size)
{
    uint64_t at = p->upwards ? p->count - 1 - i : i, first = at ? at * p->unit - p->phase : 0,
             end = (at + 1) * p->unit - p->phase;

    *size = (end < p->extent ? end : p->extent) - first;
    return first;
}

// Copies as if through a buffer between boxes of one block-linear surface, in pieces of up to eight
// rows. A piece only overwrites bytes that have been read: in an earlier slice, in earlier rows, or
// in earlier columns, whichever is the first axis along which the box moves.
static void retile_overlapping_boxes(const struct view *d, const struct view *s,
                                     struct dm_box_extent e)
{
    enum { WIDTH_B = 512, ROWS = 8 };
    _Alignas(64) uint8_t stage[WIDTH_B * ROWS];
    struct kn_linear buffer = {stage, WIDTH_B, 0};
    const struct dm_position *to = &d->at, *from = &s->at;
    struct pieces across = pieces_of(e.width_B, WIDTH_B, to->x_B, from->x_B),
                  down = pieces_of(e.height, ROWS, to->y, from->y);
    struct pieces deep = pieces_of(e.depth, 1, to->z, from->z);
    uint64_t width_B, rows, slices;

    for (uint64_t k = 0; k < deep.count; k++) {
        uint64_t z = piece_at(&deep, k, &slices);
        for (uint64_t j = 0; j < down.count; j++) {
            uint64_t y = piece_at(&down, j, &rows);
            for (uint64_t i = 0; i < across.count; i++) {
                uint64_t x_B = piece_at(&across, i, &width_B);
                struct kn_box box = {width_B, rows, 1};
                struct kn_surface src = {s->start, s->shape, from->x_B + x_B, from->y + y,
                                         from->z + z};
                struct kn_surface dst = {d->start, d->shape, to->x_B + x_B, to->y + y, to->z + z};

                kn_untile_box(&buffer, &src, &box);
                kn_tile_box(&dst, &buffer, &box);
            }
        }
    }
}

static bool ranges_apart(uint64_t a, uint64_t b, uint64_t extent)
{
    return a >= b ? a - b >= extent : b - a >= extent;
}

static bool boxes_overlap(const struct view *d, const struct view *s, struct dm_box_extent e)
{
    return d->start == s->start && !ranges_apart(d->at.x_B, s->at.x_B, e.width_B) &&
           !ranges_apart(d->at.y, s->at.y, e.height) && !ranges_apart(d->at.z, s->at.z, e.depth);
}

static void copy_box_views(const struct view *d, const struct view *s, struct dm_box_extent e)
{
    struct kn_surface dst = surface_of(d), src = surface_of(s);
    struct kn_linear to = linear_of(d), from = linear_of(s);
    struct kn_box box = box_of(e);

    if (d->tiled && s->tiled && boxes_overlap(d, s, e))
        retile_overlapping_boxes(d, s, e);
    else if (d->tiled && s->tiled)
        kn_retile_box(&dst, &src, &box);
    else if (d->tiled)
        kn_tile_box(&dst, &from, &box);
    else if (s->tiled)
        kn_untile_box(&to, &src, &box);
    else
        copy_linear_boxes(d, s, e);
}

int dm_box_copy(const struct dm_surface *dst, struct dm_position dst_at,
                const struct dm_surface *src, struct dm_position src_at,
                struct dm_box_extent extent)
{
    uint64_t steps = 1;

    if (dm_box_check(dst, dst_at, extent) || dm_box_check(src, src_at, extent))
        return -EINVAL;
    if (!extent.width_B || !extent.height || !extent.depth)
        return 0;
    // Layers of a block-linear array are separate surfaces.
    if (surface_has_tiled_layers(dst) || surface_has_tiled_layers(src)) {
        steps = extent.depth;
        extent.depth = 1;
    }
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t z = dst_at.z > src_at.z
                         ? steps - 1 - i
                         : i; // within one array, a layer must be read before it is overwritten
        struct view d = view_of(dst, (struct dm_position){dst_at.x_B, dst_at.y, dst_at.z + z});
        struct view s = view_of(src, (struct dm_position){src_at.x_B, src_at.y, src_at.z + z});

        copy_box_views(&d, &s, extent);
    }
    return 0;
}

static void fill_box_rows(uint8_t *start, uint64_t pitch_B, uint64_t width_B, uint64_t rows,
                          const void *value, unsigned value_B)
{
    uint16_t half;
    uint32_t word;

    switch (value_B) {
    case 1:
        kn_fill8_rows(start, pitch_B, *(const uint8_t *)value, width_B, rows);
        break;
    case 2:
        memcpy(&half, value, sizeof half);
        kn_fill16_rows(start, pitch_B, half, width_B / 2, rows);
        break;
    case 4:
        memcpy(&word, value, sizeof word);
        kn_fill32_rows(start, pitch_B, word, width_B / 4, rows);
        break;
    default:
        kn_fill_wide_rows(start, pitch_B, value, value_B, width_B / value_B, rows);
    }
}

// Fills a block-linear box by tiling one filled row from the stack with pitch 0, a part of the
// width at a time.
static void fill_tiled_box(const struct view *v, struct dm_box_extent e, const void *value,
                           unsigned value_B)
{
    enum { ROW_B = 1024 };
    uint8_t row[ROW_B];
    struct kn_linear repeated = {row, 0, 0};

    fill_box_rows(row, ROW_B, ROW_B, 1, value, value_B);
    for (uint64_t x_B = 0; x_B < e.width_B; x_B += ROW_B) {
        uint64_t width_B = e.width_B - x_B < ROW_B ? e.width_B - x_B : ROW_B;
        struct kn_surface part = {v->start, v->shape, v->at.x_B + x_B, v->at.y, v->at.z};

        kn_tile_box(&part, &repeated, &(struct kn_box){width_B, e.height, e.depth});
    }
}

int dm_box_fill(const struct dm_surface *surface, struct dm_position at,
                struct dm_box_extent extent, const void *value, unsigned value_B)
{
    uint64_t steps = extent.depth;
    bool tiles_3d = surface->layout && surface->layout->kind == DM_LAYOUT_BLOCK_LINEAR &&
                    !surface->layout->layered;

    if (!value_B || value_B > 16 || (value_B & (value_B - 1)) || extent.width_B % value_B ||
        dm_box_check(surface, at, extent))
        return -EINVAL;
    if (!extent.width_B || !extent.height || !extent.depth)
        return 0;
    if (tiles_3d)
        steps = 1;
    else
        extent.depth = 1;
    for (uint64_t i = 0; i < steps; i++, at.z++) {
        struct view v = view_of(surface, at);

        if (v.tiled)
            fill_tiled_box(&v, extent, value, value_B);
        else
            fill_box_rows(v.start, v.pitch_B, extent.width_B, extent.height, value, value_B);
    }
    return 0;
}
