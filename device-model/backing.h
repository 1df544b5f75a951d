// SPDX-License-Identifier: MIT
// Windows: address ranges that are reserved once and backed piece by piece. They are the memory of
// sparse arrays and of arrays with deferred mapping.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "physical.h"
#include "space.h"

struct dm_window {
    struct dm_space *space;
    uint64_t va, size;
    bool null_pages; // unbacked pages read as zero and drop writes; otherwise they are inaccessible
};

// Reserves `size` bytes, rounded up to whole pages, with nothing backed. Returns 0 or -ENOMEM.
int dm_window_init(struct dm_window *window, struct dm_space *space, uint64_t size,
                   bool null_pages);
// Backs the whole pages [at, at + size) of the window with memory from `offset` on, and replaces
// their backing. Takes no reference: the memory must live until the pages are backed by something
// else. Returns 0, or -EINVAL or -ENOMEM with nothing changed.
int dm_window_back(struct dm_window *window, uint64_t at, uint64_t size,
                   const struct dm_physical *physical, uint64_t offset);
int dm_window_unback(struct dm_window *window, uint64_t at, uint64_t size);
// Drops writes to unbacked pages, if null_pages is set.
void dm_window_wipe(const struct dm_window *window);
void dm_window_finish(struct dm_window *window);
