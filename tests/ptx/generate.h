// SPDX-License-Identifier: MIT
// Random PTX statements, made from the table of instructions, and a kernel around them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instructions_table.h"

enum {
    GENERATE_THREADS_MOST = 64,
    GENERATE_OWN_B = 256,      // memory of each thread: its registers before and after
    GENERATE_COMMON_B = 1024,  // memory that all threads use, after that
    GENERATE_REGISTERS_B = 176 // of GENERATE_OWN_B; the rest is for statements
};

// Text that grows in `size_B` bytes and always ends with a 0. If a piece does not fit, it is left
// out, and `full` is set.
struct generated {
    char *at;
    size_t size_B, used;
    bool full;
};

void generate_text(struct generated *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The module's head and the kernel `k` up to the first statement: registers are read from the
// thread's memory. Parameters: u64 memory, u64 texture object, u64 surface object, u32 number.
void generate_head(struct generated *g);
// The rest of the kernel: registers are written to the thread's memory.
void generate_tail(struct generated *g);
// A statement with a semicolon that has the row's modifiers, and operands that may or may not fit.
void generate_any(struct generated *g, const struct px_row *row, uint64_t *state);
// A statement of the row that lowers without an error, within a number of attempts. Returns false,
// and adds nothing, if no attempt is good.
bool generate_valid(struct generated *g, const struct px_row *row, uint64_t *state,
                    unsigned attempts);
// A value that matters to instructions, or a random one.
uint64_t generate_bits(uint64_t *state);
// A number below `limit`.
unsigned generate_below(uint64_t *state, unsigned limit);
