// SPDX-License-Identifier: MIT
// CARDLESS_TRACE=FILE: one line a call into the driver, with its arguments and result.
#pragma once
#include <cuda.h>
#include <stdint.h>
#include <string.h>

struct em_entry;

// Opens the file that the user asked for and sets em_tracing; the first time only.
void em_trace_start(void);

// Writes a line for a call that is about to return. `values`: its arguments in order, each widened
// to 64 bits.
void em_trace(const struct em_entry *entry, CUresult result, const uint64_t *values)
    __attribute__((cold));

// Around a fork: the child gets this thread alone, and the lock free.
void em_trace_lock(void);
void em_trace_unlock(void);

static inline uint64_t em_trace_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
