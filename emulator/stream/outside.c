// SPDX-License-Identifier: MIT
// The thread that watches words in shared memory and, as a last resort, polls plain memory.
#include "outside.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "command.h"
#include "lock.h"
#include "own_thread.h"
#include "progress.h"
#include "scheduler.h"
#include "spin.h"

enum {
    FIRST_NS = 10000,  // plain memory is polled after this time, then after twice as long …
    HURRY_NS = 50000,  // … up to this one while a thread waits,
    LAST_NS = 1000000, // or up to this one
    IDLE_NS = EM_OWN_THREAD_IDLE_MS * 1000000, // the thread looks whether it may end
    SOME = 8,                                  // commands that a glance asks
    MANY = 256,         // commands that the thread asks before it releases the lock
    WORDS = 127,        // the kernel takes 128 words, and one is `kicked`
    WORDS_SLEPT_ON = 16 // each makes em_outside_sleep slower
};

struct em_source em_outside_memory = {.condition.source = &em_outside_memory};

static struct em_source *words; // those that are watched
static bool started, cannot_wait_for_words;
static bool asleep;     // the thread is in the kernel, or about to be
static uint32_t kicked; // a futex: the thread has something new to look at
static bool hurry;
static bool listed;       // there are words that the thread does not know yet
static unsigned spinners; // threads between em_outside_spin_begin and em_outside_spin_end
static bool sleeps;       // a thread is in em_outside_sleep …
static bool sleeps_now;   // … and in the kernel, or about to be
static uint32_t woken;    // a futex: that thread has something else to look at

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

// Sleeps until one of the words changes, or until `deadline_ns` (0: never).
static long futex_any(struct futex_waitv *wait, unsigned entries, uint64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                             (long)(deadline_ns % DM_NS_PER_S)};
    return syscall(SYS_futex_waitv, wait, entries, 0, deadline_ns ? &until : NULL, CLOCK_MONOTONIC);
}

static bool is_unknown(int error)
{
    return error == ENOSYS || error == EPERM || error == EINVAL;
}

static void kick(void)
{
    if (!asleep)
        return;
    asleep = false;
    __atomic_fetch_add(&kicked, 1, __ATOMIC_SEQ_CST);
    futex(&kicked, FUTEX_WAKE_PRIVATE, 1, NULL);
}

// ---- the thread ----

static uint32_t value_of(const struct em_source *s)
{
    return __atomic_load_n(&s->word->changed, __ATOMIC_SEQ_CST);
}

static void ask(struct em_source *s)
{
    s->seen = value_of(s); // before the question: a later change is noticed
    em_condition_notify(&s->condition);
    if (s->threads)
        em_wake_waiters();
}

static bool in_use(const struct em_source *s)
{
    return s->condition.first || s->threads;
}

static void set_counted(bool *counted, bool wanted, uint32_t *total)
{
    if (wanted != *counted)
        __atomic_fetch_add(total, wanted ? 1 : UINT32_MAX, __ATOMIC_SEQ_CST);
    *counted = wanted;
}

// Whoever changes the word wakes a futex only while this process is counted.
static void count(struct em_source *s)
{
    bool wanted = in_use(s) && !spinners;
    set_counted(&s->called, wanted && s->slept_on, &s->word->callers);
    set_counted(&s->counted, wanted && !s->slept_on, &s->word->waiters);
}

static void remove_word(struct em_source *s)
{
    s->watched = false;
    if (s->previous)
        s->previous->next = s->next;
    else
        words = s->next;
    if (s->next)
        s->next->previous = s->previous;
}

static void remove_unused_words(void)
{
    for (struct em_source *s = words, *next; s; s = next) {
        next = s->next;
        if (!in_use(s))
            remove_word(s);
    }
}

// Asks the sources that have changed, or all if the kernel cannot tell.
static void ask_changed(bool all)
{
    for (struct em_source *s = words, *next; s; s = next) {
        next = s->next;
        if (all || value_of(s) != s->seen)
            ask(s);
    }
}

// Sleeps until a word changes, kick() is called, or the time is over. Returns false in the last
// case. Releases em_lock meanwhile.
static bool sleep_until_changed(long pause_ns)
{
    struct futex_waitv wait[WORDS + 1];
    unsigned entries = 0;
    for (const struct em_source *s = words; s && entries < WORDS && !cannot_wait_for_words;
         s = s->next)
        wait[entries++] = (struct futex_waitv){
            .uaddr = (uintptr_t)&s->word->changed, .val = s->seen, .flags = FUTEX_32};
    listed = false;
    uint32_t kicks = __atomic_load_n(&kicked, __ATOMIC_SEQ_CST);
    wait[entries++] = (struct futex_waitv){
        .uaddr = (uintptr_t)&kicked, .val = kicks, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
    asleep = true;
    em_unlock();
    struct timespec pause = {.tv_nsec = pause_ns};
    long r;
    if (entries == 1)
        r = futex(&kicked, FUTEX_WAIT_PRIVATE, kicks, &pause);
    else
        r = futex_any(wait, entries, dm_now_ns() + (uint64_t)pause_ns);
    const int error = r < 0 ? errno : 0;
    em_lock();
    asleep = false;
    cannot_wait_for_words = cannot_wait_for_words || (entries > 1 && is_unknown(error));
    return error != ETIMEDOUT;
}

// Whether nothing is watched, and no pending command may need that soon.
bool em_outside_is_idle(void)
{
    em_assert_locked();
    return !em_outside_memory.condition.first && !em_outside_waits_for_words() &&
           !em_context_with_work(UINT64_MAX);
}

static bool more_than_the_kernel_takes(void)
{
    unsigned count = 0;
    for (const struct em_source *s = words; s && count <= WORDS; s = s->next)
        count++;
    return count > WORDS;
}

static void *watch_main(void *unused)
{
    (void)unused;
    long pause_ns = FIRST_NS;
    em_lock();
    for (;;) {
        bool poll_words = words && (cannot_wait_for_words || more_than_the_kernel_takes());
        ask_changed(poll_words);
        remove_unused_words();
        em_condition_notify_some(&em_outside_memory.condition, MANY);
        if (em_scheduler.ready.first) {
            em_progress();
            hurry = true; // because those commands may soon write again
        }
        if (hurry)
            pause_ns = FIRST_NS;
        hurry = false;
        bool polls = em_outside_memory.condition.first || poll_words;
        bool changed = sleep_until_changed(polls ? pause_ns : IDLE_NS);
        if (!changed && em_outside_is_idle())
            break;
        long most_ns = em_scheduler.waiters ? HURRY_NS : LAST_NS;
        pause_ns = pause_ns * 2 < most_ns ? pause_ns * 2 : most_ns;
    }
    started = false;
    em_unlock();
    return NULL;
}

bool em_outside_start(void)
{
    em_assert_locked();
    started = started || em_own_thread("cardless watch", NULL, watch_main, NULL);
    if (started && !em_files_resume())
        em_outside_poll_words();
    return started;
}

// ---- watching ----

void em_source_watch(struct em_source *s)
{
    em_assert_locked();
    if (s == &em_outside_memory)
        em_outside_hurry();
    if (!s->word)
        return;
    // Before the caller asks its question: either a change comes later and wakes the futex, or the
    // caller sees it.
    count(s);
    if (s->watched)
        return; // `seen` stays: others may wait, and have not been asked about a change since
    s->seen = value_of(s);
    s->watched = true;
    s->previous = NULL;
    s->next = words;
    if (words)
        words->previous = s;
    words = s;
    listed = true;
    if (!spinners)
        kick();
}

// The word stays in the list until the thread wakes next, because the program often waits for the
// same word again and again, and adding it costs a system call.
void em_source_unwatch(struct em_source *s)
{
    em_assert_locked();
    if (s->watched)
        count(s);
}

void em_source_forget(struct em_source *s)
{
    em_assert_locked();
    assert(!in_use(s));
    if (!s->watched)
        return;
    remove_word(s);
    kick();
}

void em_source_wait(struct em_source *s, bool (*done)(void *), void *argument)
{
    em_source_wait_until(s, done, argument, 0);
}

bool em_source_wait_until(struct em_source *s, bool (*done)(void *), void *argument,
                          uint64_t deadline_ns)
{
    em_assert_locked();
    bool watched = em_outside_start(), over;
    s->threads++;
    em_source_watch(s);
    while (!(over = done(argument))) {
        uint64_t now = dm_now_ns(), until = deadline_ns;
        if (deadline_ns && now >= deadline_ns)
            break;
        // If the system has no thread left, this one has to look itself.
        if (!watched && (!deadline_ns || deadline_ns - now > LAST_NS))
            until = now + LAST_NS;
        em_wait_progress_until(until);
    }
    s->threads--;
    em_source_unwatch(s);
    em_wait_over();
    return over;
}

void em_outside_ask_changed(void)
{
    em_assert_locked();
    ask_changed(false);
}

bool em_outside_waits_for_words(void)
{
    em_assert_locked();
    for (const struct em_source *s = words; s; s = s->next)
        if (in_use(s))
            return true;
    return false;
}

bool em_outside_spin_begin(void)
{
    em_assert_locked();
    if (!dm_spin_begin())
        return false;
    if (!spinners++) {
        for (struct em_source *s = words; s; s = s->next)
            count(s);
    }
    return true;
}

void em_outside_spin_end(void)
{
    em_assert_locked();
    dm_spin_end();
    if (--spinners)
        return;
    for (struct em_source *s = words; s; s = s->next)
        count(s);
    ask_changed(false); // nobody was woken for a change until now
    if (listed)
        kick();
}

// ---- sleeping without the thread's help ----

// Lists the words that commands and threads wait for. Returns 0 if there are too many.
static unsigned list_words(struct futex_waitv *wait, unsigned most)
{
    unsigned entries = 0;
    for (struct em_source *s = words; s; s = s->next) {
        if (!in_use(s))
            continue;
        if (entries == most)
            return 0;
        wait[entries++] = (struct futex_waitv){
            .uaddr = (uintptr_t)&s->word->called,
            .val = __atomic_load_n(&s->word->called, __ATOMIC_SEQ_CST),
            .flags = FUTEX_32,
        };
    }
    return entries;
}

// The words that were listed wake the thread that is in em_outside_sleep, or no longer do so.
static void set_slept_on(bool on)
{
    for (struct em_source *s = words; s; s = s->next) {
        s->slept_on = on && in_use(s);
        count(s);
    }
    ask_changed(false); // those that changed before
}

int em_outside_sleep(uint64_t deadline_ns)
{
    em_assert_locked();
    struct futex_waitv wait[WORDS_SLEPT_ON + 1];
    unsigned entries = sleeps || cannot_wait_for_words ? 0 : list_words(wait, WORDS_SLEPT_ON);
    if (!entries)
        return -1;
    uint64_t progressed = em_scheduler.progressed;
    int result = 0;
    sleeps = true;
    set_slept_on(true);
    if (!em_scheduler.ready.first && em_scheduler.progressed == progressed) {
        int before = errno;
        wait[entries++] = (struct futex_waitv){
            .uaddr = (uintptr_t)&woken, .val = woken, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
        sleeps_now = true;
        em_unlock();
        int error = futex_any(wait, entries, deadline_ns) < 0 ? errno : 0;
        em_lock_again();
        sleeps_now = false;
        errno = before;
        cannot_wait_for_words = cannot_wait_for_words || is_unknown(error);
        result = error == ETIMEDOUT ? ETIMEDOUT : 0;
    }
    sleeps = false;
    set_slept_on(false);
    return result;
}

void em_outside_wake(void)
{
    em_assert_locked();
    if (!sleeps_now)
        return;
    sleeps_now = false;
    __atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
    futex(&woken, FUTEX_WAKE_PRIVATE, 1, NULL);
}

void em_outside_ask_words(void)
{
    em_assert_locked();
    ask_changed(true);
}

void em_outside_poll_words(void)
{
    em_assert_locked();
    cannot_wait_for_words = true;
    kick();
}

void em_outside_glance(void)
{
    em_assert_locked();
    em_condition_notify_some(&em_outside_memory.condition, SOME);
}

void em_outside_hurry(void)
{
    em_assert_locked();
    if (hurry)
        return;
    hurry = true;
    kick();
}
