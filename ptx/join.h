// SPDX-License-Identifier: MIT
// Products and sums that NVIDIA's compiler makes one instruction of.
#pragma once
#include "lower_state.h"

// "mul/add sequences with no rounding modifiers may be optimized to use fused-multiply-add": makes
// an fma of each sum and of the product that sums alone read, if they are .f32, .f16, .bf16 or
// pairs (recorded: product_sums, random_joins joined_…). Adds operations where factors have to be
// kept or made negative, and then replaces *meets. Precondition: the operations are in their final
// order; *meets is px_program.meets.
void px_join_products(struct px_lower *l, bool **meets);
