// SPDX-License-Identifier: MIT
// Adopts a command that runs without em_lock.
#include "detached.h"

#include "lock.h"

struct em_detached em_detached;

void em_detached_adopt(void)
{
    em_assert_locked();
    uint32_t state = EM_DETACHED_RUNNING;
    if (!__atomic_compare_exchange_n(&em_detached.state, &state, EM_DETACHED_ADOPTED, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return; // it has ended
    // The command stays valid: its call waits for em_lock before it returns.
    em_detached.adopt(em_detached.command);
    em_sharing_note_wait(); // threads compete, as if this one had waited for the copy
}
