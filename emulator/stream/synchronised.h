// SPDX-License-Identifier: MIT
// The notification that the program has waited for its work.
//
// Rooms above `stream` put work off until then: memory pools give unused memory back, and graphics
// resources that are used without being mapped are written back.
#pragma once
#include <stdbool.h>

#include "hidden.h"
#include "lock.h"

struct em_sync_listener {
    // How many things the listener has put off. It is called only if there are any. Atomic.
    unsigned wanted;
    bool after_copies; // call it after a synchronous copy or fill too
    // Precondition: em_lock NOT held.
    void (*synchronised)(void);
    struct em_sync_listener *next;
};

// Adds a listener, which stays valid. Called when the driver starts; a listener that is already
// there is not added again. Precondition: em_lock NOT held.
void em_sync_listen(struct em_sync_listener *listener);

enum em_sync_kind {
    EM_SYNC_COPY, // a synchronous copy or fill returns
    EM_SYNC_CALL, // a call that waits for a stream, an event or a context returns
};

extern DM_HIDDEN struct em_sync_listener *em_sync_listeners;

// The calling thread has waited for work. Precondition: em_lock NOT held.
static inline void em_synchronised(enum em_sync_kind kind)
{
    em_assert_unlocked();
    for (struct em_sync_listener *l = __atomic_load_n(&em_sync_listeners, __ATOMIC_ACQUIRE); l;
         l = l->next) {
        if (__builtin_expect(__atomic_load_n(&l->wanted, __ATOMIC_RELAXED) != 0, 0) &&
            (kind == EM_SYNC_CALL || l->after_copies))
            l->synchronised();
    }
}
