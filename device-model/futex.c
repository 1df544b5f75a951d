// SPDX-License-Identifier: MIT
// Sleeping on words in shared memory.
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static void wake_all(uint32_t *futex)
{
    syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void dm_word_changed(struct dm_word *w)
{
    __atomic_fetch_add(&w->changed, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&w->callers, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_add(&w->called, 1, __ATOMIC_SEQ_CST);
        wake_all(&w->called);
    }
    if (__atomic_load_n(&w->waiters, __ATOMIC_SEQ_CST))
        wake_all(&w->changed);
}

int dm_word_sleep(const uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
    // FUTEX_WAIT_BITSET takes a point in time of CLOCK_MONOTONIC, FUTEX_WAIT a duration.
    struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                             (long)(deadline_ns % DM_NS_PER_S)};
    long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, deadline_ns ? &until : NULL, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    return r < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}
