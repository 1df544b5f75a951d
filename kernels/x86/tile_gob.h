// SPDX-License-Identifier: MIT
// The lines of a GOB in 64-byte registers: 16-byte columns of four rows. Four rows are four lines
// transposed, as 4 x 4 lanes of 16 bytes.
#pragma once

#include "small.h"

#include <immintrin.h>

struct lines {
    __m512i l[4];
};

KN_INLINE __m512i pair(const uint8_t *low, const uint8_t *high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)low)),
                              _mm256_loadu_si256((const __m256i *)high), 1);
}

// Four vectors of 64 bytes, transposed.
KN_INLINE struct lines load_transposed(const uint8_t *p0, const uint8_t *p1, const uint8_t *p2,
                                       const uint8_t *p3)
{
    __m512i a = pair(p0, p1), b = pair(p2, p3), c = pair(p0 + 32, p1 + 32),
            d = pair(p2 + 32, p3 + 32);

    return (struct lines){{_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd),
                           _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

// Four rows of a whole GOB.
KN_INLINE struct lines load_whole(const uint8_t *gob)
{
    return load_transposed(gob, gob + 64, gob + 256, gob + 320);
}

// Lines of the four rows from row 4 * half on: 128 * half + 0, 64, 256, 320.
KN_INLINE unsigned line_B(unsigned column)
{
    return (column & 2) << 7 | (column & 1) << 6;
}

KN_INLINE uint64_t byte_mask(unsigned x0, unsigned x1)
{
    return ~UINT64_C(0) >> (64 - (x1 - x0)) << x0;
}

// One bit at the start of each lane whose row is among `rows`, of the four rows from `first` on.
KN_INLINE uint64_t lane_mask(unsigned first, unsigned rows)
{
    return _pdep_u64(rows >> first & 15, UINT64_C(0x0001000100010001));
}
