// SPDX-License-Identifier: MIT
// The options of calls that load images (CUjit_option): checks, and the values that go back to the
// program.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "code.h"
#include "error.h"

// A log that the program wants.
struct api_jit_log {
    void **buffer, **size_B; // values of the caller's list, or NULL
    size_t capacity_B;       // of the buffer: a written log changes *size_B
};

struct api_jit {
    struct api_jit_log info, error;
    void **wall_time;
    unsigned target; // CU_JIT_TARGET as an architecture (90), if has_target
    bool has_target, verbose, sm_3x;
    struct em_register_limit registers;
    bool again;          // a later call of a linker: success leaves the error log as it is
    const char *summary; // for the log of information, or NULL
    uint64_t began_ns;
    struct em_message message;
};

// The calls that take options.
enum api_jit_use {
    API_JIT_LOAD,  // of images
    API_JIT_LINK,  // of a linker
    API_JIT_INPUT, // of one input of a linker
};

// Checks a list of options and remembers its outputs in `out`. From then on messages of this
// thread's errors are kept for the log, until api_jit_end.
CUresult api_jit_begin(enum api_jit_use use, const CUjit_option *options, void **values,
                       unsigned count, struct api_jit *out);
// Writes the outputs, also if loading has failed. Returns `result`. Each api_jit_begin that
// succeeds should be followed by one.
CUresult api_jit_end(struct api_jit *jit, CUresult result);

// Whether texts can be compiled with the options.
CUresult api_jit_compiles(const struct api_jit *jit);

// The outputs of a linker's options, which its later calls use.
struct api_jit_outputs {
    struct api_jit_log info, error;
    void **wall_time;
    bool verbose, sm_3x;
};
// Ends the options of cuLinkCreate without outputs, and begins and ends those of a later call.
struct api_jit_outputs api_jit_keep(const struct api_jit *jit);
void api_jit_again(const struct api_jit_outputs *outputs, struct api_jit *out);
