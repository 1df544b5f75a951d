// SPDX-License-Identifier: MIT
// Forms of conversions from floating point to integers.
//
// "Conversions to integers clamp to the destination's range." As measured, a
// NaN becomes 0, or the highest bit alone if either type has 64 bits.
#include "half.inc.h"

#include "families.h"

#define INTEGRAL_rni(x) __builtin_rint(x)
#define INTEGRAL_rzi(x) __builtin_trunc(x)
#define INTEGRAL_rmi(x) __builtin_floor(x)
#define INTEGRAL_rpi(x) __builtin_ceil(x)

// kn_TYPE_of(x, nan): an integral double as an integer. The conversion of the
// clamped value is always defined, and the greatest value of 64 bits is no
// double.
#define SMALL(type, V, LEAST, MOST)                                                                \
    KN_INLINE V integer_##type(double x, V nan)                                                    \
    {                                                                                              \
        const double low = x > (LEAST) ? x : (LEAST);                                              \
        const double value = low < (MOST) ? low : (MOST);                                          \
        return x != x ? nan : (V)(int32_t)value;                                                   \
    }
SMALL(u8, uint8_t, 0, 255.0)
SMALL(s8, int8_t, -128.0, 127.0)
SMALL(u16, uint16_t, 0, 65535.0)
SMALL(s16, int16_t, -32768.0, 32767.0)
SMALL(s32, int32_t, -2147483648.0, 2147483647.0)

KN_INLINE uint32_t integer_u32(double x, uint32_t nan)
{
    const double low = x > 0 ? x : 0;
    const double value = low < 4294967295.0 ? low : 4294967295.0;
    const uint32_t number = (uint32_t)(int32_t)(value - 2147483648.0) ^ 0x80000000;
    return x != x ? nan : number;
}

KN_INLINE int64_t integer_s64(double x, int64_t nan)
{
    if (x != x)
        return nan;
    if (x >= 0x1p63)
        return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

KN_INLINE uint64_t integer_u64(double x, uint64_t nan)
{
    if (x != x)
        return nan;
    if (x >= 0x1p64)
        return UINT64_MAX;
    return x > 0 ? (uint64_t)x : 0;
}

#define F32(x) (double)kn_f32(x)
#define F32_FTZ(x) (double)kn_f32(kn_f32_flush(x))
#define F64(x) kn_f64(x)
#define F16(x) (double)kn_f16_value(x)
#define BF16(x) (double)kn_bf16_value(x)

#define FORM(to, D, mode, from, A, VALUE, nan)                                                     \
    KN_CALLED1(to##_##mode##_##from, D, A, integer_##to(INTEGRAL_##mode(VALUE(a[i])), nan))
#define FORMS_OF(mode, from, A, VALUE, nan8, nan16, nan32)                                         \
    FORM(u8, uint16_t, mode, from, A, VALUE, nan8)                                                 \
    FORM(s8, uint16_t, mode, from, A, VALUE, (int8_t)nan8)                                         \
    FORM(u16, uint16_t, mode, from, A, VALUE, nan16)                                               \
    FORM(s16, uint16_t, mode, from, A, VALUE, (int16_t)nan16)                                      \
    FORM(u32, uint32_t, mode, from, A, VALUE, nan32)                                               \
    FORM(s32, uint32_t, mode, from, A, VALUE, (int32_t)nan32)                                      \
    FORM(u64, uint64_t, mode, from, A, VALUE, 1ull << 63)                                          \
    FORM(s64, uint64_t, mode, from, A, VALUE, INT64_MIN)
#define FORMS(from, A, VALUE, nan8, nan16, nan32)                                                  \
    FORMS_OF(rni, from, A, VALUE, nan8, nan16, nan32)                                              \
    FORMS_OF(rzi, from, A, VALUE, nan8, nan16, nan32)                                              \
    FORMS_OF(rmi, from, A, VALUE, nan8, nan16, nan32)                                              \
    FORMS_OF(rpi, from, A, VALUE, nan8, nan16, nan32)
FORMS(f32, uint32_t, F32, 0, 0, 0)
FORMS(f32_ftz, uint32_t, F32_FTZ, 0, 0, 0)
FORMS(f64, uint64_t, F64, 0x80, 0x8000, 0x80000000)
FORMS(f16, uint16_t, F16, 0, 0, 0)
FORMS(bf16, uint16_t, BF16, 0, 0, 0)

#define ROW(to, d, mode, from, ftz, text, a)                                                       \
    KN_ROW(to##_##mode##_##from, "cvt." #mode ftz "." #to "." text, d "=" a)
#define ROWS_OF(mode, from, ftz, text, a)                                                          \
    ROW(u8, "h", mode, from, ftz, text, a), ROW(s8, "h", mode, from, ftz, text, a),                \
        ROW(u16, "h", mode, from, ftz, text, a), ROW(s16, "h", mode, from, ftz, text, a),          \
        ROW(u32, "w", mode, from, ftz, text, a), ROW(s32, "w", mode, from, ftz, text, a),          \
        ROW(u64, "l", mode, from, ftz, text, a), ROW(s64, "l", mode, from, ftz, text, a)
#define ROWS(from, ftz, text, a)                                                                   \
    ROWS_OF(rni, from, ftz, text, a), ROWS_OF(rzi, from, ftz, text, a),                            \
        ROWS_OF(rmi, from, ftz, text, a), ROWS_OF(rpi, from, ftz, text, a)

const struct kn_form KN_FAMILY(convert_to_integer)[] = {
    ROWS(f32, "", "f32", "w"), ROWS(f32_ftz, ".ftz", "f32", "w"), ROWS(f64, "", "f64", "l"),
    ROWS(f16, "", "f16", "h"), ROWS(bf16, "", "bf16", "h"),       {0},
};
