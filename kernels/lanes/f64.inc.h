// SPDX-License-Identifier: MIT
// For the families of floating-point forms: f64 arithmetic with directed rounding, and fused
// multiplication and addition without the instruction. Computes exact results in 128-bit integers.
#pragma once

#include "float.inc.h"

enum kn_mode { KN_RN, KN_RZ, KN_RM, KN_RP };

typedef unsigned __int128 kn_u128;

// A finite value, |value| = digits * 2^exponent. `digits` of an f64 has its highest bit at 52.
struct kn_exact {
    kn_u128 digits;
    int exponent;
    bool negative;
};

KN_INLINE struct kn_exact kn_exact_of(uint64_t bits)
{
    struct kn_exact x = {.negative = bits >> 63, .exponent = (int)(bits >> 52 & 0x7ff)};
    uint64_t digits = bits & 0xfffffffffffffu;
    if (x.exponent) {
        digits |= 1ull << 52;
    } else if (digits) {
        const int shift = __builtin_clzll(digits) - 11;
        digits <<= shift;
        x.exponent = 1 - shift;
    }
    x.exponent -= 1075;
    x.digits = digits;
    return x;
}

static inline int kn_top_bit(kn_u128 x)
{
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

// Shifts right. A lost digit makes the lowest one odd.
static inline kn_u128 kn_shift_odd(kn_u128 x, int by)
{
    if (by <= 0)
        return x;
    if (by > 127)
        return x != 0;
    return x >> by | ((x & (((kn_u128)1 << by) - 1)) != 0);
}

// Rounds an exact value, or one that was shifted to odd with its highest bit above bit 56. A value
// of 0 has the sign `negative`.
static __attribute__((unused)) uint64_t kn_round_f64(struct kn_exact x, enum kn_mode mode)
{
    const uint64_t sign = (uint64_t)x.negative << 63;
    if (!x.digits)
        return sign;
    const int top = kn_top_bit(x.digits);
    int by = top - 52; // digits to drop, so that 53 remain
    if (x.exponent + by < -1074)
        by = -1074 - x.exponent;
    uint64_t digits, rest = 0; // rest: 0 exact, 1 below the middle, 2 the middle, 3 above
    if (by <= 0) {
        digits = (uint64_t)(x.digits << -by);
    } else if (by > 127) {
        digits = 0;
        rest = 1;
    } else {
        const kn_u128 dropped = x.digits & (((kn_u128)1 << by) - 1);
        const kn_u128 middle = (kn_u128)1 << (by - 1);
        digits = (uint64_t)(x.digits >> by);
        rest = !dropped ? 0 : dropped < middle ? 1 : dropped == middle ? 2 : 3;
    }
    const bool up = mode == KN_RN   ? rest == 3 || (rest == 2 && digits & 1)
                    : mode == KN_RZ ? false
                    : mode == KN_RM ? rest && x.negative
                                    : rest && !x.negative;
    digits += up;
    int exponent = x.exponent + by;
    if (digits >> 53) {
        digits >>= 1;
        exponent++;
    }
    if (exponent > 971) {
        const bool infinite =
            mode == KN_RN || (mode == KN_RM && x.negative) || (mode == KN_RP && !x.negative);
        return sign | (infinite ? 0x7ff0000000000000u : 0x7fefffffffffffffu);
    }
    if (!(digits >> 52))
        return sign | digits;
    return sign | (uint64_t)(exponent + 1075) << 52 | (digits & 0xfffffffffffffu);
}

static inline bool kn_f64_special(uint64_t bits)
{
    return (bits >> 52 & 0x7ff) == 0x7ff;
}

// The sum of two exact values whose highest bits are at 106 or below.
static inline struct kn_exact kn_exact_sum(struct kn_exact x, struct kn_exact y, enum kn_mode mode)
{
    if (!x.digits || !y.digits) {
        struct kn_exact z = x.digits ? x : y;
        if (!x.digits && !y.digits && x.negative != y.negative)
            z.negative = mode == KN_RM;
        return z;
    }
    const int up_x = 124 - kn_top_bit(x.digits), up_y = 124 - kn_top_bit(y.digits);
    x.digits <<= up_x;
    x.exponent -= up_x;
    y.digits <<= up_y;
    y.exponent -= up_y;
    if (x.exponent < y.exponent) {
        const struct kn_exact swap = x;
        x = y;
        y = swap;
    }
    y.digits = kn_shift_odd(y.digits, x.exponent - y.exponent);
    if (x.negative == y.negative) {
        x.digits += y.digits;
    } else if (x.digits >= y.digits) {
        x.digits -= y.digits;
        if (!x.digits)
            x.negative = mode == KN_RM;
    } else {
        x.digits = y.digits - x.digits;
        x.negative = y.negative;
    }
    return x;
}

static __attribute__((unused)) uint64_t kn_fma_f64(uint64_t a, uint64_t b, uint64_t c,
                                                   enum kn_mode mode)
{
    if (kn_f64_special(a) || kn_f64_special(b) || kn_f64_special(c)) {
        // Only infinities and NaNs: the product of finite values must not overflow.
        const double x = kn_f64(a), y = kn_f64(b), z = kn_f64(c);
        const bool special = kn_f64_special(a) || kn_f64_special(b);
        return kn_f64_result3(special ? x * y + z : z, y, z, x);
    }
    struct kn_exact x = kn_exact_of(a);
    const struct kn_exact y = kn_exact_of(b);
    x.digits *= y.digits;
    x.exponent += y.exponent;
    x.negative ^= y.negative;
    return kn_round_f64(kn_exact_sum(x, kn_exact_of(c), mode), mode);
}

static __attribute__((unused)) uint64_t kn_add_f64(uint64_t a, uint64_t b, enum kn_mode mode)
{
    if (kn_f64_special(a) || kn_f64_special(b))
        return kn_f64_result2(kn_f64(a) + kn_f64(b), kn_f64(b), kn_f64(a));
    return kn_round_f64(kn_exact_sum(kn_exact_of(a), kn_exact_of(b), mode), mode);
}

static __attribute__((unused)) uint64_t kn_sub_f64(uint64_t a, uint64_t b, enum kn_mode mode)
{
    const bool nan = kn_f64(b) != kn_f64(b);
    return kn_add_f64(a, nan ? b : b ^ 0x8000000000000000u, mode);
}

// b - a
static __attribute__((unused)) uint64_t kn_subr_f64(uint64_t a, uint64_t b, enum kn_mode mode)
{
    const bool nan = kn_f64(a) != kn_f64(a);
    return kn_add_f64(nan ? a : a ^ 0x8000000000000000u, b, mode);
}

static __attribute__((unused)) uint64_t kn_mul_f64(uint64_t a, uint64_t b, enum kn_mode mode)
{
    if (kn_f64_special(a) || kn_f64_special(b))
        return kn_f64_result2(kn_f64(a) * kn_f64(b), kn_f64(b), kn_f64(a));
    struct kn_exact x = kn_exact_of(a);
    const struct kn_exact y = kn_exact_of(b);
    x.digits *= y.digits;
    x.exponent += y.exponent;
    x.negative ^= y.negative;
    return kn_round_f64(x, mode);
}

static __attribute__((unused)) uint64_t kn_div_f64(uint64_t a, uint64_t b, enum kn_mode mode)
{
    struct kn_exact x = kn_exact_of(a);
    const struct kn_exact y = kn_exact_of(b);
    if (kn_f64_special(a) || kn_f64_special(b) || !x.digits || !y.digits)
        return kn_f64_result2(kn_f64(a) / kn_f64(b), kn_f64(a), kn_f64(b));
    const kn_u128 high = x.digits << 64;
    x.digits = high / y.digits << 1 | (high % y.digits != 0);
    x.exponent -= y.exponent + 65;
    x.negative ^= y.negative;
    return kn_round_f64(x, mode);
}

static __attribute__((unused)) uint64_t kn_sqrt_f64(uint64_t a, enum kn_mode mode)
{
    struct kn_exact x = kn_exact_of(a);
    if (kn_f64_special(a) || !x.digits || x.negative)
        return kn_f64_result1(__builtin_sqrt(kn_f64(a)), kn_f64(a));
    const int odd = x.exponent & 1;
    const kn_u128 square = x.digits << (60 + odd); // an even exponent; its root has 57 digits
    uint64_t root = (uint64_t)__builtin_sqrt((double)square);
    while ((kn_u128)root * root > square)
        root--;
    while ((kn_u128)(root + 1) * (root + 1) <= square)
        root++;
    x.digits = (kn_u128)root << 1 | ((kn_u128)root * root != square);
    x.exponent = (x.exponent - 60 - odd) / 2 - 1;
    return kn_round_f64(x, mode);
}
