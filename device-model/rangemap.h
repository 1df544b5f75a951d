// SPDX-License-Identifier: MIT
// An ordered map from disjoint address ranges to their owners, which also knows its gaps: a B+
// tree.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dm_rangemap_node;

// All zero is an empty map. The caller serialises: readers may run together, a writer alone.
struct dm_rangemap {
    struct dm_rangemap_node *root;
    struct dm_rangemap_node *spare; // kept so that an insertion cannot fail halfway
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
// Frees the nodes; the owners are the caller's.
void dm_rangemap_finish(struct dm_rangemap *map);

// -EINVAL: size 0 or the range passes 2^64. -EEXIST: overlaps a range of the map. -ENOMEM: the map
// is unchanged.
int dm_rangemap_insert(struct dm_rangemap *map, uint64_t start, uint64_t size, void *owner);
// Removes the range that starts at `start`. Allocates nothing. -ENOENT.
int dm_rangemap_remove(struct dm_rangemap *map, uint64_t start, struct dm_range *removed);

// The range that contains `address`. O(log n), about 20 ns among 10^4.
bool dm_rangemap_find(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// The owner of the range that contains `address`, or NULL.
void *dm_rangemap_owner(const struct dm_rangemap *map, uint64_t address);
// The first range that ends after `address` (contains it, or lies above it). To go through all,
// also while the map changes: for (at = 0; dm_rangemap_next(map, at, &r); at = r.start + r.size) —
// stop where that sum is 0.
bool dm_rangemap_next(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// The last range that starts at or below `address`.
bool dm_rangemap_previous(const struct dm_rangemap *map, uint64_t address, struct dm_range *out);
// Whether any range has a byte in [start, start + size).
bool dm_rangemap_overlaps(const struct dm_rangemap *map, uint64_t start, uint64_t size);

// The lowest multiple of `align` (a power of two) in [low, high] where `size` bytes fit between the
// ranges without passing `high` (inclusive). O(log n) where all ranges are multiples of `align`.
// -ENOMEM: there is none.
int dm_rangemap_gap(const struct dm_rangemap *map, uint64_t low, uint64_t high, uint64_t size,
                    uint64_t align, uint64_t *start);

// Checks every invariant of the tree, for tests. 0 or -EILSEQ.
int dm_rangemap_check(const struct dm_rangemap *map);
