/* SPDX-License-Identifier: MIT */
/* The bits of cuda_fp16.h: operations that device code does with one instruction,
 * and the host with integers, float or double. The classes are in half_types.h. */
#ifndef CARDLESS_RUNTIME_HALF_H
#define CARDLESS_RUNTIME_HALF_H

#ifdef __cplusplus
#include "../../host_defines.h"

#define CARDLESS_HALF static __inline__ __host__ __device__ __attribute__((always_inline, unused))

#ifdef __CUDA_ARCH__

#define CARDLESS_TO_HALF(name, type, constraint, instruction)                                      \
    CARDLESS_HALF unsigned short name(type value)                                                  \
    {                                                                                              \
        unsigned short bits;                                                                       \
        __asm__(instruction " %0, %1;" : "=h"(bits) : constraint(value));                          \
        return bits;                                                                               \
    }
#define CARDLESS_TO_HALF_ROUNDED(mode)                                                             \
    CARDLESS_TO_HALF(cardless_half_##mode, float, "f", "cvt." #mode ".f16.f32")                    \
    CARDLESS_TO_HALF(cardless_half_##mode, double, "d", "cvt." #mode ".f16.f64")                   \
    CARDLESS_TO_HALF(cardless_half_##mode, int, "r", "cvt." #mode ".f16.s32")                      \
    CARDLESS_TO_HALF(cardless_half_##mode, unsigned int, "r", "cvt." #mode ".f16.u32")             \
    CARDLESS_TO_HALF(cardless_half_##mode, long long, "l", "cvt." #mode ".f16.s64")                \
    CARDLESS_TO_HALF(cardless_half_##mode, unsigned long long, "l", "cvt." #mode ".f16.u64")
CARDLESS_TO_HALF_ROUNDED(rn)
CARDLESS_TO_HALF_ROUNDED(rz)
CARDLESS_TO_HALF_ROUNDED(rp)
CARDLESS_TO_HALF_ROUNDED(rm)
#undef CARDLESS_TO_HALF_ROUNDED
#undef CARDLESS_TO_HALF

CARDLESS_HALF float cardless_float(unsigned short bits)
{
    float value;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

#define CARDLESS_FROM_HALF(name, type, constraint, to)                                             \
    CARDLESS_HALF type name(float value)                                                           \
    {                                                                                              \
        type result;                                                                               \
        __asm__("cvt." to ".f32 %0, %1;" : constraint(result) : "f"(value));                       \
        return result;                                                                             \
    }
#define CARDLESS_FROM_HALF_ROUNDED(mode, rounding)                                                 \
    CARDLESS_FROM_HALF(cardless_int_##mode, int, "=r", rounding ".s32")                            \
    CARDLESS_FROM_HALF(cardless_uint_##mode, unsigned int, "=r", rounding ".u32")                  \
    CARDLESS_FROM_HALF(cardless_ll_##mode, long long, "=l", rounding ".s64")                       \
    CARDLESS_FROM_HALF(cardless_ull_##mode, unsigned long long, "=l", rounding ".u64")             \
    CARDLESS_FROM_HALF(cardless_short_##mode, short, "=h", rounding ".s16")                        \
    CARDLESS_FROM_HALF(cardless_ushort_##mode, unsigned short, "=h", rounding ".u16")              \
    CARDLESS_FROM_HALF(cardless_round_##mode, float, "=f", rounding ".f32")
CARDLESS_FROM_HALF_ROUNDED(rn, "rni")
CARDLESS_FROM_HALF_ROUNDED(rz, "rzi")
CARDLESS_FROM_HALF_ROUNDED(rp, "rpi")
CARDLESS_FROM_HALF_ROUNDED(rm, "rmi")
#undef CARDLESS_FROM_HALF_ROUNDED
#undef CARDLESS_FROM_HALF

/* A number, and a pair of them in a word. */
#define CARDLESS_TWO(name, instruction)                                                            \
    CARDLESS_HALF unsigned short cardless_##name(unsigned short a, unsigned short b)               \
    {                                                                                              \
        unsigned short r;                                                                          \
        __asm__(instruction ".f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));                        \
        return r;                                                                                  \
    }                                                                                              \
    CARDLESS_HALF unsigned int cardless_##name(unsigned int a, unsigned int b)                     \
    {                                                                                              \
        unsigned int r;                                                                            \
        __asm__(instruction ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                      \
        return r;                                                                                  \
    }
#define CARDLESS_THREE(name, instruction)                                                          \
    CARDLESS_HALF unsigned short cardless_##name(unsigned short a, unsigned short b,               \
                                                 unsigned short c)                                 \
    {                                                                                              \
        unsigned short r;                                                                          \
        __asm__(instruction ".f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a), "h"(b), "h"(c));            \
        return r;                                                                                  \
    }                                                                                              \
    CARDLESS_HALF unsigned int cardless_##name(unsigned int a, unsigned int b, unsigned int c)     \
    {                                                                                              \
        unsigned int r;                                                                            \
        __asm__(instruction ".f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));          \
        return r;                                                                                  \
    }
CARDLESS_TWO(add, "add")
CARDLESS_TWO(sub, "sub")
CARDLESS_TWO(mul, "mul")
CARDLESS_TWO(add_rn, "add.rn")
CARDLESS_TWO(sub_rn, "sub.rn")
CARDLESS_TWO(mul_rn, "mul.rn")
CARDLESS_TWO(add_sat, "add.sat")
CARDLESS_TWO(sub_sat, "sub.sat")
CARDLESS_TWO(mul_sat, "mul.sat")
CARDLESS_THREE(fma, "fma.rn")
CARDLESS_THREE(fma_sat, "fma.rn.sat")
#undef CARDLESS_THREE
#undef CARDLESS_TWO

#else /* ---- the host ---- */

/* Rounds to a half: to the nearest, ties to even (n), to zero (z), up (p) or down (m). The bits of
 * a half are those that a shift of the significand leaves; its implicit bit is carried into the
 * exponent. */
CARDLESS_HALF unsigned short cardless_half_of(double value, char mode)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const unsigned sign = (unsigned)(bits >> 63) << 15;
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const unsigned long long fraction = bits & 0xfffffffffffffull;
    const bool away = mode == (sign ? 'm' : 'p');
    if (exponent == 1024)
        return (unsigned short)(fraction ? 0x7fff : sign | 0x7c00);
    if (exponent > 15)
        return (unsigned short)(sign | (mode == 'n' || away ? 0x7c00 : 0x7bff));
    int shift = 42 + (exponent < -14 ? -14 - exponent : 0);
    shift = shift > 60 ? 60 : shift;
    const unsigned long long significand =
        exponent == -1023 ? fraction : fraction | 0x10000000000000ull;
    const unsigned long long rest = significand & ((1ull << shift) - 1), tie = 1ull << (shift - 1);
    unsigned half = (unsigned)(significand >> shift);
    if (exponent >= -14)
        half += (unsigned)(exponent + 14) << 10;
    if (mode == 'n' ? rest > tie || (rest == tie && (half & 1)) : away && rest)
        half++;
    return (unsigned short)(sign | half);
}

CARDLESS_HALF float cardless_float(unsigned short half)
{
    const unsigned sign = (unsigned)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f;
    const unsigned fraction = half & 0x3ff;
    unsigned bits = sign | (exponent + 112) << 23 | fraction << 13;
    float value;
    if (exponent == 0x1f)
        bits = sign | 0x7f800000 | fraction << 13;
    __builtin_memcpy(&value, &bits, sizeof value);
    return exponent ? value : (sign ? -1.0f : 1.0f) * (float)fraction / 16777216.0f;
}

/* Integers that a double rounds are too large for a half. Numbers that are too large for an integer
 * give the largest one. Manual: NaN gives 0, and 0x8000000000000000 as an integer of 64 bits. */
template <class T> CARDLESS_HALF T cardless_clamped(double value, double least, double most)
{
    if (value != value)
        return sizeof(T) == 8 ? (T)(1ull << 63) : 0;
    return value < least ? (T)least : value >= most ? (T)((unsigned long long)most - 1) : (T)value;
}
#define CARDLESS_HOST_ROUNDED(mode, letter, round)                                                 \
    template <class T> CARDLESS_HALF unsigned short cardless_half_##mode(T value)                  \
    {                                                                                              \
        return cardless_half_of((double)value, letter);                                            \
    }                                                                                              \
    CARDLESS_HALF float cardless_round_##mode(float value)                                         \
    {                                                                                              \
        return round(value);                                                                       \
    }                                                                                              \
    CARDLESS_HOST_INTEGER(short_##mode, short, round, -32768.0, 32768.0)                           \
    CARDLESS_HOST_INTEGER(ushort_##mode, unsigned short, round, 0, 65536.0)                        \
    CARDLESS_HOST_INTEGER(int_##mode, int, round, -2147483648.0, 2147483648.0)                     \
    CARDLESS_HOST_INTEGER(uint_##mode, unsigned int, round, 0, 4294967296.0)                       \
    CARDLESS_HOST_INTEGER(ll_##mode, long long, round, -9223372036854775808.0,                     \
                          9223372036854775808.0)
#define CARDLESS_HOST_INTEGER(name, type, round, least, most)                                      \
    CARDLESS_HALF type cardless_##name(float value)                                                \
    {                                                                                              \
        return cardless_clamped<type>((double)round(value), least, most);                          \
    }
CARDLESS_HOST_ROUNDED(rn, 'n', __builtin_rintf)
CARDLESS_HOST_ROUNDED(rz, 'z', __builtin_truncf)
CARDLESS_HOST_ROUNDED(rp, 'p', __builtin_ceilf)
CARDLESS_HOST_ROUNDED(rm, 'm', __builtin_floorf)
#undef CARDLESS_HOST_ROUNDED
#undef CARDLESS_HOST_INTEGER
/* The largest unsigned long long is not one less than a double. */
#define CARDLESS_HOST_ULL(mode, round)                                                             \
    CARDLESS_HALF unsigned long long cardless_ull_##mode(float value)                              \
    {                                                                                              \
        const float whole = round(value);                                                          \
        if (whole != whole)                                                                        \
            return 1ull << 63;                                                                     \
        return whole > 0 ? whole < 18446744073709551616.0f ? (unsigned long long)whole : ~0ull     \
                         : 0;                                                                      \
    }
CARDLESS_HOST_ULL(rn, __builtin_rintf)
CARDLESS_HOST_ULL(rz, __builtin_truncf)
CARDLESS_HOST_ULL(rp, __builtin_ceilf)
CARDLESS_HOST_ULL(rm, __builtin_floorf)
#undef CARDLESS_HOST_ULL

CARDLESS_HALF float cardless_saturated(float value)
{
    return value > 0 ? value < 1 ? value : 1 : 0;
}

/* The product is exact. The sum is rounded to odd, so that rounding it again is right: its last bit
 * is set if anything was lost. */
CARDLESS_HALF double cardless_exact_fma(float a, float b, float c)
{
    const double product = (double)a * b, sum = product + c;
    const double back = sum - product;
    const double lost = (product - (sum - back)) + (c - back);
    unsigned long long bits;
    if (!(lost < 0 || lost > 0))
        return sum;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    if (!(bits & 1))
        bits += (lost > 0) == (sum > 0) ? 1 : -1ull;
    double odd;
    __builtin_memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* float has more than twice the bits of a half, so rounding its results again is right. */
#define CARDLESS_TWO(name, expression)                                                             \
    CARDLESS_HALF unsigned short cardless_##name(unsigned short first, unsigned short second)      \
    {                                                                                              \
        const float a = cardless_float(first), b = cardless_float(second);                         \
        return cardless_half_of((double)(expression), 'n');                                        \
    }                                                                                              \
    CARDLESS_HALF unsigned int cardless_##name(unsigned int a, unsigned int b)                     \
    {                                                                                              \
        const unsigned x = cardless_##name((unsigned short)a, (unsigned short)b);                  \
        const unsigned y = cardless_##name((unsigned short)(a >> 16), (unsigned short)(b >> 16));  \
        return x | y << 16;                                                                        \
    }
#define CARDLESS_THREE(name, expression)                                                           \
    CARDLESS_HALF unsigned short cardless_##name(unsigned short first, unsigned short second,      \
                                                 unsigned short third)                             \
    {                                                                                              \
        const double r = cardless_exact_fma(cardless_float(first), cardless_float(second),         \
                                            cardless_float(third));                                \
        return cardless_half_of(expression, 'n');                                                  \
    }                                                                                              \
    CARDLESS_HALF unsigned int cardless_##name(unsigned int a, unsigned int b, unsigned int c)     \
    {                                                                                              \
        const unsigned x =                                                                         \
            cardless_##name((unsigned short)a, (unsigned short)b, (unsigned short)c);              \
        const unsigned y = cardless_##name((unsigned short)(a >> 16), (unsigned short)(b >> 16),   \
                                           (unsigned short)(c >> 16));                             \
        return x | y << 16;                                                                        \
    }
CARDLESS_TWO(add, a + b)
CARDLESS_TWO(sub, a - b)
CARDLESS_TWO(mul, a *b)
CARDLESS_TWO(add_rn, a + b)
CARDLESS_TWO(sub_rn, a - b)
CARDLESS_TWO(mul_rn, a *b)
CARDLESS_TWO(add_sat, cardless_saturated(a + b))
CARDLESS_TWO(sub_sat, cardless_saturated(a - b))
CARDLESS_TWO(mul_sat, cardless_saturated(a *b))
CARDLESS_THREE(fma, r)
CARDLESS_THREE(fma_sat, r > 0 ? r < 1 ? r : 1 : 0)
#undef CARDLESS_THREE
#undef CARDLESS_TWO

#endif

CARDLESS_HALF bool cardless_is_nan(unsigned short bits)
{
    return (bits & 0x7fff) > 0x7c00;
}
#endif

#endif
