/* SPDX-License-Identifier: MIT */
/* Functions of cuda_fp16.h for kernels only: mathematical functions, shuffles and atomics. A
 * mathematical function is computed with floats, and its result is rounded to the nearest half. */
#ifndef CARDLESS_RUNTIME_HALF_MATH_H
#define CARDLESS_RUNTIME_HALF_MATH_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "clang_device.h"
#include "half_types.h"

#define CARDLESS_DEVICE static __inline__ __attribute__((device, always_inline, unused))

/* ---- with floats */

CARDLESS_DEVICE float cardless_div(float a, float b)
{
    float quotient;
    __asm__("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
    return quotient;
}

CARDLESS_DEVICE float cardless_fma(float a, float b, float c)
{
    float r;
    __asm__("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
    return r;
}

CARDLESS_DEVICE float cardless_sqrt(float x)
{
    float r;
    __asm__("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

CARDLESS_DEVICE float cardless_ex2(float x)
{
    float r;
    __asm__("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/* 2 to the power of x * (base + rest). The product's rounding error is a second, small power. */
CARDLESS_DEVICE float cardless_power(float x, float base, float rest, float least, float most)
{
    x = x < least ? least : x > most ? most : x;
    const float product = x * base;
    const float error = cardless_fma(x, rest, cardless_fma(x, base, -product));
    const float power = cardless_ex2(product);
    return cardless_fma(power, error * 0.693147181f, power);
}

/* x = m * 2^e with m from sqrt(1/2) to sqrt(2). Returns log(m) by the series of the inverse
 * hyperbolic tangent of (m - 1) / (m + 1). x is positive and finite. */
CARDLESS_DEVICE float cardless_log_of_part(float x, float *e)
{
    int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const int exponent = (bits - 0x3f3504f3) >> 23;
    bits -= exponent << 23;
    float m;
    __builtin_memcpy(&m, &bits, sizeof m);
    const float f = cardless_div(m - 1, m + 1), square = f * f;
    float sum = cardless_fma(square, 1 / 11.0f, 1 / 9.0f);
    sum = cardless_fma(square, sum, 1 / 7.0f);
    sum = cardless_fma(square, sum, 1 / 5.0f);
    sum = cardless_fma(square, sum, 1 / 3.0f);
    *e = (float)exponent;
    return 2 * cardless_fma(f * square, sum, f);
}

/* e * of_two + log(m) * scale; and the results of numbers that are not positive and finite. */
CARDLESS_DEVICE float cardless_log(float x, float of_two, float scale)
{
    const float infinity = __builtin_huge_valf();
    if (!(x > 0))
        return x == 0 ? -infinity : __builtin_nanf("");
    if (x == infinity)
        return x;
    float e;
    const float part = cardless_log_of_part(x, &e);
    return cardless_fma(e, of_two, part * scale);
}

/* The sine of x + quarters * pi / 2. The rest of the division by pi / 2 is taken in two steps, as
 * exactly as a fused operation allows. */
CARDLESS_DEVICE float cardless_sine(float x, int quarters)
{
    const float times = cardless_round_rn(x * 0.636619772f);
    float r = cardless_fma(times, -1.57079637f, x);
    r = cardless_fma(times, 4.37113883e-8f, r);
    const float square = r * r;
    quarters += (int)times;
    float value;
    if (quarters & 1) {
        value = cardless_fma(square, -1 / 3628800.0f, 1 / 40320.0f);
        value = cardless_fma(square, value, -1 / 720.0f);
        value = cardless_fma(square, value, 1 / 24.0f);
        value = cardless_fma(square, value, -0.5f);
        value = cardless_fma(square, value, 1.0f);
    } else {
        value = cardless_fma(square, 1 / 362880.0f, -1 / 5040.0f);
        value = cardless_fma(square, value, 1 / 120.0f);
        value = cardless_fma(square, value, -1 / 6.0f);
        value = cardless_fma(r * square, value, r);
    }
    return quarters & 2 ? -value : value;
}

CARDLESS_DEVICE float cardless_tanh(float x)
{
    const float size = x < 0 ? -x : x;
    if (size < 0.3f) {
        const float square = x * x;
        float sum = cardless_fma(square, -1382 / 155925.0f, 62 / 2835.0f);
        sum = cardless_fma(square, sum, -17 / 315.0f);
        sum = cardless_fma(square, sum, 2 / 15.0f);
        sum = cardless_fma(square, sum, -1 / 3.0f);
        return cardless_fma(x * square, sum, x);
    }
    const float r = 1 - cardless_div(2, cardless_ex2(2.88539008f * size) + 1);
    return x < 0 ? -r : r;
}

/* ---- functions of a half, and of both halves of a pair */

#define CARDLESS_FUNCTION(name, expression)                                                        \
    CARDLESS_DEVICE __half h##name(const __half a)                                                 \
    {                                                                                              \
        const float x = cardless_float(a);                                                         \
        return cardless_of(cardless_half_rn(expression));                                          \
    }                                                                                              \
    CARDLESS_DEVICE __half2 h2##name(const __half2 a)                                              \
    {                                                                                              \
        return __half2(h##name(a.x), h##name(a.y));                                                \
    }
CARDLESS_FUNCTION(ceil, cardless_round_rp(x))
CARDLESS_FUNCTION(floor, cardless_round_rm(x))
CARDLESS_FUNCTION(trunc, cardless_round_rz(x))
CARDLESS_FUNCTION(rint, cardless_round_rn(x))
CARDLESS_FUNCTION(sqrt, cardless_sqrt(x))
CARDLESS_FUNCTION(rsqrt, cardless_div(1, cardless_sqrt(x)))
CARDLESS_FUNCTION(rcp, cardless_div(1, x))
CARDLESS_FUNCTION(exp, cardless_power(x, 1.44269502f, 1.92596303e-8f, -20, 12))
CARDLESS_FUNCTION(exp2, cardless_ex2(x))
CARDLESS_FUNCTION(exp10, cardless_power(x, 3.32192802f, 7.0595370e-8f, -9, 6))
CARDLESS_FUNCTION(log, cardless_log(x, 0.693147181f, 1.0f))
CARDLESS_FUNCTION(log2, cardless_log(x, 1.0f, 1.44269502f))
CARDLESS_FUNCTION(log10, cardless_log(x, 0.301029996f, 0.434294482f))
CARDLESS_FUNCTION(sin, x == 0 ? x : cardless_sine(x, 0))
CARDLESS_FUNCTION(cos, cardless_sine(x, 1))
CARDLESS_FUNCTION(tanh, x == 0 ? x : cardless_tanh(x))
CARDLESS_FUNCTION(tanh_approx, x == 0 ? x : cardless_tanh(x))
#undef CARDLESS_FUNCTION

/* ---- shuffles: the lanes exchange the bits */

#define CARDLESS_SHUFFLE(name, lane)                                                               \
    CARDLESS_DEVICE __half name(const unsigned int mask, const __half value, lane,                 \
                                const int width = 32)                                              \
    {                                                                                              \
        return cardless_of((unsigned short)name(mask, (int)cardless_bits(value), by, width));      \
    }                                                                                              \
    CARDLESS_DEVICE __half2 name(const unsigned int mask, const __half2 value, lane,               \
                                 const int width = 32)                                             \
    {                                                                                              \
        return cardless_of((unsigned int)name(mask, (int)cardless_bits(value), by, width));        \
    }
CARDLESS_SHUFFLE(__shfl_sync, const int by)
CARDLESS_SHUFFLE(__shfl_up_sync, const unsigned int by)
CARDLESS_SHUFFLE(__shfl_down_sync, const unsigned int by)
CARDLESS_SHUFFLE(__shfl_xor_sync, const int by)
#undef CARDLESS_SHUFFLE

/* ---- atomics. The halves of a pair are added by themselves, but both at once. */

CARDLESS_DEVICE __half atomicAdd(__half *const address, const __half value)
{
    unsigned short before;
    __asm__ volatile("atom.add.noftz.f16 %0, [%1], %2;"
                     : "=h"(before)
                     : "l"(address), "h"(cardless_bits(value))
                     : "memory");
    return cardless_of(before);
}

CARDLESS_DEVICE __half2 atomicAdd(__half2 *const address, const __half2 value)
{
    unsigned int before;
    __asm__ volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
                     : "=r"(before)
                     : "l"(address), "r"(cardless_bits(value))
                     : "memory");
    return cardless_of(before);
}

#undef CARDLESS_DEVICE
#endif

#endif
