// SPDX-License-Identifier: MIT
// Forms of f32 arithmetic: four rounding modes, .ftz and .sat.
#include "float.inc.h"

#include "families.h"

// With .ftz, operands are flushed, and results that are less than 2^-126 after
// they are rounded to 24 digits as if there was no smallest exponent (as
// measured: 0x3f7fffff * 0x00800000 is 0). The exact value, or one that is as
// good, says so.
#define IN_(x) kn_f32((x)[i])
#define IN_ftz(x) kn_f32(kn_f32_flush((x)[i]))
#define IN_sat IN_
#define IN_ftzsat IN_ftz
#define OUT_(mode, value, exact) kn_f32_result(value)
#define OUT_ftz(mode, value, exact) flush_if(kn_tiny_##mode(exact), kn_f32_result(value))
#define OUT_sat(mode, value, exact) kn_f32_saturate(kn_f32_bits(value))
#define OUT_ftzsat(mode, value, exact)                                                             \
    kn_f32_saturate(flush_if(kn_tiny_##mode(exact), kn_f32_bits(value)))
KN_INLINE uint32_t flush_if(bool tiny, uint32_t bits)
{
    return tiny ? bits & 0x80000000 : bits;
}

#define ARITHMETIC(FORM2, FORM3, mode, m)                                                          \
    FORM2(add_##mode##_##m, uint32_t, uint32_t, uint32_t,                                          \
          OUT_##m(mode, kn_add_##mode(IN_##m(a), IN_##m(b)), IN_##m(a) + IN_##m(b)))               \
    FORM2(sub_##mode##_##m, uint32_t, uint32_t, uint32_t,                                          \
          OUT_##m(mode, kn_sub_##mode(IN_##m(a), IN_##m(b)), IN_##m(a) - IN_##m(b)))               \
    FORM2(mul_##mode##_##m, uint32_t, uint32_t, uint32_t,                                          \
          OUT_##m(mode, kn_mul_##mode(IN_##m(a), IN_##m(b)), (double)IN_##m(a) * IN_##m(b)))       \
    FORM3(fma_##mode##_##m, uint32_t, uint32_t, uint32_t, uint32_t,                                \
          OUT_##m(mode, kn_fma_##mode(IN_##m(a), IN_##m(b), IN_##m(c)),                            \
                  kn_sum_odd((double)IN_##m(a) * IN_##m(b), IN_##m(c))))
#define DIVISION(mode, m)                                                                          \
    KN_CALLED2(div_##mode##_##m, uint32_t, uint32_t, uint32_t,                                     \
               OUT_##m(mode, kn_div_##mode(IN_##m(a), IN_##m(b)), (double)IN_##m(a) / IN_##m(b)))  \
    KN_CALLED1(rcp_##mode##_##m, uint32_t, uint32_t,                                               \
               OUT_##m(mode, kn_div_##mode(1.0F, IN_##m(a)), 1.0 / IN_##m(a)))                     \
    KN_CALLED1(sqrt_##mode##_##m, uint32_t, uint32_t,                                              \
               OUT_##m(mode, kn_sqrt_##mode(IN_##m(a)), IN_##m(a)))
#define ALL_MODIFIERS(FORM2, FORM3, mode)                                                          \
    ARITHMETIC(FORM2, FORM3, mode, )                                                               \
    ARITHMETIC(FORM2, FORM3, mode, ftz)                                                            \
    ARITHMETIC(FORM2, FORM3, mode, sat)                                                            \
    ARITHMETIC(FORM2, FORM3, mode, ftzsat)                                                         \
    DIVISION(mode, )                                                                               \
    DIVISION(mode, ftz)

ALL_MODIFIERS(KN_FORM2, KN_FORM3, rn)
ALL_MODIFIERS(KN_CALLED2, KN_CALLED3, rz)
ALL_MODIFIERS(KN_CALLED2, KN_CALLED3, rm)
ALL_MODIFIERS(KN_CALLED2, KN_CALLED3, rp)

// neg and abs change the sign of NaNs only if they flush: the plain ones are
// operations on bits.
KN_FORM1(neg, uint32_t, uint32_t, kn_f32_result(-IN_(a)))
KN_FORM1(neg_ftz, uint32_t, uint32_t, kn_f32_result(-IN_ftz(a)))
KN_FORM1(abs, uint32_t, uint32_t, kn_f32_result(fabsf(IN_(a))))
KN_FORM1(abs_ftz, uint32_t, uint32_t, kn_f32_result(fabsf(IN_ftz(a))))
// copysign: the sign of a, the rest of b.
KN_FORM2(copysign, uint32_t, uint32_t, uint32_t, (a[i] & 0x80000000) | (b[i] & 0x7fffffff))

#define ROWS_OF(mode, m, text)                                                                     \
    KN_ROW(add_##mode##_##m, "add." #mode text ".f32", "w=ww"),                                    \
        KN_ROW(sub_##mode##_##m, "sub." #mode text ".f32", "w=ww"),                                \
        KN_ROW(mul_##mode##_##m, "mul." #mode text ".f32", "w=ww"),                                \
        KN_ROW(fma_##mode##_##m, "fma." #mode text ".f32", "w=www")
#define DIVISION_ROWS(mode, m, text)                                                               \
    KN_ROW(div_##mode##_##m, "div." #mode text ".f32", "w=ww"),                                    \
        KN_ROW(rcp_##mode##_##m, "rcp." #mode text ".f32", "w=w"),                                 \
        KN_ROW(sqrt_##mode##_##m, "sqrt." #mode text ".f32", "w=w")
#define ROWS(mode)                                                                                 \
    ROWS_OF(mode, , ""), ROWS_OF(mode, ftz, ".ftz"), ROWS_OF(mode, sat, ".sat"),                   \
        ROWS_OF(mode, ftzsat, ".ftz.sat"), DIVISION_ROWS(mode, , ""),                              \
        DIVISION_ROWS(mode, ftz, ".ftz")

const struct kn_form KN_FAMILY(f32)[] = {
    ROWS(rn),
    ROWS(rz),
    ROWS(rm),
    ROWS(rp),
    KN_ROW(neg, "neg.f32", "w=w"),
    KN_ROW(neg_ftz, "neg.ftz.f32", "w=w"),
    KN_ROW(abs, "abs.f32", "w=w"),
    KN_ROW(abs_ftz, "abs.ftz.f32", "w=w"),
    KN_ROW(copysign, "copysign.f32", "w=ww"),
    {0},
};
