// SPDX-License-Identifier: MIT
// CARDLESS_TRACE=FILE: one line a call into the driver, with its arguments, result and outputs.
#pragma once
#include <cuda.h>
#include <stdint.h>
#include <string.h>

struct em_entry;
struct em_text;

// Opens the file that the user asked for and sets em_tracing; the first time only.
void em_trace_start(void);

// Prints the arguments of a call that is about to change some of them; pass the result to em_trace.
// `values`: the arguments in order, each widened to 64 bits; of a struct its address. NULL if the
// host is out of memory.
struct em_text *em_trace_before(const struct em_entry *entry, const uint64_t *values)
    __attribute__((cold));

// Writes a line for a call that is about to return. `before`: of em_trace_before, or NULL.
void em_trace(const struct em_entry *entry, CUresult result, const uint64_t *values,
              struct em_text *before) __attribute__((cold));

// Around a fork: the child gets this thread alone, and the lock free.
void em_trace_lock(void);
void em_trace_unlock(void);

static inline uint64_t em_trace_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
