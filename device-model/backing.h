// SPDX-License-Identifier: MIT
// Windows: addresses reserved once and backed piece by piece, as the memory of arrays whose mapping
// is deferred, or that are sparse.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "physical.h"
#include "space.h"

struct dm_window {
    struct dm_space *space;
    uint64_t va, size;
    bool null_pages; // what is not backed reads as zero and loses what is written to it; else it
                     // cannot be touched
};

// Reserves `size` bytes (rounded up to whole pages), none of them backed. -ENOMEM.
int dm_window_init(struct dm_window *window, struct dm_space *space, uint64_t size,
                   bool null_pages);
// Backs whole pages [at, at + size) of the window with the memory from `offset` on, instead of what
// backed them. No reference is taken: the memory must stay until the pages are backed otherwise.
// -EINVAL, -ENOMEM: nothing has changed.
int dm_window_back(struct dm_window *window, uint64_t at, uint64_t size,
                   const struct dm_physical *physical, uint64_t offset);
int dm_window_unback(struct dm_window *window, uint64_t at, uint64_t size);
// Drops what was written to null pages.
void dm_window_wipe(const struct dm_window *window);
void dm_window_finish(struct dm_window *window);
