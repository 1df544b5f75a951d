// SPDX-License-Identifier: MIT
// Which of two NaNs an operation of .f64 returns.
#pragma once
#include "lower_state.h"

// If several operands are NaNs, the hardware returns the second one, or else the third one.
// NVIDIA's compiler exchanges the first two of operations marked px_op.exchanges by an order of
// values, which does not change other results. Does the same (recorded: random_joins nans_…).
// Precondition: the operations are in the order of the text.
void px_order_nans(struct px_lower *l);
