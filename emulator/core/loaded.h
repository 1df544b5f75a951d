// SPDX-License-Identifier: MIT
// How many libraries the process has loaded so far: what was looked for in vain is looked for again
// only when this has changed, since a search walks through folders.
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

// 0: the loader does not tell. Takes the loader's lock: precondition: em_lock NOT held.
static inline unsigned long long em_libraries_loaded(void)
{
    em_assert_unlocked();
    unsigned long long count = 0;
    dl_iterate_phdr(em_count_loaded, &count);
    return count;
}
