// SPDX-License-Identifier: MIT
// Products and sums that NVIDIA's compiler makes one instruction of.
#pragma once
#include "lower_state.h"

// "mul/add sequences with no rounding modifiers may be optimized to use fused-multiply-add": makes
// an fma of a sum and of the product that it alone reads, if they are .f32, .f16, .bf16 or pairs
// (recorded: random_joins joined_…).
// Precondition: the operations are in their final order; `meets` is px_program.meets.
void px_join_products(struct px_lower *l, const bool *meets);
