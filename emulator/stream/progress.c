// SPDX-License-Identifier: MIT
// Runs the commands that waited: in threads that complete others, in threads that wait, and in the
// driver's own.
#include "progress.h"

#include <errno.h>
#include <time.h>

#include "call.h"
#include "choice.h"
#include "clock.h"
#include "deadlock.h"
#include "lock.h"
#include "outside.h"
#include "policy.h"
#include "scheduler.h"
#include "service.h"
#include "spin.h"
#include "stream.h"

enum {
    SHARE_MOST = 256,  // commands that a thread runs for others before the runner takes over …
    SHARE_NS = 1000000 // … or for this long
};

// Runs a command that waited, in the name of the call that submitted it.
static CUresult run_for(struct em_command *c)
{
    if (c->ops->place == EM_HOST_THREAD)
        return em_command_run(c);
    struct em_thread *self = &em_self;
    const struct em_entry *entry = self->entry, *caller = self->caller,
                          *entry_caller = self->entry_caller;
    uint64_t number = self->number, calls = self->calls;
    bool inside = self->in_command;
    self->in_command = true;
    self->entry = c->entry;
    self->caller = self->entry_caller = em_is_of_library(c->entry) ? c->entry : NULL;
    self->number = c->call >> 40;
    self->calls = c->call & ((UINT64_C(1) << 40) - 1);
    CUresult r = em_command_run(c);
    self->entry = entry;
    self->caller = caller;
    self->entry_caller = entry_caller;
    self->number = number;
    self->calls = calls;
    self->in_command = inside;
    return r;
}

void em_run_chosen(struct em_command *c)
{
    em_assert_locked();
    em_scheduler_start(c);
    em_unlock();
    CUresult r = run_for(c);
    em_lock_again();
    if (r == EM_RUN_AGAIN)
        em_scheduler_again(c);
    else
        em_command_end_waiting(c, r);
}

bool em_run_one(enum em_place place)
{
    em_assert_locked();
    if (em_choice_is_on() && place == EM_ANYWHERE)
        return em_choice_run_first();
    // The command before may have written to memory that others wait for.
    if (em_unlikely(em_outside_memory.condition.first))
        em_outside_glance();
    struct em_command *c = em_scheduler_choose(place);
    if (em_likely(!c))
        return false;
    em_run_chosen(c);
    return true;
}

static bool may_find_one(void)
{
    return em_scheduler.ready.first || em_outside_memory.condition.first;
}

void em_run_share(void)
{
    em_assert_locked();
    if (em_choice_is_on())
        em_choices_at_call();
    if (em_likely(!may_find_one()) || !em_scheduler.policy->at_completion)
        return;
    unsigned share = SHARE_MOST;
    uint64_t until = dm_now_ns() + SHARE_NS;
    while (em_run_one(EM_ANYWHERE)) {
        if (em_likely(!may_find_one()))
            return;
        if ((--share == 0 || dm_now_ns() > until) && em_service_need_runner()) {
            em_scheduler.handed_over = true;
            em_service_wake_runner();
            return;
        }
    }
}

void em_wake_waiters(void)
{
    em_assert_locked();
    em_scheduler.progressed++;
    if (em_unlikely(em_scheduler.waiters)) {
        pthread_cond_broadcast(&em_scheduler.progress);
        em_outside_wake();
    }
}

void em_progress(void)
{
    em_assert_locked();
    em_wake_waiters();
    em_run_share();
}

void em_poll(struct em_command *c)
{
    em_assert_locked();
    if (c && c->state == EM_PARKED)
        em_scheduler_ask(c);
    if (em_choice_is_on()) {
        em_choices_at_poll();
        return;
    }
    if (!em_scheduler.policy->at_completion) // a program that polls must get ahead
        em_run_one(EM_ANYWHERE);
    em_progress();
}

static bool may_go_on(uint64_t progressed)
{
    return em_scheduler.ready.first || em_scheduler.progressed != progressed;
}

// If something waits for a word that another process changes, looks at the word for a while.
// Returns whether there was progress. Releases em_lock meanwhile. A thread that has to give up
// sleeps instead of giving its core away now and then: if another process waits for this core, the
// kernel wakes this thread on a core that is free, and the next spins of both succeed.
static bool spin(uint64_t deadline_ns)
{
    if (em_likely(!em_outside_waits_for_words()))
        return false;
    struct dm_spin *budget = &em_self.spin;
    uint64_t before = em_scheduler.progressed, begin = dm_now_ns(), now = begin,
             until = begin + dm_spin_budget(budget, begin);
    if (deadline_ns && deadline_ns < until)
        until = deadline_ns;
    if (now >= until || !em_outside_spin_begin())
        return false;
    while (!may_go_on(before) && now < until) {
        em_unlock();
        dm_spin_pause();
        em_lock_again();
        em_outside_ask_changed();
        now = dm_now_ns();
    }
    em_outside_spin_end();
    dm_spin_spent(budget, now - begin);
    return may_go_on(before); // the end looks once more
}

static int sleep_until_progress(uint64_t deadline_ns)
{
    em_assert_locked();
    struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                             (long)(deadline_ns % DM_NS_PER_S)};
    if (deadline_ns)
        return em_lock_wait_until(&em_scheduler.progress, &until);
    em_lock_wait(&em_scheduler.progress);
    return 0;
}

static void wait_progress(uint64_t deadline_ns)
{
    em_assert_locked();
    if (em_choice_is_on() ? em_choices_in_wait() : em_run_one(EM_ANYWHERE)) {
        if (!em_choice_is_on())
            em_run_share();
        return;
    }
    if (spin(deadline_ns))
        return;
    if (em_outside_memory.condition.first)
        em_outside_hurry();
    // A wait with a limit ends anyway.
    bool endless = !deadline_ns;
    uint64_t progressed = em_scheduler.progressed;
    if (endless)
        deadline_ns = em_deadlock_time();
    em_scheduler.waiters++;
    em_scheduler.endless += endless;
    int r = em_outside_sleep(deadline_ns);
    if (r < 0)
        r = sleep_until_progress(deadline_ns);
    em_scheduler.waiters--;
    em_scheduler.endless -= endless;
    if (endless && r == ETIMEDOUT && progressed == em_scheduler.progressed)
        em_deadlock_examine();
}

void em_wait_over(void)
{
    em_assert_locked();
    if (em_unlikely(em_self.spin.waits_since_ns))
        dm_spin_wait_over(&em_self.spin, dm_now_ns());
    em_run_share(); // this thread may have found out that commands of others are ready
}

void em_wait_progress(void)
{
    em_assert_locked();
    wait_progress(0);
}

void em_wait_progress_until(uint64_t deadline_ns)
{
    wait_progress(deadline_ns);
}
