// SPDX-License-Identifier: MIT
// Half a GOB in four 64-byte registers: four rows, or the four lines that hold them. A line holds
// 16 bytes of each of four rows (kn_tile.h has the drawing), so rows and lines are each other's
// transposition, as a 4 x 4 matrix of 16-byte lanes:
//
//           lane 0   1     2     3                 lane 0   1     2     3
//   row 0  | a0  | b0  | c0  | d0  |       line 0 | a0  | a1  | a2  | a3  |   at 0
//   row 1  | a1  | b1  | c1  | d1  |  <->  line 1 | b0  | b1  | b2  | b3  |   at 64
//   row 2  | a2  | b2  | c2  | d2  |       line 2 | c0  | c1  | c2  | c3  |   at 256
//   row 3  | a3  | b3  | c3  | d3  |       line 3 | d0  | d1  | d2  | d3  |   at 320
//
// The other half, rows 4 to 7, follows 128 bytes after each line.
#pragma once

#include "small.h"

#include <immintrin.h>

struct gob_half {
    __m512i v[4];
};

KN_INLINE __m512i load_pair(const uint8_t *low, const uint8_t *high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)low)),
                              _mm256_loadu_si256((const __m256i *)high), 1);
}

// Transposes four vectors of 64 bytes while loading them. Half of the work is done by loads that
// insert 32 bytes, because there is only one shuffle a cycle.
KN_INLINE struct gob_half load_transposed(const uint8_t *p0, const uint8_t *p1, const uint8_t *p2,
                                          const uint8_t *p3)
{
    __m512i a = load_pair(p0, p1), b = load_pair(p2, p3);
    __m512i c = load_pair(p0 + 32, p1 + 32), d = load_pair(p2 + 32, p3 + 32);

    return (struct gob_half){{_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd),
                              _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

KN_INLINE struct gob_half transpose(struct gob_half h)
{
    __m512i a = _mm512_shuffle_i64x2(h.v[0], h.v[1], 0x44);
    __m512i b = _mm512_shuffle_i64x2(h.v[2], h.v[3], 0x44);
    __m512i c = _mm512_shuffle_i64x2(h.v[0], h.v[1], 0xee);
    __m512i d = _mm512_shuffle_i64x2(h.v[2], h.v[3], 0xee);

    return (struct gob_half){{_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd),
                              _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

// The rows of a whole half.
KN_INLINE struct gob_half load_rows(const uint8_t *half)
{
    return load_transposed(half, half + 64, half + 256, half + 320);
}

// Offset of the line that holds column 0 to 3, in a half.
KN_INLINE unsigned line_B(unsigned column)
{
    return (column & 2) << 7 | (column & 1) << 6;
}

// A bit for each byte from x0 to x1. x0 < x1 <= 64.
KN_INLINE uint64_t byte_mask(unsigned x0, unsigned x1)
{
    return ~UINT64_C(0) >> (64 - (x1 - x0)) << x0;
}

// Bit 0 of each 16-bit lane whose row is among `rows`, of the four rows from `first` on. Multiplied
// by a mask of 16 bytes, it masks the bytes of a line.
KN_INLINE uint64_t lane_mask(unsigned first, unsigned rows)
{
    return _pdep_u64(rows >> first & 15, UINT64_C(0x0001000100010001));
}

// The mask of column 0 to 3 of a mask of 64 bytes.
KN_INLINE uint64_t column_mask(uint64_t bytes, unsigned column)
{
    return bytes >> (16 * column) & 0xffff;
}

// Loads four rows, from `first` (0 or 4) on: only the bytes `bytes` of the rows `rows` of a GOB are
// read, and the others are zero.
KN_INLINE struct gob_half load_rows_masked(const uint8_t *gob, unsigned first, uint64_t bytes,
                                           unsigned rows)
{
    uint64_t lanes = lane_mask(first, rows);
    struct gob_half h;

#pragma GCC unroll 4
    for (unsigned column = 0; column < 4; column++) {
        uint64_t mask = column_mask(bytes, column) * lanes;
        h.v[column] = mask ? _mm512_maskz_loadu_epi8(mask, gob + first * 32 + line_B(column))
                           : _mm512_setzero_si512();
    }
    return transpose(h);
}

KN_INLINE void prefetch_gob(const uint8_t *gob)
{
    for (unsigned line = 0; line < 8; line++)
        __builtin_prefetch(gob + line * 64, 0, 3);
}
