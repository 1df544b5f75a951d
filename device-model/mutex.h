// SPDX-License-Identifier: MIT
// A mutex that knows its owner and its rank in debug builds, so that a function can assert its lock
// precondition, and so that taking mutexes out of order ends the process at once instead of
// deadlocking one day.
#pragma once
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lock_order.h"
#include "thread_state.h"

struct dm_mutex {
    pthread_mutex_t mutex;
    uint64_t taken; // counts dm_mutex_count_taken, with DM_MUTEX_MARK
#ifndef NDEBUG
    // The thread that holds `mutex`, or 0. Only that thread ever stores its own id here, so any
    // thread may ask whether it is the owner itself. The id survives a fork.
    pthread_t owner;
    enum dm_lock_rank rank;
#endif
};

// clang-format off
#ifndef NDEBUG
#define DM_MUTEX_INITIALIZER(r) {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = DM_LOCK_##r}
#else
#define DM_MUTEX_INITIALIZER(r) {.mutex = PTHREAD_MUTEX_INITIALIZER}
#endif
// clang-format on

#ifndef NDEBUG
// Notes that the calling thread takes a mutex, and aborts if the order forbids it.
void dm_lock_note_taken(enum dm_lock_rank rank);
void dm_lock_note_released(enum dm_lock_rank rank);

static inline bool dm_mutex_is_mine(const struct dm_mutex *m)
{
    return __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == pthread_self();
}
#endif

// Macros, so that a failed assertion names the file and line of the caller.
#define dm_assert_locked(m) assert(dm_mutex_is_mine(m))
#define dm_assert_unlocked(m) assert(!dm_mutex_is_mine(m))

static inline void dm_mutex_note_owner(struct dm_mutex *m)
{
#ifndef NDEBUG
    __atomic_store_n(&m->owner, pthread_self(), __ATOMIC_RELAXED);
#endif
}

static inline void dm_mutex_forget_owner(struct dm_mutex *m)
{
#ifndef NDEBUG
    __atomic_store_n(&m->owner, 0, __ATOMIC_RELAXED);
#endif
}

// For a mutex that is part of an object; others have an initializer.
#ifndef NDEBUG
#define dm_mutex_init(m, r) dm_mutex_init_ranked(m, DM_LOCK_##r)
static inline void dm_mutex_init_ranked(struct dm_mutex *m, enum dm_lock_rank rank)
{
    m->owner = 0;
    m->taken = 0;
    m->rank = rank;
    pthread_mutex_init(&m->mutex, NULL);
}
#else
#define dm_mutex_init(m, r) ((m)->taken = 0, pthread_mutex_init(&(m)->mutex, NULL))
#endif

static inline void dm_mutex_destroy(struct dm_mutex *m)
{
    dm_assert_unlocked(m);
    pthread_mutex_destroy(&m->mutex);
}

static inline void dm_mutex_lock(struct dm_mutex *m)
{
    dm_assert_unlocked(m);
#ifndef NDEBUG
    dm_lock_note_taken(m->rank); // before waiting: a wrong order is found without a deadlock
#endif
    pthread_mutex_lock(&m->mutex);
    dm_mutex_note_owner(m);
}

// Takes the mutex if it is free. Returns whether it has.
static inline bool dm_mutex_try(struct dm_mutex *m)
{
    dm_assert_unlocked(m);
    if (pthread_mutex_trylock(&m->mutex))
        return false;
#ifndef NDEBUG
    dm_lock_note_taken(m->rank);
#endif
    dm_mutex_note_owner(m);
    return true;
}

// A mark for whoever takes the mutex next.
#define DM_MUTEX_MARK (UINT64_C(1) << 63)

static inline void dm_mutex_set_mark(struct dm_mutex *m, bool on)
{
    dm_assert_locked(m);
    uint64_t count = __atomic_load_n(&m->taken, __ATOMIC_RELAXED) & ~DM_MUTEX_MARK;
    __atomic_store_n(&m->taken, on ? count | DM_MUTEX_MARK : count, __ATOMIC_RELAXED);
}

// Lets threads that wait for the mutex see that it is taken again and again. Returns whether it is
// marked, which costs less than to look at another variable.
static inline bool dm_mutex_count_taken(struct dm_mutex *m)
{
    dm_assert_locked(m);
    uint64_t before = __atomic_load_n(&m->taken, __ATOMIC_RELAXED);
    __atomic_store_n(&m->taken, before + 1, __ATOMIC_RELAXED);
    return before & DM_MUTEX_MARK;
}

static inline uint64_t dm_mutex_taken(const struct dm_mutex *m)
{
    return __atomic_load_n(&m->taken, __ATOMIC_RELAXED) & ~DM_MUTEX_MARK;
}

static inline void dm_mutex_unlock(struct dm_mutex *m)
{
    dm_assert_locked(m);
    dm_mutex_forget_owner(m);
#ifndef NDEBUG
    dm_lock_note_released(m->rank);
#endif
    pthread_mutex_unlock(&m->mutex);
}

// Waits for `condition` with `m` released, as pthread_cond_wait does.
static inline void dm_mutex_wait(struct dm_mutex *m, pthread_cond_t *condition)
{
    dm_assert_locked(m);
    dm_mutex_forget_owner(m);
    pthread_cond_wait(condition, &m->mutex);
    dm_mutex_note_owner(m);
}

// The same, until `until` of the monotonic clock at the latest. Returns 0 or ETIMEDOUT.
static inline int dm_mutex_wait_until(struct dm_mutex *m, pthread_cond_t *condition,
                                      const struct timespec *until)
{
    dm_assert_locked(m);
    dm_mutex_forget_owner(m);
    int e = pthread_cond_clockwait(condition, &m->mutex, CLOCK_MONOTONIC, until);
    dm_mutex_note_owner(m);
    return e;
}
