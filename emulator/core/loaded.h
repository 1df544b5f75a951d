// SPDX-License-Identifier: MIT
// Counts the libraries that the process has loaded so far. If a search for a library has failed, it
// is repeated only after this number has changed, because a search walks through folders.
#pragma once
#include <link.h>
#include <stddef.h>

#include "lock.h"

static inline int em_count_loaded(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

// Returns 0 if the loader does not count. Takes the loader's lock. Precondition: em_lock NOT held.
static inline unsigned long long em_libraries_loaded(void)
{
    em_assert_unlocked();
    unsigned long long count = 0;
    dl_iterate_phdr(em_count_loaded, &count);
    return count;
}
