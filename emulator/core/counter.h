// SPDX-License-Identifier: MIT
// Counters that several threads change (single.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "single.h"

static inline bool em_is_single_threaded(void)
{
    return dm_is_single_threaded();
}

// Adds to the counter and returns the value that it had before.
static inline uint64_t em_count(uint64_t *counter, uint64_t add)
{
    if (!em_is_single_threaded())
        return __atomic_fetch_add(counter, add, __ATOMIC_ACQ_REL);
    uint64_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    __atomic_store_n(counter, before + add, __ATOMIC_RELAXED);
    return before;
}
