// SPDX-License-Identifier: MIT
// Conversion of single values, by the rules in kn_convert.h.
#pragma once

#include "small.h"
#include "srgb.h"

KN_INLINE uint32_t kn_float_bits(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

KN_INLINE float kn_float_of_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

// The nearest whole number, ties to even; |v| < 2^51. A sum of that size has no bits for a
// fraction.
KN_INLINE int64_t kn_nearest(double v)
{
    double sum = v + 0x1.8p52;
    uint64_t bits;

    memcpy(&bits, &sum, sizeof(bits));
    return (int64_t)(bits << 13) >> 13;
}

KN_INLINE float kn_from_snorm(int v, int scale)
{
    return v < -scale ? -1.0f : (float)v / (float)scale;
}

// The product is exact in a double. If the comparison is false, the value is NaN.
KN_INLINE uint32_t kn_to_unorm(float v, uint32_t scale)
{
    return v >= 1.0f ? scale : v > 0.0f ? (uint32_t)kn_nearest((double)v * scale) : 0;
}

KN_INLINE int32_t kn_to_snorm(float v, int scale)
{
    return v >= 1.0f    ? scale
           : v <= -1.0f ? -scale
           : v == v     ? (int32_t)kn_nearest((double)v * scale)
                        : 0;
}

KN_INLINE uint32_t kn_to_uint(float v)
{
    return v >= 0x1p32f ? UINT32_MAX : v > 0.0f ? (uint32_t)kn_nearest(v) : 0;
}

KN_INLINE int32_t kn_to_sint(float v)
{
    return v >= 0x1p31f    ? INT32_MAX
           : v <= -0x1p31f ? INT32_MIN
           : v == v        ? (int32_t)kn_nearest(v)
                           : 0;
}

KN_INLINE float kn_from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;

    if (magnitude > 0x7c00)
        return kn_float_of_bits(sign | 0x7fc00000 | magnitude << 13); // NaN, made quiet
    if (magnitude == 0x7c00)
        return kn_float_of_bits(sign | 0x7f800000);
    if (magnitude >= 0x0400)
        return kn_float_of_bits(sign | ((magnitude << 13) + (112u << 23)));
    return kn_float_of_bits(sign | kn_float_bits((float)magnitude * 0x1p-24f)); // subnormal: exact
}

KN_INLINE uint16_t kn_to_half(float f)
{
    uint32_t bits = kn_float_bits(f), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff,
             odd;

    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff)); // NaN, made quiet
    if (magnitude >= 0x477ff000) // 65520: halfway to 65536, which half cannot represent
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) // below 2^-14: the last bit of the sum has the value 2^-24
        return (uint16_t)(sign | (kn_float_bits(kn_float_of_bits(magnitude) + 0.5f) - 0x3f000000));
    odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | (magnitude - (112u << 23) + 0xfff + odd) >> 13);
}

KN_INLINE float kn_from_srgb(uint8_t v)
{
    return kn_float_of_bits(kn_srgb_decode_bits[v]);
}

KN_INLINE uint32_t kn_to_srgb(float v)
{
    float first = kn_float_of_bits(KN_SRGB_FIRST_BITS), last = kn_float_of_bits(KN_SRGB_LAST_BITS);
    uint32_t bits = kn_float_bits(!(v > first) ? first : v < last ? v : last);

    return (kn_srgb_encode_entries[(bits >> 16) - KN_SRGB_FIRST_PIECE] + (bits & 0xffff)) >> 16;
}
