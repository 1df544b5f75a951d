// SPDX-License-Identifier: MIT
// Maps from a fixed number of handles to numbers: built once, then only read.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_handle_map {
    struct em_handle_pair *pairs;
    uint64_t mask; // the size, a power of two, minus 1
};

// Returns false if memory runs out. `count` is the most entries that will be added.
bool em_handle_map_init(struct em_handle_map *map, size_t count);
void em_handle_map_finish(struct em_handle_map *map);
// Handles are not 0, and each is added once.
void em_handle_map_add(struct em_handle_map *map, uint64_t handle, uint64_t value);
// Returns false if the handle is not in the map.
bool em_handle_map_find(const struct em_handle_map *map, uint64_t handle, uint64_t *value);
