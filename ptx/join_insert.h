// SPDX-License-Identifier: MIT
// Operations that a pass puts between others, for join.c.
#pragma once
#include "lower_state.h"

struct px_insertion {
    uint32_t before; // the index of an operation
    struct px_op op;
};

struct px_insertions {
    struct px_insertion *list;
    size_t count, capacity;
};

// Notes an operation to be put before another one, after those that were noted for the same place.
void px_insert(struct px_lower *l, struct px_insertions *all, uint32_t before,
               const struct px_op *op);
// Puts all where they belong. Branches to an operation go to the first one that was put before it.
// Replaces *meets, which is px_program.meets. Frees the list in any case.
void px_insert_all(struct px_lower *l, struct px_insertions *all, bool **meets);
