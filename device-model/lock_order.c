// SPDX-License-Identifier: MIT
// Checks the order of mutexes in debug builds.
#include "lock_order.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mutex.h"

#ifndef NDEBUG
// The ranks that the calling thread holds, one bit each.
DM_DECLARE_THREAD_STATE(uintptr_t, dm_ranks_held)
DM_DEFINE_THREAD_STATE(uintptr_t, dm_ranks_held)

static const char *rank_name(unsigned rank)
{
    static const char *const names[] = {
#define X(name) #name,
        DM_LOCK_RANKS(X)
#undef X
    };
    return names[rank];
}

void dm_lock_note_taken(enum dm_lock_rank rank)
{
    uintptr_t held = *dm_ranks_held();
    if (held >> rank) {
        unsigned innermost = 0;
        while (held >> innermost > 1)
            innermost++;
        fprintf(stderr,
                "cardless: a mutex of rank %s is taken by a thread that holds one of rank %s; "
                "device-model/lock_order.h has the order\n",
                rank_name(rank), rank_name(innermost));
        abort();
    }
    *dm_ranks_held() = held | (uintptr_t)1 << rank;
}

void dm_lock_note_released(enum dm_lock_rank rank)
{
    *dm_ranks_held() &= ~((uintptr_t)1 << rank);
}
#endif
