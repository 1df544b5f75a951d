// SPDX-License-Identifier: MIT
// A mutex that knows its owner in debug builds, so that a function can assert its lock
// precondition.
#pragma once
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

struct dm_mutex {
    pthread_mutex_t mutex;
#ifndef NDEBUG
    // The thread that holds `mutex`, or 0. Only that thread ever stores its own id here, so any
    // thread may ask whether it is the owner itself. The id survives a fork.
    pthread_t owner;
#endif
};

// clang-format off
#define DM_MUTEX_INITIALIZER {.mutex = PTHREAD_MUTEX_INITIALIZER}
// clang-format on

static inline void dm_mutex_set_owner(struct dm_mutex *m, pthread_t owner)
{
#ifndef NDEBUG
    __atomic_store_n(&m->owner, owner, __ATOMIC_RELAXED);
#endif
}

#ifndef NDEBUG
static inline bool dm_mutex_is_mine(const struct dm_mutex *m)
{
    return __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == pthread_self();
}
#endif

// Macros, so that a failed assertion names the file and line of the caller.
#define dm_assert_locked(m) assert(dm_mutex_is_mine(m))
#define dm_assert_unlocked(m) assert(!dm_mutex_is_mine(m))

static inline void dm_mutex_lock(struct dm_mutex *m)
{
    dm_assert_unlocked(m);
    pthread_mutex_lock(&m->mutex);
    dm_mutex_set_owner(m, pthread_self());
}

static inline void dm_mutex_unlock(struct dm_mutex *m)
{
    dm_assert_locked(m);
    dm_mutex_set_owner(m, 0);
    pthread_mutex_unlock(&m->mutex);
}

// Waits for `condition` with `m` released, as pthread_cond_wait does.
static inline void dm_mutex_wait(struct dm_mutex *m, pthread_cond_t *condition)
{
    dm_assert_locked(m);
    dm_mutex_set_owner(m, 0);
    pthread_cond_wait(condition, &m->mutex);
    dm_mutex_set_owner(m, pthread_self());
}

// The same, until `until` of the monotonic clock at the latest. Returns 0 or ETIMEDOUT.
static inline int dm_mutex_wait_until(struct dm_mutex *m, pthread_cond_t *condition,
                                      const struct timespec *until)
{
    dm_assert_locked(m);
    dm_mutex_set_owner(m, 0);
    int e = pthread_cond_clockwait(condition, &m->mutex, CLOCK_MONOTONIC, until);
    dm_mutex_set_owner(m, pthread_self());
    return e;
}
