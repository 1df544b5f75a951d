// SPDX-License-Identifier: MIT
// For the families of approximate functions: parts of an f32, and interpolated functions of all
// lanes.
#pragma once

#include "interpolate.inc.h"

enum { KN_INFINITE = 0x7f800000 };
#define KN_DIGITS(bits) ((bits)&0x7fffff)
#define KN_EXPONENT(bits) ((bits) >> 23 & 0xff)

// Each interpolated function is three parts without branches: the place in the table, x, and the
// result for an interpolated value. Forms run each part over all lanes, because compilers vectorise
// that.
#define KN_INTERPOLATE(name)                                                                       \
    _Alignas(64) double value[KN_LANES];                                                           \
    _Alignas(64) uint32_t segment[KN_LANES], x[KN_LANES];                                          \
    KN_EACH_LANE                                                                                   \
    {                                                                                              \
        segment[i] = name##_segment(a[i]);                                                         \
        x[i] = name##_x(a[i]);                                                                     \
    }                                                                                              \
    kn_interpolate_lanes(&kn_segments_##name, segment, x, value);
#define KN_INTERPOLATED(name, cut)                                                                 \
    KN_INLINE uint32_t name##_ftz(uint32_t bits)                                                   \
    {                                                                                              \
        return name##_value(bits, kn_interpolate_cut(&kn_segments_##name, name##_segment(bits),    \
                                                     name##_x(bits), cut));                        \
    }                                                                                              \
    KN_INLINE void name##_lanes_of(uint32_t *d, const uint32_t *a, const bool whole)               \
    {                                                                                              \
        _Alignas(64) uint32_t segment[KN_LANES], x[KN_LANES], y[KN_LANES];                         \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            segment[i] = name##_segment(a[i]);                                                     \
            x[i] = name##_x(a[i]);                                                                 \
        }                                                                                          \
        kn_interpolate_rows(&kn_rows_##name, segment, x, cut, y);                                  \
        KN_EACH_LANE                                                                               \
        d[i] = whole ? name##_value(a[i], y[i]) : name##_usual(a[i], y[i]);                        \
    }                                                                                              \
    static __attribute__((noinline)) void name##_each(uint32_t *d, const uint32_t *a)              \
    {                                                                                              \
        name##_lanes_of(d, a, true);                                                               \
    }                                                                                              \
    static __attribute__((noinline)) void name##_each_usual(uint32_t *d, const uint32_t *a)        \
    {                                                                                              \
        name##_lanes_of(d, a, false);                                                              \
    }

// The same for results that are made of all digits.
#define KN_INTERPOLATED_WHOLE(name)                                                                \
    static __attribute__((noinline)) void name##_each(uint32_t *d, const uint32_t *a)              \
    {                                                                                              \
        KN_INTERPOLATE(name)                                                                       \
        KN_EACH_LANE                                                                               \
        d[i] = name##_value(a[i], value[i]);                                                       \
    }

// Forms of one value of 16 bits and of two of them.
#define KN_HALF(name)                                                                              \
    KN_CALLED1(name##_1, uint16_t, uint16_t, name(a[i]))                                           \
    KN_CALLED1(name##_2, uint32_t, uint32_t, name(a[i] & 0xffff) | name(a[i] >> 16) << 16)
#define KN_APPROX_ROWS(name)                                                                       \
    KN_ROW(name, #name ".approx.f32", "w=w"), KN_ROW(name##_flushed, #name ".approx.ftz.f32", "w=w")
#define KN_HALF_ROWS(name, text, type)                                                             \
    KN_ROW(name##_1, text "." type, "h=h"), KN_ROW(name##_2, text "." type "x2", "w=w")
