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

// The same for results of which only 23 digits after the first one are used, in 32 bits: 2^6 c0 in
// quarters of a unit, modulo 2^32; c1 in pairs; and 4 c2. By row with the rounding constant, and by
// column.
struct kn_rows {
    _Alignas(64) int32_t row[128][4];
    _Alignas(64) int32_t column[3][128];
};

// Tables: 128 segments of rcp; 2 x 64 of rsqrt and sqrt, for odd exponents after even ones; 64 of
// ex2; 64 of the first quarter of sin; 64 of lg2 from 1 to 2; 51 of tanh from 2^-8 to 8.
#pragma GCC visibility push(hidden)
extern const struct kn_segments kn_segments_rcp, kn_segments_rsqrt, kn_segments_sqrt,
    kn_segments_ex2, kn_segments_sin, kn_segments_lg2, kn_segments_tanh;
extern const struct kn_rows kn_rows_rcp, kn_rows_rsqrt, kn_rows_sqrt, kn_rows_ex2;
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

#if defined(__AVX2__) && !defined(__AVX512DQ__)
// kn_square of 16 lanes, in 16 bits: half of x, and sums below 2^15. A digit of weight 2^n times
// all, without its lower 16 digits, is all >> (16 - n) if the digit is 1.
static inline void kn_squares_16(const uint32_t *x, int32_t *square)
{
    const __m256i low = _mm256_srli_epi32(_mm256_load_si256((const __m256i *)x), 1);
    const __m256i high = _mm256_srli_epi32(_mm256_load_si256((const __m256i *)(x + 8)), 1);
    const __m256i all = _mm256_packus_epi32(low, high), upper = _mm256_srli_epi16(all, 8);
    __m256i sum = _mm256_srli_epi16(_mm256_mullo_epi16(upper, upper), 1);
    for (int n = 1; n <= 7; n++) {
        const __m256i digit = _mm256_and_si256(all, _mm256_set1_epi16((short)(1 << n)));
        sum = _mm256_add_epi16(sum, _mm256_mulhi_epu16(all, digit));
    }
    const __m256i zero = _mm256_setzero_si256();
    _mm256_store_si256((__m256i *)square, _mm256_unpacklo_epi16(sum, zero));
    _mm256_store_si256((__m256i *)(square + 8), _mm256_unpackhi_epi16(sum, zero));
}
#endif

// kn_square for all lanes.
static inline void kn_squares(const uint32_t *x, int32_t *square)
{
#if defined(__AVX512DQ__)
    // In 16 bits: half of x, and sums below 2^15.
    const __m512i low = _mm512_srli_epi32(_mm512_load_si512(x), 1);
    const __m512i high = _mm512_srli_epi32(_mm512_load_si512(x + 16), 1);
    const __m512i all = _mm512_packus_epi32(low, high), upper = _mm512_srli_epi16(all, 8);
    __m512i even = _mm512_srli_epi16(_mm512_mullo_epi16(upper, upper), 1);
    __m512i odd = _mm512_setzero_si512();
#define ROW(sum, n)                                                                                \
    sum = _mm512_mask_add_epi16(sum, _mm512_test_epi16_mask(all, _mm512_set1_epi16(1 << ((n)-1))), \
                                sum, _mm512_srli_epi16(all, 17 - (n)))
    ROW(even, 2);
    ROW(odd, 3);
    ROW(even, 4);
    ROW(odd, 5);
    ROW(even, 6);
    ROW(odd, 7);
    ROW(even, 8);
#undef ROW
    const __m512i sum = _mm512_add_epi16(even, odd), zero = _mm512_setzero_si512();
    _mm512_store_si512(square, _mm512_unpacklo_epi16(sum, zero));
    _mm512_store_si512(square + 16, _mm512_unpackhi_epi16(sum, zero));
#elif defined(__AVX2__)
    kn_squares_16(x, square);
    kn_squares_16(x + 16, square + 16);
#else
    KN_EACH_LANE
    square[i] = kn_square(x[i]);
#endif
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
    kn_squares(x, square);
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

#if defined(__AVX512DQ__)
enum { KN_COLUMN = 16 };

// Elements of a column for 16 lanes.
static inline __m512i kn_column(const int32_t *column, __m512i segment)
{
    const __m512i *of = (const __m512i *)column;
    const __mmask16 bit5 = _mm512_test_epi32_mask(segment, _mm512_set1_epi32(32));
    const __mmask16 bit6 = _mm512_test_epi32_mask(segment, _mm512_set1_epi32(64));
    const __m512i x0 = _mm512_permutex2var_epi32(of[0], segment, of[1]);
    const __m512i x1 = _mm512_permutex2var_epi32(of[2], segment, of[3]);
    const __m512i x2 = _mm512_permutex2var_epi32(of[4], segment, of[5]);
    const __m512i x3 = _mm512_permutex2var_epi32(of[6], segment, of[7]);
    return _mm512_mask_blend_epi32(bit6, _mm512_mask_blend_epi32(bit5, x0, x1),
                                   _mm512_mask_blend_epi32(bit5, x2, x3));
}

static inline void kn_columns(const struct kn_rows *table, const uint32_t *segment, int32_t *c0,
                              int32_t *c1, int32_t *c2)
{
    const __m512i at = _mm512_load_si512(segment);
    _mm512_store_si512(c0, kn_column(table->column[0], at));
    _mm512_store_si512(c1, kn_column(table->column[1], at));
    _mm512_store_si512(c2, kn_column(table->column[2], at));
}
#elif defined(__AVX2__)
static inline __m256i kn_row_half(const struct kn_rows *table, const uint32_t *segment)
{
    const __m128i low = _mm_load_si128((const __m128i *)table->row[segment[0]]);
    const __m128i high = _mm_load_si128((const __m128i *)table->row[segment[4]]);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// kn_interpolate_rows for 8 lanes.
static inline __m256i kn_interpolate_rows_8(const struct kn_rows *table, const uint32_t *segment,
                                            const uint32_t *x, const int32_t *square, unsigned n)
{
    const __m256i row0 = kn_row_half(table, segment), row1 = kn_row_half(table, segment + 1);
    const __m256i row2 = kn_row_half(table, segment + 2), row3 = kn_row_half(table, segment + 3);
    const __m256i low0 = _mm256_unpacklo_epi32(row0, row1),
                  low1 = _mm256_unpacklo_epi32(row2, row3);
    const __m256i high0 = _mm256_unpackhi_epi32(row0, row1);
    const __m256i high1 = _mm256_unpackhi_epi32(row2, row3);
    const __m256i c0 = _mm256_unpacklo_epi64(low0, low1), c1 = _mm256_unpackhi_epi64(low0, low1);
    const __m256i c2 = _mm256_unpacklo_epi64(high0, high1);
    const __m256i at = _mm256_load_si256((const __m256i *)x);
    const __m256i first = _mm256_and_si256(_mm256_slli_epi32(at, 1), _mm256_set1_epi32(0x1fe));
    const __m256i second = _mm256_load_si256((const __m256i *)square);
    const __m256i low = _mm256_add_epi32(
        _mm256_add_epi32(_mm256_mullo_epi32(c1, first), _mm256_mullo_epi32(c2, second)),
        _mm256_set1_epi32(table->row[0][3]));
    const __m256i high = _mm256_add_epi32(c0, _mm256_mullo_epi32(c1, _mm256_srli_epi32(at, 8)));
    return _mm256_srl_epi32(_mm256_add_epi32(high, _mm256_srai_epi32(low, 9)),
                            _mm_cvtsi32_si128((int)n - 9));
}
#else
enum { KN_COLUMN = 1 };

static inline void kn_columns(const struct kn_rows *table, const uint32_t *segment, int32_t *c0,
                              int32_t *c1, int32_t *c2)
{
    const int32_t *row = table->row[*segment];
    *c0 = row[0];
    *c1 = row[1];
    *c2 = row[2];
}
#endif

// kn_interpolate_cut for all lanes, of which the 23 lower digits are right. With x = 2^8 h + l,
//
//     c0 + c1 x + c2 x^2 = 2^9 (2^6 c0 + c1 h) + (2 c1 l + 4 c2 x^2 + rounding)
//
// in 2^-17 of a unit, where the second part has 29 digits.
static inline void kn_interpolate_rows(const struct kn_rows *table, const uint32_t *segment,
                                       const uint32_t *x, unsigned n, uint32_t *y)
{
#if !defined(__AVX512DQ__)
    // Segments are read from memory one by one: taking them out of a vector takes longer.
    __asm__ volatile("" : : "r"(segment) : "memory");
#endif
#if defined(__AVX2__) && !defined(__AVX512DQ__)
    _Alignas(64) int32_t square[KN_LANES];
    kn_squares(x, square);
    for (int i = 0; i < KN_LANES; i += 8)
        _mm256_store_si256((__m256i *)(y + i),
                           kn_interpolate_rows_8(table, segment + i, x + i, square + i, n));
#else
    _Alignas(64) int32_t c0[KN_LANES], c1[KN_LANES], c2[KN_LANES], square[KN_LANES];
    const int32_t rounding = table->row[0][3];
    for (int i = 0; i < KN_LANES; i += KN_COLUMN)
        kn_columns(table, segment + i, c0 + i, c1 + i, c2 + i);
    kn_squares(x, square);
    KN_EACH_LANE
    {
        const int32_t low = 2 * c1[i] * (int32_t)(x[i] & 0xff) + c2[i] * square[i] + rounding;
        const uint32_t high = (uint32_t)c0[i] + (uint32_t)c1[i] * (x[i] >> 8);
        y[i] = (high + (uint32_t)(low >> 9)) >> (n - 9);
    }
#endif
}
