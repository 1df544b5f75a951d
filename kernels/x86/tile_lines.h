// SPDX-License-Identifier: MIT
// Boxes from one surface to another, line by line: a 64-byte line of a GOB is a 16-byte column of four rows, so whatever the two boxes' places, a
// line of the one is made of at most four lines of the other: two of rows that follow one another, of two columns side by side. Included by the
// tile family with 64-byte registers.
#pragma once

#include "kn_tile.h"
#include "small.h"

#include <immintrin.h>
#include <stdbool.h>

// Where column `column` of a row of GOBs begins, of its upper four rows.
KN_INLINE uint64_t column_B(uint64_t column, uint64_t step_B)
{
    return (column >> 2) * step_B + ((column & 2) << 7 | (column & 1) << 6);
}

// How a box lies in the two surfaces. Columns are counted from the GOBs in which the boxes begin.
struct lines_plan {
    uint64_t dst_step_B, src_step_B;
    int64_t ahead;                // from a column there to the column here in which it begins
    int64_t dst_first, dst_last;  // columns
    int64_t src_first, src_last;  // columns
    uint64_t dst_head, dst_tail;  // bytes of the first and last column there, 16 bits
    uint64_t src_head, src_tail;  // the same here
    __m512i low, high;            // bytes of a column from two
    bool across;                  // columns begin inside of columns
};

KN_INLINE void lines_plan_init(struct lines_plan *p, const struct kn_tiled *dst, uint64_t dst_x_B, const struct kn_tiled *src, uint64_t src_x_B,
                               uint64_t width_B)
{
    int64_t to = dst_x_B & 63, from = src_x_B & 63, shift = (from - to) & 15;
    __m512i up = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i at = _mm512_add_epi8(up, _mm512_set1_epi8((char)shift));

    p->dst_step_B = (uint64_t)KN_GOB_B << (dst->block_height_log2 + dst->block_depth_log2);
    p->src_step_B = (uint64_t)KN_GOB_B << (src->block_height_log2 + src->block_depth_log2);
    p->ahead = (from - to - shift) / 16;
    p->dst_first = to >> 4, p->dst_last = (int64_t)((uint64_t)to + width_B - 1) >> 4;
    p->src_first = from >> 4, p->src_last = (int64_t)((uint64_t)from + width_B - 1) >> 4;
    p->dst_head = 0xffff << (to & 15) & 0xffff, p->dst_tail = 0xffff >> (15 - (((uint64_t)to + width_B - 1) & 15));
    p->src_head = 0xffff << (from & 15) & 0xffff, p->src_tail = 0xffff >> (15 - (((uint64_t)from + width_B - 1) & 15));
    // A shuffle gives 0 where the index's highest bit is set; low four bits choose.
    p->low = _mm512_mask_mov_epi8(at, _mm512_cmpgt_epu8_mask(at, _mm512_set1_epi8(15)), _mm512_set1_epi8((char)0x80));
    p->high = _mm512_mask_mov_epi8(at, _mm512_cmplt_epu8_mask(at, _mm512_set1_epi8(16)), _mm512_set1_epi8((char)0x80));
    p->across = shift != 0;
}

// Of the four rows there: which are in the box, in which lines their rows here are, and how these are put together.
struct lines_rows {
    uint8_t *dst;
    const uint8_t *upper, *lower;
    uint64_t lanes, upper_lanes, lower_lanes; // a bit at the start of each
    __m512i together;
};

KN_INLINE __m512i lines_load(const struct lines_plan *p, const struct lines_rows *r, int64_t column)
{
    uint64_t bytes = 0xffff, at = column_B((uint64_t)column, p->src_step_B);

    if (column < p->src_first || column > p->src_last)
        return _mm512_setzero_si512();
    if (column == p->src_first)
        bytes &= p->src_head;
    if (column == p->src_last)
        bytes &= p->src_tail;
    return _mm512_permutex2var_epi64(_mm512_maskz_loadu_epi8(bytes * r->upper_lanes, r->upper + at), r->together,
                                     _mm512_maskz_loadu_epi8(bytes * r->lower_lanes, r->lower + at));
}

KN_INLINE void lines_edge(const struct lines_plan *p, const struct lines_rows *r, int64_t column)
{
    uint64_t bytes = 0xffff;
    __m512i v = lines_load(p, r, column + p->ahead);

    if (p->across)
        v = _mm512_or_si512(_mm512_shuffle_epi8(v, p->low), _mm512_shuffle_epi8(lines_load(p, r, column + p->ahead + 1), p->high));
    if (column == p->dst_first)
        bytes &= p->dst_head;
    if (column == p->dst_last)
        bytes &= p->dst_tail;
    _mm512_mask_storeu_epi8(r->dst + column_B((uint64_t)column, p->dst_step_B), bytes * r->lanes, v);
}

// Whole GOBs there, from column `column` on, `gobs` of them, of which all bytes are in the box.
KN_INLINE void lines_run(const struct lines_plan *p, const struct lines_rows *r, int64_t column, uint64_t gobs, bool across, bool down)
{
    uint8_t *dst = r->dst + column_B((uint64_t)column, p->dst_step_B);
    const uint64_t dst_step_B = p->dst_step_B, src_step_B = p->src_step_B;
    __mmask64 lanes = 0xffff * r->lanes, upper = 0xffff * r->upper_lanes, lower = 0xffff * r->lower_lanes;
    uint64_t first = (uint64_t)(column + p->ahead), at[4];
    __m512i v[5];

#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        at[i] = column_B(first + i + across, src_step_B);
#define LOAD(i) \
    (down ? _mm512_permutex2var_epi64(_mm512_maskz_loadu_epi8(upper, r->upper + at[i]), r->together, _mm512_maskz_loadu_epi8(lower, r->lower + at[i])) \
          : _mm512_loadu_si512(r->upper + at[i]))
    v[4] = across ? lines_load(p, r, (int64_t)first) : _mm512_setzero_si512();
    for (; gobs; gobs--, dst += dst_step_B) {
        static const uint16_t to[4] = {0, 64, 256, 320};
        v[0] = v[4];
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            __m512i now;
            v[i + across] = LOAD(i);
            now = across ? _mm512_or_si512(_mm512_shuffle_epi8(v[i], p->low), _mm512_shuffle_epi8(v[i + 1], p->high)) : v[i];
            if (down)
                _mm512_mask_storeu_epi8(dst + to[i], lanes, now);
            else
                _mm512_storeu_si512(dst + to[i], now);
            at[i] += src_step_B;
        }
    }
#undef LOAD
}

static KN_NOINLINE void lines_row(const struct lines_plan *p, const struct lines_rows *r, bool down)
{
    int64_t column = p->dst_first, end = p->dst_last + 1, whole = (column + (p->dst_head != 0xffff) + 3) & ~INT64_C(3);
    int64_t gobs = (end - (p->dst_tail != 0xffff) - whole) >> 2;

    // The last column here has a mask where the box does not end with it.
    if (p->across && p->src_tail != 0xffff && whole + 4 * gobs + p->ahead == p->src_last)
        gobs--;
    if (gobs <= 0)
        gobs = 0, whole = end;
    for (; column < whole; column++)
        lines_edge(p, r, column);
    if (gobs) {
        if (p->across)
            lines_run(p, r, column, (uint64_t)gobs, true, true);
        else if (down)
            lines_run(p, r, column, (uint64_t)gobs, false, true);
        else
            lines_run(p, r, column, (uint64_t)gobs, false, false);
        for (column += gobs * 4; column < end; column++)
            lines_edge(p, r, column);
    }
}

KN_INLINE void box_lines(uint8_t *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B, uint64_t dst_y, uint64_t dst_z, const uint8_t *src,
                         const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y, uint64_t src_z, uint64_t width_B, uint64_t rows,
                         uint64_t slices)
{
    struct lines_plan plan;

    lines_plan_init(&plan, dst_desc, dst_x_B, src_desc, src_x_B, width_B);
    for (uint64_t slice = 0; slice < slices; slice++) {
        for (uint64_t row = 0, next; row < rows; row = next) {
            unsigned skip = (dst_y + row) & 3, turn = (src_y + row - skip) & 3, lanes, here;
            uint64_t from = src_y + row - skip - turn; // may be four rows above the surface, where no row of the box is
            struct lines_rows r;

            next = row + 4 - skip < rows ? row + 4 - skip : rows;
            lanes = ((1u << (next - row)) - 1) << skip;
            here = lanes << turn;
            r.dst = dst + kn_tiled_offset_B(dst_desc, dst_x_B & ~UINT64_C(63), (dst_y + row) & ~UINT64_C(3), dst_z + slice);
            r.upper = src + kn_tiled_offset_B(src_desc, src_x_B & ~UINT64_C(63), here & 15 ? from : from + 4, src_z + slice);
            r.lower = here >> 4 && here & 15 ? src + kn_tiled_offset_B(src_desc, src_x_B & ~UINT64_C(63), from + 4, src_z + slice) : r.upper;
            r.lanes = _pdep_u64(lanes, UINT64_C(0x0001000100010001));
            r.upper_lanes = _pdep_u64(here & 15, UINT64_C(0x0001000100010001));
            r.lower_lanes = _pdep_u64(here >> 4, UINT64_C(0x0001000100010001));
            r.together = _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(2 * turn));
            lines_row(&plan, &r, lanes != 15 || turn);
        }
    }
}
