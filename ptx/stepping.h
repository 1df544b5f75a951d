// SPDX-License-Identifier: MIT
// The state of stepping a block, and its operation.
#pragma once
#include "block.h"
#include "step.h"

struct px_stepping {
    const struct px_stepper *stepper;
    struct px_block *block;
    uint32_t warp; // PX_NONE: no warp of the block
    struct px_step stop;
    char *before; // the register file at the stop before
};

// Returns NULL if host memory is short.
struct px_stepping *px_stepping_new(struct px_block *block);
void px_stepping_free(struct px_stepping *stepping);
// The block starts.
void px_stepping_start(struct px_stepping *stepping);
// A warp begins to run; its registers are filled in.
void px_stepping_warp(struct px_stepping *stepping, const struct px_warp *warp);
// All lanes of a warp have ended.
void px_stepping_end(struct px_stepping *stepping, struct px_warp *warp);
// The operation before each instruction. kn_op.i: the program's operation.
kn_lane_fn px_op_step;
