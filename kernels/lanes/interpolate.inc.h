// SPDX-License-Identifier: MIT
// The card's interpolator for approximate functions: c0 + c1 x + c2 x^2 in fixed point, bit by bit.
//
// An argument's upper digits choose a segment; its lower 17 are x. The square leaves out all
// partial products below 2^-15, which is why this is not a multiplication. Coefficients: see
// data/functions/coefficients.txt.
#pragma once

#include "half.inc.h"

// The coefficients of a table's segments, in 2^-17 of a unit, as whole numbers: sums and products
// of them are below 2^53, so doubles are exact. The rounding constant is part of c0.
struct kn_segments {
    double c0[128], c1[128], c2[128];
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
    return table->c0[segment] + table->c1[segment] * (int32_t)x + table->c2[segment] * kn_square(x);
}

// The same without its last n digits. The value is positive and below 2^(31 + n).
KN_INLINE uint32_t kn_interpolate_cut(const struct kn_segments *table, uint32_t segment, uint32_t x,
                                      unsigned n)
{
    return (uint32_t)(int32_t)(kn_interpolate(table, segment, x) * (1.0 / (1 << n)));
}

// The same for all lanes, whose x become their values. Each loop has one kind of work, because
// compilers do not vectorise a loop that reads from tables.
static inline void kn_interpolate_lanes(const struct kn_segments *table, const uint32_t *segment,
                                        uint32_t *x, unsigned n)
{
    _Alignas(64) double c0[KN_LANES], c1[KN_LANES], c2[KN_LANES];
    _Alignas(64) int32_t square[KN_LANES];
    for (int i = 0; i < KN_LANES; i++) {
        c0[i] = table->c0[segment[i]];
        c1[i] = table->c1[segment[i]];
        c2[i] = table->c2[segment[i]];
    }
    KN_EACH_LANE
    square[i] = kn_square(x[i]);
    KN_EACH_LANE
    x[i] =
        (uint32_t)(int32_t)((c0[i] + c1[i] * (int32_t)x[i] + c2[i] * square[i]) * (1.0 / (1 << n)));
}
