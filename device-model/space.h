// SPDX-License-Identifier: MIT
// The GPU's virtual address space: reserved ranges, and physical memory that is mapped into them. A
// device address is the host's address of the same bytes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "physical.h"
#include "rangemap.h"

enum {
    DM_PAGE = 4096,
    DM_GUARD = 64 << 10, // addresses that stay free after a mapping of dm_space_map_bytes, so that
                         // overruns fault
};

// Mappings that were given up, but keep their pages (kept.h).
struct dm_freed_pages;
struct dm_kept {
    struct dm_rangemap ranges; // owner: struct dm_kept_mapping
    struct dm_kept_mapping *oldest, *newest;
    uint64_t size_B;
    unsigned left;                // mappings of memory that others hold
    struct dm_freed_pages *freed; // the newest
    unsigned open;                // how many of both are still accessible
};

struct dm_space {
    uint64_t base, size;         // the window: one inaccessible reservation of the process
    struct dm_rangemap reserved; // dm_va_reserve; owner: internal
    struct dm_rangemap mapped;   // owner: struct dm_mapping
    struct dm_kept kept;
};

struct dm_mapping {
    uint64_t va, size; // whole pages
    struct dm_physical *physical;
    uint64_t offset; // in the physical memory; wraps below zero by less than a page if the payload
                     // is unaligned
    bool backed;     // the addresses are those of the file's pages; otherwise of nothing
};

// Whether the process runs under valgrind, where large reservations take minutes.
bool dm_is_valgrind(void);

// Reserves the window: `size` bytes, or half of it, a quarter … if the process may not have that
// many. The address is the same in every run if it is free and no sanitizer forbids it. Returns 0
// or -ENOMEM.
int dm_space_init(struct dm_space *space, uint64_t size);
// Unmaps everything and releases the window.
void dm_space_finish(struct dm_space *space);
// Returns true if the address belongs to the device: in the window, or in a reservation outside of
// it.
bool dm_space_contains(const struct dm_space *space, uint64_t va);

// Reserves a range of addresses: at `hint` if that is free and aligned; otherwise at the lowest
// place in the window; otherwise, if the range is larger than the window, anywhere. The size is in
// whole pages; align is a power of two, or 0 for a page. Returns 0, -EINVAL or -ENOMEM.
int dm_va_reserve(struct dm_space *space, uint64_t size, uint64_t align, uint64_t hint,
                  uint64_t *va);
// Returns 0; -ENOENT if no reservation starts at va; -EBUSY if something is mapped in it.
int dm_va_free(struct dm_space *space, uint64_t va);
// Finds the reservation that contains va.
bool dm_va_find(const struct dm_space *space, uint64_t va, uint64_t *start, uint64_t *size);

enum {
    DM_MAP_READ = 1,
    DM_MAP_WRITE = 2,
    DM_MAP_HOST = 4, // host code may access it, too (managed and pinned memory): no protection key
};

// Sets the protection and the key of whole pages that are mapped. Returns 0 or a negative errno.
int dm_pages_access(uint64_t va, uint64_t size, unsigned flags);

// Maps `size` bytes of physical memory, from `offset` on, at va, and takes a reference to it. With
// flags of 0 there is no access, and the kernel maps nothing until dm_space_protect gives some. The
// range consists of whole pages in one reservation, or in several adjacent ones. Two mappings of
// one memory share its bytes. Returns 0; -EINVAL for a wrong alignment or a range outside the
// memory or the reservation; -EEXIST if something is mapped there; -EACCES for write access to
// memory that was imported read-only; -ENOMEM.
int dm_space_map(struct dm_space *space, uint64_t va, struct dm_physical *physical, uint64_t offset,
                 uint64_t size, unsigned flags);
// Unmaps every mapping in [va, va + size), which may have holes. Returns 0; -EINVAL if the range
// cuts a mapping or is not inside one reservation; -ENOMEM, with nothing changed, if the kernel has
// no mappings left to split.
int dm_space_unmap(struct dm_space *space, uint64_t va, uint64_t size);
// Changes the access to mapped pages. Returns 0; -EINVAL if a part is not mapped; -EACCES like
// dm_space_map; or another negative errno, after which the access of some pages may have changed.
int dm_space_protect(struct dm_space *space, uint64_t va, uint64_t size, unsigned flags);
// Returns the mapping that contains va, or NULL.
const struct dm_mapping *dm_space_mapping(const struct dm_space *space, uint64_t va);

// Maps bytes [offset, offset + size) of the memory, at any offset, to a new place: reserves and
// maps the pages that hold them. *va is the address of the first byte. `align` applies to the first
// page; the byte's offset in its page is added.
int dm_space_map_bytes(struct dm_space *space, struct dm_physical *physical, uint64_t offset,
                       uint64_t size, uint64_t align, unsigned flags, uint64_t *va);
// Removes a mapping made by dm_space_map_bytes; va is any address in it.
int dm_space_unmap_bytes(struct dm_space *space, uint64_t va);
