// SPDX-License-Identifier: MIT
// Waits for em_lock without disturbing the thread that holds it.
//
// A small call takes the lock twice, for less than 100 ns each. If two threads make small calls and
// the lock changes hands each time, each section first fetches the lines of the lock, of the
// scheduler and of the context from the other core, which takes longer than the section. So a
// thread that waits lets the others go on while they take the lock in quick succession, and looks
// at the lock less and less often, because each look takes its line from the holder:
//
//     holder:  │█ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █ █│
//     waiter:  │ ╵  ╵    ╵        ╵                ╵                    ╵╵█ █ █ █ █ █ █ █ █ █ …
//                └─ looks, each after twice the time            patience ─┘
//
// It takes the lock as soon as it is free if the others take it seldom, or if its patience has
// ended. It sleeps if the lock is held for long.
#include "lock.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "clock.h"
#include "space.h"

enum {
    LOOK_NS = 200,       // between the first two looks: about as long as the lock is held
    CROWDED_NS = 4000,   // the same if the last waits were long: after a change of hands, the
                         // holder's lines are on their way, and it looks slow
    BUSY_NS = 800,       // others that take the lock more often than this go on
    PATIENCE_NS = 80000, // of a thread that makes one call after the other …
    HURRY_NS = 2000,     // … and of one that has other things to do, …
    RARE_NS = 1000,      // … because its calls are this far apart
    YIELD_NS = 2000,     // a longer pause gives the core to others,
    NAP_NS = 20000,      // and a still longer one sleeps
    STUCK_NS = 20000,    // if nobody takes the lock for so long, it is held for long …
    GIVE_UP_NS = 120000, // … and then, or after this time, the kernel wakes the thread
    CROWDED_WAITS = 2,   // of the last long waits, less the short ones
    CROWDED_MOST = 4
};

bool em_have_cores(void)
{
    static int cores; // 0: not known yet. Two threads may find it out at the same time
    int n = __atomic_load_n(&cores, __ATOMIC_RELAXED);
    if (!n) {
        cpu_set_t set;
        bool counted = !sched_getaffinity(getpid(), sizeof set, &set);
        n = counted && !dm_is_valgrind() ? CPU_COUNT(&set) : 1;
        __atomic_store_n(&cores, n, __ATOMIC_RELAXED);
    }
    return n > 1;
}

// Returns the time after which the pause has ended.
static uint64_t pause_until(uint64_t from, uint64_t until)
{
    uint64_t now = from;
    while (now < until) {
        if (until - now > NAP_NS) {
            const struct timespec nap = {0, 1}; // the kernel adds about 50 us
            nanosleep(&nap, NULL);
        } else if (until - from > YIELD_NS) {
            sched_yield();
        }
#if defined __x86_64__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("isb");
#endif
        now = dm_now_ns();
    }
    return now;
}

// A thread that held the lock only briefly waits less the next time, so that threads which make one
// call after the other get about equal turns. It gets fewer turns beside threads that hold the lock
// for long. Turns become longer until handing over takes little of the time.
static uint64_t patience_of(const struct em_thread *self, uint64_t now)
{
    uint64_t turn = now - self->contended_ns, calls = self->calls - self->contended_calls;
    if (turn > (calls + 2) * RARE_NS)
        return HURRY_NS;
    return 4 * turn < PATIENCE_NS ? 4 * turn : PATIENCE_NS;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Waits until the lock is free, and takes it. Returns false if it is not worth it to spin longer,
// or if sharing has begun and `or_share` is set.
// *busy: whether the thread has waited for others that took the lock in quick succession.
static bool spin(uint64_t begin, uint64_t pause, uint64_t patience, bool or_share, bool *busy)
{
    uint64_t now = begin, moved = begin, taken = dm_mutex_taken(&em_mutex);
    while (now - moved <= STUCK_NS && now - begin <= GIVE_UP_NS && !(or_share && em_is_sharing())) {
        uint64_t from = now, before = taken;
        now = pause_until(now, now + pause);
        taken = dm_mutex_taken(&em_mutex);
        if (taken != before)
            moved = now;
        if ((taken - before) * BUSY_NS > now - from && now - begin < patience) {
            *busy = true;
            pause = at_most(2 * pause, begin + patience - now);
        } else {
            if (dm_mutex_try(&em_mutex))
                return true;
            pause = LOOK_NS;
        }
    }
    return false;
}

// Returns whether it has taken the lock: always, unless `or_share` is set and sharing has begun.
static bool take_contended(bool or_share)
{
    int error = errno; // a signal may interrupt a pause
    em_cancel_off();   // a pause may be a cancellation point
    em_sharing_prepare();
    struct em_thread *self = em_thread();
    self->has_waited = true;
    uint64_t begin = dm_now_ns(), patience = patience_of(self, begin),
             pause = self->crowded < CROWDED_WAITS ? LOOK_NS : at_most(CROWDED_NS, patience);
    bool busy = false;
    bool taken = em_have_cores() && spin(begin, pause, patience, or_share, &busy);
    if (!taken && !(or_share && em_is_sharing())) {
        dm_mutex_lock(&em_mutex);
        taken = true;
    }
    if (busy && self->crowded < CROWDED_MOST)
        self->crowded++;
    else if (!busy && self->crowded)
        self->crowded--;
    self->contended_ns = dm_now_ns();
    self->contended_calls = self->calls;
    if (taken)
        em_sharing_note_wait();
    errno = error;
    return taken;
}

void em_lock_contended(void)
{
    em_assert_unlocked();
    take_contended(false);
}

bool em_lock_contended_unless_sharing(void)
{
    em_assert_unlocked();
    return take_contended(true);
}
