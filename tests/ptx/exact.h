// SPDX-License-Identifier: MIT
// Exact arithmetic for tests: results of floating-point operations as very long fixed-point
// numbers, and their rounding to a format. Nothing here uses the host's floating point.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A binary format of IEEE 754's kind. `digits` counts the one that is not stored.
struct ex_format {
    unsigned bits, digits;
    int least, most; // exponents of normal values
};
extern const struct ex_format ex_f16, ex_bf16, ex_f32, ex_f64;

enum ex_class { EX_FINITE, EX_INFINITE, EX_NAN };
enum ex_mode { EX_RN, EX_RZ, EX_RM, EX_RP };

// A value of a format, or an integer: digits * 2^exponent.
struct ex_number {
    enum ex_class class;
    bool negative;
    uint64_t digits;
    int exponent;
};

// A result: words * 2^-EX_POINT. It has room for all products of two values of f64.
enum { EX_WORDS = 70, EX_POINT = 2240 };
struct exact {
    enum ex_class class;
    bool negative;
    uint64_t words[EX_WORDS]; // the lowest first
};

struct ex_number ex_read(const struct ex_format *format, uint64_t bits);
// A subnormal value becomes a zero of its sign.
uint64_t ex_flush(const struct ex_format *format, uint64_t bits);
bool ex_is_nan(const struct ex_format *format, uint64_t bits);

void ex_copy(struct exact *out, const struct ex_number *a);
void ex_multiply(struct exact *out, const struct ex_number *a, const struct ex_number *b);
// Quotients and roots are cut off, and odd in the lowest digit if they are not exact, so that
// rounding them is the same as rounding the exact value.
void ex_divide(struct exact *out, const struct ex_number *a, const struct ex_number *b);
void ex_root(struct exact *out, const struct ex_number *a);
// a += b. A sum of 0 is negative if both operands are, or if it is exact and the mode is RM.
void ex_add(struct exact *a, const struct ex_number *b, enum ex_mode mode);
bool ex_is_zero(const struct exact *a);

// Rounds to a format; a NaN is all ones but the sign. With `flush`, results below the least normal
// value become 0: those that are still below it after rounding to the format's digits.
uint64_t ex_round(const struct exact *a, const struct ex_format *format, enum ex_mode mode,
                  bool flush);
// Rounds a finite value to an integral one.
void ex_round_integral(struct exact *a, enum ex_mode mode);
// A finite integral value's size, at most UINT64_MAX.
uint64_t ex_size(const struct exact *a);
