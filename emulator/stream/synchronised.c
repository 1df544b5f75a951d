// SPDX-License-Identifier: MIT
// The list of listeners. It only grows, so it is read without a lock.
#include "synchronised.h"

#include <stddef.h>

#include "lock.h"
#include "startup.h"

struct em_sync_listener *em_sync_listeners;

DM_STARTUP void em_sync_listen(struct em_sync_listener *listener)
{
    em_assert_unlocked();
    em_lock();
    const struct em_sync_listener *l = em_sync_listeners;
    while (l && l != listener)
        l = l->next;
    if (!l) {
        listener->next = em_sync_listeners;
        __atomic_store_n(&em_sync_listeners, listener, __ATOMIC_RELEASE);
    }
    em_unlock();
}
