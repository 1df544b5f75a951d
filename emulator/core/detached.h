// SPDX-License-Identifier: MIT
// A command that runs after its call has released em_lock, and that the scheduler does not know.
//
// It takes longer to enter a command into the scheduler, and to take it out again, than to copy a
// few bytes. Yet a copy of memory that the driver does not control must not run while em_lock is
// held: the program may serve the page faults itself (userfaultfd, a file system of its own, a
// handler of SIGSEGV), and may need the driver to do so. So the call that has checked such a copy
// leaves it here and releases em_lock. If another thread takes em_lock while the copy runs, it
// adopts the command: it enters it into the scheduler, as if it had been submitted. Launches of
// kernels in PTX run in the same way (em_issue_detached).
//
//      IDLE ──▶ RUNNING ──▶ IDLE              nobody has taken em_lock meanwhile
//                  │
//                  └──▶ ADOPTED ──▶ IDLE      the call takes em_lock and ends the command
//
// The call leaves RUNNING by an atomic exchange, the new holder of em_lock by a compare-and-swap,
// so both know which of them was first. The process has room for one such command. Calls that find
// it taken submit their commands.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "hidden.h"

enum em_detached_state { EM_DETACHED_IDLE, EM_DETACHED_RUNNING, EM_DETACHED_ADOPTED };

struct em_detached {
    _Alignas(64) uint32_t state;  // enum em_detached_state. Atomic
    void (*adopt)(void *command); // Precondition: em_lock held. Guarded by em_lock, as is `command`
    void *command;
};

extern DM_HIDDEN struct em_detached em_detached;

static inline bool em_detached_is(enum em_detached_state state)
{
    return __atomic_load_n(&em_detached.state, __ATOMIC_ACQUIRE) == state;
}

// The command is about to run. The caller holds em_lock, has found the state IDLE, and has to
// release em_lock next.
static inline void em_detach(void (*adopt)(void *), void *command)
{
    em_detached.adopt = adopt;
    em_detached.command = command;
    __atomic_store_n(&em_detached.state, EM_DETACHED_RUNNING, __ATOMIC_RELEASE);
}

// The command has run, or has failed. Returns whether it was adopted: then the caller has to take
// em_lock and end it.
static inline bool em_detached_end(void)
{
    if (em_is_single_threaded()) {
        const bool adopted = em_detached_is(EM_DETACHED_ADOPTED);
        __atomic_store_n(&em_detached.state, EM_DETACHED_IDLE, __ATOMIC_RELAXED);
        return adopted;
    }
    return __atomic_exchange_n(&em_detached.state, EM_DETACHED_IDLE, __ATOMIC_ACQ_REL) ==
           EM_DETACHED_ADOPTED;
}

// For em_lock, which was taken while a command is RUNNING. Precondition: em_lock held.
void em_detached_adopt(void) __attribute__((cold));
