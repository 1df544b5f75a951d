// SPDX-License-Identifier: MIT
// A check for the tests of PTX that prints a message, counts failures and goes on.
#pragma once
#include <stdio.h>

static int failures;

// The arguments after the condition are a printf format and its values. Only the first 10 failures
// are printed.
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition) && failures++ < 10) {                                                     \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
        }                                                                                          \
    } while (0)

// The exit status of the test.
static inline int failures_result(void)
{
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
