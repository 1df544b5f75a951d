// SPDX-License-Identifier: MIT
// Forms of the approximate functions sin, cos and tanh, which give the card's bits.
#include "approx.inc.h"

#include "families.h"

// sin and cos: the argument is multiplied by 1/(2 pi) and cut off, to an f32 and then to 25 digits
// of a turn. The second and fourth quarter read the table backwards. The value is cut off too.
KN_INLINE uint32_t turn_of(uint32_t bits)
{
    const float turns = kn_narrow_rz((double)kn_f32(bits & 0x7fffffff) * (double)0x1.45f306p-3F);
    const uint32_t u = kn_f32_bits(turns), m = KN_DIGITS(u) | 0x800000, e = KN_EXPONENT(u);
    const uint32_t up = e - 125, down = 125 - e; // 2^25 turns have the exponent 0 of m at 125
    const uint32_t left = up < 25 ? m << (up & 31) : 0;
    const uint32_t right = down < 24 ? m >> (down & 31) : 0;
    return (e >= 125 ? left : right) & 0x1ffffff;
}

KN_INLINE uint32_t sin_at(uint32_t turn)
{
    return (turn ^ (0 - (turn >> 23 & 1))) & 0x7fffff;
}

KN_INLINE uint32_t sin_segment(uint32_t turn)
{
    return sin_at(turn) >> 17;
}

KN_INLINE uint32_t sin_x(uint32_t turn)
{
    return sin_at(turn) & 0x1ffff;
}

KN_INLINE uint32_t sin_value(uint32_t turn, double value)
{
    const uint32_t number = kn_f32_bits(kn_narrow_rz(value * 0x1p-41));
    return number ^ turn >> 24 << 31;
}
KN_INTERPOLATED_WHOLE(sin) // of turns

KN_INLINE uint32_t sin_turn(uint32_t bits)
{
    return turn_of(bits);
}

KN_INLINE uint32_t cos_turn(uint32_t bits)
{
    return (turn_of(bits) + 0x800000) & 0x1ffffff;
}

KN_INLINE uint32_t sin_after(uint32_t bits, uint32_t y)
{
    const uint32_t sign = bits & 0x80000000, number = KN_EXPONENT(bits) ? y ^ sign : sign;
    return KN_EXPONENT(bits) == 255 ? KN_NAN_F32 : number;
}

KN_INLINE uint32_t cos_after(uint32_t bits, uint32_t y)
{
    const uint32_t number = KN_EXPONENT(bits) ? y : 0x3f800000;
    return KN_EXPONENT(bits) == 255 ? KN_NAN_F32 : number;
}

// tanh of exponents 2^-8 to 2^2: the number of the first segment of each, and of upper digits that
// choose among its segments. Lesser arguments are the result, and greater ones give 1.
static const uint32_t tanh_first[16] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
static const uint32_t tanh_digits[16] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};

KN_INLINE uint32_t tanh_exponent(uint32_t bits)
{
    return KN_EXPONENT(bits) - (127 - 8);
}

KN_INLINE uint32_t tanh_segment(uint32_t bits)
{
    const uint32_t e = tanh_exponent(bits) & 15;
    return tanh_first[e] + (KN_DIGITS(bits) >> (23 - tanh_digits[e]));
}

KN_INLINE uint32_t tanh_x(uint32_t bits)
{
    return KN_DIGITS(bits) >> (6 - tanh_digits[tanh_exponent(bits) & 15]) & 0x1ffff;
}

KN_INLINE uint32_t tanh_value(uint32_t bits, double value)
{
    const uint32_t sign = bits & 0x80000000, e = tanh_exponent(bits);
    const uint32_t number = kn_f32_bits(kn_narrow_rz(value * 0x1p-41));
    const uint32_t edge = (bits & 0x7fffffff) > KN_INFINITE ? KN_NAN_F32 : sign | 0x3f800000;
    const uint32_t outside = (int32_t)e < 0 ? bits : edge;
    return e <= 10 ? sign | number : outside;
}
KN_INTERPOLATED_WHOLE(tanh)

KN_INLINE uint32_t tanh_full(uint32_t bits)
{
    return tanh_value(bits, kn_interpolate(&kn_segments_tanh, tanh_segment(bits), tanh_x(bits)));
}

#define SINE(name, called, in, out)                                                                \
    KN_CALLED_HEAD_(called, uint32_t)                                                              \
    {                                                                                              \
        _Alignas(64) uint32_t y[KN_LANES];                                                         \
        const uint32_t *a = KN_REGISTER(uint32_t, op->a);                                          \
        KN_EACH_LANE                                                                               \
        y[i] = name##_turn(in(a[i]));                                                              \
        sin_each(y, y);                                                                            \
        KN_EACH_LANE                                                                               \
        d[i] = out(name##_after(in(a[i]), y[i]));                                                  \
    }                                                                                              \
    KN_CALLED_FORM_(called, uint32_t)
SINE(sin, sin, , )
SINE(cos, cos, , )
SINE(sin, sin_flushed, kn_f32_flush, kn_f32_flush)
SINE(cos, cos_flushed, kn_f32_flush, kn_f32_flush)
KN_CALLED_HEAD_(tanh, uint32_t)
{
    tanh_each(d, KN_REGISTER(uint32_t, op->a));
}
KN_CALLED_FORM_(tanh, uint32_t)

KN_INLINE uint32_t tanh_f16(uint32_t x)
{
    return kn_f16_of_rz(kn_f32(tanh_full(kn_f32_bits(kn_f16_value(x)))));
}

KN_INLINE uint32_t tanh_bf16(uint32_t x)
{
    return kn_bf16_of_rz(kn_f32(tanh_full(x << 16)));
}
KN_HALF(tanh_f16)
KN_HALF(tanh_bf16)

const struct kn_form KN_FAMILY(sine)[] = {
    KN_APPROX_ROWS(sin),
    KN_APPROX_ROWS(cos),
    KN_ROW(tanh, "tanh.approx.f32", "w=w"),
    KN_HALF_ROWS(tanh_f16, "tanh.approx", "f16"),
    KN_HALF_ROWS(tanh_bf16, "tanh.approx", "bf16"),
    {0},
};
