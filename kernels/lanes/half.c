// SPDX-License-Identifier: MIT
// Forms of f16 and bf16 arithmetic, for one value and for two in a register.
//
// Sums and products are computed in f32 with one correct rounding, or rounded to odd first, so that
// the second rounding is as good as one alone.
#include "half.inc.h"

#include "families.h"

// A sum of two floats, rounded to odd. See kn_sum_odd().
KN_INLINE float sum_odd(float a, float b)
{
    return kn_narrow_odd(kn_sum_odd(a, b));
}

#define RELU(bits) ((bits)&0x8000 ? 0 : (bits))
#define SATURATE(bits, one)                                                                        \
    ((bits) == KN_NAN_HALF || (bits)&0x8000 ? 0 : (bits) > (one) ? (one) : (bits))

// With .ftz a result is flushed if it would be subnormal without a limit to its exponent: rounded
// to 11 digits it is less than 2^-14.
#define KEEP(value) (value)
#define CUT(value) flush_subnormal(value)
KN_INLINE float flush_subnormal(float value)
{
    return fabsf(value) < 0x1p-14F - 0x1p-26F ? copysignf(0, value) : value;
}

#define F16_ADD(OUT, a, b, c) kn_f16_of_rn(OUT(kn_f16_value(a) + kn_f16_value(b)))
#define F16_SUB(OUT, a, b, c) kn_f16_of_rn(OUT(kn_f16_value(a) - kn_f16_value(b)))
#define F16_MUL(OUT, a, b, c) kn_f16_of_rn(OUT(kn_f16_value(a) * kn_f16_value(b)))
#define F16_FMA(OUT, a, b, c)                                                                      \
    kn_f16_of_rn(OUT(sum_odd(kn_f16_value(a) * kn_f16_value(b), kn_f16_value(c))))
// Products of bf16 may be smaller than all values of f32.
#define BF16_ADD(a, b, c) kn_bf16_of_rn(kn_bf16_value(a) + kn_bf16_value(b))
#define BF16_SUB(a, b, c) kn_bf16_of_rn(kn_bf16_value(a) - kn_bf16_value(b))
#define BF16_MUL(a, b, c)                                                                          \
    kn_bf16_of_rn(kn_narrow_odd((double)kn_bf16_value(a) * (double)kn_bf16_value(b)))
#define BF16_FMA(a, b, c)                                                                          \
    kn_bf16_of_rn(kn_narrow_odd(kn_sum_odd((double)kn_bf16_value(a) * (double)kn_bf16_value(b),    \
                                           (double)kn_bf16_value(c))))

// neg and abs flush with .ftz; a NaN becomes the card's.
#define NAN_OF(bits, infinite) (((bits)&0x7fff) > (infinite))
#define F16_NEG(OUT, a, b, c) (NAN_OF(a, 0x7c00) ? KN_NAN_HALF : (a) ^ 0x8000)
#define F16_ABS(OUT, a, b, c) (NAN_OF(a, 0x7c00) ? KN_NAN_HALF : (a)&0x7fff)
#define BF16_NEG(a, b, c) (NAN_OF(a, 0x7f80) ? KN_NAN_HALF : (a) ^ 0x8000)
#define BF16_ABS(a, b, c) (NAN_OF(a, 0x7f80) ? KN_NAN_HALF : (a)&0x7fff)

// name(a, b, c): a function of single values, and its forms for one value and for two.
#define FUNCTION(name, expression)                                                                 \
    KN_INLINE uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                    \
    {                                                                                              \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return expression;                                                                         \
    }
#define LOW(x) ((x)[i] & 0xffffu)
#define HIGH(x) ((x)[i] >> 16)
#define FORMS1(name)                                                                               \
    KN_CALLED1(name##_1, uint16_t, uint16_t, name(a[i], 0, 0))                                     \
    KN_CALLED1(name##_2, uint32_t, uint32_t, name(LOW(a), 0, 0) | name(HIGH(a), 0, 0) << 16)
#define FORMS2(name)                                                                               \
    KN_CALLED2(name##_1, uint16_t, uint16_t, uint16_t, name(a[i], b[i], 0))                        \
    KN_CALLED2(name##_2, uint32_t, uint32_t, uint32_t,                                             \
               name(LOW(a), LOW(b), 0) | name(HIGH(a), HIGH(b), 0) << 16)
#define FORMS3(name)                                                                               \
    KN_CALLED3(name##_1, uint16_t, uint16_t, uint16_t, uint16_t, name(a[i], b[i], c[i]))           \
    KN_CALLED3(name##_2, uint32_t, uint32_t, uint32_t, uint32_t,                                   \
               name(LOW(a), LOW(b), LOW(c)) | name(HIGH(a), HIGH(b), HIGH(c)) << 16)

#define FLUSH(x) kn_f16_flush((uint16_t)(x))
#define ALL_F16(name, OP, FORMS)                                                                   \
    FUNCTION(name##_f16, F16_##OP(KEEP, a, b, c))                                                  \
    FUNCTION(name##_f16_ftz, F16_##OP(CUT, FLUSH(a), FLUSH(b), FLUSH(c)))                          \
    FORMS(name##_f16)                                                                              \
    FORMS(name##_f16_ftz)
#define SAT_F16(name, OP, FORMS)                                                                   \
    ALL_F16(name, OP, FORMS)                                                                       \
    FUNCTION(name##_f16_sat, SATURATE(name##_f16(a, b, c), 0x3c00))                                \
    FUNCTION(name##_f16_ftz_sat, SATURATE(name##_f16_ftz(a, b, c), 0x3c00))                        \
    FORMS(name##_f16_sat)                                                                          \
    FORMS(name##_f16_ftz_sat)
SAT_F16(add, ADD, FORMS2)
SAT_F16(sub, SUB, FORMS2)
SAT_F16(mul, MUL, FORMS2)
SAT_F16(fma, FMA, FORMS3)
FUNCTION(fma_f16_relu, RELU(fma_f16(a, b, c)))
FUNCTION(fma_f16_ftz_relu, RELU(fma_f16_ftz(a, b, c)))
FORMS3(fma_f16_relu)
FORMS3(fma_f16_ftz_relu)
ALL_F16(neg, NEG, FORMS1)
ALL_F16(abs, ABS, FORMS1)

#define ALL_BF16(name, OP, FORMS)                                                                  \
    FUNCTION(name##_bf16, BF16_##OP(a, b, c))                                                      \
    FORMS(name##_bf16)
ALL_BF16(add, ADD, FORMS2)
ALL_BF16(sub, SUB, FORMS2)
ALL_BF16(mul, MUL, FORMS2)
ALL_BF16(fma, FMA, FORMS3)
FUNCTION(fma_bf16_relu, RELU(fma_bf16(a, b, c)))
FORMS3(fma_bf16_relu)
// fma.oob: "the result is 0 if either of the operands is the NaN that stands for elements outside",
// which is 0x7ff7 with either sign in both types (measured).
#define OUTSIDE(a, b) (((a)&0x7fff) == 0x7ff7 || ((b)&0x7fff) == 0x7ff7)
#define OUTSIDE_FORMS(name)                                                                        \
    FUNCTION(name##_oob, OUTSIDE(a, b) ? 0 : name(a, b, c))                                        \
    FUNCTION(name##_oob_relu, OUTSIDE(a, b) ? 0 : name##_relu(a, b, c))                            \
    FORMS3(name##_oob)                                                                             \
    FORMS3(name##_oob_relu)
OUTSIDE_FORMS(fma_f16)
OUTSIDE_FORMS(fma_bf16)
ALL_BF16(neg, NEG, FORMS1)
ALL_BF16(abs, ABS, FORMS1)

#define TWO(name, text, type, one, two)                                                            \
    KN_ROW(name##_1, text "." type, one), KN_ROW(name##_2, text "." type "x2", two)
#define F16_ROWS(name, rn, one, two)                                                               \
    TWO(name##_f16, #name rn, "f16", one, two),                                                    \
        TWO(name##_f16_ftz, #name rn ".ftz", "f16", one, two)
#define SAT_ROWS(name, one, two)                                                                   \
    F16_ROWS(name, ".rn", one, two), TWO(name##_f16_sat, #name ".rn.sat", "f16", one, two),        \
        TWO(name##_f16_ftz_sat, #name ".rn.ftz.sat", "f16", one, two)

const struct kn_form KN_FAMILY(half)[] = {
    SAT_ROWS(add, "h=hh", "w=ww"),
    SAT_ROWS(sub, "h=hh", "w=ww"),
    SAT_ROWS(mul, "h=hh", "w=ww"),
    SAT_ROWS(fma, "h=hhh", "w=www"),
    TWO(fma_f16_relu, "fma.rn.relu", "f16", "h=hhh", "w=www"),
    TWO(fma_f16_ftz_relu, "fma.rn.ftz.relu", "f16", "h=hhh", "w=www"),
    F16_ROWS(neg, "", "h=h", "w=w"),
    F16_ROWS(abs, "", "h=h", "w=w"),
    TWO(add_bf16, "add.rn", "bf16", "h=hh", "w=ww"),
    TWO(sub_bf16, "sub.rn", "bf16", "h=hh", "w=ww"),
    TWO(mul_bf16, "mul.rn", "bf16", "h=hh", "w=ww"),
    TWO(fma_bf16, "fma.rn", "bf16", "h=hhh", "w=www"),
    TWO(fma_bf16_relu, "fma.rn.relu", "bf16", "h=hhh", "w=www"),
    TWO(fma_f16_oob, "fma.rn.oob", "f16", "h=hhh", "w=www"),
    TWO(fma_f16_oob_relu, "fma.rn.oob.relu", "f16", "h=hhh", "w=www"),
    TWO(fma_bf16_oob, "fma.rn.oob", "bf16", "h=hhh", "w=www"),
    TWO(fma_bf16_oob_relu, "fma.rn.oob.relu", "bf16", "h=hhh", "w=www"),
    TWO(neg_bf16, "neg", "bf16", "h=h", "w=w"),
    TWO(abs_bf16, "abs", "bf16", "h=h", "w=w"),
    {0},
};
