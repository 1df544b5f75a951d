/* SPDX-License-Identifier: MIT */
/* Comparisons of cuda_fp16.h. A comparison with NaN is false; those with a u in their name
 * ("unordered") are true then. */
#ifndef CARDLESS_RUNTIME_HALF_COMPARE_H
#define CARDLESS_RUNTIME_HALF_COMPARE_H

#ifdef __cplusplus
#include "half_types.h"

CARDLESS_HALF bool __hisnan(const __half a)
{
    return cardless_is_nan(a);
}

/* 1 and -1 for the infinities, else 0. */
CARDLESS_HALF int __hisinf(const __half a)
{
    return (cardless_bits(a) == 0x7c00) - (cardless_bits(a) == 0xfc00);
}

CARDLESS_HALF __half2 __hisnan2(const __half2 a)
{
    return cardless_of((__hisnan(a.x) ? 0x3c00u : 0) | (__hisnan(a.y) ? 0x3c000000u : 0));
}

/* name: of numbers. name2: of pairs, with 1 or 0 in each half. name2_mask: 0xffff or 0 in each half
 * of a word. b_name2: whether both hold. */
#define CARDLESS_COMPARISON(name, suffix, condition)                                               \
    CARDLESS_HALF bool __h##name##suffix(const __half first, const __half second)                  \
    {                                                                                              \
        const float a = cardless_float(first), b = cardless_float(second);                         \
        return condition;                                                                          \
    }                                                                                              \
    CARDLESS_HALF __half2 __h##name##suffix##2(const __half2 a, const __half2 b)                   \
    {                                                                                              \
        return cardless_of((__h##name##suffix(a.x, b.x) ? 0x3c00u : 0) |                           \
                           (__h##name##suffix(a.y, b.y) ? 0x3c000000u : 0));                       \
    }                                                                                              \
    CARDLESS_HALF unsigned int __h##name##suffix##2_mask(const __half2 a, const __half2 b)         \
    {                                                                                              \
        return (__h##name##suffix(a.x, b.x) ? 0xffffu : 0) |                                       \
               (__h##name##suffix(a.y, b.y) ? 0xffff0000u : 0);                                    \
    }                                                                                              \
    CARDLESS_HALF bool __hb##name##suffix##2(const __half2 a, const __half2 b)                     \
    {                                                                                              \
        return __h##name##suffix(a.x, b.x) && __h##name##suffix(a.y, b.y);                         \
    }
CARDLESS_COMPARISON(eq, , a == b)
CARDLESS_COMPARISON(ne, , a<b || a> b)
CARDLESS_COMPARISON(lt, , a < b)
CARDLESS_COMPARISON(le, , a <= b)
CARDLESS_COMPARISON(gt, , a > b)
CARDLESS_COMPARISON(ge, , a >= b)
CARDLESS_COMPARISON(eq, u, !(a < b || a > b))
CARDLESS_COMPARISON(ne, u, a != b)
CARDLESS_COMPARISON(lt, u, !(a >= b))
CARDLESS_COMPARISON(le, u, !(a > b))
CARDLESS_COMPARISON(gt, u, !(a <= b))
CARDLESS_COMPARISON(ge, u, !(a < b))
#undef CARDLESS_COMPARISON

/* Manual: "If either of the inputs is NaN, the other input is returned" – or, with _nan, NaN; "If
 * values of both inputs are 0.0, then +0.0 > -0.0". */
#define CARDLESS_EXTREME(name, sign, zeros)                                                        \
    CARDLESS_HALF __half __h##name(const __half first, const __half second)                        \
    {                                                                                              \
        const float a = cardless_float(first), b = cardless_float(second);                         \
        if (cardless_is_nan(first) && cardless_is_nan(second))                                     \
            return cardless_of((unsigned short)0x7fff);                                            \
        if (cardless_is_nan(first) || cardless_is_nan(second))                                     \
            return cardless_is_nan(first) ? second : first;                                        \
        if (a == b)                                                                                \
            return cardless_of(                                                                    \
                (unsigned short)(cardless_bits(first) zeros cardless_bits(second)));               \
        return a sign b ? first : second;                                                          \
    }                                                                                              \
    CARDLESS_HALF __half __h##name##_nan(const __half a, const __half b)                           \
    {                                                                                              \
        return cardless_is_nan(a) || cardless_is_nan(b) ? cardless_of((unsigned short)0x7fff)      \
                                                        : __h##name(a, b);                         \
    }                                                                                              \
    CARDLESS_HALF __half2 __h##name##2(const __half2 a, const __half2 b)                           \
    {                                                                                              \
        return __half2(__h##name(a.x, b.x), __h##name(a.y, b.y));                                  \
    }                                                                                              \
    CARDLESS_HALF __half2 __h##name##2_nan(const __half2 a, const __half2 b)                       \
    {                                                                                              \
        return __half2(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y));                      \
    }
CARDLESS_EXTREME(max, >, &)
CARDLESS_EXTREME(min, <, |)
#undef CARDLESS_EXTREME

/* The operators of pairs compare both halves. != is true with NaN, as for float. */
#define CARDLESS_OPERATOR(sign, name)                                                              \
    CARDLESS_HALF bool operator sign(const __half &a, const __half &b)                             \
    {                                                                                              \
        return __h##name(a, b);                                                                    \
    }                                                                                              \
    CARDLESS_HALF bool operator sign(const __half2 &a, const __half2 &b)                           \
    {                                                                                              \
        return __hb##name##2(a, b);                                                                \
    }
CARDLESS_OPERATOR(==, eq)
CARDLESS_OPERATOR(!=, neu)
CARDLESS_OPERATOR(<, lt)
CARDLESS_OPERATOR(<=, le)
CARDLESS_OPERATOR(>, gt)
CARDLESS_OPERATOR(>=, ge)
#undef CARDLESS_OPERATOR
#endif

#endif
