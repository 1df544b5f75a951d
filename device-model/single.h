// SPDX-License-Identifier: MIT
// Whether the process has a single thread. Then a word that threads share may change without an
// atomic operation, which would take longer than the rest of a short call. The C library's mutexes
// do the same. The calls of a signal handler that could see a change in the middle are refused.
#pragma once
#include <stdbool.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
static inline bool dm_is_single_threaded(void)
{
    return __libc_single_threaded;
}
#else
static inline bool dm_is_single_threaded(void)
{
    return false;
}
#endif
