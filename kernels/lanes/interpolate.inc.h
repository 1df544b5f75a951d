// SPDX-License-Identifier: MIT
// The card's interpolator for approximate functions: c0 + c1 x + c2 x^2 in fixed point, bit by bit.
//
// An argument's upper digits choose a segment; its lower 17 are x. The square leaves out all
// partial products below 2^-15, which is why this is not a multiplication. Coefficients: see
// data/functions/coefficients.txt.
#pragma once

#include "half.inc.h"

// The coefficients c0, c1, c2 and 0 of a table's segments, in 2^-17 of a unit, as whole numbers:
// sums and products of them are below 2^53, so doubles are exact. The rounding constant is part of
// c0.
struct kn_segments {
    _Alignas(32) double c[128][4];
};

// Tables: 128 segments of rcp; 2 x 64 of rsqrt and sqrt, for odd exponents after even ones; 64 of
// ex2; 64 of the first quarter of sin; 64 of lg2 from 1 to 2; 51 of tanh from 2^-8 to 8.
#pragma GCC visibility push(hidden)
extern const struct kn_segments kn_segments_rcp, kn_segments_rsqrt, kn_segments_sqrt,
    kn_segments_ex2, kn_segments_sin, kn_segments_lg2, kn_segments_tanh;
#pragma GCC visibility pop

// The truncated square of 17 digits, in 2^-15. Row i of a squarer has the digits above i, and i
// itself once; digit j of it has the weight 2^(i+j+1), and weights below 2^19 are absent. Rows from
// 9 on lose only the weight 2^18 of digit 9, so they are the square of the upper 8 digits.
KN_INLINE int32_t kn_square(uint32_t x)
{
    const uint32_t upper = x >> 9;
    uint32_t sum = upper * upper >> 1;
#define ROW(i) sum += x >> (18 - (i)) & (uint32_t)((int32_t)(x << (31 - (i))) >> 31)
    ROW(2);
    ROW(3);
    ROW(4);
    ROW(5);
    ROW(6);
    ROW(7);
    ROW(8);
#undef ROW
    return (int32_t)sum;
}

// The value in 2^-17 of a unit, a whole number.
KN_INLINE double kn_interpolate(const struct kn_segments *table, uint32_t segment, uint32_t x)
{
    const double *c = table->c[segment];
    return c[0] + c[1] * (int32_t)x + c[2] * kn_square(x);
}

// The same without its last n digits. The value is positive and below 2^(31 + n).
KN_INLINE uint32_t kn_cut(double value, unsigned n)
{
    return (uint32_t)(int32_t)(value * (1.0 / (1 << n)));
}

KN_INLINE uint32_t kn_interpolate_cut(const struct kn_segments *table, uint32_t segment, uint32_t x,
                                      unsigned n)
{
    return kn_cut(kn_interpolate(table, segment, x), n);
}

#if defined(__AVX2__)
// The values of 4 lanes. Their rows of the table become a column for each coefficient.
static inline __m256d kn_interpolate_4(const struct kn_segments *table, const uint32_t *segment,
                                       const uint32_t *x, const int32_t *square)
{
    const __m256d row0 = _mm256_load_pd(table->c[segment[0]]);
    const __m256d row1 = _mm256_load_pd(table->c[segment[1]]);
    const __m256d row2 = _mm256_load_pd(table->c[segment[2]]);
    const __m256d row3 = _mm256_load_pd(table->c[segment[3]]);
    const __m256d even0 = _mm256_unpacklo_pd(row0, row1), even1 = _mm256_unpacklo_pd(row2, row3);
    const __m256d odd0 = _mm256_unpackhi_pd(row0, row1), odd1 = _mm256_unpackhi_pd(row2, row3);
    const __m256d c0 = _mm256_permute2f128_pd(even0, even1, 0x20);
    const __m256d c1 = _mm256_permute2f128_pd(odd0, odd1, 0x20);
    const __m256d c2 = _mm256_permute2f128_pd(even0, even1, 0x31);
    const __m256d first = _mm256_cvtepi32_pd(_mm_load_si128((const __m128i *)x));
    const __m256d second = _mm256_cvtepi32_pd(_mm_load_si128((const __m128i *)square));
    return _mm256_fmadd_pd(c2, second, _mm256_fmadd_pd(c1, first, c0));
}
#endif

// The values for all lanes. Each loop has one kind of work, because compilers do not vectorise a
// loop that reads from tables. Values are written as vectors as long as those that are read later.
static inline void kn_interpolate_lanes(const struct kn_segments *table, const uint32_t *segment,
                                        const uint32_t *x, double *value)
{
#if defined(__AVX2__)
    _Alignas(64) int32_t square[KN_LANES];
    KN_EACH_LANE
    square[i] = kn_square(x[i]);
    for (int i = 0; i < KN_LANES; i += 8) {
        const __m256d low = kn_interpolate_4(table, segment + i, x + i, square + i);
        const __m256d high = kn_interpolate_4(table, segment + i + 4, x + i + 4, square + i + 4);
#if defined(__AVX512DQ__)
        _mm512_store_pd(value + i, _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1));
#else
        _mm256_store_pd(value + i, low);
        _mm256_store_pd(value + i + 4, high);
#endif
    }
#else
    for (int i = 0; i < KN_LANES; i++)
        value[i] = kn_interpolate(table, segment[i], x[i]);
#endif
}
