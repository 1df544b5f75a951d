// SPDX-License-Identifier: MIT
// Forms of approximate functions of f32 and f64, except those in sine.c. All of them give the
// card's bits.
#include "f64.inc.h"
#include "approx.inc.h"
#include "chain.inc.h"

#include "families.h"

// rcp.approx.ftz
KN_INLINE uint32_t rcp_segment(uint32_t bits)
{
    return KN_DIGITS(bits) >> 16;
}

KN_INLINE uint32_t rcp_x(uint32_t bits)
{
    return (bits & 0xffff) << 1;
}

// Usual arguments have simple results, and should not have to be scaled either.
KN_INLINE bool rcp_is_usual(uint32_t bits)
{
    return KN_EXPONENT(bits) - 1 < 252;
}

KN_INLINE uint32_t rcp_usual(uint32_t bits, uint32_t y)
{
    const uint32_t m = KN_DIGITS(bits);
    const uint32_t exponent = 253 - KN_EXPONENT(bits) + !m;
    return (bits & 0x80000000) | exponent << 23 | (m ? y & 0x7fffff : 0);
}

KN_INLINE uint32_t rcp_value(uint32_t bits, uint32_t y)
{
    const uint32_t sign = bits & 0x80000000, m = KN_DIGITS(bits), e = KN_EXPONENT(bits);
    const uint32_t exponent = 253 - e + !m; // 0 or less: a subnormal result
    const uint32_t number = (int32_t)exponent <= 0 ? 0 : exponent << 23 | (m ? y & 0x7fffff : 0);
    const uint32_t edge = e ? m ? KN_NAN_F32 : sign : sign | KN_INFINITE;
    return ((e != 0) & (e < 255)) ? sign | number : edge;
}
KN_INTERPOLATED(rcp, 17)

// rsqrt.approx.ftz and sqrt.approx.ftz: the even exponents of the argument are those of [1, 2).
KN_INLINE uint32_t rsqrt_segment(uint32_t bits)
{
    return (~bits >> 23 & 1) << 6 | KN_DIGITS(bits) >> 17;
}

KN_INLINE uint32_t rsqrt_x(uint32_t bits)
{
    return bits & 0x1ffff;
}

KN_INLINE bool rsqrt_is_usual(uint32_t bits)
{
    return bits - 0x800000 < KN_INFINITE - 0x800000;
}

KN_INLINE uint32_t rsqrt_usual(uint32_t bits, uint32_t y)
{
    const uint32_t power = (KN_DIGITS(bits) == 0) & (bits >> 23);
    return (380 - (bits >> 23) + power) >> 1 << 23 | (power ? 0 : y & 0x7fffff);
}

KN_INLINE uint32_t rsqrt_value(uint32_t bits, uint32_t y)
{
    const uint32_t sign = bits & 0x80000000, m = KN_DIGITS(bits), e = KN_EXPONENT(bits),
                   odd = ~e & 1;
    const uint32_t power = !(m | odd);
    const uint32_t number = (380 - e + power) >> 1 << 23 | (power ? 0 : y & 0x7fffff);
    const uint32_t infinite = (m | sign) ? KN_NAN_F32 : 0;
    const uint32_t finite = sign ? KN_NAN_F32 : number;
    return !e ? sign | KN_INFINITE : e == 255 ? infinite : finite;
}
KN_INTERPOLATED(rsqrt, 17)

#define sqrt_segment rsqrt_segment
#define sqrt_x rsqrt_x
#define sqrt_is_usual rsqrt_is_usual
KN_INLINE uint32_t sqrt_usual(uint32_t bits, uint32_t y)
{
    return ((bits >> 23) + 127) >> 1 << 23 | (y & 0x7fffff);
}

KN_INLINE uint32_t sqrt_value(uint32_t bits, uint32_t y)
{
    const uint32_t sign = bits & 0x80000000, m = KN_DIGITS(bits), e = KN_EXPONENT(bits);
    const uint32_t number = ((e + 127) >> 1) << 23 | (y & 0x7fffff);
    const uint32_t infinite = (m | sign) ? KN_NAN_F32 : KN_INFINITE;
    const uint32_t finite = sign ? KN_NAN_F32 : number;
    return !e ? sign : e == 255 ? infinite : finite;
}
KN_INTERPOLATED(sqrt, 18)

// ex2.approx.ftz: the argument in fixed point with 23 digits after the point, cut off. A negative
// one is the complement.
KN_INLINE int32_t ex2_fixed(uint32_t bits)
{
    const uint32_t m = KN_DIGITS(bits) | 0x800000, e = KN_EXPONENT(bits);
    const uint32_t down = e < 127 - 23 ? 0 : m >> ((127 - e) & 31), up = m << ((e - 127) & 7);
    const uint32_t fixed = e < 127 ? down : up;
    const uint32_t negative = fixed & 0x7fffff ? ~fixed : 0 - fixed;
    return (int32_t)(bits >> 31 ? negative : fixed);
}

KN_INLINE uint32_t ex2_segment(uint32_t bits)
{
    return ((uint32_t)ex2_fixed(bits) & 0x7fffff) >> 17;
}

KN_INLINE uint32_t ex2_x(uint32_t bits)
{
    return (uint32_t)ex2_fixed(bits) & 0x1ffff;
}

KN_INLINE bool ex2_is_usual(uint32_t bits)
{
    return fabsf(kn_f32(bits)) < 126 && KN_EXPONENT(bits);
}

KN_INLINE uint32_t ex2_usual(uint32_t bits, uint32_t y)
{
    return (uint32_t)((ex2_fixed(bits) >> 23) + 127) << 23 | (y & 0x7fffff);
}

KN_INLINE uint32_t ex2_value(uint32_t bits, uint32_t y)
{
    const uint32_t e = KN_EXPONENT(bits);
    const int32_t exponent = (ex2_fixed(bits) >> 23) + 127;
    const uint32_t number = exponent <= 0 ? 0 : (uint32_t)exponent << 23 | (y & 0x7fffff);
    const uint32_t far = bits >> 31 ? 0 : KN_INFINITE;
    const uint32_t large = (bits & 0x7fffffff) > KN_INFINITE ? KN_NAN_F32 : far;
    return e >= 127 + 7 ? large : !e ? 0x3f800000 : number;
}
KN_INTERPOLATED(ex2, 17)

// Without .ftz, small arguments are scaled, and results are scaled back.
KN_INLINE bool is_small(uint32_t bits)
{
    return !KN_EXPONENT(bits);
}

KN_INLINE uint32_t scaled(uint32_t bits, float by)
{
    return kn_f32_result(kn_f32(bits) * by);
}

KN_INLINE uint32_t scaled_sum(uint32_t bits, float other)
{
    return kn_f32_result(kn_f32(bits) + other);
}

KN_INLINE float rcp_scale(uint32_t bits)
{
    const float large = KN_EXPONENT(bits) - 253 < 2 ? 0x1p-24F : 1;
    return is_small(bits) ? 0x1p24F : large;
}

KN_INLINE uint32_t rcp_before(uint32_t bits)
{
    return scaled(bits, rcp_scale(bits));
}

KN_INLINE uint32_t rcp_after(uint32_t bits, uint32_t y)
{
    return scaled(y, rcp_scale(bits));
}

KN_INLINE uint32_t rsqrt_before(uint32_t bits)
{
    return scaled(bits, is_small(bits) ? 0x1p24F : 1);
}

KN_INLINE uint32_t rsqrt_after(uint32_t bits, uint32_t y)
{
    return scaled(y, is_small(bits) ? 0x1p12F : 1);
}

#define sqrt_before rsqrt_before
KN_INLINE uint32_t sqrt_after(uint32_t bits, uint32_t y)
{
    return scaled(y, is_small(bits) ? 0x1p-12F : 1);
}

KN_INLINE uint32_t ex2_before(uint32_t bits)
{
    return scaled(bits, kn_f32(bits) < -126 ? 0.5F : 1);
}

KN_INLINE uint32_t ex2_after(uint32_t bits, uint32_t y)
{
    return scaled(y, kn_f32(bits) < -126 ? kn_f32(y) : 1);
}

KN_INLINE uint32_t rcp_full(uint32_t bits)
{
    return rcp_after(bits, rcp_ftz(rcp_before(bits)));
}

KN_INLINE uint32_t ex2_full(uint32_t bits)
{
    return ex2_after(bits, ex2_ftz(ex2_before(bits)));
}

// lg2.approx.ftz: the exponent and the fraction's logarithm are one number in 2^-36. The absolute
// value of a negative one is its complement, and digits that do not fit an f32 are cut off. (The
// number is whole and below 2^53.)
KN_INLINE uint32_t lg2_segment(uint32_t bits)
{
    return KN_DIGITS(bits) >> 17;
}

KN_INLINE uint32_t lg2_x(uint32_t bits)
{
    return KN_DIGITS(bits) & 0x1ffff;
}

KN_INLINE uint32_t lg2_value(uint32_t bits, double value)
{
    const uint32_t m = KN_DIGITS(bits), e = KN_EXPONENT(bits);
    const double fraction = bits << 1 == 0x7f000000 ? 0 : __builtin_floor(value * 0x1p-5);
    const double all = ((int32_t)e - 127) * 0x1p36 + fraction, size = all < 0 ? -1 - all : all;
    const uint32_t digits = kn_f32_bits(kn_narrow_rz(size * 0x1p-36));
    const uint32_t number = all < 0 ? digits | 0x80000000 : digits;
    const uint32_t large = m ? KN_NAN_F32 : KN_INFINITE;
    const uint32_t positive = e == 255 ? large : number;
    const uint32_t some = bits >> 31 ? KN_NAN_F32 : positive;
    return e ? some : KN_INFINITE | 0x80000000;
}
KN_INTERPOLATED_WHOLE(lg2)

KN_INLINE uint32_t lg2_before(uint32_t bits)
{
    return scaled(bits, is_small(bits) ? 0x1p24F : 1);
}

KN_INLINE uint32_t lg2_after(uint32_t bits, uint32_t y)
{
    return scaled_sum(y, is_small(bits) ? -24 : 0);
}

// Both divisions multiply by the reciprocal, without .ftz after scaling operands if the divisor is
// subnormal. "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 returns NaN, otherwise it
// returns 0." "div.full.f32 implements a relatively fast, full-range approximation that scales
// operands": by 1/4 then.
KN_INLINE uint32_t divide(uint32_t a, uint32_t b, bool ftz, float large)
{
    const uint32_t e = KN_EXPONENT(b);
    const float scale = e >= 253 && e < 255 ? large : !ftz && !e ? 0x1p24F : 1;
    const float x = kn_f32(ftz ? kn_f32_flush(a) : a) * scale;
    const uint32_t r = kn_f32_result(x * kn_f32(rcp_ftz(scaled(b, scale))));
    return ftz ? kn_f32_flush(r) : r;
}

KN_INLINE uint32_t div_approx(uint32_t a, uint32_t b, bool ftz)
{
    return divide(a, b, ftz, 1);
}

KN_INLINE uint32_t div_full(uint32_t a, uint32_t b, bool ftz)
{
    return divide(a, b, ftz, 0.25F);
}

// `y` is scratch.
#define SCALED(name)                                                                               \
    static KN_NOINLINE void name##_scaled(uint32_t *d, const uint32_t *a, uint32_t *y)             \
    {                                                                                              \
        KN_EACH_LANE                                                                               \
        y[i] = name##_before(a[i]);                                                                \
        name##_each(y, y);                                                                         \
        KN_EACH_LANE                                                                               \
        d[i] = name##_after(a[i], y[i]);                                                           \
    }
#define USUAL(name)                                                                                \
    SCALED(name)                                                                                   \
    KN_INLINE bool name##_are_usual(const uint32_t *a)                                             \
    {                                                                                              \
        uint32_t others = 0;                                                                       \
        KN_EACH_LANE                                                                               \
        others |= name##_is_usual(a[i]) ? 0 : UINT32_MAX;                                          \
        return !others;                                                                            \
    }                                                                                              \
    KN_INLINE void name##_any(uint32_t *d, const uint32_t *a, uint32_t *y)                         \
    {                                                                                              \
        if (name##_are_usual(a))                                                                   \
            name##_each_usual(d, a);                                                               \
        else                                                                                       \
            name##_scaled(d, a, y);                                                                \
    }                                                                                              \
    KN_INLINE void name##_any_flushed(uint32_t *d, const uint32_t *a, uint32_t *y)                 \
    {                                                                                              \
        (void)y;                                                                                   \
        if (name##_are_usual(a))                                                                   \
            name##_each_usual(d, a);                                                               \
        else                                                                                       \
            name##_each(d, a);                                                                     \
    }
#define FORM(name, function)                                                                       \
    KN_CALLED_HEAD_(name, uint32_t)                                                                \
    {                                                                                              \
        _Alignas(64) uint32_t y[KN_LANES];                                                         \
        function(d, KN_REGISTER(uint32_t, op->a), y);                                              \
    }                                                                                              \
    KN_CALLED_FORM_(name, uint32_t)
#define FORMS(name)                                                                                \
    FORM(name, name##_any)                                                                         \
    FORM(name##_flushed, name##_any_flushed)
USUAL(rcp)
USUAL(sqrt)
USUAL(rsqrt)
USUAL(ex2)
SCALED(lg2)
#define lg2_any lg2_scaled
KN_INLINE void lg2_any_flushed(uint32_t *d, const uint32_t *a, uint32_t *y)
{
    (void)y;
    lg2_each(d, a);
}

FORMS(rcp)
FORMS(sqrt)
FORMS(rsqrt)
FORMS(ex2)
FORMS(lg2)
#define DIVISION(name)                                                                             \
    KN_CALLED2(name##_form, uint32_t, uint32_t, uint32_t, name(a[i], b[i], false))                 \
    KN_CALLED2(name##_flushed, uint32_t, uint32_t, uint32_t, name(a[i], b[i], true))
DIVISION(div_approx)
DIVISION(div_full)

// f64: the same interpolators, from the upper 32 bits of the argument to those of the result. "The
// 32 lower bits of the result are 0." Subnormal arguments are flushed.
#define DIGITS64(high) ((high)&0xfffff)
#define NAN_HIGH 0x7fffffff00000000u
#define EXPONENT64(high) ((high) >> 20 & 0x7ff)

KN_INLINE uint64_t rcp_f64(uint64_t bits)
{
    const uint32_t high = (uint32_t)(bits >> 32), m = DIGITS64(high), e = EXPONENT64(high);
    const uint64_t sign = bits & 1ull << 63;
    const uint32_t y = kn_interpolate_cut(&kn_segments_rcp, m >> 13, (m & 0x1fff) << 4, 17);
    const uint32_t exponent = 2045 - e + !m; // 0 or less: a subnormal result
    const uint32_t number = exponent << 20 | (m ? (y & 0x7fffff) >> 3 : 0);
    if (e == 0)
        return sign | 0x7ff0000000000000u;
    if (e == 2047 && m)
        return NAN_HIGH;
    return sign | (e == 2047 || (int32_t)exponent <= 0 ? 0 : (uint64_t)number << 32);
}

KN_INLINE uint64_t rsqrt_f64(uint64_t bits)
{
    const uint32_t high = (uint32_t)(bits >> 32), m = DIGITS64(high), e = EXPONENT64(high);
    const uint32_t odd = ~e & 1;
    const uint64_t sign = bits & 1ull << 63;
    const uint32_t y =
        kn_interpolate_cut(&kn_segments_rsqrt, (odd << 6) + (m >> 14), (m & 0x3fff) << 3, 17);
    const bool power = !m && !odd;
    const uint32_t number = (3068 - e + power) >> 1 << 20 | (power ? 0 : (y & 0x7fffff) >> 3);
    if (e == 0)
        return sign | 0x7ff0000000000000u;
    if (sign || (e == 2047 && m))
        return NAN_HIGH;
    return e == 2047 ? 0 : (uint64_t)number << 32;
}

KN_INLINE double fma_f64(double a, double b, double c)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return kn_f64(kn_fma_f64(kn_f64_bits(a), kn_f64_bits(b), kn_f64_bits(c), KN_RN));
#endif
}

// rsqrt.approx.f64 without .ftz: one step from the approximation, y + y e (1/2 + 3/8 e) with
// e = 1 - x y^2.
KN_INLINE uint64_t rsqrt_f64_full(uint64_t bits)
{
    const bool small = !(bits & 0x7ff0000000000000u) && bits << 1;
    const double x = small ? kn_f64(bits) * 0x1p54 : kn_f64(bits);
    const uint64_t first = x == x ? rsqrt_f64(kn_f64_bits(x)) : kn_f64_result1(x, x);
    const double y = kn_f64(first);
    const double e = fma_f64(x, -(y * y), 1);
    const double r = fma_f64(fma_f64(e, 0.375, 0.5), y * e, y);
    const bool done = !(x > 0) || kn_f64_special(kn_f64_bits(x));
    const uint64_t edge = x < 0 ? KN_DEFAULT_F64 : first;
    return done ? edge : kn_f64_bits(small ? r * 0x1p27 : r);
}
KN_CALLED1(rcp_double, uint64_t, uint64_t, rcp_f64(a[i]))
KN_CALLED1(rsqrt_double, uint64_t, uint64_t, rsqrt_f64_full(a[i]))
KN_CALLED1(rsqrt_double_ftz, uint64_t, uint64_t, rsqrt_f64(a[i]))

// 16 bits: the f32 function, cut off.
KN_INLINE uint32_t ex2_f16(uint32_t x)
{
    const uint32_t y = kn_f16_of_rz(kn_f32(ex2_full(kn_f32_bits(kn_f16_value(x)))));
    return x >= 0x4c00 && x < 0x7c00 ? 0x7c00 : y; // from 16 on
}

KN_INLINE uint32_t ex2_bf16(uint32_t x)
{
    return kn_bf16_of_rz(kn_f32(ex2_ftz(x << 16)));
}

KN_HALF(ex2_f16)
KN_HALF(ex2_bf16)

#define DIVISION_ROWS(name, text)                                                                  \
    KN_ROW(name##_form, text ".f32", "w=ww"), KN_ROW(name##_flushed, text ".ftz.f32", "w=ww")

const struct kn_form KN_FAMILY(approx)[] = {
    KN_APPROX_ROWS(rcp),
    KN_APPROX_ROWS(rsqrt),
    KN_APPROX_ROWS(sqrt),
    KN_APPROX_ROWS(ex2),
    KN_APPROX_ROWS(lg2),
    DIVISION_ROWS(div_approx, "div.approx"),
    DIVISION_ROWS(div_full, "div.full"),
    KN_ROW(rcp_double, "rcp.approx.ftz.f64", "l=l"),
    KN_ROW(rsqrt_double, "rsqrt.approx.f64", "l=l"),
    KN_ROW(rsqrt_double_ftz, "rsqrt.approx.ftz.f64", "l=l"),
    KN_HALF_ROWS(ex2_f16, "ex2.approx", "f16"),
    KN_HALF_ROWS(ex2_bf16, "ex2.approx.ftz", "bf16"),
    {0},
};

#if KN_HAVE_CHAINS
// With AVX-512 all values stay in vector registers if the function is part of the link.
#if defined(__AVX512DQ__)
#define LINKED(name, flushed, others)                                                              \
    KN_INLINE void name##flushed##_linked(uint32_t *d, const uint32_t *a, uint32_t *y)             \
    {                                                                                              \
        (void)y;                                                                                   \
        if (name##_are_usual(a))                                                                   \
            name##_lanes_of(d, a, false);                                                          \
        else                                                                                       \
            others;                                                                                \
    }                                                                                              \
    KN_LINK_CALLED(name##flushed, name##flushed##_linked)
#define LINKS(name)                                                                                \
    LINKED(name, , name##_scaled(d, a, y))                                                         \
    LINKED(name, _flushed, name##_each(d, a))
#else
#define LINKS(name)                                                                                \
    KN_LINK_CALLED(name, name##_any)                                                               \
    KN_LINK_CALLED(name##_flushed, name##_any_flushed)
#endif
LINKS(rcp)
LINKS(rsqrt)
LINKS(sqrt)
LINKS(ex2)
KN_LINK_CALLED(lg2, lg2_any)
KN_LINK_CALLED(lg2_flushed, lg2_any_flushed)

#define CHAIN_ROWS(name)                                                                           \
    KN_CALLED_CHAIN_ROW(name, #name ".approx.f32"),                                                \
        KN_CALLED_CHAIN_ROW(name##_flushed, #name ".approx.ftz.f32")
const struct kn_chain KN_JOIN(kn_chains_approx, KN_SET)[] = {
    CHAIN_ROWS(rcp), CHAIN_ROWS(rsqrt), CHAIN_ROWS(sqrt), CHAIN_ROWS(ex2), CHAIN_ROWS(lg2), {0},
};
#else
const struct kn_chain KN_JOIN(kn_chains_approx, KN_SET)[] = {{0}};
#endif
