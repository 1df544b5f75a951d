// SPDX-License-Identifier: MIT
// For the families of floating-point forms: single values of f32 and f64, as
// functions without branches so that loops over lanes can be vectorised.
//
// The host rounds to nearest. Directed rounding takes the exact error of a sum,
// and NaN results are the card's one NaN. Everything else is IEEE arithmetic
// that the host has too.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lanes.inc.h"

enum { KN_NAN_F32 = 0x7fffffff, KN_NAN_HALF = 0x7fff };
#define KN_NAN_F64 0x7fffffffffffffffu

KN_INLINE float kn_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

KN_INLINE uint32_t kn_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

KN_INLINE double kn_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

KN_INLINE uint64_t kn_f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

// A result: its bits, or the card's NaN.
KN_INLINE uint32_t kn_f32_result(float value)
{
    return value != value ? KN_NAN_F32 : kn_f32_bits(value);
}

// A result of f64 keeps the digits and the sign of the first operand here that
// is a NaN, made quiet. Without such an operand it is the NaN with a sign. (As
// measured: the second operand comes first in add, sub, mul and fma, and then
// the third one.)
#define KN_QUIET_F64 0x0008000000000000u
#define KN_DEFAULT_F64 0xfff8000000000000u

KN_INLINE uint64_t kn_f64_result1(double value, double a)
{
    const uint64_t nan = a != a ? kn_f64_bits(a) | KN_QUIET_F64 : KN_DEFAULT_F64;
    return value != value ? nan : kn_f64_bits(value);
}

KN_INLINE uint64_t kn_f64_result2(double value, double a, double b)
{
    const uint64_t second = b != b ? kn_f64_bits(b) | KN_QUIET_F64 : KN_DEFAULT_F64;
    const uint64_t nan = a != a ? kn_f64_bits(a) | KN_QUIET_F64 : second;
    return value != value ? nan : kn_f64_bits(value);
}

KN_INLINE uint64_t kn_f64_result3(double value, double a, double b, double c)
{
    const uint64_t third = c != c ? kn_f64_bits(c) | KN_QUIET_F64 : KN_DEFAULT_F64;
    const uint64_t second = b != b ? kn_f64_bits(b) | KN_QUIET_F64 : third;
    const uint64_t nan = a != a ? kn_f64_bits(a) | KN_QUIET_F64 : second;
    return value != value ? nan : kn_f64_bits(value);
}

// .ftz: "subnormal inputs and results are flushed to sign-preserving zero".
KN_INLINE uint32_t kn_f32_flush(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

// .sat: "clamps the result to [0.0, 1.0]. NaN results are flushed to +0.0f."
KN_INLINE uint32_t kn_f32_saturate(uint32_t bits)
{
    const float value = kn_f32(bits);
    const uint32_t low = value > 0 ? bits : 0;
    return value > 1 ? 0x3f800000 : low;
}

KN_INLINE uint64_t kn_f64_saturate(uint64_t bits)
{
    const double value = kn_f64(bits);
    const uint64_t low = value > 0 ? bits : 0;
    return value > 1 ? 0x3ff0000000000000u : low;
}

// Rounds a double to f32. Each direction starts from the nearest value and
// takes one step if that lies on the wrong side. A step from infinity is the
// largest finite value.
KN_INLINE float kn_narrow_rn(double value)
{
    return (float)value;
}

KN_INLINE float kn_narrow_rz(double value)
{
    const float near = (float)value;
    return kn_f32(kn_f32_bits(near) - (fabs((double)near) > fabs(value)));
}

KN_INLINE float kn_narrow_rm(double value)
{
    const float near = (float)value;
    const uint32_t bits = kn_f32_bits(near);
    const uint32_t below = bits >> 31 ? bits + 1 : bits - 1;
    return kn_f32((double)near > value ? below : bits);
}

KN_INLINE float kn_narrow_rp(double value)
{
    const float near = (float)value;
    const uint32_t bits = kn_f32_bits(near);
    const uint32_t above = bits >> 31 ? bits - 1 : bits + 1;
    return kn_f32((double)near < value ? above : bits);
}

// Rounds to odd: an inexact result gets an odd last digit, so that rounding it
// once more, to two digits fewer or less, gives the correctly rounded result.
KN_INLINE float kn_narrow_odd(double value)
{
    const float cut = kn_narrow_rz(value);
    return kn_f32(kn_f32_bits(cut) | ((double)cut != value && value == value));
}

// The sum of two doubles, rounded to odd. The operands are values of f32 or
// products of two, so that nothing overflows.
KN_INLINE double kn_sum_odd(double a, double b)
{
    const double sum = a + b;
    const double b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);
    const uint64_t bits = kn_f64_bits(sum);
    const bool outward = (error > 0) == (sum > 0);
    const uint64_t odd = bits & 1 ? bits : outward ? bits + 1 : bits - 1;
    return kn_f64(error > 0 || error < 0 ? odd : bits);
}

// "An exact zero sum of operands with different signs is +0, or -0 if rounding
// is towards minus infinity" (IEEE 754, 6.3).
KN_INLINE double kn_zero_rm(double sum, double a, double b)
{
    const uint64_t sign = (kn_f64_bits(a) | kn_f64_bits(b)) & 0x8000000000000000u;
    return sum == 0 ? kn_f64(sign) : sum;
}

#define KN_SUM_rz(a, b) kn_narrow_rz(kn_sum_odd(a, b))
#define KN_SUM_rm(a, b) kn_narrow_rm(kn_zero_rm(kn_sum_odd(a, b), a, b))
#define KN_SUM_rp(a, b) kn_narrow_rp(kn_sum_odd(a, b))

KN_INLINE float kn_add_rn(float a, float b)
{
    return a + b;
}

KN_INLINE float kn_sub_rn(float a, float b)
{
    return a - b;
}

KN_INLINE float kn_mul_rn(float a, float b)
{
    return a * b;
}

// A product of two f32 is exact in f64, so machines without an instruction need
// no other function.
KN_INLINE float kn_fma_rn(float a, float b, float c)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return (float)kn_sum_odd((double)a * b, c);
#endif
}

// A quotient or root of f32 values that is computed in f64 never lies between a
// value of f32, or the middle of two, and the exact result: the exact result is
// at least 2^-49 away from those.
KN_INLINE float kn_div_rn(float a, float b)
{
    return a / b;
}

KN_INLINE float kn_sqrt_rn(float a)
{
    return __builtin_sqrtf(a);
}

#define KN_DIRECTED(mode)                                                                          \
    KN_INLINE float kn_add_##mode(float a, float b)                                                \
    {                                                                                              \
        return KN_SUM_##mode((double)a, (double)b);                                                \
    }                                                                                              \
    KN_INLINE float kn_sub_##mode(float a, float b)                                                \
    {                                                                                              \
        return KN_SUM_##mode((double)a, -(double)b);                                               \
    }                                                                                              \
    KN_INLINE float kn_mul_##mode(float a, float b)                                                \
    {                                                                                              \
        return kn_narrow_##mode((double)a * b);                                                    \
    }                                                                                              \
    KN_INLINE float kn_fma_##mode(float a, float b, float c)                                       \
    {                                                                                              \
        return KN_SUM_##mode((double)a * b, (double)c);                                            \
    }                                                                                              \
    KN_INLINE float kn_div_##mode(float a, float b)                                                \
    {                                                                                              \
        return kn_narrow_##mode((double)a / b);                                                    \
    }                                                                                              \
    KN_INLINE float kn_sqrt_##mode(float a)                                                        \
    {                                                                                              \
        return kn_narrow_##mode(__builtin_sqrt((double)a));                                        \
    }
KN_DIRECTED(rz)
KN_DIRECTED(rm)
KN_DIRECTED(rp)
#undef KN_DIRECTED

// Whether an exact value rounds to less than 2^-126. Away from zero, the
// greatest such value is one digit below.
KN_INLINE bool kn_tiny_rn(double exact)
{
    return fabs(exact) < 0x1p-126 - 0x1p-151;
}

KN_INLINE bool kn_tiny_rz(double exact)
{
    return fabs(exact) < 0x1p-126;
}

KN_INLINE bool kn_tiny_rm(double exact)
{
    return (exact < 0x1p-126) & (exact >= -(0x1p-126 - 0x1p-150));
}

KN_INLINE bool kn_tiny_rp(double exact)
{
    return (exact > -0x1p-126) & (exact <= 0x1p-126 - 0x1p-150);
}

// Forms whose lanes are computed by a function of their own, so that it exists
// once: KN_CALLED1 to 3 are written as KN_FORM1 to 3 are. They suit operations
// that take longer than a call.
#define KN_CALLED_FORM_(name, D)                                                                   \
    static __attribute__((noinline)) void name##_blend(const struct kn_op *op, struct kn_warp *w)  \
    {                                                                                              \
        _Alignas(64) D all[KN_LANES];                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        name##_lanes(all, op, w);                                                                  \
        KN_EACH_LANE                                                                               \
        d[i] = on[i] ? all[i] : d[i];                                                              \
    }                                                                                              \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        name##_lanes(KN_REGISTER(D, op->d), op, w);                                                \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        name##_blend(op, w);                                                                       \
        KN_NEXT;                                                                                   \
    }
#define KN_CALLED_HEAD_(name, D)                                                                   \
    static __attribute__((noinline)) void name##_lanes(D *d, const struct kn_op *op,               \
                                                       struct kn_warp *w)
#define KN_CALLED1(name, D, A, expression)                                                         \
    KN_CALLED_HEAD_(name, D)                                                                       \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
    }                                                                                              \
    KN_CALLED_FORM_(name, D)
#define KN_CALLED2(name, D, A, B, expression)                                                      \
    KN_CALLED_HEAD_(name, D)                                                                       \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
    }                                                                                              \
    KN_CALLED_FORM_(name, D)
#define KN_CALLED3(name, D, A, B, C, expression)                                                   \
    KN_CALLED_HEAD_(name, D)                                                                       \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
    }                                                                                              \
    KN_CALLED_FORM_(name, D)

// Forms with a predicate as their result, which has bits of lanes that do not
// take part unchanged.
#define KN_PREDICATE_FORM_(name)                                                                   \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        KN_PREDICATE(op->d) = name##_bits(op, w);                                                  \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        const uint32_t bits = name##_bits(op, w), mask = kn_mask_of(op, w);                        \
        KN_PREDICATE(op->d) = (bits & mask) | (KN_PREDICATE(op->d) & ~mask);                       \
        KN_NEXT;                                                                                   \
    }
#define KN_PREDICATE1(name, A, condition)                                                          \
    KN_INLINE uint32_t name##_bits(const struct kn_op *op, struct kn_warp *w)                      \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        uint32_t bits = 0;                                                                         \
        KN_EACH_LANE                                                                               \
        bits |= (uint32_t)(condition) << i;                                                        \
        return bits;                                                                               \
    }                                                                                              \
    KN_PREDICATE_FORM_(name)
#define KN_PREDICATE2(name, A, B, condition)                                                       \
    KN_INLINE uint32_t name##_bits(const struct kn_op *op, struct kn_warp *w)                      \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        uint32_t bits = 0;                                                                         \
        KN_EACH_LANE                                                                               \
        bits |= (uint32_t)(condition) << i;                                                        \
        return bits;                                                                               \
    }                                                                                              \
    KN_PREDICATE_FORM_(name)
