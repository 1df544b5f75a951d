// SPDX-License-Identifier: MIT
// Memory fills: every cuMemset.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_stream;

struct em_fill {
    uint64_t address;
    uint64_t pitch_B;       // from row to row; unused for one row
    uint64_t width, height; // values in a row, rows
    uint32_t value;
    unsigned value_B; // 1, 2 or 4
};

// Checks the fill and runs it in stream order; `how` is EM_SUBMIT_SYNC or EM_SUBMIT_ASYNC. Takes
// the lock.
CUresult em_memory_fill(const struct em_fill *fill, struct em_stream *stream, int how);
