// SPDX-License-Identifier: MIT
// Counters that several threads change. While the process has a single thread, they change without
// an atomic operation, because one would take longer than the rest of a short call. The C library's
// mutexes do the same.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
static inline bool em_is_single_threaded(void)
{
    return __libc_single_threaded;
}
#else
static inline bool em_is_single_threaded(void)
{
    return false;
}
#endif

// Adds to the counter and returns the value that it had before.
static inline uint64_t em_count(uint64_t *counter, uint64_t add)
{
    if (!em_is_single_threaded())
        return __atomic_fetch_add(counter, add, __ATOMIC_ACQ_REL);
    uint64_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    __atomic_store_n(counter, before + add, __ATOMIC_RELAXED);
    return before;
}
