// SPDX-License-Identifier: MIT
// The contents of a recorded run: bytes, files and settings of the program
// (CARDLESS_RECORD_CONTENTS).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_model.h"

// `slices` times `rows` rows of `row_B` bytes.
struct trace_bytes {
    uint32_t call; // in `calls`; for RF_TEXELS also TRACE_NONE: the end of the run
    enum rf_role role;
    uint64_t address, row_B, rows, pitch_B, slices, slice_B;
    uint64_t size_B;     // of all rows
    uint64_t span_B;     // from the first byte to the end of the last one
    uint64_t hash;       // 0: unknown
    const uint8_t *kept; // without gaps, in the file; NULL: not kept
};

struct trace_fd {
    uint32_t call; // in `calls`
    bool is_taken; // the call takes it; else it returns it
    uint64_t fd, device, inode, size_B;
};

// Both lists are in the order of the calls, and for a call in the order of its records.
struct trace_contents {
    struct trace_bytes *bytes;
    struct trace_fd *fds;
    char **settings; // NAME=value
    size_t byte_count, fd_count, setting_count;
    size_t byte_capacity, fd_capacity, setting_capacity;
};

// Returns false if memory runs out. The result should be passed to trace_contents_free.
bool trace_contents_read(const struct trace_model *model, struct trace_contents *out);
void trace_contents_free(struct trace_contents *contents);
// The first element of a call; those of the call follow it. Returns how many there are.
size_t trace_bytes_of(const struct trace_contents *contents, uint32_t call,
                      const struct trace_bytes **first);
size_t trace_fds_of(const struct trace_contents *contents, uint32_t call,
                    const struct trace_fd **first);
