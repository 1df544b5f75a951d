/* SPDX-License-Identifier: MIT */
/* Arithmetic of cuda_fp16.h, and its operators. All results are rounded to the nearest. The forms
 * with _rn are never joined to a fused operation, and those with _sat end in 0 to 1, NaN in 0. */
#ifndef CARDLESS_RUNTIME_HALF_ARITHMETIC_H
#define CARDLESS_RUNTIME_HALF_ARITHMETIC_H

#ifdef __cplusplus
#include "half_types.h"

/* A function of numbers, and the same of pairs, whose name ends in 2 before any suffix. */
#define CARDLESS_TWO(name, name2, operation)                                                       \
    CARDLESS_HALF __half name(const __half a, const __half b)                                      \
    {                                                                                              \
        return cardless_of(cardless_##operation(cardless_bits(a), cardless_bits(b)));              \
    }                                                                                              \
    CARDLESS_HALF __half2 name2(const __half2 a, const __half2 b)                                  \
    {                                                                                              \
        return cardless_of(cardless_##operation(cardless_bits(a), cardless_bits(b)));              \
    }
CARDLESS_TWO(__hadd, __hadd2, add)
CARDLESS_TWO(__hsub, __hsub2, sub)
CARDLESS_TWO(__hmul, __hmul2, mul)
CARDLESS_TWO(__hadd_rn, __hadd2_rn, add_rn)
CARDLESS_TWO(__hsub_rn, __hsub2_rn, sub_rn)
CARDLESS_TWO(__hmul_rn, __hmul2_rn, mul_rn)
CARDLESS_TWO(__hadd_sat, __hadd2_sat, add_sat)
CARDLESS_TWO(__hsub_sat, __hsub2_sat, sub_sat)
CARDLESS_TWO(__hmul_sat, __hmul2_sat, mul_sat)
#undef CARDLESS_TWO

#define CARDLESS_THREE(name, name2, operation)                                                     \
    CARDLESS_HALF __half name(const __half a, const __half b, const __half c)                      \
    {                                                                                              \
        return cardless_of(                                                                        \
            cardless_##operation(cardless_bits(a), cardless_bits(b), cardless_bits(c)));           \
    }                                                                                              \
    CARDLESS_HALF __half2 name2(const __half2 a, const __half2 b, const __half2 c)                 \
    {                                                                                              \
        return cardless_of(                                                                        \
            cardless_##operation(cardless_bits(a), cardless_bits(b), cardless_bits(c)));           \
    }
CARDLESS_THREE(__hfma, __hfma2, fma)
CARDLESS_THREE(__hfma_sat, __hfma2_sat, fma_sat)
#undef CARDLESS_THREE

/* The quotient of floats, rounded again, is the rounded quotient. */
CARDLESS_HALF __half __hdiv(const __half a, const __half b)
{
#ifdef __CUDA_ARCH__
    float quotient;
    __asm__("div.rn.f32 %0, %1, %2;"
            : "=f"(quotient)
            : "f"(cardless_float(a)), "f"(cardless_float(b)));
#else
    const float quotient = cardless_float(a) / cardless_float(b);
#endif
    return cardless_of(cardless_half_rn(quotient));
}

CARDLESS_HALF __half __habs(const __half a)
{
    return cardless_of((unsigned short)(cardless_bits(a) & 0x7fff));
}

CARDLESS_HALF __half __hneg(const __half a)
{
    return cardless_of((unsigned short)(cardless_bits(a) ^ 0x8000));
}

CARDLESS_HALF __half2 __h2div(const __half2 a, const __half2 b)
{
    return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

CARDLESS_HALF __half2 __habs2(const __half2 a)
{
    return __half2(__habs(a.x), __habs(a.y));
}

CARDLESS_HALF __half2 __hneg2(const __half2 a)
{
    return __half2(__hneg(a.x), __hneg(a.y));
}

/* "relu": a negative result becomes 0, and NaN stays NaN. */
CARDLESS_HALF __half __hfma_relu(const __half a, const __half b, const __half c)
{
    const __half r = __hfma(a, b, c);
    if (cardless_is_nan(r))
        return cardless_of((unsigned short)0x7fff);
    return cardless_bits(r) & 0x8000 ? cardless_of((unsigned short)0) : r;
}

CARDLESS_HALF __half2 __hfma2_relu(const __half2 a, const __half2 b, const __half2 c)
{
    return __half2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}

/* The product of complex numbers, and a sum: (real, imaginary). */
CARDLESS_HALF __half2 __hcmadd(const __half2 a, const __half2 b, const __half2 c)
{
    const __half2 sum = __hfma2(__half2(a.x, a.x), b, c);
    return __half2(__hfma(__hneg(a.y), b.y, sum.x), __hfma(a.y, b.x, sum.y));
}

/* ---- operators */

#define CARDLESS_OPERATOR(type, sign, function)                                                    \
    CARDLESS_HALF type operator sign(const type &a, const type &b)                                 \
    {                                                                                              \
        return function(a, b);                                                                     \
    }                                                                                              \
    CARDLESS_HALF type &operator sign##=(type &a, const type &b)                                   \
    {                                                                                              \
        a = function(a, b);                                                                        \
        return a;                                                                                  \
    }
#define CARDLESS_OPERATORS(type, two, divide, negate, one)                                         \
    CARDLESS_OPERATOR(type, +, __hadd##two)                                                        \
    CARDLESS_OPERATOR(type, -, __hsub##two)                                                        \
    CARDLESS_OPERATOR(type, *, __hmul##two)                                                        \
    CARDLESS_OPERATOR(type, /, divide)                                                             \
    CARDLESS_HALF type operator+(const type &a)                                                    \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    CARDLESS_HALF type operator-(const type &a)                                                    \
    {                                                                                              \
        return negate(a);                                                                          \
    }                                                                                              \
    CARDLESS_HALF type &operator++(type &a)                                                        \
    {                                                                                              \
        a = __hadd##two(a, one);                                                                   \
        return a;                                                                                  \
    }                                                                                              \
    CARDLESS_HALF type &operator--(type &a)                                                        \
    {                                                                                              \
        a = __hsub##two(a, one);                                                                   \
        return a;                                                                                  \
    }                                                                                              \
    CARDLESS_HALF type operator++(type &a, const int)                                              \
    {                                                                                              \
        const type before = a;                                                                     \
        ++a;                                                                                       \
        return before;                                                                             \
    }                                                                                              \
    CARDLESS_HALF type operator--(type &a, const int)                                              \
    {                                                                                              \
        const type before = a;                                                                     \
        --a;                                                                                       \
        return before;                                                                             \
    }
CARDLESS_OPERATORS(__half, , __hdiv, __hneg, cardless_of((unsigned short)0x3c00))
CARDLESS_OPERATORS(__half2, 2, __h2div, __hneg2, cardless_of(0x3c003c00u))
#undef CARDLESS_OPERATORS
#undef CARDLESS_OPERATOR
#endif

#endif
