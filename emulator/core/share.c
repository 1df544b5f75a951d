// SPDX-License-Identifier: MIT
// The slots of threads whose calls run without em_lock, and the begin and end of sharing.
#include "share.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "lock.h"
#include "mutex.h"
#include "startup.h"

enum {
    SLOTS = 64,     // threads beyond these use em_lock
    SPINS = 200,    // a call that is INSIDE leaves soon, …
    YIELDS = 200,   // … unless its thread waits for a core: then this one gives its own away, …
    NAP_NS = 20000, // … and later sleeps between two looks
    QUIET_NS = 2000,           // about as long as a small copy takes
    SHORT_NS = 200000,         // sharing that ended sooner hardly paid for its end …
    REST_LEAST_NS = 20000,     // … and rests for so long, …
    REST_MOST_NS = 20000000,   // … or longer if that happens again
    SLOW_NS = 20000,           // an end that took longer waited for threads without a core
    SLOW_RESTS = 32,           // so sharing rests for that many times as long, …
    SLOW_MOST_NS = 1000000000, // … but not longer than this
    DRAIN_NS = 10000000,       // by then a processor has made its stores visible
};

uint32_t em_sharing;
bool em_sharing_wanted;

static struct em_share slots[SLOTS];
static uint32_t used;  // slots below this number were taken at some time. Atomic
static bool all_taken; // atomic; a hint
static bool prepared;  // atomic
static bool possible;  // atomic: the system has what sharing needs
static uint64_t began_ns, rest_ns, rest_until_ns; // guarded by em_lock

// ---- slots ----

static pthread_key_t share_key;
static pthread_once_t share_key_once = PTHREAD_ONCE_INIT;
static bool have_key;

static void give_back(void *slot)
{
    struct em_share *share = slot;
    em_self.share = NULL;
    __atomic_store_n(&share->taken, false, __ATOMIC_SEQ_CST);
    __atomic_store_n(&all_taken, false, __ATOMIC_SEQ_CST);
}

static void make_key(void)
{
    have_key = !pthread_key_create(&share_key, give_back);
}

static void note_used(uint32_t count)
{
    uint32_t before = __atomic_load_n(&used, __ATOMIC_RELAXED);
    while (before < count && !__atomic_compare_exchange_n(&used, &before, count, false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static struct em_share *take_slot(struct em_thread *self)
{
    pthread_once(&share_key_once, make_key);
    if (!have_key || __atomic_load_n(&all_taken, __ATOMIC_RELAXED))
        return NULL;
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct em_share *share = &slots[i];
        if (__atomic_load_n(&share->taken, __ATOMIC_RELAXED) ||
            __atomic_exchange_n(&share->taken, true, __ATOMIC_ACQUIRE))
            continue;
        if (pthread_setspecific(share_key, share)) {
            __atomic_store_n(&share->taken, false, __ATOMIC_RELEASE);
            return NULL;
        }
        note_used(i + 1);
        self->share = share;
        return share;
    }
    __atomic_store_n(&all_taken, true, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < SLOTS; i++) // a slot given back meanwhile
        if (!__atomic_load_n(&slots[i].taken, __ATOMIC_SEQ_CST))
            __atomic_store_n(&all_taken, false, __ATOMIC_RELAXED);
    return NULL;
}

// ---- calls ----

// The compiler keeps the order of the accesses before and after, and membarrier makes the processor
// do so too.
static inline void light_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

struct em_share *em_share_try(struct em_thread *self)
{
    struct em_share *share = self->share;
    if (__builtin_expect(!share, 0)) {
        share = take_slot(self);
        if (!share)
            return NULL;
    }
    if (__builtin_expect(share->state != EM_SHARE_EMPTY, 0)) // a signal handler inside a call
        return NULL;
    __atomic_store_n(&share->state, EM_SHARE_INSIDE, __ATOMIC_RELAXED);
    light_barrier();
    share->epoch = __atomic_load_n(&em_sharing, __ATOMIC_ACQUIRE);
    if (__builtin_expect(share->epoch & 1, 1))
        return share;
    __atomic_store_n(&share->state, EM_SHARE_EMPTY, __ATOMIC_RELEASE);
    return NULL;
}

void em_share_run(struct em_share *share, void (*adopt)(void *), void *command)
{
    assert(share->state == EM_SHARE_INSIDE);
    share->adopt = adopt;
    share->command = command;
    share->adopted = false;
    __atomic_store_n(&share->state, EM_SHARE_RUNNING, __ATOMIC_RELEASE);
#if defined __aarch64__
    // em_sharing_is_quiet: who sees a byte that the command has written sees it running.
    __asm__ volatile("dmb ishst" ::: "memory");
#endif
}

bool em_share_end(struct em_share *share)
{
    assert(share->state == EM_SHARE_RUNNING);
    __atomic_store_n(&share->state, EM_SHARE_ENDING, __ATOMIC_RELEASE);
    light_barrier();
    if (__atomic_load_n(&em_sharing, __ATOMIC_ACQUIRE) != share->epoch)
        return false;
    __atomic_store_n(&share->state, EM_SHARE_EMPTY, __ATOMIC_RELAXED);
    return true;
}

bool em_share_was_adopted(struct em_share *share)
{
    em_assert_locked();
    __atomic_store_n(&share->state, EM_SHARE_EMPTY, __ATOMIC_RELAXED);
    return share->adopted;
}

static bool is_running(const struct em_share *share)
{
    return __atomic_load_n(&share->state, __ATOMIC_ACQUIRE) == EM_SHARE_RUNNING;
}

bool em_sharing_is_quiet(struct em_thread *self)
{
    uint64_t begin = 0;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); // the caller has seen bytes that a command wrote
    const uint32_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        const struct em_share *share = &slots[i];
        while (share != self->share && is_running(share)) {
            const uint64_t now = dm_now_ns();
            begin = begin ? begin : now;
            if (now - begin > QUIET_NS)
                return false;
        }
    }
    while (em_detached_is(EM_DETACHED_RUNNING)) {
        const uint64_t now = dm_now_ns();
        begin = begin ? begin : now;
        if (now - begin > QUIET_NS)
            return false;
    }
    return true;
}

// ---- begin and end ----

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

DM_STARTUP void em_sharing_prepare(void)
{
    em_assert_unlocked();
    if (__atomic_exchange_n(&prepared, true, __ATOMIC_RELAXED) || !em_have_cores())
        return;
    int error = errno;
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
        __atomic_store_n(&possible, true, __ATOMIC_RELAXED);
    errno = error;
}

void em_sharing_note_wait(void)
{
    em_assert_locked();
    // A thread without a slot would end sharing with each of its calls.
    if (__atomic_load_n(&possible, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&all_taken, __ATOMIC_RELAXED) && dm_now_ns() >= rest_until_ns)
        em_sharing_wanted = true;
}

void em_sharing_begin(void)
{
    em_assert_locked();
    assert(!(em_sharing & 1));
    em_sharing_wanted = false;
    began_ns = dm_now_ns();
    dm_mutex_set_mark(&em_mutex, true);
    __atomic_store_n(&em_sharing, em_sharing + 1, __ATOMIC_RELEASE);
}

static void nap(uint64_t ns)
{
    const struct timespec time = {0, (long)ns};
    em_cancel_off(); // a cancellation point
    nanosleep(&time, NULL);
}

// A barrier in every thread of the process. A program that forbids the system call after it was
// registered has to do without sharing.
static void heavy_barrier(void)
{
    for (unsigned tries = 0; !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); tries++) {
        if (errno == ENOMEM && tries < YIELDS) {
            sched_yield();
            continue;
        }
        __atomic_store_n(&possible, false, __ATOMIC_RELAXED);
        nap(DRAIN_NS);
        return;
    }
}

static uint32_t state_outside(const struct em_share *share)
{
    for (unsigned tries = 0;; tries++) {
        uint32_t state = __atomic_load_n(&share->state, __ATOMIC_ACQUIRE);
        if (state != EM_SHARE_INSIDE)
            return state;
        if (tries > SPINS + YIELDS)
            nap(NAP_NS);
        else if (tries > SPINS)
            sched_yield();
    }
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

// The shorter sharing lasts, the longer it rests, so that a program in which the two kinds of calls
// alternate spends little time in changing over. With more threads than cores, an end may have to
// wait until a thread gets a core again.
static void rest(uint64_t end_began_ns)
{
    const uint64_t now = dm_now_ns(), took = now - end_began_ns;
    if (now - began_ns > SHORT_NS)
        rest_ns = 0;
    else if (!rest_ns)
        rest_ns = REST_LEAST_NS;
    else if (rest_ns < REST_MOST_NS)
        rest_ns *= 2;
    uint64_t slow_ns = took > SLOW_NS ? SLOW_RESTS * took : 0;
    if (slow_ns > SLOW_MOST_NS)
        slow_ns = SLOW_MOST_NS;
    rest_until_ns = now + at_least(rest_ns, slow_ns);
}

void em_sharing_stop(void)
{
    em_assert_locked();
    assert(!em_share_is_inside()); // would wait for itself
    int error = errno;
    em_thread()->has_waited = true;
    const uint64_t began = dm_now_ns();
    __atomic_store_n(&em_sharing, em_sharing + 1, __ATOMIC_RELAXED);
    dm_mutex_set_mark(&em_mutex, false);
    heavy_barrier();
    const uint32_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        struct em_share *share = &slots[i];
        // A command that was adopted the last time may still run, and should not be entered twice.
        if (state_outside(share) != EM_SHARE_RUNNING || share->adopted)
            continue;
        share->adopted = true;
        share->adopt(share->command);
    }
    em_sharing_wanted = false;
    rest(began);
    errno = error;
}
