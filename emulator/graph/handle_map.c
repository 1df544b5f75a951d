// SPDX-License-Identifier: MIT
// A hash table with open addressing, at most half full.
#include "handle_map.h"

#include "alloc.h"

struct em_handle_pair {
    uint64_t handle, value; // a handle of 0 marks a free place
};

bool em_handle_map_init(struct em_handle_map *map, size_t count)
{
    uint64_t size = 8;
    while (size < 2 * count)
        size *= 2;
    map->mask = size - 1;
    map->pairs = dm_calloc(size, sizeof *map->pairs);
    return map->pairs;
}

void em_handle_map_finish(struct em_handle_map *map)
{
    dm_free(map->pairs);
    map->pairs = NULL;
}

// Finds the place of a handle, or the free place where it belongs.
static struct em_handle_pair *place_of(const struct em_handle_map *map, uint64_t handle)
{
    uint64_t at = handle * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (map->pairs[at & map->mask].handle && map->pairs[at & map->mask].handle != handle)
        at++;
    return &map->pairs[at & map->mask];
}

void em_handle_map_add(struct em_handle_map *map, uint64_t handle, uint64_t value)
{
    *place_of(map, handle) = (struct em_handle_pair){handle, value};
}

bool em_handle_map_find(const struct em_handle_map *map, uint64_t handle, uint64_t *value)
{
    if (!map->pairs || !handle)
        return false;
    const struct em_handle_pair *p = place_of(map, handle);
    *value = p->value;
    return p->handle;
}
