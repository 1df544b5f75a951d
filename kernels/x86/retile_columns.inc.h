// SPDX-License-Identifier: MIT
// Copies between surfaces by 64-byte lines. A line holds a column of a GOB: 16 bytes of each of
// four rows. Whatever the places of the two boxes, a line of the destination is made of at most
// four lines of the source: of two columns side by side (if the boxes begin at different bytes of a
// column), and of two halves of GOBs (if they begin at different rows):
//
//   source lines     | left   | right  |       upper: rows 0 to 3
//                    +--------+--------+
//                    | left   | right  |       lower: rows 4 to 7
//   destination          | line  |
//
// In this file, "columns" counts columns of 16 bytes from the GOB in which the box begins.
#pragma once

#include "gob_half.h"
#include "kn_tile.h"

#include <stdbool.h>

// Offset of a column of a row of GOBs, in its upper half.
KN_INLINE uint64_t column_B(uint64_t column, uint64_t step_B)
{
    return (column >> 2) * step_B + line_B(column & 3);
}

// How the columns of the two boxes match; the same for all rows of a box.
struct column_plan {
    uint64_t dst_step_B, src_step_B;
    int64_t src_offset; // source column of a destination column's first byte, minus that column
    int64_t dst_first, dst_last;
    int64_t src_first, src_last;
    uint64_t dst_head, dst_tail; // masks of the 16 bytes of the first and of the last column
    uint64_t src_head, src_tail;
    __m512i low, high; // shuffles that take the bytes of a column from two source columns
    int64_t run_first; // first destination column that needs no masks on either side
    uint64_t run;      // number of such columns
    uint64_t run_dst_B[4], run_src_B[4]; // offsets of the first four of them: the column stored,
                                         // and the last source column that it needs
    bool joined;                         // a destination column comes from two source columns
};

KN_INLINE void column_plan_init(struct column_plan *p, const struct kn_surface *dst,
                                const struct kn_surface *src, uint64_t width_B)
{
    int64_t to = dst->x_B & 63, from = src->x_B & 63, shift = (from - to) & 15;
    uint64_t dst_end = (uint64_t)to + width_B - 1, src_end = (uint64_t)from + width_B - 1;
    int64_t run_last;
    __m512i up =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i at = _mm512_add_epi8(up, _mm512_set1_epi8((char)shift));

    p->dst_step_B = kn_tiled_step_B(&dst->tiled);
    p->src_step_B = kn_tiled_step_B(&src->tiled);
    p->src_offset = (from - to - shift) / 16;
    p->dst_first = to >> 4;
    p->dst_last = (int64_t)dst_end >> 4;
    p->src_first = from >> 4;
    p->src_last = (int64_t)src_end >> 4;
    p->dst_head = 0xffff << (to & 15) & 0xffff;
    p->dst_tail = 0xffff >> (15 - (dst_end & 15));
    p->src_head = 0xffff << (from & 15) & 0xffff;
    p->src_tail = 0xffff >> (15 - (src_end & 15));
    // A shuffle gives 0 if the highest bit of the index is set; the low four bits choose.
    p->low = _mm512_mask_mov_epi8(at, _mm512_cmpgt_epu8_mask(at, _mm512_set1_epi8(15)),
                                  _mm512_set1_epi8((char)0x80));
    p->high = _mm512_mask_mov_epi8(at, _mm512_cmplt_epu8_mask(at, _mm512_set1_epi8(16)),
                                   _mm512_set1_epi8((char)0x80));
    p->joined = shift != 0;
    p->run_first = p->dst_first + (p->dst_head != 0xffff);
    run_last = p->dst_last - (p->dst_tail != 0xffff);
    // The last source column needs a mask if the box ends inside it.
    if (p->joined && p->src_tail != 0xffff && run_last + p->src_offset + 1 == p->src_last)
        run_last--;
    p->run = run_last >= p->run_first ? (uint64_t)(run_last - p->run_first) + 1 : 0;
    for (unsigned i = 0; i < 4; i++) {
        int64_t src_column = p->run_first + p->src_offset + p->joined;

        p->run_dst_B[i] = column_B((uint64_t)p->run_first + i, p->dst_step_B);
        p->run_src_B[i] = column_B((uint64_t)src_column + i, p->src_step_B);
    }
}

// Four rows of the destination (half a row of GOBs): which of them are in the box, and the lines of
// the source that hold them.
struct four_rows {
    uint8_t *dst;
    const uint8_t *upper, *lower;             // halves of GOBs of the source
    uint64_t lanes, upper_lanes, lower_lanes; // lane masks of the rows in the box
    __m512i rotate;                           // puts rows of `upper` and `lower` in order
};

// All four rows are in the box and lie in one half of the source's GOBs; some rows, of one half;
// rows of two halves.
enum rows_match { ROWS_WHOLE, ROWS_PART, ROWS_SPLIT };

KN_INLINE __m512i column_load(const struct column_plan *p, const struct four_rows *r,
                              int64_t column, enum rows_match match)
{
    uint64_t bytes = 0xffff, at = column_B((uint64_t)column, p->src_step_B);

    if (column == p->src_first)
        bytes &= p->src_head;
    if (column == p->src_last)
        bytes &= p->src_tail;
    if (column < p->src_first || column > p->src_last)
        return _mm512_setzero_si512();
    if (match != ROWS_SPLIT)
        return _mm512_maskz_loadu_epi8(bytes * r->upper_lanes, r->upper + at);
    return _mm512_permutex2var_epi64(
        _mm512_maskz_loadu_epi8(bytes * r->upper_lanes, r->upper + at), r->rotate,
        _mm512_maskz_loadu_epi8(bytes * r->lower_lanes, r->lower + at));
}

KN_INLINE __m512i column_join(const struct column_plan *p, __m512i left, __m512i right)
{
    return _mm512_or_si512(_mm512_shuffle_epi8(left, p->low), _mm512_shuffle_epi8(right, p->high));
}

// Copies the columns from `column` to `end`, with masks. `left` is the source column that holds the
// first byte of `column`; returns that of `end`.
KN_INLINE __m512i columns_masked(const struct column_plan *p, const struct four_rows *r,
                                 int64_t column, int64_t end, __m512i left, bool joined,
                                 enum rows_match match)
{
    for (; column < end; column++) {
        __m512i right = column_load(p, r, column + p->src_offset + joined, match);
        uint64_t bytes = 0xffff;

        if (column == p->dst_first)
            bytes &= p->dst_head;
        if (column == p->dst_last)
            bytes &= p->dst_tail;
        _mm512_mask_storeu_epi8(r->dst + column_B((uint64_t)column, p->dst_step_B),
                                bytes * r->lanes, joined ? column_join(p, left, right) : right);
        left = right;
    }
    return left;
}

// Copies the columns that need no masks, four at a time: that is one GOB of each surface.
KN_INLINE __m512i columns_run(const struct column_plan *p, const struct four_rows *r, __m512i left,
                              bool joined, enum rows_match match)
{
    const uint64_t dst_step_B = p->dst_step_B, src_step_B = p->src_step_B;
    const uint8_t *upper = r->upper, *lower = r->lower;
    __mmask64 lanes = 0xffff * r->lanes, upper_lanes = 0xffff * r->upper_lanes,
              lower_lanes = 0xffff * r->lower_lanes;
    uint8_t *dst = r->dst;
    __m512i rotate = r->rotate, low = p->low, high = p->high;
    uint64_t remaining = p->run;

#define COLUMN(i)                                                                                  \
    do {                                                                                           \
        __m512i right, v;                                                                          \
        if (match == ROWS_WHOLE)                                                                   \
            right = _mm512_loadu_si512(upper + p->run_src_B[i]);                                   \
        else if (match == ROWS_PART)                                                               \
            right = _mm512_maskz_loadu_epi8(upper_lanes, upper + p->run_src_B[i]);                 \
        else                                                                                       \
            right = _mm512_permutex2var_epi64(                                                     \
                _mm512_maskz_loadu_epi8(upper_lanes, upper + p->run_src_B[i]), rotate,             \
                _mm512_maskz_loadu_epi8(lower_lanes, lower + p->run_src_B[i]));                    \
        v = joined ? _mm512_or_si512(_mm512_shuffle_epi8(left, low),                               \
                                     _mm512_shuffle_epi8(right, high))                             \
                   : right;                                                                        \
        if (match == ROWS_WHOLE)                                                                   \
            _mm512_storeu_si512(dst + p->run_dst_B[i], v);                                         \
        else                                                                                       \
            _mm512_mask_storeu_epi8(dst + p->run_dst_B[i], lanes, v);                              \
        left = right;                                                                              \
    } while (0)
    for (; remaining >= 4;
         remaining -= 4, dst += dst_step_B, upper += src_step_B, lower += src_step_B) {
        COLUMN(0);
        COLUMN(1);
        COLUMN(2);
        COLUMN(3);
    }
    for (unsigned i = 0; i < remaining; i++)
        COLUMN(i);
#undef COLUMN
    return left;
}

KN_INLINE void columns_copy(const struct column_plan *p, const struct four_rows *r, bool joined,
                            enum rows_match match)
{
    int64_t run_end = p->run_first + (int64_t)p->run;
    __m512i left =
        joined ? column_load(p, r, p->dst_first + p->src_offset, match) : _mm512_setzero_si512();

    if (p->run_first != p->dst_first)
        left = columns_masked(p, r, p->dst_first, p->run_first, left, joined, match);
    left = columns_run(p, r, left, joined, match);
    if (run_end <= p->dst_last)
        columns_masked(p, r, run_end, p->dst_last + 1, left, joined, match);
}

#define COLUMNS(name, joined, match)                                                               \
    static KN_NOINLINE void columns_##name(const struct column_plan *p, const struct four_rows *r) \
    {                                                                                              \
        columns_copy(p, r, joined, match);                                                         \
    }
COLUMNS(whole, false, ROWS_WHOLE)
COLUMNS(part, false, ROWS_PART)
COLUMNS(split, false, ROWS_SPLIT)
COLUMNS(joined_whole, true, ROWS_WHOLE)
COLUMNS(joined_part, true, ROWS_PART)
COLUMNS(joined_split, true, ROWS_SPLIT)
#undef COLUMNS

// Offset of the half of a GOB that holds row `y`. `base_B` is the offset of the same column of GOBs
// and the same slice at row 0.
KN_INLINE uint64_t half_B(const struct kn_tiled *t, uint64_t base_B, uint64_t y)
{
    unsigned a = t->block_height_log2;
    uint64_t row_of_blocks_B = (uint64_t)t->width_gob << (9 + a + t->block_depth_log2);
    uint64_t gob_row = y >> 3;

    return base_B + (gob_row >> a) * row_of_blocks_B +
           ((gob_row & ((1u << a) - 1)) << 9 | (y & 4) << 5);
}

KN_INLINE void box_copy_columns(const struct kn_surface *dst, const struct kn_surface *src,
                                const struct kn_box *box)
{
    const struct kn_surface d = *dst, s = *src;
    const uint64_t rows = box->rows, slices = box->slices;
    unsigned rotation = (s.y - d.y) & 3;
    struct column_plan plan;
    struct four_rows r;

    column_plan_init(&plan, &d, &s, box->width_B);
    r.rotate = _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                _mm512_set1_epi64(2 * rotation));
    for (uint64_t slice = 0; slice < slices; slice++) {
        uint64_t dst_B = kn_tiled_offset_B(&d.tiled, d.x_B & ~UINT64_C(63), 0, d.z + slice);
        uint64_t src_B = kn_tiled_offset_B(&s.tiled, s.x_B & ~UINT64_C(63), 0, s.z + slice);

        for (uint64_t row = 0, next; row < rows; row = next) {
            unsigned skip = (d.y + row) & 3, lanes = 15, src_lanes;
            // Row of the source's first lane. If it is four rows above the surface, no row of the
            // box is in that half.
            uint64_t src_y = s.y + row - skip - rotation;

            next = row + 4 - skip;
            if (skip || next > rows) {
                next = next < rows ? next : rows;
                lanes = ((1u << (next - row)) - 1) << skip;
            }
            src_lanes = lanes << rotation;
            r.dst = d.base + half_B(&d.tiled, dst_B, d.y + row);
            r.upper = s.base + half_B(&s.tiled, src_B, src_lanes & 15 ? src_y : src_y + 4);
            r.lower = src_lanes >> 4 && src_lanes & 15 ? s.base + half_B(&s.tiled, src_B, src_y + 4)
                                                       : r.upper;
            r.lanes = lane_mask(0, lanes);
            r.upper_lanes = lane_mask(0, src_lanes);
            r.lower_lanes = lane_mask(4, src_lanes);
            if (rotation)
                (plan.joined ? columns_joined_split : columns_split)(&plan, &r);
            else if (lanes == 15)
                (plan.joined ? columns_joined_whole : columns_whole)(&plan, &r);
            else
                (plan.joined ? columns_joined_part : columns_part)(&plan, &r);
        }
    }
}
