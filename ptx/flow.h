// SPDX-License-Identifier: MIT
// The order of operations, in which lanes that have diverged meet again.
#pragma once
#include "lower_state.h"

// Drops operations that cannot be reached, orders the blocks of the rest, and makes every fall from
// one block to another that does not follow it a branch. *meets: see px_program.meets.
void px_flow_order(struct px_lower *l, bool **meets);
