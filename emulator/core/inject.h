// SPDX-License-Identifier: MIT
// Failures that a fuzzer asks for, and diagnostics that end the process (cardless_fuzz.h).
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "hidden.h"

enum em_inject {
    EM_INJECT_ALLOCATION, // of host memory inside the driver: dm_alloc_fail_after
    EM_INJECT_IMPORT,     // of external memory or an external semaphore
    EM_INJECT_MEMORY,     // an allocation of device memory
    EM_INJECT_DEVICE,     // a command, with which the device is lost
    EM_INJECT_COUNT
};

enum { EM_ABORT_MISTAKES = 1, EM_ABORT_ERRORS = 2, EM_ABORT_LEAKS = 4 };

// True while one of the last three is counted.
extern DM_HIDDEN bool em_injecting;
// EM_ABORT_*. Atomic.
extern unsigned em_aborts;

// Makes the n-th one from now fail; 0 turns that off. Callers should serialise.
void em_inject_set(enum em_inject kind, uint64_t n);
// Whether the one that was counted down to has failed since.
bool em_inject_failed(enum em_inject kind);
// Counts one. Returns true if it is the one that should fail.
bool em_inject_count(enum em_inject kind);
static inline bool em_inject(enum em_inject kind)
{
    return __builtin_expect(__atomic_load_n(&em_injecting, __ATOMIC_RELAXED), 0) &&
           em_inject_count(kind);
}
// Turns all countdowns off, and forgets which have failed.
void em_inject_reset(void);

// Ends the process with SIGABRT if em_aborts says so for this report. After a failure that the
// fuzzer asked for, errors are expected, and only mistakes count.
void em_abort_if_wanted(bool mistake, CUresult code, const char *id, const char *text)
    __attribute__((cold));
// Prints the sentence and ends the process with SIGABRT.
void em_abort_now(const char *format, ...) __attribute__((format(printf, 1, 2), cold, noreturn));
