// SPDX-License-Identifier: MIT
// The places of registers in the register file of a warp.
#pragma once
#include "decode.h"

struct px_layout {
    const struct px_program *program;
    const struct kn_form *forms;
    const bool *joins;  // by operation: lanes may come here from elsewhere
    bool *skips;        // by operation: px_layout_copies has made it unnecessary
    px_register *same;  // by register: the one in whose place it lies, or itself
    uint32_t *offsets;  // by register
    const bool *pins;   // by register: it is not temporary; or NULL
    const bool *unread; // by register: it needs no place; or NULL
    bool *whole;        // by operation: set if it may write all lanes, also those not active
};

// Compilers copy arguments and indices, which are filled in before the warp starts, to registers
// that nothing else writes. Such a register lies in the same place as the value, without a copy:
//
//     mov.u32  %r3, %ctaid.x          %r3 has the offset of %ctaid.x
//
// A copy of a register to itself is left out too, as in `cvta.to.global.u64 %rd1, %rd1`.
// If `skip` is false, no operation is skipped, and each register has `same` == itself. `writes` is
// scratch memory: one number for each register.
void px_layout_copies(struct px_layout *l, bool skip, uint32_t *writes);
// Finds the offsets. If `share` is true, temporary registers share places, and `whole` is filled in
// for operations whose results are only in such registers. Returns the size of the
// file, a multiple of 64 bytes, or 0 if host memory is short.
uint64_t px_layout(struct px_layout *l, bool share);
