// SPDX-License-Identifier: MIT
// A set of intervals that may overlap, which finds those that share a point with a given one: a
// treap in which each node knows the greatest end below it. Nodes are part of the caller's structs.
// All operations take O(log n) steps, in expectation, and never allocate.
#pragma once
#include <stdint.h>

struct dm_interval {
    uint64_t first, end; // [first, end); not empty; must not change while it is in a set
    // The rest belongs to the set.
    uint64_t greatest_end;
    uint64_t priority;
    struct dm_interval *left, *right;
};

// All zero is an empty set. The caller serialises: readers may run together, a writer alone.
struct dm_intervals {
    struct dm_interval *root;
    uint64_t state; // of the priorities
};

void dm_intervals_insert(struct dm_intervals *set, struct dm_interval *node);
// Precondition: the node is in the set.
void dm_intervals_remove(struct dm_intervals *set, struct dm_interval *node);

// Returns an interval of the set, other than `except` (may be NULL), that shares a point with
// [first, end), or NULL if no interval does.
struct dm_interval *dm_intervals_overlap(const struct dm_intervals *set, uint64_t first,
                                         uint64_t end, const struct dm_interval *except);

// Calls `visit` for each interval, in order of the first point. It must not change the set.
void dm_intervals_each(const struct dm_intervals *set,
                       void (*visit)(struct dm_interval *node, void *argument), void *argument);
