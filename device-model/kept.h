// SPDX-License-Identifier: MIT
// Freed memory whose pages stay: in place, for the next allocation that gets the same addresses.
//
// Pages that the kernel has to make and clear again cost more than the work that most programs do
// with them. So memory that was freed keeps its pages, up to DM_KEPT_MOST. It counts as free
// memory of the device. It is found again by its addresses, which the search for free addresses
// chooses as if nothing were kept. Whatever else is mapped there ends it.
//
// Freed memory is accessible until dm_space_close_kept, which must run before code that uses
// device addresses without looking them up, such as kernels.
//
// The mappings that memory loses while others hold it stay in the same way: a program that maps the
// same memory there again needs no system call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "space.h"

enum {
    DM_KEPT_MOST = 256 << 20, // bytes of a space
    DM_LEFT_MOST = 64,        // mappings of a space, of memory that others hold
};

// Ends a mapping and the caller's reference to its memory, as dm_space_unmap and dm_physical_unref
// do, and keeps the pages if nobody else can use them: memory of the arena, mapped as a whole,
// once, inside the window and without DM_MAP_HOST, which was never shared. Returns what
// dm_space_unmap returns; on errors nothing has changed.
int dm_space_give(struct dm_space *space, uint64_t va, struct dm_physical *physical,
                  unsigned flags);
// Takes kept memory of the device back into use: all of [va, va + size), which must be reserved. It
// is mapped with `flags`, zero and committed, and the caller gets a reference. Returns 0; -ENOENT
// if no such memory was kept; -ENOMEM if the device's memory is exhausted.
int dm_space_take(struct dm_space *space, struct dm_vram *vram, uint64_t va, uint64_t size,
                  unsigned flags, struct dm_physical **out);
// Ends a mapping as dm_space_unmap does, but leaves its pages, which are accessible as `flags` say.
// Returns 0 or a negative errno, as dm_space_unmap does.
int dm_space_leave(struct dm_space *space, uint64_t va, uint64_t size, unsigned flags);
// Whether a mapping of all of [va, va + size) was left.
bool dm_kept_has(const struct dm_space *space, uint64_t va, uint64_t size);
// Takes the pages that were left at the addresses of a mapping, which become accessible as `flags`
// say. Returns 0; -ENOENT if they are not the mapping's pages; or another negative errno. Then the
// addresses should be mapped.
int dm_space_take_left(struct dm_space *space, const struct dm_mapping *m, unsigned flags);
// Ends all that was left of the memory, which is about to be freed.
void dm_kept_drop_left(struct dm_physical *physical);
// Ends all that is kept in [va, va + size).
void dm_kept_drop(struct dm_space *space, uint64_t va, uint64_t size);

// Pages of a mapping that stays, of which one range at a time is in use. The owner keeps the
// struct, which is zero at first. All accessible pages are one range, so that ranges which are used
// in turn soon take no system call:
//
//     first          used_first     used_end              end
//       |  accessible, |   in use     |  accessible, freed  |
//       |  freed       |              |                     |
struct dm_freed_pages {
    uint64_t first, end;           // accessible, and at least those in use; or empty
    uint64_t used_first, used_end; // in use; or empty
    bool listed;                   // some that are not in use are accessible
    bool broken; // some could not be made inaccessible, and are not the mapping's pages any more
    struct dm_freed_pages *previous, *next;
};
// Uses [va, va + size), which becomes accessible as `flags` say (space.h), always the same ones.
// Precondition: no page is in use. Returns 0 or a negative errno, and then still no page is in use.
int dm_freed_take(struct dm_space *space, struct dm_freed_pages *pages, uint64_t va, uint64_t size,
                  unsigned flags);
// Ends the use of the pages. They stay accessible until dm_space_close_kept.
void dm_freed_leave(struct dm_space *space, struct dm_freed_pages *pages);
// Makes the struct zero, before the owner unmaps the pages.
void dm_freed_forget(struct dm_space *space, struct dm_freed_pages *pages);

// Whether freed memory is accessible. Any thread may ask.
static inline bool dm_space_has_open(const struct dm_space *space)
{
    return __atomic_load_n(&space->kept.open, __ATOMIC_RELAXED) != 0;
}
// Makes freed memory inaccessible, so that using it is a fault.
void dm_space_close_kept(struct dm_space *space);
