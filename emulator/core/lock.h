// SPDX-License-Identifier: MIT
// The lock that guards the object tables, the address map and the stream queues. Commands run
// without it. docs/internals/locks.md lists all locks, and the order in which they may be taken.
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "mutex.h"
#include "thread.h"

extern struct dm_mutex em_mutex;

static inline void em_cancel_off(void)
{
    struct em_thread *self = em_thread();
    if (self->cancel_off)
        return;
    self->cancel_off = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self->cancel_before);
}

// For a call that is about to return.
static inline void em_cancel_restore(struct em_thread *self)
{
    if (!self->cancel_off)
        return;
    self->cancel_off = false;
    pthread_setcancelstate(self->cancel_before, NULL);
}

// Takes the lock after another thread has held it. Disables cancellation. Precondition: em_lock NOT
// held.
void em_lock_contended(void) __attribute__((cold));

// For a call that has taken and released em_lock before, and so has disabled cancellation already.
static inline void em_lock_again(void)
{
    if (__builtin_expect(!dm_mutex_try(&em_mutex), 0))
        em_lock_contended();
    dm_mutex_count_taken(&em_mutex);
}

static inline void em_lock(void)
{
    em_cancel_off();
    em_lock_again();
}

// For queries that should be fast: does not disable cancellation unless the lock is contended.
// Until em_unlock, the only cancellation point may be em_fail, which disables it.
static inline void em_lock_briefly(void)
{
    em_lock_again();
}

static inline void em_unlock(void)
{
    dm_mutex_unlock(&em_mutex);
}

// A function whose comment states "Precondition: em_lock held" or "NOT held" should begin with one
// of these. They cost nothing in a release build.
#define em_assert_locked() dm_assert_locked(&em_mutex)
#define em_assert_unlocked() dm_assert_unlocked(&em_mutex)

// Waits for a condition variable with em_lock released.
static inline void em_lock_wait(pthread_cond_t *condition)
{
    dm_mutex_wait(&em_mutex, condition);
}

// The same, but no longer than `until` on the monotonic clock. Returns 0 or ETIMEDOUT.
static inline int em_lock_wait_until(pthread_cond_t *condition, const struct timespec *until)
{
    return dm_mutex_wait_until(&em_mutex, condition, until);
}
