// SPDX-License-Identifier: MIT
// Calls that run at the same time without em_lock.
//
// em_lock is exclusive. Two threads that make small calls take turns, although most of these calls
// only look things up, and then use memory and a stream of their own. While sharing is on, such a
// call enters without em_lock. It marks a slot that belongs to its thread, so the cores do not
// exchange cache lines. Whoever takes em_lock ends sharing first, so code that holds em_lock is
// alone, as before.
//
//          em_lock was contended, and a small call is about to release it
//      off ───────────────────────────────────────────────────────────────▶ on
//       ▲                                                                   │
//       └───────── em_lock is taken: waits until no slot is INSIDE, ────────┘
//                  and adopts the commands of those that are RUNNING
//
// The states of a slot:
//
//      EMPTY ──▶ INSIDE ──▶ RUNNING ──▶ ENDING ──▶ EMPTY
//         ▲         │
//         └─────────┘
//
//   INSIDE: the call reads what em_lock guards. Nobody holds em_lock meanwhile. It must not wait,
//     take em_lock, report an error or access the program's memory.
//   RUNNING: a command of the call accesses memory, which may take long or fail. If em_lock is
//     taken now, its new holder adopts the command: it enters it into the scheduler, as if it had
//     been submitted under em_lock, and the call completes it as such.
//   ENDING: the call finds out whether its command was adopted.
//
// To enter, a call makes two accesses: it marks the slot, then looks whether sharing is on. Whoever
// ends sharing makes them in the reverse order. Without barriers, both might read the old values.
// Entering is frequent and ending is rare, so the latter pays for both: the system call membarrier
// acts as a barrier in all threads of the process. Sharing stays off on kernels without it.
#pragma once
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hidden.h"
#include "thread.h"

enum em_share_state { EM_SHARE_EMPTY, EM_SHARE_INSIDE, EM_SHARE_RUNNING, EM_SHARE_ENDING };

enum { EM_SHARE_LINE = 128 }; // two lines, because processors fetch them in pairs

struct em_share {
    _Alignas(EM_SHARE_LINE) uint32_t state; // enum em_share_state; only its thread writes it
    uint32_t epoch;                         // em_sharing when the call entered; for its thread
    void (*adopt)(void *command);           // RUNNING. Precondition: em_lock held
    void *command;
    bool adopted; // the command is the scheduler's; written with em_lock held
    bool taken;   // a thread has the slot
};

// Odd: sharing is on, and em_mutex is marked. Counts how often it began and ended.
extern DM_HIDDEN uint32_t em_sharing;
extern DM_HIDDEN bool em_sharing_wanted; // threads have waited for em_lock. Guarded by em_lock

static inline bool em_is_sharing(void)
{
    return __atomic_load_n(&em_sharing, __ATOMIC_RELAXED) & 1;
}

// Enters if sharing is on. Returns the thread's slot, or NULL: then the call has to take em_lock.
struct em_share *em_share_try(struct em_thread *self);
static inline struct em_share *em_share_enter(void)
{
    return __builtin_expect(em_is_sharing(), 0) ? em_share_try(em_thread()) : NULL;
}

static inline void em_share_leave(struct em_share *share)
{
    assert(share->state == EM_SHARE_INSIDE);
    __atomic_store_n(&share->state, EM_SHARE_EMPTY, __ATOMIC_RELEASE);
}

// From INSIDE to RUNNING: the command is about to run. Its memory is valid until em_share_end.
void em_share_run(struct em_share *share, void (*adopt)(void *), void *command);
// The command has run. Returns true if nobody has taken em_lock since em_share_enter, so that the
// call is complete. Otherwise the caller should take em_lock, and then ask em_share_was_adopted.
bool em_share_end(struct em_share *share);
// Precondition: em_lock held, by the slot's thread.
bool em_share_was_adopted(struct em_share *share);

// Whether no command of another thread is running that was running when this was called. Waits for
// a moment for those that are, and for a detached one (detached.h). Code that reads the scheduler's
// state without em_lock should ask this too.
bool em_sharing_is_quiet(struct em_thread *self);

// Makes sharing possible, if the system supports it. Called when the driver starts and when threads
// compete. Precondition: em_lock NOT held.
void em_sharing_prepare(void);
// For em_lock: the thread has waited for it. Precondition: em_lock held.
void em_sharing_note_wait(void);
// Turns sharing on. em_lock should be released immediately afterwards.
// Precondition: em_lock held.
void em_sharing_begin(void);
// For em_lock: turns sharing off, and waits until this thread is alone. Precondition: em_lock held.
void em_sharing_stop(void) __attribute__((cold));

// Whether the calling thread is INSIDE; for assertions.
static inline bool em_share_is_inside(void)
{
    const struct em_share *share = em_thread()->share;
    return share && share->state == EM_SHARE_INSIDE;
}
