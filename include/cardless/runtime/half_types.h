/* SPDX-License-Identifier: MIT */
/* The classes of cuda_fp16.h. */
#ifndef CARDLESS_RUNTIME_HALF_TYPES_H
#define CARDLESS_RUNTIME_HALF_TYPES_H

#ifdef __cplusplus
#include "../../vector_types.h"
#include "half.h"

#define __CUDA_FP16_TYPES_EXIST__
#define CARDLESS_MEMBER __host__ __device__ __attribute__((always_inline)) inline

struct __half_raw {
    unsigned short x;
};

struct __align__(4) __half2_raw
{
    unsigned short x, y;
};

/* Other numbers become a half by rounding to the nearest; a half becomes an integer by rounding to
 * zero. As with NVIDIA's class, a sum of a half and a float is ambiguous. */
struct __align__(2) __half
{
    __half() = default;
    CARDLESS_MEMBER constexpr __half(const __half_raw &raw) : __x(raw.x)
    {
    }
    CARDLESS_MEMBER __half &operator=(const __half_raw &raw)
    {
        __x = raw.x;
        return *this;
    }
    CARDLESS_MEMBER operator __half_raw() const
    {
        const __half_raw raw = {__x};
        return raw;
    }
    CARDLESS_MEMBER operator float() const
    {
        return cardless_float(__x);
    }
    CARDLESS_MEMBER constexpr operator bool() const
    {
        return (__x & 0x7fff) != 0;
    }
#define CARDLESS_FROM(type, wide)                                                                  \
    CARDLESS_MEMBER __half(type value) : __x(cardless_half_rn((wide)value))                        \
    {                                                                                              \
    }                                                                                              \
    CARDLESS_MEMBER __half &operator=(type value)                                                  \
    {                                                                                              \
        __x = cardless_half_rn((wide)value);                                                       \
        return *this;                                                                              \
    }
    CARDLESS_FROM(float, float)
    CARDLESS_FROM(double, double)
#define CARDLESS_INTEGER(type, wide, to)                                                           \
    CARDLESS_FROM(type, wide)                                                                      \
    CARDLESS_MEMBER operator type() const                                                          \
    {                                                                                              \
        return (type)cardless_##to##_rz(cardless_float(__x));                                      \
    }
    CARDLESS_INTEGER(short, int, short)
    CARDLESS_INTEGER(unsigned short, unsigned int, ushort)
    CARDLESS_INTEGER(int, int, int)
    CARDLESS_INTEGER(unsigned int, unsigned int, uint)
    CARDLESS_INTEGER(long, long long, ll)
    CARDLESS_INTEGER(unsigned long, unsigned long long, ull)
    CARDLESS_INTEGER(long long, long long, ll)
    CARDLESS_INTEGER(unsigned long long, unsigned long long, ull)
#undef CARDLESS_INTEGER
#undef CARDLESS_FROM
    /* Larger numbers give the least or the largest char. */
#define CARDLESS_CHAR(type)                                                                        \
    CARDLESS_MEMBER operator type() const                                                          \
    {                                                                                              \
        const bool is_signed = (type)-1 < 0;                                                       \
        const int least = is_signed ? -128 : 0, most = is_signed ? 127 : 255;                      \
        const int value = cardless_int_rz(cardless_float(__x));                                    \
        return (type)(value < least ? least : value > most ? most : value);                        \
    }
    CARDLESS_CHAR(char)
    CARDLESS_CHAR(signed char)
    CARDLESS_CHAR(unsigned char)
#undef CARDLESS_CHAR

  protected:
    unsigned short __x;
};

struct __align__(4) __half2
{
    __half x, y;
    __half2() = default;
    __half2(const __half2 &) = default;
    __half2 &operator=(const __half2 &) = default;
    CARDLESS_MEMBER constexpr __half2(const __half &first, const __half &second)
        : x(first), y(second)
    {
    }
    CARDLESS_MEMBER __half2(const __half2_raw &raw)
    {
        *this = raw;
    }
    CARDLESS_MEMBER __half2 &operator=(const __half2_raw &raw)
    {
        const __half_raw first = {raw.x}, second = {raw.y};
        x = first;
        y = second;
        return *this;
    }
    CARDLESS_MEMBER operator __half2_raw() const
    {
        const __half2_raw raw = {__half_raw(x).x, __half_raw(y).x};
        return raw;
    }
};
#undef CARDLESS_MEMBER

/* ---- bits of an object, for the other headers */

CARDLESS_HALF unsigned short cardless_bits(__half h)
{
    return __half_raw(h).x;
}

CARDLESS_HALF unsigned int cardless_bits(__half2 h)
{
    return cardless_bits(h.x) | (unsigned int)cardless_bits(h.y) << 16;
}

CARDLESS_HALF __half cardless_of(unsigned short bits)
{
    const __half_raw raw = {bits};
    return raw;
}

CARDLESS_HALF __half2 cardless_of(unsigned int bits)
{
    return __half2(cardless_of((unsigned short)bits), cardless_of((unsigned short)(bits >> 16)));
}

CARDLESS_HALF float cardless_float(__half h)
{
    return cardless_float(cardless_bits(h));
}

CARDLESS_HALF bool cardless_is_nan(__half h)
{
    return cardless_is_nan(cardless_bits(h));
}
#endif

#endif
