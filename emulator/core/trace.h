// SPDX-License-Identifier: MIT
// CARDLESS_TRACE=FILE: one line for each call, with its arguments, result and outputs.
#pragma once
#include <cuda.h>
#include <stdint.h>
#include <string.h>

struct em_entry;
struct em_text;

// Opens the file of CARDLESS_TRACE and sets em_tracing. Does nothing after the first time.
void em_trace_start(void);

// Prints the arguments of a call that is about to change some of them. The result should be passed
// to em_trace. `values` holds the arguments in order, each widened to 64 bits; a struct is
// represented by its address. Returns NULL if the host is out of memory.
struct em_text *em_trace_before(const struct em_entry *entry, const uint64_t *values)
    __attribute__((cold));

// Writes the line of a call that is about to return. `before` is the result of em_trace_before, or
// NULL.
void em_trace(const struct em_entry *entry, CUresult result, const uint64_t *values,
              struct em_text *before);

// Adds a text after the outputs of the call in progress, once in a call. Takes over the text. To be
// called only if em_tracing is set.
void em_trace_note(struct em_text *note) __attribute__((cold));

// Held around a fork, so that the lock is free in the child, which has only the forking thread.
void em_trace_lock(void);
void em_trace_unlock(void);

static inline uint64_t em_trace_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
