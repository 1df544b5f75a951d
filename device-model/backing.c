// SPDX-License-Identifier: MIT
// Backs the pages of a window with a file, with null pages, or with nothing.
#include "backing.h"

#include <errno.h>
#include <sys/mman.h>

#include "alloc.h"
#include "arithmetic.h"
#include "kept.h"

// Null pages are private and anonymous: zero until they are written, and zero again after a wipe.
static int make_null(uint64_t va, uint64_t size)
{
    uint64_t at;
    int r = dm_sys_mmap(va, size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0, &at);
    return r ? r : dm_pages_access(va, size, DM_MAP_READ | DM_MAP_WRITE);
}

int dm_window_init(struct dm_window *window, struct dm_space *space, uint64_t size, bool null_pages)
{
    uint64_t whole;
    if (!dm_round_up(size, DM_PAGE, &whole))
        return -ENOMEM;
    *window = (struct dm_window){.space = space, .size = whole, .null_pages = null_pages};
    int r = dm_va_reserve(space, window->size, 0, 0, &window->va);
    if (r)
        return -ENOMEM;
    dm_kept_drop(space, window->va, window->size);
    if (null_pages && make_null(window->va, window->size)) {
        dm_va_free(space, window->va);
        return -ENOMEM;
    }
    return 0;
}

static bool holds(const struct dm_window *window, uint64_t at, uint64_t size)
{
    return size && !(at % DM_PAGE) && !(size % DM_PAGE) && at <= window->size &&
           size <= window->size - at;
}

int dm_window_back(struct dm_window *window, uint64_t at, uint64_t size,
                   const struct dm_physical *physical, uint64_t offset)
{
    uint64_t unused;
    if (!holds(window, at, size) || offset > physical->size || size > physical->size - offset ||
        (physical->payload + offset) % DM_PAGE)
        return -EINVAL;
    int fd = dm_physical_fd(physical);
    if (fd < 0)
        return fd;
    int r = dm_sys_mmap(window->va + at, size, PROT_NONE, MAP_SHARED | MAP_FIXED, fd,
                        physical->payload + offset, &unused);
    return r ? r : dm_pages_access(window->va + at, size, DM_MAP_READ | DM_MAP_WRITE);
}

int dm_window_unback(struct dm_window *window, uint64_t at, uint64_t size)
{
    if (!holds(window, at, size))
        return -EINVAL;
    return window->null_pages ? make_null(window->va + at, size)
                              : dm_sys_unback(window->va + at, size);
}

void dm_window_wipe(const struct dm_window *window)
{
    // For pages that are backed by a file, this drops only the page table entries.
    if (window->null_pages)
        madvise((void *)(uintptr_t)window->va, window->size, MADV_DONTNEED);
}

void dm_window_finish(struct dm_window *window)
{
    dm_sys_unback(window->va, window->size);
    dm_va_free(window->space, window->va);
}
