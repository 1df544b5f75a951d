// SPDX-License-Identifier: MIT
// The one lock over object tables, the address map and the stream queues. Commands run without it.
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "mutex.h"

extern struct dm_mutex em_mutex;

// A thread that pthread_cancel ends inside of the driver would leave locks behind: from its first
// lock on a call cannot be cancelled, until it returns.
struct em_cancelling {
    bool off;
    int before; // what pthread_setcancelstate gave
};
extern __thread struct em_cancelling em_cancelling __attribute__((tls_model("initial-exec")));

static inline void em_cancel_off(void)
{
    if (em_cancelling.off)
        return;
    em_cancelling.off = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &em_cancelling.before);
}

// The call returns.
static inline void em_cancel_restore(void)
{
    if (!em_cancelling.off)
        return;
    em_cancelling.off = false;
    pthread_setcancelstate(em_cancelling.before, NULL);
}

static inline void em_lock(void)
{
    em_cancel_off();
    dm_mutex_lock(&em_mutex);
}

// For a few instructions without a cancellation point among them but em_fail, which looks after
// itself: queries that are to be fast.
static inline void em_lock_briefly(void)
{
    dm_mutex_lock(&em_mutex);
}

static inline void em_unlock(void)
{
    dm_mutex_unlock(&em_mutex);
}

// A function whose comment says "Precondition: em_lock held" or "NOT held" begins with one of
// these. They cost nothing in a release build.
#define em_assert_locked() dm_assert_locked(&em_mutex)
#define em_assert_unlocked() dm_assert_unlocked(&em_mutex)

// Waits for a condition variable with em_lock released.
static inline void em_lock_wait(pthread_cond_t *condition)
{
    dm_mutex_wait(&em_mutex, condition);
}

// The same, until `until` of the monotonic clock at the latest. Returns 0 or ETIMEDOUT.
static inline int em_lock_wait_until(pthread_cond_t *condition, const struct timespec *until)
{
    return dm_mutex_wait_until(&em_mutex, condition, until);
}
