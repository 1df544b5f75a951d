// SPDX-License-Identifier: MIT
// Forms of conversions to packed and small floating-point types: .relu and
// .satfinite, f16x2, bf16x2, tf32, and the 8-bit types e4m3 and e5m2.
#include "half.inc.h"

#include "families.h"

#define F32(x) kn_f32((x)[i])

// ".relu clamps negative results to 0. NaN result is converted to canonical
// NaN."
KN_INLINE uint32_t relu(uint32_t bits)
{
    return bits & 0x8000 ? 0 : bits;
}

// ".satfinite: results whose magnitude is greater than the greatest finite
// value become that."
KN_INLINE uint32_t limit_finite(uint32_t bits, uint32_t infinite)
{
    return (bits & 0x7fff) == infinite ? bits - 1 : bits;
}

#define FINITE_F16(bits) limit_finite(bits, 0x7c00)
#define FINITE_BF16(bits) limit_finite(bits, 0x7f80)
#define HALVES(type, mode, FINITE)                                                                 \
    KN_INLINE uint32_t type##_##mode(float x)                                                      \
    {                                                                                              \
        return kn_##type##_of_##mode(x);                                                           \
    }                                                                                              \
    KN_INLINE uint32_t type##_##mode##_relu(float x)                                               \
    {                                                                                              \
        return relu(kn_##type##_of_##mode(x));                                                     \
    }                                                                                              \
    KN_INLINE uint32_t type##_##mode##_satfinite(float x)                                          \
    {                                                                                              \
        return FINITE(kn_##type##_of_##mode(x));                                                   \
    }                                                                                              \
    KN_INLINE uint32_t type##_##mode##_relu_satfinite(float x)                                     \
    {                                                                                              \
        return relu(FINITE(kn_##type##_of_##mode(x)));                                             \
    }
HALVES(f16, rn, FINITE_F16)
HALVES(f16, rz, FINITE_F16)
HALVES(bf16, rn, FINITE_BF16)
HALVES(bf16, rz, FINITE_BF16)

// One value; and two, a above b.
#define ONE(name) KN_CALLED1(one_##name, uint16_t, uint32_t, name(F32(a)))
#define TWO(name)                                                                                  \
    KN_CALLED2(two_##name, uint32_t, uint32_t, uint32_t, name(F32(a)) << 16 | name(F32(b)))
#define FORMS(type, mode)                                                                          \
    ONE(type##_##mode##_relu)                                                                      \
    ONE(type##_##mode##_satfinite)                                                                 \
    ONE(type##_##mode##_relu_satfinite)                                                            \
    TWO(type##_##mode)                                                                             \
    TWO(type##_##mode##_relu)                                                                      \
    TWO(type##_##mode##_satfinite)                                                                 \
    TWO(type##_##mode##_relu_satfinite)
FORMS(f16, rn)
FORMS(f16, rz)
FORMS(bf16, rn)
FORMS(bf16, rz)

// tf32: an f32 with 10 digits after the point. A NaN is the canonical one,
// except with .rna, which cuts NaNs off; .satfinite treats them as numbers, as
// measured.
#define TF32(mode, NAN_BITS)                                                                       \
    KN_INLINE uint32_t tf32_##mode(uint32_t u)                                                     \
    {                                                                                              \
        const uint32_t kept = u >> 13, rest = u & 0x1fff;                                          \
        const uint32_t number = (kept + KN_UP_##mode(kept, rest, 0x1000u, 0)) << 13;               \
        (void)rest;                                                                                \
        return (u & 0x7fffffff) > 0x7f800000 ? NAN_BITS : number;                                  \
    }
TF32(rn, 0x7fffe000)
TF32(rz, 0x7fffe000)
TF32(rna, kept << 13)
KN_INLINE uint32_t tf32_finite(uint32_t bits)
{
    return (bits & 0x7fffffff) >= 0x7f800000 ? bits - 0x2000 : bits;
}

KN_INLINE uint32_t tf32_relu(uint32_t bits)
{
    return bits >> 31 ? 0 : bits;
}
KN_CALLED1(tf32_form_rn, uint32_t, uint32_t, tf32_rn(a[i]))
KN_CALLED1(tf32_form_rz, uint32_t, uint32_t, tf32_rz(a[i]))
KN_CALLED1(tf32_form_rna, uint32_t, uint32_t, tf32_rna(a[i]))
KN_CALLED1(tf32_form_rn_relu, uint32_t, uint32_t, tf32_relu(tf32_rn(a[i])))
KN_CALLED1(tf32_form_rz_relu, uint32_t, uint32_t, tf32_relu(tf32_rz(a[i])))
KN_CALLED1(tf32_form_rna_satfinite, uint32_t, uint32_t, tf32_finite(tf32_rna(a[i])))
KN_CALLED1(tf32_form_rn_satfinite, uint32_t, uint32_t, tf32_finite(tf32_rn(a[i])))
KN_CALLED1(tf32_form_rz_satfinite, uint32_t, uint32_t, tf32_finite(tf32_rz(a[i])))

// An 8-bit value with `digits` after the point and this bias, rounded to
// nearest and limited to `most`. A NaN is 0x7f.
KN_INLINE uint32_t small_of(float value, uint32_t digits, uint32_t bias, uint32_t most)
{
    const uint32_t all = kn_f32_bits(value), u = all & 0x7fffffff;
    const uint32_t least = 128 - bias; // the exponent of the smallest normal value, as an f32's
    const uint32_t e = u >> 23, drop = 23 - digits;
    const bool normal = e >= least;
    const uint32_t low = (u & 0x7fffff) | (e ? 0x800000 : 0);
    const uint32_t kept_all = normal ? u - ((least - 1) << 23) : low;
    const uint32_t far = least - e + drop;
    const uint32_t shift = normal ? drop : far > 31 ? 31 : far;
    const uint32_t kept = kept_all >> shift, half = 1u << (shift - 1);
    const uint32_t rest = kept_all & (2 * half - 1);
    const uint32_t rounded = kept + KN_UP_rn(kept, rest, half, 0);
    const uint32_t number = (rounded > most || u >= 0x47800000 ? most : rounded) | all >> 31 << 7;
    return u > 0x7f800000 ? 0x7f : number;
}

KN_INLINE float small_value(uint32_t bits, uint32_t digits, float scale, uint32_t infinite)
{
    const uint32_t low = (bits & 0x7f) << (23 - digits), sign = (bits & 0x80) << 24;
    const uint32_t number = kn_f32_bits(kn_f32(low) * scale);
    const uint32_t special = (bits & 0x7f) == infinite ? 0x7f800000 : KN_NAN_F32;
    return kn_f32(((bits & 0x7f) >= infinite ? special : number) | sign);
}

KN_INLINE uint32_t e4m3_of(float x)
{
    return small_of(x, 3, 7, 0x7e);
}

KN_INLINE uint32_t e5m2_of(float x)
{
    return small_of(x, 2, 15, 0x7b);
}

// e4m3 has one NaN and no infinity.
KN_INLINE uint32_t f16_of_e4m3(uint32_t x)
{
    return (x & 0x7f) == 0x7f ? KN_NAN_HALF : kn_f16_of_rn(small_value(x, 3, 0x1p120F, 0x80));
}

// e5m2 is the upper half of an f16.
KN_INLINE uint32_t f16_of_e5m2(uint32_t x)
{
    return (x & 0x7f) > 0x7c ? KN_NAN_HALF : (x & 0xff) << 8;
}

KN_INLINE uint32_t relu8(uint32_t bits)
{
    return bits & 0x80 ? 0 : bits;
}

#define SMALL(type)                                                                                \
    KN_CALLED2(type##_f32, uint16_t, uint32_t, uint32_t,                                           \
               type##_of(F32(a)) << 8 | type##_of(F32(b)))                                         \
    KN_CALLED2(type##_relu_f32, uint16_t, uint32_t, uint32_t,                                      \
               relu8(type##_of(F32(a))) << 8 | relu8(type##_of(F32(b))))                           \
    KN_CALLED1(type##_f16, uint16_t, uint32_t,                                                     \
               type##_of(kn_f16_value(a[i] >> 16)) << 8 | type##_of(kn_f16_value(a[i] & 0xffff)))  \
    KN_CALLED1(type##_relu_f16, uint16_t, uint32_t,                                                \
               relu8(type##_of(kn_f16_value(a[i] >> 16))) << 8 |                                   \
                   relu8(type##_of(kn_f16_value(a[i] & 0xffff))))                                  \
    KN_CALLED1(f16_##type, uint32_t, uint16_t,                                                     \
               f16_of_##type((uint32_t)a[i] >> 8) << 16 | f16_of_##type(a[i] & 0xffu))             \
    KN_CALLED1(f16_relu_##type, uint32_t, uint16_t,                                                \
               relu(f16_of_##type((uint32_t)a[i] >> 8)) << 16 | relu(f16_of_##type(a[i] & 0xffu)))
SMALL(e4m3)
SMALL(e5m2)

#define ROWS_OF(type, mode, m, text)                                                               \
    KN_ROW(two_##type##_##mode##m, "cvt." #mode text "." #type "x2.f32", "w=ww")
#define ROWS(type, mode)                                                                           \
    KN_ROW(one_##type##_##mode##_relu, "cvt." #mode ".relu." #type ".f32", "h=w"),                 \
        KN_ROW(one_##type##_##mode##_satfinite, "cvt." #mode ".satfinite." #type ".f32", "h=w"),   \
        KN_ROW(one_##type##_##mode##_relu_satfinite, "cvt." #mode ".relu.satfinite." #type ".f32", \
               "h=w"),                                                                             \
        ROWS_OF(type, mode, , ""), ROWS_OF(type, mode, _relu, ".relu"),                            \
        ROWS_OF(type, mode, _satfinite, ".satfinite"),                                             \
        ROWS_OF(type, mode, _relu_satfinite, ".relu.satfinite")
#define SMALL_ROWS(type)                                                                           \
    KN_ROW(type##_f32, "cvt.rn.satfinite." #type "x2.f32", "h=ww"),                                \
        KN_ROW(type##_relu_f32, "cvt.rn.satfinite.relu." #type "x2.f32", "h=ww"),                  \
        KN_ROW(type##_f16, "cvt.rn.satfinite." #type "x2.f16x2", "h=w"),                           \
        KN_ROW(type##_relu_f16, "cvt.rn.satfinite.relu." #type "x2.f16x2", "h=w"),                 \
        KN_ROW(f16_##type, "cvt.rn.f16x2." #type "x2", "w=h"),                                     \
        KN_ROW(f16_relu_##type, "cvt.rn.relu.f16x2." #type "x2", "w=h")

const struct kn_form KN_FAMILY(convert_small)[] = {
    ROWS(f16, rn),
    ROWS(f16, rz),
    ROWS(bf16, rn),
    ROWS(bf16, rz),
    KN_ROW(tf32_form_rn, "cvt.rn.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rz, "cvt.rz.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rna, "cvt.rna.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rn_relu, "cvt.rn.relu.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rz_relu, "cvt.rz.relu.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rn_satfinite, "cvt.rn.satfinite.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rz_satfinite, "cvt.rz.satfinite.tf32.f32", "w=w"),
    KN_ROW(tf32_form_rna_satfinite, "cvt.rna.satfinite.tf32.f32", "w=w"),
    SMALL_ROWS(e4m3),
    SMALL_ROWS(e5m2),
    {0},
};
