// SPDX-License-Identifier: MIT
// Counts down to failures, and ends the process at diagnostics.
#include "inject.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "sink.h"

bool em_injecting;
unsigned em_aborts;

static uint64_t left[EM_INJECT_COUNT];   // 0: not counted. Atomic
static bool has_failed[EM_INJECT_COUNT]; // atomic
static bool counts_allocations;          // atomic

void em_inject_set(enum em_inject kind, uint64_t n)
{
    __atomic_store_n(&has_failed[kind], false, __ATOMIC_RELAXED);
    if (kind == EM_INJECT_ALLOCATION) {
        // A countdown that the user's settings began stays.
        if (n || __atomic_load_n(&counts_allocations, __ATOMIC_RELAXED))
            dm_alloc_fail_after(n);
        __atomic_store_n(&counts_allocations, n != 0, __ATOMIC_RELAXED);
        return;
    }
    bool any = false;
    __atomic_store_n(&left[kind], n, __ATOMIC_RELAXED);
    for (int i = 0; i < EM_INJECT_COUNT; i++)
        any |= __atomic_load_n(&left[i], __ATOMIC_RELAXED) != 0;
    __atomic_store_n(&em_injecting, any, __ATOMIC_RELAXED);
}

bool em_inject_failed(enum em_inject kind)
{
    // Asking about allocations turns their countdown off, so it is asked only when it has ended.
    if (kind == EM_INJECT_ALLOCATION)
        return __atomic_load_n(&counts_allocations, __ATOMIC_RELAXED) && !dm_alloc_countdown() &&
               dm_alloc_failed();
    return __atomic_load_n(&has_failed[kind], __ATOMIC_RELAXED);
}

bool em_inject_count(enum em_inject kind)
{
    uint64_t n = __atomic_load_n(&left[kind], __ATOMIC_RELAXED);
    while (n && !__atomic_compare_exchange_n(&left[kind], &n, n - 1, true, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
        ;
    if (n != 1)
        return false;
    __atomic_store_n(&has_failed[kind], true, __ATOMIC_RELAXED);
    return true;
}

void em_inject_reset(void)
{
    for (int i = 0; i < EM_INJECT_COUNT; i++)
        em_inject_set((enum em_inject)i, 0);
}

static bool any_failed(void)
{
    for (int i = 0; i < EM_INJECT_COUNT; i++) {
        if (em_inject_failed((enum em_inject)i))
            return true;
    }
    return false;
}

void em_abort_now(const char *format, ...)
{
    char line[4096] = "cardless: fuzzing stops here: ";
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    if (n > 0)
        used += (size_t)n < sizeof line - used - 1 ? (size_t)n : sizeof line - used - 2;
    line[used++] = '\n';
    em_sink_write_once(STDERR_FILENO, line, used);
    abort();
}

void em_abort_if_wanted(bool mistake, CUresult code, const char *id, const char *text)
{
    unsigned aborts = __atomic_load_n(&em_aborts, __ATOMIC_RELAXED);
    if (mistake && aborts & EM_ABORT_MISTAKES)
        em_abort_now("[%s] %s: %s", id, em_entry_name(), text);
    if (code && aborts & EM_ABORT_ERRORS && !any_failed())
        em_abort_now("%s: %s: %s", em_entry_name(), em_error_name(code), text);
}
