// SPDX-License-Identifier: MIT
// Every copy of the driver API in one form: two ends and an extent, which are checked and become a
// command.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_command;
struct em_stream;

enum em_end_kind {
    EM_END_ANY,    // an address that may be the program's own memory: host arguments,
                   // CU_MEMORYTYPE_HOST, unified addresses
    EM_END_DEVICE, // an address that the driver has to know
    EM_END_ARRAY,
    EM_END_UNNAMED, // linear memory of a type that is not a CUmemorytype
};

// One end of a copy. x is in bytes, y in rows, z in slices or layers.
struct em_end {
    enum em_end_kind kind;
    uint64_t address; // linear memory: of element (0, 0, 0)
    uint64_t pitch_B; // linear memory: from row to row; 0: rows lie next to each other
    uint64_t rows;    // linear memory: from slice to slice, in rows; 0: slices do
    CUarray array;
    int type; // EM_END_UNNAMED
    uint64_t x_B, y, z;
};

struct em_copy {
    struct em_end dst, src;
    uint64_t width_B, height, depth;
};

// Checks a copy and issues it in `stream`. With `async` the call returns before the copy is done,
// unless both ends are host memory, or the program's own pageable memory takes part and cannot be
// staged (stage.h). Without `async` it does so only if both ends are device memory. Errors of such
// a copy are those of the stream. A copy of nothing is CUDA_SUCCESS whatever else is wrong with it.
// Takes the lock: precondition: em_lock not held.
CUresult em_copy(const struct em_copy *copy, struct em_stream *stream, bool async);

// Checks a copy and makes a command of it that can be kept, cloned and issued. *out is NULL if
// there is nothing to copy. Precondition: em_lock held.
CUresult em_copy_prepare(const struct em_copy *copy, struct em_command **out);
