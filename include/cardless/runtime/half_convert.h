/* SPDX-License-Identifier: MIT */
/* Conversions of cuda_fp16.h by name, parts of pairs, bits and constants. The end of a name is the
 * rounding: to the nearest (rn), to zero (rz), up (ru), down (rd). */
#ifndef CARDLESS_RUNTIME_HALF_CONVERT_H
#define CARDLESS_RUNTIME_HALF_CONVERT_H

#ifdef __cplusplus
#include "../../vector_functions.h"
#include "half_types.h"

/* ---- float and double */

#define CARDLESS_FLOAT(name, type, mode)                                                           \
    CARDLESS_HALF __half name(const type a)                                                        \
    {                                                                                              \
        return cardless_of(cardless_half_##mode(a));                                               \
    }
CARDLESS_FLOAT(__float2half, float, rn)
CARDLESS_FLOAT(__float2half_rn, float, rn)
CARDLESS_FLOAT(__float2half_rz, float, rz)
CARDLESS_FLOAT(__float2half_ru, float, rp)
CARDLESS_FLOAT(__float2half_rd, float, rm)
CARDLESS_FLOAT(__double2half, double, rn)
#undef CARDLESS_FLOAT

CARDLESS_HALF float __half2float(const __half a)
{
    return cardless_float(a);
}

CARDLESS_HALF __half2 __float2half2_rn(const float a)
{
    return __half2(__float2half_rn(a), __float2half_rn(a));
}

CARDLESS_HALF __half2 __floats2half2_rn(const float a, const float b)
{
    return __half2(__float2half_rn(a), __float2half_rn(b));
}

CARDLESS_HALF __half2 __float22half2_rn(const float2 a)
{
    return __floats2half2_rn(a.x, a.y);
}

CARDLESS_HALF float2 __half22float2(const __half2 a)
{
    return make_float2(cardless_float(a.x), cardless_float(a.y));
}

CARDLESS_HALF float __low2float(const __half2 a)
{
    return cardless_float(a.x);
}

CARDLESS_HALF float __high2float(const __half2 a)
{
    return cardless_float(a.y);
}

/* ---- integers. Those that are out of range become the nearest integer or infinity. */

#define CARDLESS_INTEGER_ROUNDED(name, type, wide, end, mode)                                      \
    CARDLESS_HALF type __half2##name##_##end(const __half h)                                       \
    {                                                                                              \
        return cardless_##name##_##mode(cardless_float(h));                                        \
    }                                                                                              \
    CARDLESS_HALF __half __##name##2half_##end(const type i)                                       \
    {                                                                                              \
        return cardless_of(cardless_half_##mode((wide)i));                                         \
    }
#define CARDLESS_INTEGER(name, type, wide)                                                         \
    CARDLESS_INTEGER_ROUNDED(name, type, wide, rn, rn)                                             \
    CARDLESS_INTEGER_ROUNDED(name, type, wide, rz, rz)                                             \
    CARDLESS_INTEGER_ROUNDED(name, type, wide, ru, rp)                                             \
    CARDLESS_INTEGER_ROUNDED(name, type, wide, rd, rm)
CARDLESS_INTEGER(short, short, int)
CARDLESS_INTEGER(ushort, unsigned short, unsigned int)
CARDLESS_INTEGER(int, int, int)
CARDLESS_INTEGER(uint, unsigned int, unsigned int)
CARDLESS_INTEGER(ll, long long, long long)
CARDLESS_INTEGER(ull, unsigned long long, unsigned long long)
#undef CARDLESS_INTEGER
#undef CARDLESS_INTEGER_ROUNDED

CARDLESS_HALF signed char __half2char_rz(const __half h)
{
    return (signed char)h;
}

CARDLESS_HALF unsigned char __half2uchar_rz(const __half h)
{
    return (unsigned char)h;
}

/* ---- parts of pairs. x is the low half, and y the high one. */

#define CARDLESS_PARTS(name, arguments, first, second)                                             \
    CARDLESS_HALF __half2 name arguments                                                           \
    {                                                                                              \
        return __half2(first, second);                                                             \
    }
CARDLESS_PARTS(make_half2, (const __half x, const __half y), x, y)
CARDLESS_PARTS(__halves2half2, (const __half a, const __half b), a, b)
CARDLESS_PARTS(__half2half2, (const __half a), a, a)
CARDLESS_PARTS(__low2half2, (const __half2 a), a.x, a.x)
CARDLESS_PARTS(__high2half2, (const __half2 a), a.y, a.y)
CARDLESS_PARTS(__lows2half2, (const __half2 a, const __half2 b), a.x, b.x)
CARDLESS_PARTS(__highs2half2, (const __half2 a, const __half2 b), a.y, b.y)
CARDLESS_PARTS(__lowhigh2highlow, (const __half2 a), a.y, a.x)
#undef CARDLESS_PARTS

CARDLESS_HALF __half __low2half(const __half2 a)
{
    return a.x;
}

CARDLESS_HALF __half __high2half(const __half2 a)
{
    return a.y;
}

/* ---- bits */

CARDLESS_HALF short __half_as_short(const __half h)
{
    return (short)cardless_bits(h);
}

CARDLESS_HALF unsigned short __half_as_ushort(const __half h)
{
    return cardless_bits(h);
}

CARDLESS_HALF __half __short_as_half(const short i)
{
    return cardless_of((unsigned short)i);
}

CARDLESS_HALF __half __ushort_as_half(const unsigned short i)
{
    return cardless_of(i);
}

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#endif

#endif
