// SPDX-License-Identifier: MIT
// Stepping: one warp of a block stops before each of its instructions, and its registers can be
// read by name.
//
//     kn_op                 px_op_step: calls px_stepper.stop
//     kn_op …               the instruction
//
// Programs are decoded without these operations if nothing is stepped, which then costs nothing.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

enum px_step_state {
    PX_STEP_READY,
    PX_STEP_AT_MEMBERS,
    PX_STEP_AT_BARRIER,
    PX_STEP_AT_CLUSTER,
    PX_STEP_AT_PHASE
};

// Lanes that wait elsewhere while others run.
struct px_step_fragment {
    uint32_t lanes;
    unsigned line;
    enum px_step_state state;
    uint32_t barrier; // PX_STEP_AT_BARRIER: its number
};

// A warp before an instruction, or after its last one. Valid during px_stepper.stop, which should
// copy the parts that it needs later.
struct px_step {
    const struct px_program *program;
    uint32_t block[3], warp;
    uint32_t op;       // of the program: the first one of the instruction; PX_NONE at the end
    unsigned line;     // of the PTX text
    uint32_t function; // whose text the line is in
    uint32_t lanes;    // that have not ended
    uint32_t active;   // that are at the instruction
    uint32_t taking;   // of those, that its guard lets take part
    uint32_t fragment_count;
    struct px_step_fragment fragments[32];
    // Register files: now, and at the stop before (at the first one: when the warp started).
    const char *now, *before;
    const uint32_t *offsets; // of registers
};

// px_host.stepper: the debugger of a launch.
struct px_stepper {
    void *context; // for the functions below
    // The warp of a block to be stepped, or PX_NONE. Called when the block starts.
    uint32_t (*warp)(void *context, const uint32_t block[3]);
    void (*stop)(void *context, const struct px_step *stop);
};

// The value of a register in a lane: `out` has the lower and the upper 64 bits. A predicate is 0 or
// 1.
void px_step_value(const struct px_step *stop, px_register reg, int lane, uint64_t out[2]);
// The lanes in which a register differs from the stop before.
uint32_t px_step_changed(const struct px_step *stop, px_register reg);
// Whether the instruction at `op` writes a register.
bool px_step_writes(const struct px_program *program, uint32_t op, px_register reg);
// Whether an instruction begins at the operation.
bool px_step_begins(const struct px_program *program, uint32_t op);
// The text of a line of a function, without the blanks around it. Returns its length, 0 if there is
// no such line.
size_t px_line_text(const struct px_module *module, uint32_t function, unsigned line,
                    const char **out);
