// SPDX-License-Identifier: MIT
// The card's interpolator for approximate functions: c0 + c1 x + c2 x^2 in fixed point, bit by bit.
//
// An argument's upper digits choose a segment; its lower 17 are x. The square leaves out all
// partial products below 2^-15, which is why this is not a multiplication. Coefficients: see
// data/functions/coefficients.txt.
#pragma once

#include "half.inc.h"

// One segment: the rounding constant is part of c0.
struct kn_segment {
    int64_t c0;     // in 2^-17 of a unit
    int32_t c1, c2; // in 2 units, and 1 unit
};

// Tables: 128 segments of rcp; 2 x 64 of rsqrt and sqrt, for odd exponents after even ones; 64 of
// ex2; 64 of the first quarter of sin; 64 of lg2 from 1 to 2; 51 of tanh from 2^-8 to 8.
#pragma GCC visibility push(hidden)
extern const struct kn_segment kn_segments_rcp[128], kn_segments_rsqrt[128];
extern const struct kn_segment kn_segments_sqrt[128], kn_segments_ex2[64], kn_segments_sin[64];
extern const struct kn_segment kn_segments_lg2[64], kn_segments_tanh[51];
#pragma GCC visibility pop

// The truncated square of 17 digits, in 2^-15. Row i of a squarer has the digits above i, and i
// itself once; digit j of it has the weight 2^(i+j+1), and weights below 2^19 are absent.
KN_INLINE int32_t kn_square(uint32_t x)
{
    uint32_t sum = 0;
#define ROW(i)                                                                                     \
    {                                                                                              \
        const uint32_t least = (i) + 1 > 18 - (i) ? (i) + 1 : 18 - (i);                            \
        const uint32_t digits = x & (0x1ffffu >> least << least);                                  \
        const uint32_t own = 2 * (i) >= 19 ? 1u << (2 * (i) >= 19 ? 2 * (i)-19 : 0) : 0;           \
        const uint32_t row = (18 - (i) > 0 ? digits >> (18 - (i)) : digits) + own;                 \
        sum += row & (0 - (x >> (i)&1));                                                           \
    }
    ROW(2)
    ROW(3)
    ROW(4)
    ROW(5)
    ROW(6)
    ROW(7)
    ROW(8)
    ROW(9)
    ROW(10)
    ROW(11)
    ROW(12)
    ROW(13)
    ROW(14)
    ROW(15)
    ROW(16)
#undef ROW
    return (int32_t)sum;
}

// The value in 2^-17 of a unit.
KN_INLINE int64_t kn_interpolate(const struct kn_segment *segment, uint32_t x)
{
    return segment->c0 + (int64_t)segment->c1 * 2 * x + (int64_t)segment->c2 * kn_square(x) * 4;
}
