// SPDX-License-Identifier: MIT
// The GPU's virtual address space: reserved ranges, and physical memory mapped into them. A device
// address is the host's address of the same bytes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "physical.h"
#include "rangemap.h"

enum {
    DM_PAGE = 4096,
    DM_GUARD = 64 << 10, // addresses left free behind what dm_space_map_bytes maps: running over
                         // its end finds nothing
};

struct dm_space {
    uint64_t base, size;         // the window: one inaccessible reservation of the process
    struct dm_rangemap reserved; // dm_va_reserve; owner: internal
    struct dm_rangemap mapped;   // owner: struct dm_mapping
};

struct dm_mapping {
    uint64_t va, size; // whole pages
    struct dm_physical *physical;
    uint64_t offset; // in the physical memory; below zero (wrapped) by less than a page for an
                     // unaligned payload
};

// Reserves the window: `size` bytes, or half, a quarter … where the process may not have so much.
// The place is the same in every run if it is free and no sanitizer forbids it. -ENOMEM.
int dm_space_init(struct dm_space *space, uint64_t size);
// Unmaps everything and gives the window back.
void dm_space_finish(struct dm_space *space);
// Whether an address belongs to the device: in the window, or in a reservation outside of it.
bool dm_space_contains(const struct dm_space *space, uint64_t va);

// A range of addresses, at `hint` if that is free and aligned, else at the lowest place in the
// window, else (a range larger than the window) anywhere. Size: pages; align: a power of two, or 0
// for a page. -EINVAL, -ENOMEM.
int dm_va_reserve(struct dm_space *space, uint64_t size, uint64_t align, uint64_t hint,
                  uint64_t *va);
// -ENOENT: no reservation starts at va; -EBUSY: something is mapped in it.
int dm_va_free(struct dm_space *space, uint64_t va);
// The reservation that contains va.
bool dm_va_find(const struct dm_space *space, uint64_t va, uint64_t *start, uint64_t *size);

enum {
    DM_MAP_READ = 1,
    DM_MAP_WRITE = 2,
    DM_MAP_HOST = 4, // host code may touch it too (managed and pinned memory): no protection key
};

// Access to whole pages that are mapped already: their protection and key. 0 or a negative errno.
int dm_pages_access(uint64_t va, uint64_t size, unsigned flags);

// Maps `size` bytes of the physical memory from `offset` on at va and holds a reference to it;
// flags 0 maps without access. Whole pages inside one reservation, or in several side by side. Two
// mappings of one memory are the same bytes. -EINVAL: alignment, outside the memory or the
// reservation; -EEXIST: something is mapped there; -EACCES: write to memory that was imported
// read-only; -ENOMEM.
int dm_space_map(struct dm_space *space, uint64_t va, struct dm_physical *physical, uint64_t offset,
                 uint64_t size, unsigned flags);
// Unmaps every mapping in [va, va + size), which may have holes. -EINVAL: it cuts through a
// mapping, or is not inside one reservation; -ENOMEM (the kernel has no mappings left to split):
// nothing has changed.
int dm_space_unmap(struct dm_space *space, uint64_t va, uint64_t size);
// Changes the access to mapped pages. -EINVAL: a part is not mapped.
int dm_space_protect(struct dm_space *space, uint64_t va, uint64_t size, unsigned flags);
// The mapping that contains va, or NULL.
const struct dm_mapping *dm_space_mapping(const struct dm_space *space, uint64_t va);

// Maps bytes [offset, offset + size) of the memory, at any offset, at a new place: the pages around
// them are reserved and mapped, and *va is the address of the first byte. align: of the first page
// (the byte's own remainder comes on top).
int dm_space_map_bytes(struct dm_space *space, struct dm_physical *physical, uint64_t offset,
                       uint64_t size, uint64_t align, unsigned flags, uint64_t *va);
// Ends what dm_space_map_bytes returned (any address in it).
int dm_space_unmap_bytes(struct dm_space *space, uint64_t va);
