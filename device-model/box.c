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

// The place of a box, as kernels/ takes it: in a block-linear surface, or in linear memory.
struct view {
    bool tiled;
    struct kn_surface surface; // tiled only
    struct kn_linear linear;   // linear only
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

static void view_init(struct view *view, const struct dm_surface *s, struct dm_position at)
{
    const struct dm_layout *layout = s->layout;
    struct dm_layout_rows rows = {0, s->pitch_B, s->slice_B};
    uint8_t *start = s->base;

    view->tiled = layout && layout->kind == DM_LAYOUT_BLOCK_LINEAR;
    if (view->tiled) {
        const struct dm_layout_level *v = &layout->level[s->level];

        start += v->offset_B + (layout->layered ? at.z * v->layer_stride_B : 0);
        view->surface =
            (struct kn_surface){start, dm_level_tiled(v), at.x_B, at.y, layout->layered ? 0 : at.z};
        return;
    }
    if (layout)
        rows = dm_layout_rows(layout, s->level);
    start += rows.offset_B + at.z * rows.slice_B + at.y * rows.pitch_B + at.x_B;
    view->linear = (struct kn_linear){start, rows.pitch_B, rows.slice_B};
}

static uint64_t span_B(const struct kn_linear *l, const struct kn_box *box)
{
    return (box->slices - 1) * l->slice_B + (box->rows - 1) * l->pitch_B + box->width_B;
}

// The distance that rows move, which is linear in the slice and the row. One bit more than
// addresses have, because it can be negative.
typedef __int128 distance;

// The indices [first, end) of `count` for which start + index * step is negative.
struct run {
    uint64_t first, end;
};

static struct run negative_run(distance start, distance step, uint64_t count)
{
    distance edge;

    if (step > 0) { // those below the edge
        edge = start < 0 ? (step - 1 - start) / step : 0;
        return (struct run){0, edge < (distance)count ? (uint64_t)edge : count};
    }
    if (step < 0) { // those from the edge on
        edge = start < 0 ? 0 : start / -step + 1;
        return (struct run){edge < (distance)count ? (uint64_t)edge : count, count};
    }
    return (struct run){0, start < 0 ? count : 0};
}

// The other indices. A run that is not empty begins at 0 or ends at `count`.
static struct run other_run(struct run r, uint64_t count)
{
    if (r.first == r.end)
        return (struct run){0, count};
    return r.first ? (struct run){0, r.first} : (struct run){r.end, count};
}

static uint8_t *row_at(const struct kn_linear *l, uint64_t z, uint64_t y)
{
    return (uint8_t *)l->first + z * l->slice_B + y * l->pitch_B;
}

// Reads a byte of each page of rows that stay where they are, so that memory that is not there
// faults as it does in any other copy.
static void touch_rows(const struct kn_linear *l, const struct kn_box *box)
{
    enum { PAGE_B = 4096 };

    for (uint64_t z = 0; z < box->slices; z++)
        for (uint64_t y = 0; y < box->rows; y++) {
            const volatile uint8_t *row = row_at(l, z, y);

            for (uint64_t x_B = 0; x_B < box->width_B; x_B += PAGE_B)
                (void)row[x_B];
            (void)row[box->width_B - 1];
        }
}

// Copies between overlapping boxes as if through a buffer, for any two pitches. Successive rows are
// at least a width apart in both places. So a row that moves to a lower address can only overwrite
// the source of an earlier row, and one that moves to a higher address only that of a later row:
// the former are moved from the first to the last, then the latter from the last to the first.
// Slices and rows that do not move in the direction of the pass are skipped without a visit: a box
// may claim 2^40 slices, and only a row that is moved can fault.
static void move_overlapping_rows(const struct kn_linear *d, const struct kn_linear *s,
                                  const struct kn_box *box)
{
    distance start = (distance)(uintptr_t)d->first - (distance)(uintptr_t)s->first;
    distance per_slice = box->slices > 1 ? (distance)d->slice_B - (distance)s->slice_B : 0;
    distance per_row = box->rows > 1 ? (distance)d->pitch_B - (distance)s->pitch_B : 0;
    distance across = (distance)(box->rows - 1) * per_row;
    struct run slices, rows;

    if (!start && !per_slice && !per_row) {
        touch_rows(d, box);
        return;
    }
    slices = negative_run(start + (across < 0 ? across : 0), per_slice, box->slices);
    for (uint64_t z = slices.first; z < slices.end; z++) {
        rows = negative_run(start + (distance)z * per_slice, per_row, box->rows);
        for (uint64_t y = rows.first; y < rows.end; y++)
            kn_move(row_at(d, z, y), row_at(s, z, y), box->width_B);
    }
    slices = negative_run(start + (across > 0 ? across : 0), per_slice, box->slices);
    slices = other_run(slices, box->slices);
    for (uint64_t z = slices.end; z-- > slices.first;) {
        rows = negative_run(start + (distance)z * per_slice, per_row, box->rows);
        rows = other_run(rows, box->rows);
        for (uint64_t y = rows.end; y-- > rows.first;)
            kn_move(row_at(d, z, y), row_at(s, z, y), box->width_B);
    }
}

static void copy_linear_boxes(const struct kn_linear *d, const struct kn_linear *s,
                              const struct kn_box *box)
{
    uintptr_t d0 = (uintptr_t)d->first, s0 = (uintptr_t)s->first;

    if (d0 < s0 + span_B(s, box) && s0 < d0 + span_B(d, box))
        move_overlapping_rows(d, s, box);
    else
        kn_copy_box(d, s, box);
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
static void retile_overlapping_boxes(const struct kn_surface *d, const struct kn_surface *s,
                                     const struct kn_box *box)
{
    enum { WIDTH_B = 512, ROWS = 8 };
    _Alignas(64) uint8_t stage[WIDTH_B * ROWS];
    const struct kn_linear buffer = {stage, WIDTH_B, 0};
    struct pieces across = pieces_of(box->width_B, WIDTH_B, d->x_B, s->x_B);
    struct pieces down = pieces_of(box->rows, ROWS, d->y, s->y);
    struct pieces deep = pieces_of(box->slices, 1, d->z, s->z);
    uint64_t slices;

    for (uint64_t k = 0; k < deep.count; k++) {
        uint64_t z = piece_at(&deep, k, &slices);
        for (uint64_t j = 0; j < down.count; j++) {
            struct kn_box part = {.slices = 1};
            uint64_t y = piece_at(&down, j, &part.rows);
            for (uint64_t i = 0; i < across.count; i++) {
                uint64_t x_B = piece_at(&across, i, &part.width_B);
                struct kn_surface from = {s->base, s->tiled, s->x_B + x_B, s->y + y, s->z + z};
                struct kn_surface to = {d->base, d->tiled, d->x_B + x_B, d->y + y, d->z + z};

                kn_untile_box(&buffer, &from, &part);
                kn_tile_box(&to, &buffer, &part);
            }
        }
    }
}

static bool ranges_apart(uint64_t a, uint64_t b, uint64_t extent)
{
    return a >= b ? a - b >= extent : b - a >= extent;
}

static bool boxes_overlap(const struct kn_surface *d, const struct kn_surface *s,
                          const struct kn_box *box)
{
    return d->base == s->base && !ranges_apart(d->x_B, s->x_B, box->width_B) &&
           !ranges_apart(d->y, s->y, box->rows) && !ranges_apart(d->z, s->z, box->slices);
}

static void copy_box_views(const struct view *d, const struct view *s, const struct kn_box *box)
{
    if (d->tiled && s->tiled && boxes_overlap(&d->surface, &s->surface, box))
        retile_overlapping_boxes(&d->surface, &s->surface, box);
    else if (d->tiled && s->tiled)
        kn_retile_box(&d->surface, &s->surface, box);
    else if (d->tiled)
        kn_tile_box(&d->surface, &s->linear, box);
    else if (s->tiled)
        kn_untile_box(&d->linear, &s->surface, box);
    else
        copy_linear_boxes(&d->linear, &s->linear, box);
}

int dm_box_copy(const struct dm_surface *dst, struct dm_position dst_at,
                const struct dm_surface *src, struct dm_position src_at,
                struct dm_box_extent extent)
{
    uint64_t steps = 1;
    struct kn_box box;

    if (dm_box_check(dst, dst_at, extent) || dm_box_check(src, src_at, extent))
        return -EINVAL;
    if (!extent.width_B || !extent.height || !extent.depth)
        return 0;
    // Layers of a block-linear array are separate surfaces.
    if (surface_has_tiled_layers(dst) || surface_has_tiled_layers(src)) {
        steps = extent.depth;
        extent.depth = 1;
    }
    box = (struct kn_box){extent.width_B, extent.height, extent.depth};
    for (uint64_t i = 0; i < steps; i++) {
        // Within one array, a layer must be read before it is overwritten.
        uint64_t z = dst_at.z > src_at.z ? steps - 1 - i : i;
        struct view d, s;

        view_init(&d, dst, (struct dm_position){dst_at.x_B, dst_at.y, dst_at.z + z});
        view_init(&s, src, (struct dm_position){src_at.x_B, src_at.y, src_at.z + z});
        copy_box_views(&d, &s, &box);
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
static void fill_tiled_box(const struct kn_surface *s, struct dm_box_extent e, const void *value,
                           unsigned value_B)
{
    enum { ROW_B = 1024 };
    uint8_t row[ROW_B];
    struct kn_linear repeated = {row, 0, 0};

    fill_box_rows(row, ROW_B, ROW_B, 1, value, value_B);
    for (uint64_t x_B = 0; x_B < e.width_B; x_B += ROW_B) {
        uint64_t width_B = e.width_B - x_B < ROW_B ? e.width_B - x_B : ROW_B;
        struct kn_surface part = {s->base, s->tiled, s->x_B + x_B, s->y, s->z};

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
        struct view v;

        view_init(&v, surface, at);
        if (v.tiled)
            fill_tiled_box(&v.surface, extent, value, value_B);
        else
            fill_box_rows(v.linear.first, v.linear.pitch_B, extent.width_B, extent.height, value,
                          value_B);
    }
    return 0;
}
