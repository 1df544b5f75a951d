// SPDX-License-Identifier: MIT
// Forms of integer quotients and remainders. "Division by zero yields an unspecified,
// machine-specific value": the card's, quotient and remainder, has all bits set. The least number
// divided by -1 is itself, as if the quotient were cut to its width.
#include "lanes.inc.h"

#include "families.h"

#define UNSIGNED(bits)                                                                             \
    static inline uint##bits##_t div_u##bits(uint##bits##_t a, uint##bits##_t b)                   \
    {                                                                                              \
        return b ? (uint##bits##_t)(a / b) : (uint##bits##_t) ~0ull;                               \
    }                                                                                              \
    static inline uint##bits##_t rem_u##bits(uint##bits##_t a, uint##bits##_t b)                   \
    {                                                                                              \
        return b ? (uint##bits##_t)(a % b) : (uint##bits##_t) ~0ull;                               \
    }
#define SIGNED(bits)                                                                               \
    static inline int##bits##_t div_s##bits(int##bits##_t a, int##bits##_t b)                      \
    {                                                                                              \
        if (b == -1)                                                                               \
            return (int##bits##_t)(0 - (uint##bits##_t)a);                                         \
        return b ? (int##bits##_t)(a / b) : (int##bits##_t) - 1;                                   \
    }                                                                                              \
    static inline int##bits##_t rem_s##bits(int##bits##_t a, int##bits##_t b)                      \
    {                                                                                              \
        if (b == -1)                                                                               \
            return 0;                                                                              \
        return b ? (int##bits##_t)(a % b) : (int##bits##_t) - 1;                                   \
    }
UNSIGNED(16)
SIGNED(16)
UNSIGNED(64)
SIGNED(64)

#if defined(__AVX2__)
// Quotients of 32 bits are exact in double precision: the nearest double to a / b is an integer
// only if a / b is, because a / b is then at least 1 / b away from the next one. All of this can be
// vectorised, unlike a division of integers. Unsigned values are moved by 2^31, because AVX2
// converts only signed ones.
static inline double to_double(uint32_t x)
{
    return (double)(int32_t)(x ^ UINT32_C(0x80000000)) + 2147483648.0;
}

static inline uint32_t div_u32(uint32_t a, uint32_t b)
{
    const double quotient = __builtin_floor(to_double(a) / to_double(b ? b : 1));
    const uint32_t value = (uint32_t)(int32_t)(quotient - 2147483648.0) ^ UINT32_C(0x80000000);
    return b ? value : UINT32_MAX;
}

static inline int32_t div_s32(int32_t a, int32_t b)
{
    const uint32_t most = b == -1 ? 0 - (uint32_t)a : UINT32_MAX; // if b is -1 or 0
    const bool special = b == -1 || b == 0;
    const int32_t value = (int32_t)((double)a / (double)(special ? 1 : b));
    return special ? (int32_t)most : value;
}

static inline uint32_t rem_u32(uint32_t a, uint32_t b)
{
    return b ? a - div_u32(a, b) * b : UINT32_MAX;
}

static inline int32_t rem_s32(int32_t a, int32_t b)
{
    return b ? (int32_t)((uint32_t)a - (uint32_t)div_s32(a, b) * (uint32_t)b) : -1;
}
#else
UNSIGNED(32)
SIGNED(32)
#endif

#define DIVIDE(s, T)                                                                               \
    KN_FORM2(div_##s##_lanes, T, T, T, div_##s(a[i], b[i]))                                        \
    KN_FORM2(rem_##s##_lanes, T, T, T, rem_##s(a[i], b[i]))
DIVIDE(u16, uint16_t)
DIVIDE(s16, int16_t)
DIVIDE(u32, uint32_t)
DIVIDE(s32, int32_t)
DIVIDE(u64, uint64_t)
DIVIDE(s64, int64_t)

#define ROWS(s, l)                                                                                 \
    KN_ROW(div_##s##_lanes, "div." #s, l "=" l l), KN_ROW(rem_##s##_lanes, "rem." #s, l "=" l l)

const struct kn_form KN_FAMILY(divide)[] = {
    ROWS(u16, "h"),
    ROWS(s16, "h"),
    ROWS(u32, "w"),
    ROWS(s32, "w"),
    ROWS(u64, "l"),
    ROWS(s64, "l"),
    {0},
};
