// SPDX-License-Identifier: MIT
// Guarded calls in threads of the program: their signal masks, and handlers installed meanwhile.
//
// The kernel ends a process if a thread faults that blocks the fault's signal. Only the thread
// itself can change its mask, by a system call. One more system call per launch would cost more
// than a small kernel, so a launch that follows the last one closely relies on what that one has
// found:
//
//     close … ends ──── less than `call_ticks` ──── begins … open: nothing can have changed
//     close … ends ──── more ────────────────────── begins … open: read and unblock
//
// Calls that often lie between two launches prolong that (dm_guard_passes).
//
// Small copies of the program's memory take half as long as a system call. They read the mask only
// now and then (dm_guarded_host). That suffices for threads that block all signals as long as they
// live, which many programs have.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "guard.h"
#include "thread_state.h"

struct signals_thread {
    uint64_t known_at; // dm_ticks() when no signal of a fault was blocked; 0: not known
    bool inside;       // between dm_guard_begins and dm_guard_ends
    bool known;        // inside: no signal of a fault is blocked
    uint64_t unread_B; // dm_guarded_host may access so much before it reads the mask again
};
DM_DECLARE_THREAD_STATE(struct signals_thread, signals_thread)
DM_DEFINE_THREAD_STATE(struct signals_thread, signals_thread)

enum { MEASURED = 16, FULL_CHECKS = 4000 };

#define BIT(sig) (UINT64_C(1) << ((sig)-1))
static const uint64_t faults = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |
                               BIT(SIGTRAP); // of the kernel's own sigset_t
#undef BIT

static uint64_t call_ticks; // atomic; a system call that changes a mask takes longer; 0: not known
static uint64_t full_check_at; // atomic; dm_ticks() of the last one

static bool change_mask(int how, const uint64_t *set, uint64_t *before)
{
    return !syscall(SYS_rt_sigprocmask, (long)how, set, before, (long)sizeof *set);
}

// Three quarters of the least time of some calls, because the processor may run faster later.
static void measure_call(void)
{
    uint64_t least = UINT64_MAX, mask;
    for (int i = 0; i < MEASURED; i++) {
        const uint64_t from = dm_ticks();
        change_mask(SIG_BLOCK, NULL, &mask);
        const uint64_t ticks = dm_ticks() - from;
        least = ticks < least ? ticks : least;
    }
    __atomic_store_n(&call_ticks, least * 3 / 4 + 1, __ATOMIC_RELAXED);
}

static bool still_known(struct signals_thread *self)
{
    const uint64_t now = dm_ticks();
    if (now - self->known_at >= __atomic_load_n(&call_ticks, __ATOMIC_RELAXED))
        return false;
    self->known_at = now;
    return true;
}

void dm_guard_passes(void)
{
    struct signals_thread *self = signals_thread();
    if (self->known_at && !still_known(self))
        self->known_at = 0;
}

void dm_guard_begins(void)
{
    struct signals_thread *self = signals_thread();
    self->inside = true;
    self->known = self->known_at && still_known(self);
}

void dm_guard_ends(void)
{
    struct signals_thread *self = signals_thread();
    self->known_at = self->known ? dm_ticks() : 0;
    self->inside = self->known = false;
}

// `bus`: handlers for SIGBUS are noticed as well.
static inline void open_signals(struct dm_guard_signals *signals, bool bus)
{
    const struct signals_thread *self = signals_thread();
    const bool known = self->known;
    const uint64_t now = known ? self->known_at : dm_ticks();
    const uint64_t least = __atomic_load_n(&call_ticks, __ATOMIC_RELAXED);
    const uint64_t full_at = __atomic_load_n(&full_check_at, __ATOMIC_RELAXED);
    // Another thread may have set `full_at` after `now`.
    const bool full = (int64_t)(now - full_at) > (int64_t)(least * FULL_CHECKS) || !least;
    signals->restores = false;
    if (__builtin_expect(known && !full, 1))
        return;
    if (!least)
        measure_call();
    signals->restores =
        change_mask(SIG_UNBLOCK, &faults, &signals->mask) && (signals->mask & faults);
    if (!full && bus)
        dm_guard_reassert();
    if (!full && (bus || dm_guard_is_handler(SIGSEGV)))
        return;
    dm_guard_reassert_all();
    __atomic_store_n(&full_check_at, now, __ATOMIC_RELAXED);
}

void dm_guard_open(struct dm_guard_signals *signals)
{
    open_signals(signals, false);
}

void dm_guard_close(const struct dm_guard_signals *signals)
{
    if (signals->restores)
        change_mask(SIG_SETMASK, &signals->mask, NULL);
    struct signals_thread *self = signals_thread();
    self->known = self->inside && !signals->restores;
    if (!self->inside) // else dm_guard_ends notes the time
        self->known_at = signals->restores ? 0 : dm_ticks();
}

int dm_guarded_foreign(void (*fn)(void *), void *arg, struct dm_fault *fault)
{
    struct dm_guard_signals signals;
    const bool outermost = !signals_thread()->inside;
    if (outermost)
        dm_guard_begins();
    open_signals(&signals, true);
    const int r = dm_guarded(fn, arg, fault);
    dm_guard_close(&signals);
    if (outermost)
        dm_guard_ends();
    return r;
}

// So many bytes, even those of a few copies in the processor's caches, take at least 20 times as
// long as the system call (measured, Intel Xeon).
enum { UNREAD_MOST_B = 256 << 10, CALL_B = 1 << 10 };

// Whether the calling thread blocks SIGSEGV or SIGBUS.
static bool blocks_faults(void)
{
    uint64_t mask;
    return change_mask(SIG_BLOCK, NULL, &mask) && (mask & faults);
}

int dm_guarded_host(void (*fn)(void *), void *arg, uint64_t size_B, struct dm_fault *fault)
{
    struct signals_thread *self = signals_thread();
    const uint64_t taken_B = size_B + CALL_B;
    if (__builtin_expect(self->unread_B >= taken_B, 1)) {
        self->unread_B -= taken_B;
        return dm_guarded(fn, arg, fault);
    }
    self->unread_B = 0;
    if (blocks_faults())
        return dm_guarded_foreign(fn, arg, fault);
    self->unread_B = UNREAD_MOST_B;
    return dm_guarded(fn, arg, fault);
}
