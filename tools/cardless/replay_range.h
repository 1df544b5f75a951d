// SPDX-License-Identifier: MIT
// Sorted lists of address ranges, and the places of the same memory in the replay.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_range {
    uint64_t from, end, actual;
    bool is_lost; // the call that returned it was not made
};

struct replay_ranges {
    struct replay_range *list; // sorted, without overlaps
    size_t count, capacity;
};

// The range that holds an address, or NULL.
const struct replay_range *replay_range_at(const struct replay_ranges *ranges, uint64_t address);
// Adds a range in place of the parts of others that it overlaps. Returns false if memory runs out.
bool replay_range_put(struct replay_ranges *ranges, struct replay_range added);
// Sorts a list, and joins ranges that touch. Returns how many are left.
size_t replay_range_join(struct replay_range *list, size_t count);
