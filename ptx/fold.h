// SPDX-License-Identifier: MIT
// Functions of constants, which NVIDIA's compiler computes itself.
#pragma once
#include "lower_state.h"

// Approximate functions of .f32 have their own results, but those of a constant are the exact ones,
// rounded; and a division by a constant multiplies by the constant's reciprocal, rounded in the
// same way (recorded: constant_operands). An operand is a constant if it is one in the text, or if
// a mov of one, or such a function, has written it since the last branch or label.
// Precondition: the operations are in their final order; `meets` is px_program.meets.
void px_fold_constants(struct px_lower *l, const bool *meets);
