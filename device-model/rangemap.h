// SPDX-License-Identifier: MIT
// Range maps: ordered maps from disjoint address ranges to their owners, with a search for gaps.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dm_rangemap_node;

// A zeroed struct is an empty map. The caller serialises: any number of readers, or one writer.
struct dm_rangemap {
    struct dm_rangemap_node *root;
    struct dm_rangemap_node *spare; // so that an insertion cannot fail halfway
    unsigned spares;
    unsigned height;
    uint64_t count;
};

struct dm_range {
    uint64_t start;
    uint64_t size;
    void *owner;
};

void dm_rangemap_init(struct dm_rangemap *map);
// Allocates the memory that the first insertion takes, as far as there is enough.
void dm_rangemap_prepare(struct dm_rangemap *map);
// Frees the nodes, not the owners.
void dm_rangemap_finish(struct dm_rangemap *map);

// Adds a range. Returns 0; -EINVAL if the size is 0 or the range passes 2^64; -EEXIST if it
// overlaps a range of the map; -ENOMEM. On errors the map is unchanged.
int dm_rangemap_insert(struct dm_rangemap *map, uint64_t start, uint64_t size, void *owner);
// Removes the range that starts at `start`. Needs no memory. Returns 0 or -ENOENT.
int dm_rangemap_remove(struct dm_rangemap *map, uint64_t start, struct dm_range *removed);

// Finds the range that contains `address`. O(log n); about 20 ns among 10^4 ranges.
bool dm_rangemap_find(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// Returns the owner of the range that contains `address`, or NULL.
void *dm_rangemap_owner(const struct dm_rangemap *map, uint64_t address);
// Finds the first range that ends after `address`: it contains the address or lies above it. This
// loop visits all ranges, even if the map changes meanwhile; stop if the sum is 0:
//
//   for (at = 0; dm_rangemap_next(map, at, &r); at = r.start + r.size)
bool dm_rangemap_next(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// Finds the last range that starts at or below `address`.
bool dm_rangemap_previous(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// Returns true if any range has a byte in [start, start + size).
bool dm_rangemap_overlaps(const struct dm_rangemap *map, uint64_t start, uint64_t size);

// Finds the lowest multiple of `align` (a power of two) in [low, high] at which `size` bytes fit
// between the ranges and do not pass `high` (inclusive). O(log n) if all ranges are multiples of
// `align`. Returns 0, or -ENOMEM if there is no such gap.
int dm_rangemap_gap(const struct dm_rangemap *map, uint64_t low, uint64_t high, uint64_t size,
                    uint64_t align, uint64_t *start);

// Checks every invariant of the tree, for tests. Returns 0 or -EILSEQ.
int dm_rangemap_check(const struct dm_rangemap *map);
