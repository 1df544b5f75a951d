// SPDX-License-Identifier: MIT
// The clock of waits and of event times.
#pragma once

#include <stdint.h>
#include <time.h>

enum { DM_NS_PER_S = 1000000000 };

// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t dm_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * DM_NS_PER_S + (uint64_t)now.tv_nsec;
}

// A counter of the processor that runs at a constant rate, which is not known. Its readings in one
// thread do not decrease.
static inline uint64_t dm_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return dm_now_ns();
#endif
}
