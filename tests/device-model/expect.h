// SPDX-License-Identifier: MIT
// Assertions of the device model's tests: they print both values, and end the process at the first
// failure.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../sanitizers.h"

#define EXPECT_EQ(got, want)                                                                       \
    do {                                                                                           \
        long long got_ = (long long)(got), want_ = (long long)(want);                              \
        if (got_ != want_) {                                                                       \
            fprintf(stderr, "%s:%d: %s is %lld (%#llx), expected %s = %lld (%#llx)\n", __FILE__,   \
                    __LINE__, #got, got_, (unsigned long long)got_, #want, want_,                  \
                    (unsigned long long)want_);                                                    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// xorshift64*: the same sequence everywhere.
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}
