// SPDX-License-Identifier: MIT
// Memory fills: every cuMemset.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_command;
struct em_context;
struct em_stream;

struct em_fill {
    uint64_t address;
    uint64_t pitch_B;       // from row to row; unused for one row
    uint64_t width, height; // values in a row, rows
    uint32_t value;
    unsigned value_B; // 1, 2 or 4
};

// Checks the fill and issues it; `how` is EM_SUBMIT_SYNC or EM_SUBMIT_ASYNC. Takes the lock.
CUresult em_memory_fill(const struct em_fill *fill, struct em_stream *stream, int how);

// Checks a fill in a context and makes a command of it that can be kept, cloned and issued. *out is
// NULL if there is nothing to fill. Precondition: em_lock held.
CUresult em_fill_prepare(const struct em_fill *fill, struct em_context *context,
                         struct em_command **out);
