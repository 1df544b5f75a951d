// SPDX-License-Identifier: MIT
// Forms of conversions between floating-point types, and to integral values of
// the same type.
#include "half.inc.h"

#include "families.h"

#define F32(x) kn_f32((x)[i])
#define FTZ(x) kn_f32(kn_f32_flush((x)[i]))
#define F64(x) kn_f64((x)[i])
#define F16(x) kn_f16_value((x)[i])
#define BF16(x) kn_bf16_value((x)[i])
#define HALF_SATURATE(bits, one)                                                                   \
    ((bits) == KN_NAN_HALF || (bits)&0x8000 ? 0 : (bits) > (one) ? (one) : (bits))
KN_INLINE uint32_t saturate_f16(uint32_t bits)
{
    return HALF_SATURATE(bits, 0x3c00u);
}

// A NaN of f64 keeps its sign and its upper digits.
KN_INLINE uint32_t nan_of_f64(uint64_t bits, int digits, uint32_t quiet)
{
    const uint32_t sign = (uint32_t)(bits >> 63) << (digits == 23 ? 31 : 15);
    return sign | quiet | (uint32_t)((bits & 0xfffffffffffffu) >> (52 - digits));
}

#define NAN_OR(bits, digits, quiet, result)                                                        \
    (kn_f64(bits) != kn_f64(bits) ? nan_of_f64(bits, digits, quiet) : (result))
KN_INLINE uint32_t flush_if(bool tiny, uint32_t bits)
{
    return tiny ? bits & 0x80000000 : bits;
}

// To a narrower type. .ftz does not concern conversions to f16, as measured.
#define NARROW(mode)                                                                               \
    KN_CALLED1(f32_##mode##_f64, uint32_t, uint64_t,                                               \
               NAN_OR(a[i], 23, 0x7fc00000u, kn_f32_bits(kn_narrow_##mode(F64(a)))))               \
    KN_CALLED1(f32_##mode##_sat_f64, uint32_t, uint64_t,                                           \
               kn_f32_saturate(kn_f32_bits(kn_narrow_##mode(F64(a)))))                             \
    KN_CALLED1(f32_##mode##_ftz_f64, uint32_t, uint64_t,                                           \
               NAN_OR(a[i], 23, 0x7fc00000u,                                                       \
                      flush_if(kn_tiny_##mode(F64(a)), kn_f32_bits(kn_narrow_##mode(F64(a))))))    \
    KN_CALLED1(                                                                                    \
        f32_##mode##_ftzsat_f64, uint32_t, uint64_t,                                               \
        kn_f32_saturate(flush_if(kn_tiny_##mode(F64(a)), kn_f32_bits(kn_narrow_##mode(F64(a))))))  \
    KN_CALLED1(f16_##mode##_f64, uint16_t, uint64_t,                                               \
               NAN_OR(a[i], 10, 0x7e00u, kn_f16_of_##mode(kn_narrow_odd(F64(a)))))                 \
    KN_CALLED1(f16_##mode##_sat_f64, uint16_t, uint64_t,                                           \
               saturate_f16(kn_f16_of_##mode(kn_narrow_odd(F64(a)))))                              \
    KN_CALLED1(bf16_##mode##_f64, uint16_t, uint64_t,                                              \
               NAN_OR(a[i], 7, 0x7fc0u, kn_bf16_of_##mode(kn_narrow_odd(F64(a)))))                 \
    KN_CALLED1(f16_##mode##_f32, uint16_t, uint32_t, kn_f16_of_##mode(F32(a)))                     \
    KN_CALLED1(f16_##mode##_sat_f32, uint16_t, uint32_t, saturate_f16(kn_f16_of_##mode(F32(a))))   \
    KN_CALLED1(bf16_##mode##_f32, uint16_t, uint32_t, kn_bf16_of_##mode(F32(a)))                   \
    KN_CALLED1(bf16_##mode##_f16, uint16_t, uint16_t, kn_bf16_of_##mode(F16(a)))                   \
    KN_CALLED1(f16_##mode##_bf16, uint16_t, uint16_t, kn_f16_of_##mode(BF16(a)))
NARROW(rn)
NARROW(rz)
NARROW(rm)
NARROW(rp)

// To a wider type, exact.
#define WIDE(x) kn_f64_result1((double)(x), (double)(x))
KN_FORM1(f64_f32, uint64_t, uint32_t, WIDE(F32(a)))
KN_FORM1(f64_ftz_f32, uint64_t, uint32_t, WIDE(kn_f32(kn_f32_result(FTZ(a)))))
KN_FORM1(f64_sat_f32, uint64_t, uint32_t, kn_f64_saturate(WIDE(F32(a))))
KN_FORM1(f64_ftzsat_f32, uint64_t, uint32_t, kn_f64_saturate(WIDE(FTZ(a))))
KN_FORM1(f32_f32, uint32_t, uint32_t, a[i]) // NaNs too
KN_FORM1(f32_ftz_f32, uint32_t, uint32_t, kn_f32_result(FTZ(a)))
KN_FORM1(f32_sat_f32, uint32_t, uint32_t, kn_f32_saturate(a[i]))
KN_FORM1(f32_ftzsat_f32, uint32_t, uint32_t, kn_f32_saturate(kn_f32_flush(a[i])))
KN_FORM1(f64_f64, uint64_t, uint64_t, a[i])
KN_FORM1(f64_sat_f64, uint64_t, uint64_t, kn_f64_saturate(a[i]))
KN_FORM1(f32_f16, uint32_t, uint16_t, kn_f32_result(F16(a)))
KN_FORM1(f32_sat_f16, uint32_t, uint16_t, kn_f32_saturate(kn_f32_bits(F16(a))))
KN_FORM1(f64_f16, uint64_t, uint16_t, WIDE(F16(a)))
KN_FORM1(f64_sat_f16, uint64_t, uint16_t, kn_f64_saturate(WIDE(F16(a))))
KN_FORM1(f32_bf16, uint32_t, uint16_t, (uint32_t)a[i] << 16)
KN_FORM1(f64_bf16, uint64_t, uint16_t, WIDE(BF16(a)))
KN_FORM1(f16_f16, uint16_t, uint16_t, kn_f16_of_rn(F16(a)))
KN_FORM1(f16_sat_f16, uint16_t, uint16_t, saturate_f16(kn_f16_of_rn(F16(a))))
KN_FORM1(bf16_bf16, uint16_t, uint16_t, kn_bf16_of_rn(BF16(a)))

// To integral values. The sign of zero stays.
#define rni_(type, x) __builtin_rint##type(x)
#define rzi_(type, x) __builtin_trunc##type(x)
#define rmi_(type, x) __builtin_floor##type(x)
#define rpi_(type, x) __builtin_ceil##type(x)
#define INTEGRAL(mode)                                                                             \
    KN_CALLED1(f32_##mode##_f32, uint32_t, uint32_t, kn_f32_result(mode##_(f, F32(a))))            \
    KN_CALLED1(f32_##mode##_ftz_f32, uint32_t, uint32_t, kn_f32_result(mode##_(f, FTZ(a))))        \
    KN_CALLED1(f32_##mode##_sat_f32, uint32_t, uint32_t,                                           \
               kn_f32_saturate(kn_f32_bits(mode##_(f, F32(a)))))                                   \
    KN_CALLED1(f32_##mode##_ftzsat_f32, uint32_t, uint32_t,                                        \
               kn_f32_saturate(kn_f32_bits(mode##_(f, FTZ(a)))))                                   \
    KN_CALLED1(f64_##mode##_f64, uint64_t, uint64_t, kn_f64_result1(mode##_(, F64(a)), F64(a)))    \
    KN_CALLED1(f64_##mode##_sat_f64, uint64_t, uint64_t,                                           \
               kn_f64_saturate(kn_f64_bits(mode##_(, F64(a)))))                                    \
    KN_CALLED1(f16_##mode##_f16, uint16_t, uint16_t, kn_f16_of_rn(mode##_(f, F16(a))))             \
    KN_CALLED1(f16_##mode##_sat_f16, uint16_t, uint16_t,                                           \
               saturate_f16(kn_f16_of_rn(mode##_(f, F16(a)))))                                     \
    KN_CALLED1(bf16_##mode##_bf16, uint16_t, uint16_t, kn_bf16_of_rn(mode##_(f, BF16(a))))
INTEGRAL(rni)
INTEGRAL(rzi)
INTEGRAL(rmi)
INTEGRAL(rpi)

#define NARROW_ROWS(mode)                                                                          \
    KN_ROW(f32_##mode##_f64, "cvt." #mode ".f32.f64", "w=l"),                                      \
        KN_ROW(f32_##mode##_sat_f64, "cvt." #mode ".sat.f32.f64", "w=l"),                          \
        KN_ROW(f32_##mode##_ftz_f64, "cvt." #mode ".ftz.f32.f64", "w=l"),                          \
        KN_ROW(f32_##mode##_ftzsat_f64, "cvt." #mode ".ftz.sat.f32.f64", "w=l"),                   \
        KN_ROW(f16_##mode##_f64, "cvt." #mode ".f16.f64", "h=l"),                                  \
        KN_ROW(f16_##mode##_sat_f64, "cvt." #mode ".sat.f16.f64", "h=l"),                          \
        KN_ROW(bf16_##mode##_f64, "cvt." #mode ".bf16.f64", "h=l"),                                \
        KN_ROW(f16_##mode##_f32, "cvt." #mode ".f16.f32", "h=w"),                                  \
        KN_ROW(f16_##mode##_f32, "cvt." #mode ".ftz.f16.f32", "h=w"),                              \
        KN_ROW(f16_##mode##_sat_f32, "cvt." #mode ".sat.f16.f32", "h=w"),                          \
        KN_ROW(f16_##mode##_sat_f32, "cvt." #mode ".ftz.sat.f16.f32", "h=w"),                      \
        KN_ROW(bf16_##mode##_f32, "cvt." #mode ".bf16.f32", "h=w"),                                \
        KN_ROW(bf16_##mode##_f16, "cvt." #mode ".bf16.f16", "h=h"),                                \
        KN_ROW(f16_##mode##_bf16, "cvt." #mode ".f16.bf16", "h=h")
#define INTEGRAL_ROWS(mode)                                                                        \
    KN_ROW(f32_##mode##_f32, "cvt." #mode ".f32.f32", "w=w"),                                      \
        KN_ROW(f32_##mode##_ftz_f32, "cvt." #mode ".ftz.f32.f32", "w=w"),                          \
        KN_ROW(f32_##mode##_sat_f32, "cvt." #mode ".sat.f32.f32", "w=w"),                          \
        KN_ROW(f32_##mode##_ftzsat_f32, "cvt." #mode ".ftz.sat.f32.f32", "w=w"),                   \
        KN_ROW(f64_##mode##_f64, "cvt." #mode ".f64.f64", "l=l"),                                  \
        KN_ROW(f64_##mode##_sat_f64, "cvt." #mode ".sat.f64.f64", "l=l"),                          \
        KN_ROW(f16_##mode##_f16, "cvt." #mode ".f16.f16", "h=h"),                                  \
        KN_ROW(f16_##mode##_sat_f16, "cvt." #mode ".sat.f16.f16", "h=h"),                          \
        KN_ROW(bf16_##mode##_bf16, "cvt." #mode ".bf16.bf16", "h=h")

const struct kn_form KN_FAMILY(convert_float)[] = {
    NARROW_ROWS(rn),
    NARROW_ROWS(rz),
    NARROW_ROWS(rm),
    NARROW_ROWS(rp),
    KN_ROW(f64_f32, "cvt.f64.f32", "l=w"),
    KN_ROW(f64_ftz_f32, "cvt.ftz.f64.f32", "l=w"),
    KN_ROW(f64_sat_f32, "cvt.sat.f64.f32", "l=w"),
    KN_ROW(f64_ftzsat_f32, "cvt.ftz.sat.f64.f32", "l=w"),
    KN_ROW(f32_f32, "cvt.f32.f32", "w=w"),
    KN_ROW(f32_ftz_f32, "cvt.ftz.f32.f32", "w=w"),
    KN_ROW(f32_sat_f32, "cvt.sat.f32.f32", "w=w"),
    KN_ROW(f32_ftzsat_f32, "cvt.ftz.sat.f32.f32", "w=w"),
    KN_ROW(f64_f64, "cvt.f64.f64", "l=l"),
    KN_ROW(f64_sat_f64, "cvt.sat.f64.f64", "l=l"),
    KN_ROW(f32_f16, "cvt.f32.f16", "w=h"),
    KN_ROW(f32_f16, "cvt.ftz.f32.f16",
           "w=h"), // every f16 is 0 or normal as an f32
    KN_ROW(f32_sat_f16, "cvt.sat.f32.f16", "w=h"),
    KN_ROW(f32_sat_f16, "cvt.ftz.sat.f32.f16", "w=h"),
    KN_ROW(f64_f16, "cvt.f64.f16", "l=h"),
    KN_ROW(f64_sat_f16, "cvt.sat.f64.f16", "l=h"),
    KN_ROW(f32_bf16, "cvt.f32.bf16", "w=h"),
    KN_ROW(f64_bf16, "cvt.f64.bf16", "l=h"),
    KN_ROW(f16_f16, "cvt.f16.f16", "h=h"),
    KN_ROW(f16_sat_f16, "cvt.sat.f16.f16", "h=h"),
    KN_ROW(bf16_bf16, "cvt.bf16.bf16", "h=h"),
    INTEGRAL_ROWS(rni),
    INTEGRAL_ROWS(rzi),
    INTEGRAL_ROWS(rmi),
    INTEGRAL_ROWS(rpi),
    {0},
};
