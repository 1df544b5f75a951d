// SPDX-License-Identifier: MIT
// Plans the chains of a program: which results go to the next operation in vector registers
// (kn_chain.h), and which of them no operation reads from memory.
#pragma once
#include "kn_lanes.h"
#include "known.h"
#include "program.h"

// Gives each operation that is a link of a chain its function; other entries are left as they are.
// `joins` are operations that lanes may come to from elsewhere. `skips` are operations that do not
// exist. `known` has other forms of operations (known.h). `scratch` is memory for two numbers a
// register.
void px_chain_plan(const struct px_program *program, const bool *joins, const bool *skips,
                   const struct px_known_form *known, uint32_t *scratch, kn_lane_fn **links);
