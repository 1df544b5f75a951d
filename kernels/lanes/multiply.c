// SPDX-License-Identifier: MIT
// Forms of integer products: upper halves, wide products, 24 bits, and dot products of bytes.
#include "lanes.inc.h"

#include "families.h"

// "mul.hi: the upper half of the product". "mad.hi: the upper half of a * b, plus c".
#define UPPER(s, bits, T, WIDE)                                                                    \
    KN_FORM2(mul_hi_##s, uint##bits##_t, T, T, ((WIDE)a[i] * b[i]) >> bits)                        \
    KN_FORM3(mad_hi_##s, uint##bits##_t, T, T, uint##bits##_t,                                     \
             (uint##bits##_t)(((WIDE)a[i] * b[i]) >> bits) + c[i])
UPPER(u16, 16, uint16_t, uint32_t)
UPPER(s16, 16, int16_t, int32_t)
UPPER(u32, 32, uint32_t, uint64_t)
UPPER(s32, 32, int32_t, int64_t)
UPPER(u64, 64, uint64_t, kn_uint128)
UPPER(s64, 64, int64_t, kn_int128)

// "mul.wide: the product has twice the width of a and b, and so has c of mad.wide".
#define WIDE(s, T, W, U)                                                                           \
    KN_FORM2(mul_wide_##s, W, T, T, (W)a[i] * b[i])                                                \
    KN_FORM3(mad_wide_##s, U, T, T, U, (U)((W)a[i] * b[i]) + c[i])
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, int64_t, uint64_t)

static inline int32_t clamp_s32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

KN_FORM3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
         clamp_s32(((int64_t)a[i] * b[i] >> 32) + c[i]))

// mul24: the product of the lower 24 bits has 48; .lo takes its lower 32, .hi its upper 32.
#define U24(x) ((uint64_t)((x)&0xffffff))
#define S24(x) ((int64_t)((int32_t)((x) << 8) >> 8))
#define MUL24(s, EXTEND)                                                                           \
    KN_FORM2(mul24_lo_##s, uint32_t, uint32_t, uint32_t, EXTEND(a[i]) * EXTEND(b[i]))              \
    KN_FORM2(mul24_hi_##s, uint32_t, uint32_t, uint32_t, EXTEND(a[i]) * EXTEND(b[i]) >> 16)        \
    KN_FORM3(mad24_lo_##s, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
             (uint32_t)(EXTEND(a[i]) * EXTEND(b[i])) + c[i])                                       \
    KN_FORM3(mad24_hi_##s, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
             (uint32_t)(EXTEND(a[i]) * EXTEND(b[i]) >> 16) + c[i])
MUL24(u32, U24)
MUL24(s32, S24)
KN_FORM3(mad24_hi_sat_s32, int32_t, uint32_t, uint32_t, int32_t,
         clamp_s32((int64_t)(int32_t)(S24(a[i]) * S24(b[i]) >> 16) + c[i]))

// dp4a: c plus the products of the four bytes of a and b. dp2a: c plus the products of the two
// halves of a and two bytes of b: .lo the lower, .hi the upper.
#define BYTE(T, x, n) ((int32_t)(T)((x) >> 8 * (n)))
#define HALF(T, x, n) ((int32_t)(T)((x) >> 16 * (n)))
#define DOT(ab, A8, A16, B8)                                                                       \
    KN_FORM3(dp4a_##ab, uint32_t, uint32_t, uint32_t, uint32_t,                                    \
             c[i] + (uint32_t)(BYTE(A8, a[i], 0) * BYTE(B8, b[i], 0) +                             \
                               BYTE(A8, a[i], 1) * BYTE(B8, b[i], 1) +                             \
                               BYTE(A8, a[i], 2) * BYTE(B8, b[i], 2) +                             \
                               BYTE(A8, a[i], 3) * BYTE(B8, b[i], 3)))                             \
    KN_FORM3(dp2a_lo_##ab, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
             c[i] + (uint32_t)(HALF(A16, a[i], 0) * BYTE(B8, b[i], 0) +                            \
                               HALF(A16, a[i], 1) * BYTE(B8, b[i], 1)))                            \
    KN_FORM3(dp2a_hi_##ab, uint32_t, uint32_t, uint32_t, uint32_t,                                 \
             c[i] + (uint32_t)(HALF(A16, a[i], 0) * BYTE(B8, b[i], 2) +                            \
                               HALF(A16, a[i], 1) * BYTE(B8, b[i], 3)))
DOT(uu, uint8_t, uint16_t, uint8_t)
DOT(us, uint8_t, uint16_t, int8_t)
DOT(su, int8_t, int16_t, uint8_t)
DOT(ss, int8_t, int16_t, int8_t)

#define UPPER_ROWS(s, l)                                                                           \
    KN_ROW(mul_hi_##s, "mul.hi." #s, l "=" l l), KN_ROW(mad_hi_##s, "mad.hi." #s, l "=" l l l)
#define WIDE_ROWS(s, l, w)                                                                         \
    KN_ROW(mul_wide_##s, "mul.wide." #s, w "=" l l),                                               \
        KN_ROW(mad_wide_##s, "mad.wide." #s, w "=" l l w)
#define MUL24_ROWS(s)                                                                              \
    KN_ROW(mul24_lo_##s, "mul24.lo." #s, "w=ww"), KN_ROW(mul24_hi_##s, "mul24.hi." #s, "w=ww"),    \
        KN_ROW(mad24_lo_##s, "mad24.lo." #s, "w=www"),                                             \
        KN_ROW(mad24_hi_##s, "mad24.hi." #s, "w=www")
#define DOT_ROWS(ab, types)                                                                        \
    KN_ROW(dp4a_##ab, "dp4a." types, "w=www"), KN_ROW(dp2a_lo_##ab, "dp2a.lo." types, "w=www"),    \
        KN_ROW(dp2a_hi_##ab, "dp2a.hi." types, "w=www")

const struct kn_form KN_FAMILY(multiply)[] = {
    UPPER_ROWS(u16, "h"),
    UPPER_ROWS(s16, "h"),
    UPPER_ROWS(u32, "w"),
    UPPER_ROWS(s32, "w"),
    UPPER_ROWS(u64, "l"),
    UPPER_ROWS(s64, "l"),
    WIDE_ROWS(u16, "h", "w"),
    WIDE_ROWS(s16, "h", "w"),
    WIDE_ROWS(u32, "w", "l"),
    WIDE_ROWS(s32, "w", "l"),
    KN_ROW(mad_hi_sat_s32, "mad.hi.sat.s32", "w=www"),
    MUL24_ROWS(u32),
    MUL24_ROWS(s32),
    KN_ROW(mad24_hi_sat_s32, "mad24.hi.sat.s32", "w=www"),
    DOT_ROWS(uu, "u32.u32"),
    DOT_ROWS(us, "u32.s32"),
    DOT_ROWS(su, "s32.u32"),
    DOT_ROWS(ss, "s32.s32"),
    {0},
};
