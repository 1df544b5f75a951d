// SPDX-License-Identifier: MIT
// For tests with random kernels: numbers that are the same in every run, and a text that grows.
#pragma once
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t drawn_state = 1;

static inline uint32_t below(uint32_t count)
{
    drawn_state = drawn_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(drawn_state >> 33) % count;
}

static char text[16384];
static size_t text_used; // a test begins a text with 0

static __attribute__((format(printf, 1, 2))) inline void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_used += (size_t)vsnprintf(text + text_used, sizeof text - text_used, format, arguments);
    va_end(arguments);
}
