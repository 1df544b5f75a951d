// SPDX-License-Identifier: MIT
// The options of calls that load images (CUjit_option): checks, and the values that go back to the
// program.
#pragma once
#include <cuda.h>

#include "error.h"

// A log that the program wants.
struct api_jit_log {
    void **buffer, **size_B; // values of the caller's list, or NULL
};

struct api_jit {
    struct api_jit_log info, error;
    void **wall_time;
    uint64_t began_ns;
    struct em_message message;
};

// Checks a list of options and remembers its outputs in `out`. From then on messages of this
// thread's errors are kept for the log, until api_jit_end.
CUresult api_jit_begin(const CUjit_option *options, void **values, unsigned count,
                       struct api_jit *out);
// Writes the outputs, also if loading has failed. Returns `result`. Each api_jit_begin that
// succeeds should be followed by one.
CUresult api_jit_end(struct api_jit *jit, CUresult result);
