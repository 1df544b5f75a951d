// SPDX-License-Identifier: MIT
// Forms of conversions from integers to floating point.
#include "half.inc.h"

#include "families.h"

// The upper and the lower half of 64 bits are exact doubles.
#define UPPER(S, x) ((double)(S)((S)(x) >> 32) * 0x1p32)
#define LOWER(x) ((double)(uint32_t)(x))

// A double that is as good as the integer to round it to 24 digits or fewer.
KN_INLINE double odd_u64(uint64_t x)
{
    return kn_sum_odd(UPPER(uint64_t, x), LOWER(x));
}

KN_INLINE double odd_s64(uint64_t x)
{
    return kn_sum_odd(UPPER(int64_t, x), LOWER(x));
}

// The sum of the halves, rounded to a double in each direction. The first one
// is not smaller than the second, or it is 0.
KN_INLINE double sum_rn(double a, double b)
{
    return a + b;
}

#define SUM(mode, condition_down, condition_up)                                                    \
    KN_INLINE double sum_##mode(double a, double b)                                                \
    {                                                                                              \
        const double sum = a + b, error = b - (sum - a);                                           \
        const uint64_t bits = kn_f64_bits(sum);                                                    \
        const uint64_t up = sum < 0 ? bits - 1 : bits + 1, down = sum < 0 ? bits + 1 : bits - 1;   \
        return kn_f64((condition_up) ? up : (condition_down) ? down : bits);                       \
    }
SUM(rz, sum > 0 && error < 0, sum<0 && error> 0)
SUM(rm, error < 0, false)
SUM(rp, false, error > 0)

#define F32(mode, value) kn_f32_bits(kn_narrow_##mode(value))
#define F16(mode, value) kn_f16_of_##mode(kn_narrow_odd(value))
#define BF16(mode, value) kn_bf16_of_##mode(kn_narrow_odd(value))

#define SMALL_FORMS(mode, from, A, S)                                                              \
    KN_CALLED1(f32_##mode##_##from, uint32_t, A, F32(mode, (double)(S)a[i]))                       \
    KN_CALLED1(f64_##mode##_##from, uint64_t, A, kn_f64_bits((double)(S)a[i]))                     \
    KN_CALLED1(f16_##mode##_##from, uint16_t, A, F16(mode, (double)(S)a[i]))                       \
    KN_CALLED1(bf16_##mode##_##from, uint16_t, A, BF16(mode, (double)(S)a[i]))
#define LARGE_FORMS(mode, from, S)                                                                 \
    KN_CALLED1(f32_##mode##_##from, uint32_t, uint64_t, F32(mode, odd_##from(a[i])))               \
    KN_CALLED1(f64_##mode##_##from, uint64_t, uint64_t,                                            \
               kn_f64_bits(sum_##mode(UPPER(S, a[i]), LOWER(a[i]))))                               \
    KN_CALLED1(f16_##mode##_##from, uint16_t, uint64_t, F16(mode, odd_##from(a[i])))               \
    KN_CALLED1(bf16_##mode##_##from, uint16_t, uint64_t, BF16(mode, odd_##from(a[i])))
#define FORMS(mode)                                                                                \
    SMALL_FORMS(mode, u8, uint16_t, uint8_t)                                                       \
    SMALL_FORMS(mode, s8, uint16_t, int8_t)                                                        \
    SMALL_FORMS(mode, u16, uint16_t, uint16_t)                                                     \
    SMALL_FORMS(mode, s16, uint16_t, int16_t)                                                      \
    SMALL_FORMS(mode, u32, uint32_t, uint32_t)                                                     \
    SMALL_FORMS(mode, s32, uint32_t, int32_t)                                                      \
    LARGE_FORMS(mode, u64, uint64_t)                                                               \
    LARGE_FORMS(mode, s64, int64_t)
FORMS(rn)
FORMS(rz)
FORMS(rm)
FORMS(rp)

#define ROWS_OF(mode, from, a)                                                                     \
    KN_ROW(f32_##mode##_##from, "cvt." #mode ".f32." #from, "w=" a),                               \
        KN_ROW(f64_##mode##_##from, "cvt." #mode ".f64." #from, "l=" a),                           \
        KN_ROW(f16_##mode##_##from, "cvt." #mode ".f16." #from, "h=" a),                           \
        KN_ROW(bf16_##mode##_##from, "cvt." #mode ".bf16." #from, "h=" a)
#define ROWS(mode)                                                                                 \
    ROWS_OF(mode, u8, "h"), ROWS_OF(mode, s8, "h"), ROWS_OF(mode, u16, "h"),                       \
        ROWS_OF(mode, s16, "h"), ROWS_OF(mode, u32, "w"), ROWS_OF(mode, s32, "w"),                 \
        ROWS_OF(mode, u64, "l"), ROWS_OF(mode, s64, "l")

const struct kn_form KN_FAMILY(convert_from_integer)[] = {
    ROWS(rn), ROWS(rz), ROWS(rm), ROWS(rp), {0},
};
