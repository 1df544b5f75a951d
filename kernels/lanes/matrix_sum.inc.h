// SPDX-License-Identifier: MIT
// For the families of matrix instructions: numbers of small formats taken apart, and sums of their
// products as the hardware makes them.
//
//     products are exact        ┌ c ─────────┐
//                               │ a0 b0 ───┐ │  aligned to the greatest exponent of the group,
//                               │ a1 b1 ─┐ │ │  cut off after KN_FRACTION bits, added exactly;
//                               │ …      ▼ ▼ ▼  the sum is cut off to f32, or rounded to f16
//
// The exponent of a product is the sum of its factors' exponents, although its digits may be up to
// 3.99. All this was measured, and a rule for another type should be measured too.
#pragma once

#include <string.h>

#include "convert_scalar.h"
#include "lanes.inc.h"

enum {
    KN_FRACTION = 25,       // bits after the point of the greatest exponent
    KN_NO_EXPONENT = -4096, // of 0
    KN_SUM_GUARD = 30,      // so that no number is moved to the left
    KN_SUM_ROWS = 16,       // of A, at most
    KN_SUM_COLUMNS = 8,     // of B
    KN_SUM_STORED = 32,     // columns of A, at most
    KN_SUM_DEPTH = 64,      // rows of B, at most
};

// A format: digits after the point, bits of the exponent, and the bits of a register below it.
struct kn_small_format {
    int8_t digits, exponent, unused;
    bool has_infinity;
};

static const struct kn_small_format kn_format_f16 = {10, 5, 0, true},
                                    kn_format_f32 = {23, 8, 0, true};

enum kn_special { KN_FINITE, KN_INFINITE, KN_NAN };

// (1 + x) 2^exponent: the digits are an integer with a sign.
struct kn_number {
    int32_t digits, exponent;
    enum kn_special special;
};

static inline struct kn_number kn_number_of(uint32_t bits, struct kn_small_format f)
{
    const int width = 1 + f.exponent + f.digits;
    const uint32_t all = bits >> f.unused & (uint32_t)((UINT64_C(1) << width) - 1);
    const uint32_t fraction = all & ((1u << f.digits) - 1);
    const int most = (1 << f.exponent) - 1, field = (int)(all >> f.digits) & most;
    const int32_t digits = (int32_t)(field ? fraction | 1u << f.digits : fraction);
    struct kn_number out = {all >> (width - 1) ? -digits : digits,
                            digits ? (field ? field : 1) - most / 2 : KN_NO_EXPONENT, KN_FINITE};
    if (field == most && f.has_infinity)
        out.special = fraction ? KN_NAN : KN_INFINITE;
    else if (field == most && fraction == (1u << f.digits) - 1)
        out.special = KN_NAN;
    return out;
}

// digits 2^KN_SUM_GUARD, moved to the right and cut off towards 0.
static inline int64_t kn_aligned(int64_t digits, int32_t right)
{
    const int64_t sign = digits >> 63;
    const uint64_t size = (uint64_t)((digits ^ sign) - sign) << KN_SUM_GUARD;
    const int64_t cut = (int64_t)(size >> (right < 63 ? right : 63));
    return (cut ^ sign) - sign;
}

// sum 2^exponent in f32, cut off.
static inline uint32_t kn_f32_of_sum(int64_t sum, int32_t exponent)
{
    const uint32_t sign = sum < 0 ? 0x80000000 : 0;
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (!size)
        return 0;
    const int top = 63 - __builtin_clzll(size); // of the first digit
    int32_t field = exponent + top + 127;
    int right = top - 23;
    if (field < 1) { // subnormal
        right += 1 - field;
        field = 1;
    }
    if (field > 254)
        return sign | 0x7f800000;
    const uint32_t digits = right > 63   ? 0
                            : right >= 0 ? (uint32_t)(size >> right)
                                         : (uint32_t)(size << -right);
    const uint32_t bits = ((uint32_t)(field - 1) << 23) + digits;
    return bits ? sign | bits : 0; // 0 has no sign, also after a negative sum
}

// sum 2^exponent in f16, rounded to the nearest one, or to the even one.
static inline uint32_t kn_f16_of_sum(int64_t sum, int32_t exponent)
{
    const uint32_t sign = sum < 0 ? 0x8000 : 0;
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (!size)
        return 0;
    const int top = 63 - __builtin_clzll(size);
    int32_t field = exponent + top + 15;
    int right = top - 10;
    if (field < 1) {
        right += 1 - field;
        field = 1;
    }
    if (field > 30)
        return sign | 0x7c00;
    uint32_t digits;
    if (right <= 0) {
        digits = (uint32_t)(size << -right);
    } else if (right > 63) {
        digits = 0;
    } else {
        const uint64_t kept = size >> right, rest = size << (64 - right);
        const uint64_t half = UINT64_C(1) << 63;
        digits = (uint32_t)(kept + (rest > half || (rest == half && (kept & 1))));
    }
    const uint32_t bits = ((uint32_t)(field - 1) << 10) + digits; // may carry into infinity
    return bits ? sign | bits : 0;
}

// ---- rows ----

// A and B, taken apart.
struct kn_factors {
    struct kn_small_format a_format, b_format;
    int32_t a_digits[KN_SUM_ROWS][KN_SUM_STORED], a_exponents[KN_SUM_ROWS][KN_SUM_STORED];
    int32_t b_digits[KN_SUM_DEPTH][KN_SUM_COLUMNS], b_exponents[KN_SUM_DEPTH][KN_SUM_COLUMNS];
    uint8_t a_specials[KN_SUM_ROWS][KN_SUM_STORED], b_specials[KN_SUM_DEPTH][KN_SUM_COLUMNS];
    bool some_special;
};

static inline void kn_factor_a(struct kn_factors *f, int row, int column, uint32_t bits)
{
    const struct kn_number x = kn_number_of(bits, f->a_format);
    f->a_digits[row][column] = x.digits;
    f->a_exponents[row][column] = x.exponent;
    f->a_specials[row][column] = (uint8_t)x.special;
    f->some_special |= x.special != KN_FINITE;
}

static inline void kn_factor_b(struct kn_factors *f, int row, int column, uint32_t bits)
{
    const struct kn_number x = kn_number_of(bits, f->b_format);
    f->b_digits[row][column] = x.digits;
    f->b_exponents[row][column] = x.exponent;
    f->b_specials[row][column] = (uint8_t)x.special;
    f->some_special |= x.special != KN_FINITE;
}

// A row of A, and the order in which its products are added.
struct kn_sum_row {
    const struct kn_factors *factors;
    int row;
    int count, group;           // of products, and of those that are added at once
    int columns[KN_SUM_STORED]; // of A, and the rows of B that belong to them
    int rows[KN_SUM_STORED];
    bool half; // sums are f16, not f32
};

// Adds the products from `first` to `end` to finite sums.
static inline void kn_add_group(const struct kn_sum_row *r, int first, int end, uint32_t *sums)
{
    enum { N = KN_SUM_COLUMNS };
    const struct kn_factors *f = r->factors;
    const int digits = f->a_format.digits + f->b_format.digits, c_digits = r->half ? 10 : 23;
    const int shift = KN_SUM_GUARD - KN_FRACTION;
    const int32_t *a = f->a_digits[r->row], *ae = f->a_exponents[r->row];
    int32_t most[N];
    int64_t exact[N];
    struct kn_number c[N];
    for (int j = 0; j < N; j++) {
        c[j] = kn_number_of(sums[j], r->half ? kn_format_f16 : kn_format_f32);
        most[j] = c[j].exponent;
    }
    for (int n = first; n < end; n++)
        for (int j = 0; j < N; j++) {
            const int32_t e = ae[r->columns[n]] + f->b_exponents[r->rows[n]][j];
            most[j] = e > most[j] ? e : most[j];
        }
    for (int j = 0; j < N; j++)
        exact[j] = kn_aligned(c[j].digits, shift + c_digits + most[j] - c[j].exponent);
    for (int n = first; n < end; n++) {
        const int k = r->columns[n];
        const int32_t *b = f->b_digits[r->rows[n]], *be = f->b_exponents[r->rows[n]];
        for (int j = 0; j < N; j++)
            exact[j] += kn_aligned(a[k] * b[j], shift + digits + most[j] - ae[k] - be[j]);
    }
    for (int j = 0; j < N; j++)
        sums[j] = r->half ? kn_f16_of_sum(exact[j], most[j] - KN_FRACTION)
                          : kn_f32_of_sum(exact[j], most[j] - KN_FRACTION);
}

// Replaces the sums that have an infinity or a NaN among their summands: the products from `first`
// to `end`, and c.
static void __attribute__((unused))
kn_add_specials(const struct kn_sum_row *r, int first, int end, const uint32_t *c, uint32_t *sums)
{
    const struct kn_factors *f = r->factors;
    const uint32_t sign = r->half ? 0x8000 : 0x80000000;
    for (int j = 0; j < KN_SUM_COLUMNS; j++) {
        const struct kn_number x = kn_number_of(c[j], r->half ? kn_format_f16 : kn_format_f32);
        bool nan = x.special == KN_NAN;
        bool infinite[2] = {x.special == KN_INFINITE && x.digits > 0,
                            x.special == KN_INFINITE && x.digits < 0};
        for (int n = first; n < end; n++) {
            const int a = f->a_specials[r->row][r->columns[n]], b = f->b_specials[r->rows[n]][j];
            const int32_t a_digits = f->a_digits[r->row][r->columns[n]];
            const int32_t b_digits = f->b_digits[r->rows[n]][j];
            if (a == KN_FINITE && b == KN_FINITE)
                continue;
            nan |= a == KN_NAN || b == KN_NAN || !a_digits || !b_digits;
            infinite[(a_digits < 0) != (b_digits < 0)] = true;
        }
        if (nan || (infinite[0] && infinite[1]))
            sums[j] = sign - 1;
        else if (infinite[0] || infinite[1])
            sums[j] = (r->half ? 0x7c00 : 0x7f800000) | (infinite[1] ? sign : 0);
    }
}

// Adds all products of a row to the sums.
static inline void kn_add_row(const struct kn_sum_row *r, uint32_t *sums)
{
    const uint32_t exponent = r->half ? 0x7c00 : 0x7f800000;
    for (int first = 0; first < r->count; first += r->group) {
        const int end = first + r->group < r->count ? first + r->group : r->count;
        uint32_t before[KN_SUM_COLUMNS];
        bool some_special = r->factors->some_special;
        memcpy(before, sums, sizeof before);
        for (int j = 0; j < KN_SUM_COLUMNS; j++)
            some_special |= (before[j] & exponent) == exponent;
        kn_add_group(r, first, end, sums);
        if (some_special)
            kn_add_specials(r, first, end, before, sums);
    }
}
