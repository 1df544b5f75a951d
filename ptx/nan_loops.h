// SPDX-License-Identifier: MIT
// The loops of a kernel, for nan_values.c.
#pragma once
#include "lower_state.h"

// Operations [begin … end]: `end` branches back to `begin`.
struct px_loop {
    uint32_t begin, end;
    uint32_t trips; // how often it runs, if constants decide that; else 0
};

// Finds the loops that may run more than once. Free the list with dm_free. Returns false if host
// memory is short.
// Precondition: the operations are in the order of the text.
bool px_loops_find(const struct px_lower *l, struct px_loop **loops, uint32_t *count);
