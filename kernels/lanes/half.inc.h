// SPDX-License-Identifier: MIT
// For the families of forms with 16-bit floating point: f16 and bf16 to f32 and back, in each
// rounding mode, without instructions that only some machines have.
#pragma once

#include "float.inc.h"

KN_INLINE uint16_t kn_f16_flush(uint16_t bits)
{
    return bits & 0x7c00 ? bits : bits & 0x8000;
}

// Every value of f16 is one of f32. Multiplying by 2^112 moves the exponent, also of subnormals.
KN_INLINE float kn_f16_value(uint32_t bits)
{
    const uint32_t low = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
    const uint32_t number = kn_f32_bits(kn_f32(low) * 0x1p112F);
    return kn_f32((low >= 0x0f800000 ? low | 0x7f800000 : number) | sign);
}

KN_INLINE float kn_bf16_value(uint32_t bits)
{
    return kn_f32(bits << 16);
}

// The value's digits without the last `shift`, which is 31 at most; and one more if the mode rounds
// up. `away` says whether an inexact result is rounded away from zero, for rm and rp.
#define KN_UP_rn(kept, rest, half, away) (((rest) > (half)) | (((rest) == (half)) & ((kept)&1)))
#define KN_UP_rz(kept, rest, half, away) 0
#define KN_UP_rm(kept, rest, half, away) (((rest) != 0) & (away))
#define KN_UP_rp(kept, rest, half, away) (((rest) != 0) & !(away))
#define KN_UP_rna(kept, rest, half, away) ((rest) >= (half))

// kn_f16_of_MODE, kn_bf16_of_MODE: an f32 rounded to 16 bits. NaN results are 0x7fff.
#define KN_HALF_OF(mode)                                                                           \
    KN_INLINE uint32_t kn_f16_of_##mode(float value)                                               \
    {                                                                                              \
        const uint32_t all = kn_f32_bits(value), u = all & 0x7fffffff, sign = all >> 31;           \
        const uint32_t e = u >> 23;                                                                \
        const bool normal = e >= 113;                                                              \
        const uint32_t low = (u & 0x7fffff) | (e ? 0x800000 : 0);                                  \
        const uint32_t digits = normal ? u - (112u << 23) : low;                                   \
        const uint32_t shift = normal ? 13 : e < 95 ? 31 : 126 - e;                                \
        const bool over = u >= 0x47800000;                                                         \
        const uint32_t kept = over ? 0x7bff : digits >> shift;                                     \
        const uint32_t half = 1u << (shift - 1);                                                   \
        const uint32_t rest = over ? 2 * half - 1 : digits & (2 * half - 1);                       \
        const uint32_t finite = kept + KN_UP_##mode(kept, rest, half, sign);                       \
        const uint32_t number = (u == 0x7f800000 ? 0x7c00 : finite) | sign << 15;                  \
        (void)half;                                                                                \
        (void)rest;                                                                                \
        return u > 0x7f800000 ? KN_NAN_HALF : number;                                              \
    }                                                                                              \
    KN_INLINE uint32_t kn_bf16_of_##mode(float value)                                              \
    {                                                                                              \
        const uint32_t u = kn_f32_bits(value);                                                     \
        const uint32_t kept = u >> 16, rest = u & 0xffff, sign = u >> 31;                          \
        const uint32_t number = kept + KN_UP_##mode(kept, rest, 0x8000u, sign);                    \
        (void)rest;                                                                                \
        (void)sign;                                                                                \
        return (u & 0x7fffffff) > 0x7f800000 ? KN_NAN_HALF : number;                               \
    }
KN_HALF_OF(rn)
KN_HALF_OF(rz)
KN_HALF_OF(rm)
KN_HALF_OF(rp)
