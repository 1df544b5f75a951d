// SPDX-License-Identifier: MIT
// Checks the order of mutexes in debug builds.
#include "lock_order.h"

#ifndef NDEBUG
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mutex.h"

// The ranks that the calling thread holds, one bit each, are the value of a key. It is no __thread
// variable, because a library that is loaded late may get such memory from malloc.
static pthread_key_t held_key;
static pthread_once_t held_once = PTHREAD_ONCE_INIT;

static void make_held_key(void)
{
    if (pthread_key_create(&held_key, NULL))
        abort();
}

static uintptr_t ranks_held(void)
{
    pthread_once(&held_once, make_held_key);
    return (uintptr_t)pthread_getspecific(held_key);
}

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
    uintptr_t held = ranks_held();
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
    pthread_setspecific(held_key, (void *)(held | (uintptr_t)1 << rank));
}

void dm_lock_note_released(enum dm_lock_rank rank)
{
    pthread_setspecific(held_key, (void *)(ranks_held() & ~((uintptr_t)1 << rank)));
}
#endif
