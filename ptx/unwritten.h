// SPDX-License-Identifier: MIT
// Registers that an operation may read before one has written them in its lane. They read as zero,
// so a register file that an earlier launch has used must be cleared there; all other registers may
// keep their old values.
#pragma once
#include "program.h"

// Sets `out`, which is by register and all false, for them. `same`: see px_layout. Returns false if
// host memory is short.
bool px_unwritten_find(const struct px_program *program, const px_register *same, bool *out);
