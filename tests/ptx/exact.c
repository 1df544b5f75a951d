// SPDX-License-Identifier: MIT
// Exact arithmetic for tests.
#include "exact.h"

#include <string.h>

typedef unsigned __int128 u128;

const struct ex_format ex_f16 = {16, 11, -14, 15};
const struct ex_format ex_bf16 = {16, 8, -126, 127};
const struct ex_format ex_f32 = {32, 24, -126, 127};
const struct ex_format ex_f64 = {64, 53, -1022, 1023};

static uint64_t ones(unsigned count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

// ---- reading ----

struct ex_number ex_read(const struct ex_format *f, uint64_t bits)
{
    const unsigned stored = f->digits - 1;
    const uint64_t exponent = bits >> stored & ones(f->bits - f->digits);
    const uint64_t digits = bits & ones(stored);
    struct ex_number a = {.negative = bits >> (f->bits - 1) & 1};
    if (exponent == ones(f->bits - f->digits)) {
        a.class = digits ? EX_NAN : EX_INFINITE;
    } else {
        a.digits = exponent ? digits | UINT64_C(1) << stored : digits;
        a.exponent = f->least + (exponent ? (int)exponent - 1 : 0) - (int)stored;
    }
    return a;
}

uint64_t ex_flush(const struct ex_format *f, uint64_t bits)
{
    const bool has_exponent = bits >> (f->digits - 1) & ones(f->bits - f->digits);
    return has_exponent ? bits : bits & UINT64_C(1) << (f->bits - 1);
}

bool ex_is_nan(const struct ex_format *f, uint64_t bits)
{
    return ex_read(f, bits).class == EX_NAN;
}

// ---- long numbers ----

// Adds digits * 2^exponent to the words.
static void place(struct exact *out, u128 digits, int exponent)
{
    const unsigned at = (unsigned)(exponent + EX_POINT), shift = at % 64;
    uint64_t parts[3] = {(uint64_t)(digits << shift), (uint64_t)(digits << shift >> 64),
                         shift ? (uint64_t)(digits >> (128 - shift)) : 0};
    u128 carry = 0;
    for (unsigned i = at / 64, n = 0; i < EX_WORDS; i++, n++) {
        carry += (u128)out->words[i] + (n < 3 ? parts[n] : 0);
        out->words[i] = (uint64_t)carry;
        carry >>= 64;
        if (n >= 3 && !carry)
            break;
    }
}

static int compare(const struct exact *a, const struct exact *b)
{
    for (unsigned i = EX_WORDS; i--;)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

static void subtract(struct exact *out, const struct exact *a, const struct exact *b)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < EX_WORDS; i++) {
        const u128 less = (u128)b->words[i] + borrow;
        borrow = a->words[i] < less;
        out->words[i] = (uint64_t)(a->words[i] - less);
    }
}

// The place of the highest digit, or -1.
static int top(const struct exact *a)
{
    for (int i = EX_WORDS; i--;)
        if (a->words[i])
            return 64 * i + 63 - __builtin_clzll(a->words[i]);
    return -1;
}

static uint64_t digits_from(const struct exact *a, int at)
{
    if (at < 0)
        return a->words[0] << -at;
    const unsigned word = (unsigned)at / 64, shift = (unsigned)at % 64;
    const uint64_t high = shift && word + 1 < EX_WORDS ? a->words[word + 1] << (64 - shift) : 0;
    return a->words[word] >> shift | high;
}

// Whether a digit below place `at` is not 0.
static bool some_below(const struct exact *a, int at)
{
    for (int i = 0; 64 * i < at; i++)
        if (at - 64 * i >= 64 ? a->words[i] : a->words[i] & ones((unsigned)(at - 64 * i)))
            return true;
    return false;
}

bool ex_is_zero(const struct exact *a)
{
    return a->class == EX_FINITE && top(a) < 0;
}

// ---- operations ----

void ex_copy(struct exact *out, const struct ex_number *a)
{
    *out = (struct exact){.class = a->class, .negative = a->negative};
    if (a->class == EX_FINITE)
        place(out, a->digits, a->exponent);
}

static bool is_zero(const struct ex_number *a)
{
    return a->class == EX_FINITE && !a->digits;
}

void ex_multiply(struct exact *out, const struct ex_number *a, const struct ex_number *b)
{
    *out = (struct exact){.negative = a->negative != b->negative};
    if (a->class == EX_FINITE && b->class == EX_FINITE)
        place(out, (u128)a->digits * b->digits, a->exponent + b->exponent);
    else if (a->class == EX_NAN || b->class == EX_NAN || is_zero(a) || is_zero(b))
        out->class = EX_NAN;
    else
        out->class = EX_INFINITE;
}

void ex_divide(struct exact *out, const struct ex_number *a, const struct ex_number *b)
{
    *out = (struct exact){.negative = a->negative != b->negative};
    if (a->class == EX_NAN || b->class == EX_NAN || (is_zero(a) && is_zero(b)) ||
        (a->class == EX_INFINITE && b->class == EX_INFINITE)) {
        out->class = EX_NAN;
    } else if (a->class == EX_INFINITE || is_zero(b)) {
        out->class = EX_INFINITE;
    } else if (b->class == EX_FINITE && !is_zero(a)) {
        // The dividend gets 125 digits, so that the quotient has at least 72.
        const int up = 61 + __builtin_clzll(a->digits);
        const u128 dividend = (u128)a->digits << up;
        const u128 quotient = dividend / b->digits;
        place(out, quotient << 1 | (quotient * b->digits != dividend),
              a->exponent - up - b->exponent - 1);
    }
}

void ex_root(struct exact *out, const struct ex_number *a)
{
    *out = (struct exact){.class = a->class, .negative = a->negative};
    if (is_zero(a))
        return;
    if (a->class == EX_NAN || a->negative) {
        out->class = EX_NAN;
    } else if (a->class == EX_FINITE) {
        int up = 61 + __builtin_clzll(a->digits);
        up += (a->exponent - up) & 1;
        const u128 square = (u128)a->digits << up;
        u128 root = 0;
        for (u128 bit = (u128)1 << 63; bit; bit >>= 1)
            if ((root | bit) * (root | bit) <= square)
                root |= bit;
        place(out, root << 1 | (root * root != square), (a->exponent - up) / 2 - 1);
    }
}

void ex_add(struct exact *a, const struct ex_number *b, enum ex_mode mode)
{
    struct exact other;
    if (a->class != EX_FINITE || b->class != EX_FINITE) {
        if (a->class == EX_NAN || b->class == EX_NAN ||
            (a->class == b->class && a->negative != b->negative))
            a->class = EX_NAN;
        else if (b->class == EX_INFINITE)
            ex_copy(a, b);
        return;
    }
    if (a->negative == b->negative) {
        place(a, b->digits, b->exponent);
        return;
    }
    ex_copy(&other, b);
    const int order = compare(a, &other);
    if (order < 0)
        a->negative = b->negative;
    if (order < 0)
        subtract(a, &other, a);
    else
        subtract(a, a, &other);
    if (!order)
        a->negative = mode == EX_RM;
}

// ---- rounding ----

// Whether the digits below place `at` round up the ones above.
static bool rounds_up(const struct exact *a, int at, enum ex_mode mode)
{
    if (mode == EX_RZ)
        return false;
    if (mode != EX_RN)
        return some_below(a, at) && a->negative == (mode == EX_RM);
    const bool half = at > 0 && digits_from(a, at - 1) & 1;
    return half && (digits_from(a, at) & 1 || some_below(a, at - 1));
}

uint64_t ex_round(const struct exact *a, const struct ex_format *f, enum ex_mode mode, bool flush)
{
    const unsigned stored = f->digits - 1;
    const uint64_t sign = (uint64_t)a->negative << (f->bits - 1);
    const uint64_t infinite = ones(f->bits - f->digits) << stored;
    const int highest = top(a);
    if (a->class == EX_NAN)
        return ones(f->bits - 1);
    if (a->class == EX_INFINITE)
        return sign | infinite;
    if (highest < 0)
        return sign;
    int exponent = highest - EX_POINT;
    if (!flush && exponent < f->least)
        exponent = f->least;
    const int at = exponent + EX_POINT - (int)stored; // of the last digit that stays
    uint64_t digits = digits_from(a, at) & ones(f->digits);
    digits += rounds_up(a, at, mode);
    if (digits >> f->digits) {
        digits >>= 1;
        exponent++;
    }
    if (exponent < f->least)
        return sign;
    if (exponent > f->most) {
        const bool away = mode == EX_RN || (mode != EX_RZ && a->negative == (mode == EX_RM));
        return sign | (away ? infinite : infinite - 1);
    }
    // A subnormal value has no digit where the others have one that is not stored.
    const uint64_t biased = digits >> stored ? (uint64_t)(exponent - f->least + 1) : 0;
    return sign | biased << stored | (digits & ones(stored));
}

void ex_round_integral(struct exact *a, enum ex_mode mode)
{
    const bool up = rounds_up(a, EX_POINT, mode);
    for (unsigned i = 0; i < EX_POINT / 64; i++)
        a->words[i] = 0;
    a->words[EX_POINT / 64] &= ~ones(EX_POINT % 64);
    if (up)
        place(a, 1, 0);
}

uint64_t ex_size(const struct exact *a)
{
    return top(a) >= EX_POINT + 64 ? UINT64_MAX : digits_from(a, EX_POINT);
}
