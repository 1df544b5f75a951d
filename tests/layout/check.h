// SPDX-License-Identifier: MIT
// Checks for the layout tests: they print both values, count failures and go on.
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static unsigned check_failures, check_count;

// Compares two numbers. The other arguments are a printf format and its values, which name the
// case.
#define CHECK_EQ(got, want, ...)                                                                   \
    do {                                                                                           \
        uint64_t check_got = (got), check_want = (want);                                           \
        check_count++;                                                                             \
        if (check_got != check_want && check_failures++ < 20) {                                    \
            fprintf(stderr, "%s:%d: %s is %" PRIu64 ", not %" PRIu64 ": ", __FILE__, __LINE__,     \
                    #got, check_got, check_want);                                                  \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

static inline int check_result(const char *name)
{
    printf("%s: %u checks, %u failures\n", name, check_count, check_failures);
    return check_failures != 0 || check_count == 0;
}
