// SPDX-License-Identifier: MIT
// The lock that guards the object tables, the address map and the stream queues. Commands run
// without it. docs/internals/locks.md lists all locks, and the order in which they may be taken.
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "counter.h"
#include "detached.h"
#include "hidden.h"
#include "mutex.h"
#include "share.h"
#include "thread.h"

extern DM_HIDDEN struct dm_mutex em_mutex;

static inline void em_cancel_off(void)
{
    struct em_thread *self = em_thread();
    if (self->cancel_off)
        return;
    self->cancel_off = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self->cancel_before);
}

// Disables cancellation if another thread could end this one at any instruction
// (PTHREAD_CANCEL_ASYNCHRONOUS). Otherwise it takes half the time of em_cancel_off, because the C
// library writes nothing then. Nothing that the call does until em_cancel_off may be a cancellation
// point. The type stays deferred until em_cancel_restore, because glibc's signal for cancellation
// ends a thread that has disabled cancellation after the signal was sent, unless its type is
// deferred.
static inline void em_cancel_off_if_asynchronous(void)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    if (__builtin_expect(type == PTHREAD_CANCEL_DEFERRED, 1))
        return;
    em_cancel_off();
    em_thread()->cancel_asynchronous = true;
}

// For a call that is about to return.
static inline void em_cancel_restore(struct em_thread *self)
{
    if (!self->cancel_off)
        return;
    self->cancel_off = false;
    pthread_setcancelstate(self->cancel_before, NULL);
    if (__builtin_expect(self->cancel_asynchronous, 0)) {
        self->cancel_asynchronous = false;
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    }
}

// Whether the holder of the lock can run while this thread spins.
bool em_have_cores(void);

// Takes the lock after another thread has held it. Disables cancellation. Precondition: em_lock NOT
// held.
void em_lock_contended(void) __attribute__((cold));
// The same, but gives up when sharing (share.h) begins. Returns whether it has taken the lock.
// Precondition: em_lock NOT held.
bool em_lock_contended_unless_sharing(void) __attribute__((cold));

// Takes the lock if it is free. Returns whether it has. In a process with a single thread it is
// free, and pthread_mutex_lock takes it without an atomic operation, which pthread_mutex_trylock
// does not.
static inline bool em_lock_if_free(void)
{
    if (!em_is_single_threaded())
        return dm_mutex_try(&em_mutex);
    dm_mutex_lock(&em_mutex);
    return true;
}

// To be called when em_lock was taken: enters a command that runs without it (detached.h) into the
// scheduler.
static inline void em_lock_adopt(void)
{
    if (__builtin_expect(em_detached_is(EM_DETACHED_RUNNING), 0))
        em_detached_adopt();
}

// Takes em_lock again in a call that has released it, and so has disabled cancellation already.
// Shared calls (share.h) have ended when it returns.
static inline void em_lock_again(void)
{
    if (__builtin_expect(!em_lock_if_free(), 0))
        em_lock_contended();
    if (__builtin_expect(dm_mutex_count_taken(&em_mutex), 0))
        em_sharing_stop();
    em_lock_adopt();
}

static inline void em_lock(void)
{
    em_cancel_off();
    em_lock_again();
}

// For queries that should be fast: does not disable cancellation unless the lock is contended.
// Until em_unlock, the only cancellation point may be em_fail, which disables it. A thread with
// asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) could end while it holds the lock; calls
// of the driver do not support it.
static inline void em_lock_briefly(void)
{
    em_lock_again();
}

static inline void em_unlock(void)
{
    dm_mutex_unlock(&em_mutex);
}

// Takes the lock, unless sharing (share.h) is on or begins meanwhile. Returns whether it has.
static inline bool em_lock_unless_sharing(void)
{
    if (__builtin_expect(!em_lock_if_free(), 0) && !em_lock_contended_unless_sharing())
        return false;
    if (__builtin_expect(!dm_mutex_count_taken(&em_mutex), 1)) {
        em_lock_adopt();
        return true;
    }
    em_unlock();
    return false;
}

// Enters the call if sharing is on, and returns the thread's slot. Otherwise takes em_lock like
// em_lock_briefly, and returns NULL.
static inline struct em_share *em_share_or_lock_briefly(void)
{
    struct em_share *share = em_share_enter();
    if (__builtin_expect(!share, 1) && __builtin_expect(!em_lock_unless_sharing(), 0)) {
        share = em_share_enter();
        if (!share)
            em_lock_briefly();
    }
    return share;
}

// The same, but like em_lock.
static inline struct em_share *em_share_or_lock(void)
{
    struct em_share *share = em_share_or_lock_briefly();
    if (__builtin_expect(!share, 1))
        em_cancel_off();
    return share;
}

// A function whose comment states "Precondition: em_lock held" or "NOT held" should begin with one
// of these. They cost nothing in a release build.
#define em_assert_locked() dm_assert_locked(&em_mutex)
#define em_assert_unlocked() dm_assert_unlocked(&em_mutex)

// Either em_lock is held, or this call is shared (share.h) and INSIDE: nothing that em_lock guards
// changes meanwhile, and it may be read. Stated as "Precondition: em_lock held or shared".
#define em_assert_readable() assert(dm_mutex_is_mine(&em_mutex) || em_share_is_inside())

// Ends shared calls (share.h) after a wait has taken the mutex again.
static inline void em_lock_alone(void)
{
    em_thread()->has_waited = true;
    if (__builtin_expect(em_is_sharing(), 0))
        em_sharing_stop();
    em_lock_adopt();
}

// Waits for a condition variable with em_lock released.
static inline void em_lock_wait(pthread_cond_t *condition)
{
    dm_mutex_wait(&em_mutex, condition);
    em_lock_alone();
}

// The same, but no longer than `until` on the monotonic clock. Returns 0 or ETIMEDOUT.
static inline int em_lock_wait_until(pthread_cond_t *condition, const struct timespec *until)
{
    int e = dm_mutex_wait_until(&em_mutex, condition, until);
    em_lock_alone();
    return e;
}
