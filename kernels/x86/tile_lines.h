// SPDX-License-Identifier: MIT
// Boxes from one surface to another, line by line: a 64-byte line of a GOB is a 16-byte column of
// four rows, so whatever the two boxes' places, a line of the one is made of at most four lines of
// the other: two of rows that follow one another, of two columns side by side. Included by the tile
// family with 64-byte registers.
#pragma once

#include "kn_tile.h"
#include "tile_gob.h"

#include <stdbool.h>

// Where column `column` of a row of GOBs begins, of its upper four rows.
KN_INLINE uint64_t column_B(uint64_t column, uint64_t step_B)
{
    return (column >> 2) * step_B + line_B(column & 3);
}

// How a box lies in the two surfaces. Columns are counted from the GOBs in which the boxes begin.
struct lines_plan {
    uint64_t dst_step_B, src_step_B;
    int64_t ahead;               // from a column there to the column here in which it begins
    int64_t dst_first, dst_last; // columns
    int64_t src_first, src_last; // columns
    uint64_t dst_head, dst_tail; // bytes of the first and last column there, 16 bits
    uint64_t src_head, src_tail; // the same here
    __m512i low, high;           // bytes of a column from two
    int64_t run_first;           // columns there that need no masks, here neither
    uint64_t run;                // as many
    uint64_t to[4],
        at[4];   // where the first four of them are, and the columns here that end in them
    bool across; // columns begin inside of columns
};

KN_INLINE void lines_plan_init(struct lines_plan *p, const struct kn_tiled *dst, uint64_t dst_x_B,
                               const struct kn_tiled *src, uint64_t src_x_B, uint64_t width_B)
{
    int64_t to = dst_x_B & 63, from = src_x_B & 63, shift = (from - to) & 15, last;
    __m512i up =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i at = _mm512_add_epi8(up, _mm512_set1_epi8((char)shift));

    p->dst_step_B = (uint64_t)KN_GOB_B << (dst->block_height_log2 + dst->block_depth_log2);
    p->src_step_B = (uint64_t)KN_GOB_B << (src->block_height_log2 + src->block_depth_log2);
    p->ahead = (from - to - shift) / 16;
    p->dst_first = to >> 4, p->dst_last = (int64_t)((uint64_t)to + width_B - 1) >> 4;
    p->src_first = from >> 4, p->src_last = (int64_t)((uint64_t)from + width_B - 1) >> 4;
    p->dst_head = 0xffff << (to & 15) & 0xffff,
    p->dst_tail = 0xffff >> (15 - (((uint64_t)to + width_B - 1) & 15));
    p->src_head = 0xffff << (from & 15) & 0xffff,
    p->src_tail = 0xffff >> (15 - (((uint64_t)from + width_B - 1) & 15));
    // A shuffle gives 0 where the index's highest bit is set; low four bits choose.
    p->low = _mm512_mask_mov_epi8(at, _mm512_cmpgt_epu8_mask(at, _mm512_set1_epi8(15)),
                                  _mm512_set1_epi8((char)0x80));
    p->high = _mm512_mask_mov_epi8(at, _mm512_cmplt_epu8_mask(at, _mm512_set1_epi8(16)),
                                   _mm512_set1_epi8((char)0x80));
    p->across = shift != 0;
    p->run_first = p->dst_first + (p->dst_head != 0xffff);
    last = p->dst_last - (p->dst_tail != 0xffff);
    // The last column here has a mask where the box does not end with it.
    if (p->across && p->src_tail != 0xffff && last + p->ahead + 1 == p->src_last)
        last--;
    p->run = last >= p->run_first ? (uint64_t)(last - p->run_first) + 1 : 0;
    for (unsigned i = 0; i < 4; i++) {
        p->to[i] = column_B((uint64_t)p->run_first + i, p->dst_step_B);
        p->at[i] = column_B((uint64_t)(p->run_first + p->ahead + p->across) + i, p->src_step_B);
    }
}

// Four rows there: which of them are in the box, and in which lines their rows here are.
struct lines_rows {
    uint8_t *dst;
    const uint8_t *upper, *lower;
    uint64_t lanes, upper_lanes, lower_lanes; // a bit at the start of each
    __m512i together;                         // of lines of `upper` and `lower`
};

// All four rows are in the box and one line here; some rows, of one line; rows of two lines.
enum lines_how { LINES_WHOLE, LINES_PART, LINES_TURNED };

KN_INLINE __m512i lines_load(const struct lines_plan *p, const struct lines_rows *r, int64_t column,
                             enum lines_how how)
{
    uint64_t bytes = 0xffff, at = column_B((uint64_t)column, p->src_step_B);

    if (column == p->src_first)
        bytes &= p->src_head;
    if (column == p->src_last)
        bytes &= p->src_tail;
    if (column < p->src_first || column > p->src_last)
        return _mm512_setzero_si512();
    if (how != LINES_TURNED)
        return _mm512_maskz_loadu_epi8(bytes * r->upper_lanes, r->upper + at);
    return _mm512_permutex2var_epi64(
        _mm512_maskz_loadu_epi8(bytes * r->upper_lanes, r->upper + at), r->together,
        _mm512_maskz_loadu_epi8(bytes * r->lower_lanes, r->lower + at));
}

KN_INLINE __m512i lines_across(const struct lines_plan *p, __m512i left, __m512i right)
{
    return _mm512_or_si512(_mm512_shuffle_epi8(left, p->low), _mm512_shuffle_epi8(right, p->high));
}

// Columns `column` to `end`, any; `left` is the column here in which the first one begins, and that
// of the last one's is returned.
KN_INLINE __m512i lines_edge(const struct lines_plan *p, const struct lines_rows *r, int64_t column,
                             int64_t end, __m512i left, bool across, enum lines_how how)
{
    for (; column < end; column++) {
        __m512i right = lines_load(p, r, column + p->ahead + across, how);
        uint64_t bytes = 0xffff;

        if (column == p->dst_first)
            bytes &= p->dst_head;
        if (column == p->dst_last)
            bytes &= p->dst_tail;
        _mm512_mask_storeu_epi8(r->dst + column_B((uint64_t)column, p->dst_step_B),
                                bytes * r->lanes, across ? lines_across(p, left, right) : right);
        left = right;
    }
    return left;
}

// The columns that need no masks, four at a time.
KN_INLINE __m512i lines_run(const struct lines_plan *p, const struct lines_rows *r, __m512i left,
                            bool across, enum lines_how how)
{
    const uint64_t dst_step_B = p->dst_step_B, src_step_B = p->src_step_B;
    const uint8_t *upper = r->upper, *lower = r->lower;
    __mmask64 lanes = 0xffff * r->lanes, upper_lanes = 0xffff * r->upper_lanes,
              lower_lanes = 0xffff * r->lower_lanes;
    uint8_t *dst = r->dst;
    __m512i together = r->together, low = p->low, high = p->high;
    uint64_t left_over = p->run;

#define COLUMN(i)                                                                                  \
    do {                                                                                           \
        __m512i right, v;                                                                          \
        if (how == LINES_WHOLE)                                                                    \
            right = _mm512_loadu_si512(upper + p->at[i]);                                          \
        else if (how == LINES_PART)                                                                \
            right = _mm512_maskz_loadu_epi8(upper_lanes, upper + p->at[i]);                        \
        else                                                                                       \
            right = _mm512_permutex2var_epi64(                                                     \
                _mm512_maskz_loadu_epi8(upper_lanes, upper + p->at[i]), together,                  \
                _mm512_maskz_loadu_epi8(lower_lanes, lower + p->at[i]));                           \
        v = across ? _mm512_or_si512(_mm512_shuffle_epi8(left, low),                               \
                                     _mm512_shuffle_epi8(right, high))                             \
                   : right;                                                                        \
        if (how == LINES_WHOLE)                                                                    \
            _mm512_storeu_si512(dst + p->to[i], v);                                                \
        else                                                                                       \
            _mm512_mask_storeu_epi8(dst + p->to[i], lanes, v);                                     \
        left = right;                                                                              \
    } while (0)
    for (; left_over >= 4;
         left_over -= 4, dst += dst_step_B, upper += src_step_B, lower += src_step_B) {
        COLUMN(0);
        COLUMN(1);
        COLUMN(2);
        COLUMN(3);
    }
    for (unsigned i = 0; i < left_over; i++)
        COLUMN(i);
#undef COLUMN
    return left;
}

KN_INLINE void lines_row(const struct lines_plan *p, const struct lines_rows *r, bool across,
                         enum lines_how how)
{
    __m512i left = across ? lines_load(p, r, p->dst_first + p->ahead, how) : _mm512_setzero_si512();

    if (p->run_first != p->dst_first)
        left = lines_edge(p, r, p->dst_first, p->run_first, left, across, how);
    left = lines_run(p, r, left, across, how);
    if (p->run_first + (int64_t)p->run <= p->dst_last)
        lines_edge(p, r, p->run_first + (int64_t)p->run, p->dst_last + 1, left, across, how);
}

#define LINES(name, across, how)                                                                   \
    static KN_NOINLINE void lines_##name(const struct lines_plan *p, const struct lines_rows *r)   \
    {                                                                                              \
        lines_row(p, r, across, how);                                                              \
    }
LINES(whole, false, LINES_WHOLE)
LINES(part, false, LINES_PART)
LINES(turned, false, LINES_TURNED)
LINES(across_whole, true, LINES_WHOLE)
LINES(across_part, true, LINES_PART)
LINES(across_turned, true, LINES_TURNED)
#undef LINES

// Where the first byte of row `y` of a GOB is, of the column of GOBs and the slice that `base` is
// for.
KN_INLINE uint64_t row_B(const struct kn_tiled *desc, uint64_t base_B, uint64_t y)
{
    unsigned a = desc->block_height_log2;
    uint64_t row_of_blocks_B = (uint64_t)desc->width_gob << (9 + a + desc->block_depth_log2);

    return base_B + (y >> 3 >> a) * row_of_blocks_B +
           ((y >> 3 & ((1u << a) - 1)) << 9 | (y & 4) << 5);
}

KN_INLINE void box_lines(uint8_t *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B,
                         uint64_t dst_y, uint64_t dst_z, const uint8_t *src,
                         const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y,
                         uint64_t src_z, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    unsigned turn = (src_y - dst_y) & 3;
    struct lines_plan plan;
    struct lines_rows r;

    lines_plan_init(&plan, dst_desc, dst_x_B, src_desc, src_x_B, width_B);
    r.together =
        _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(2 * turn));
    for (uint64_t slice = 0; slice < slices; slice++) {
        uint64_t dst_B = kn_tiled_offset_B(dst_desc, dst_x_B & ~UINT64_C(63), 0, dst_z + slice);
        uint64_t src_B = kn_tiled_offset_B(src_desc, src_x_B & ~UINT64_C(63), 0, src_z + slice);

        for (uint64_t row = 0, next; row < rows; row = next) {
            unsigned skip = (dst_y + row) & 3, lanes = 15, here;
            uint64_t from = src_y + row - skip -
                            turn; // may be four rows above the surface, where no row of the box is

            next = row + 4 - skip;
            if (skip || next > rows) {
                next = next < rows ? next : rows;
                lanes = ((1u << (next - row)) - 1) << skip;
            }
            here = lanes << turn;
            r.dst = dst + row_B(dst_desc, dst_B, dst_y + row);
            r.upper = src + row_B(src_desc, src_B, here & 15 ? from : from + 4);
            r.lower = here >> 4 && here & 15 ? src + row_B(src_desc, src_B, from + 4) : r.upper;
            r.lanes = lane_mask(0, lanes);
            r.upper_lanes = lane_mask(0, here);
            r.lower_lanes = lane_mask(4, here);
            if (turn)
                (plan.across ? lines_across_turned : lines_turned)(&plan, &r);
            else if (lanes == 15)
                (plan.across ? lines_across_whole : lines_whole)(&plan, &r);
            else
                (plan.across ? lines_across_part : lines_part)(&plan, &r);
        }
    }
}
