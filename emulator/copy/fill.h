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
    // 0, or 1 or 2: the size of the elements of a graph node, whose value is wider. `value` is then
    // a pattern of 4 bytes, and width counts bytes.
    unsigned mixed;
};

// Checks the fill and issues it; `how` is EM_SUBMIT_SYNC or EM_SUBMIT_ASYNC. A fill of device
// memory is EM_SUBMIT_ASYNC in either case. Takes the lock.
CUresult em_memory_fill(const struct em_fill *fill, struct em_stream *stream, int how);

// Checks that the address and the pitch of a fill that is not empty suit its values.
CUresult em_fill_check(const struct em_fill *fill);
// Checks a fill in a context and makes a command of it that can be kept, cloned and issued. *out is
// NULL if there is nothing to fill. Precondition: em_lock held.
CUresult em_fill_prepare(const struct em_fill *fill, struct em_context *context,
                         struct em_command **out);
