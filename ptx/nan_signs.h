// SPDX-License-Identifier: MIT
// Changes of the sign that an operation which selects a value makes itself.
#pragma once
#include "lower_state.h"

// neg and abs of .f32 make the NaN of f32 of every NaN. NVIDIA's compiler lets an operation that
// selects one of two .f32 values (px_op.selects) change the sign as it reads, so that it keeps the
// other bits, and it leaves out two negations of which one follows the other. Does the same
// (recorded: select_modifiers). Programs without such operations stay as they are.
// Precondition: the operations are in the order of the text.
void px_select_signs(struct px_lower *l);
