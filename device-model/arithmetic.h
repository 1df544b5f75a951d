// SPDX-License-Identifier: MIT
// Unsigned arithmetic for sizes and addresses that come from outside: sums, products and rounding
// that report overflow, and divisions that round up.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The caller must handle overflow, so it must not ignore the result.
#define DM_CHECKED __attribute__((warn_unused_result))

// These return false if the result does not fit in 64 bits. *out is then the result modulo 2^64.
DM_CHECKED static inline bool dm_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

DM_CHECKED static inline bool dm_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

// value / divisor, rounded up. Cannot overflow.
static inline uint64_t dm_div_up(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

// Rounds up to a multiple of `unit`, which need not be a power of two. Returns false if the result
// does not fit in 64 bits.
DM_CHECKED static inline bool dm_round_up(uint64_t value, uint64_t unit, uint64_t *out)
{
    return dm_mul(dm_div_up(value, unit), unit, out);
}

// The smallest n with 1 << n >= value; at most 64. 0 for values 0 and 1.
static inline unsigned dm_log2_up(uint64_t value)
{
    return value <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(value - 1);
}
