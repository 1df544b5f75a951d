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
