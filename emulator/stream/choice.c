// SPDX-License-Identifier: MIT
// The points at which ready commands run under a policy that decides.
#include "choice.h"

#include <assert.h>

#include "clock.h"
#include "command.h"
#include "condition.h"
#include "lock.h"
#include "outside.h"
#include "policy.h"
#include "progress.h"
#include "schedule_log.h"
#include "scheduler.h"
#include "service.h"

enum {
    MOST_OPTIONS = 16,   // a decision is about so many commands at most
    MOST_IDLE_POLLS = 2, // of so many queries in a row each may run nothing
    MOST_PASSED = 16,    // a command stands first in a wait or query this many times …
    MOST_CALLS = 1000,   // … or is postponed at this many other calls: then it runs
    NS_PER_MS = 1000000
};

static unsigned idle_polls;

// ---- the ready commands ----

static bool goes_first(const struct em_command *a, const struct em_command *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->sequence < b->sequence);
}

void em_choice_add(struct em_command *c, uint64_t rank)
{
    em_assert_locked();
    struct em_command **at = &em_scheduler.ready.first;
    c->rank = rank;
    c->held = false;
    c->passed = 0;
    while (*at && goes_first(*at, c)) {
        em_scheduler.steps++;
        at = &(*at)->sibling;
    }
    c->sibling = *at;
    *at = c;
}

static void take_out(struct em_command *c)
{
    struct em_command **at = &em_scheduler.ready.first;
    while (*at != c) {
        em_scheduler.steps++;
        at = &(*at)->sibling;
    }
    *at = c->sibling;
}

// The ready commands that a decision is about: those that are new, then those that are postponed.
struct ready {
    struct em_command *commands[MOST_OPTIONS];
    unsigned count, fresh;
};

static void collect(struct ready *out, bool held)
{
    for (struct em_command *c = em_scheduler.ready.first; c && out->count < MOST_OPTIONS;
         c = c->sibling) {
        if (c->held == held)
            out->commands[out->count++] = c;
    }
}

// Asks everything that commands wait for outside the streams, so that it does not depend on the
// driver's own thread whether a change is noticed.
static struct ready look(void)
{
    struct ready r = {.count = 0};
    em_outside_ask_changed();
    em_condition_notify(&em_outside_memory.condition);
    em_scheduler.points++;
    collect(&r, false);
    r.fresh = r.count;
    collect(&r, true);
    return r;
}

static unsigned decide(enum em_choice_kind kind, unsigned options)
{
    if (options < 2)
        return 0;
    const struct em_choice choice = {kind, options, em_scheduler.decisions++};
    unsigned option = em_scheduler.policy->decide(&choice);
    assert(option < options);
    em_schedule_log_decision(&choice, option);
    return option;
}

unsigned em_choose(unsigned options)
{
    em_assert_locked();
    if (options > MOST_OPTIONS)
        options = MOST_OPTIONS;
    return em_choice_is_on() ? decide(EM_CHOICE_STEP, options) : 0;
}

// ---- running ----

// Waits until the thread for host functions has run so many of those that were sent to it, but no
// longer than a function may take that waits for this thread. The time is counted in parts. Those
// do not count in which a busy machine did not run the function.
static void await_host(uint64_t number)
{
    enum { PARTS = 10 };
    const uint64_t part_ns = (uint64_t)em_scheduler.policy->late_ms * NS_PER_MS / PARTS;
    em_scheduler.waiters++;
    for (unsigned i = 0; i < PARTS && em_scheduler.host_done < number;
         i += em_had_turn(&em_scheduler.host_turn)) {
        uint64_t until_ns = dm_now_ns() + part_ns;
        const struct timespec until = {(time_t)(until_ns / DM_NS_PER_S),
                                       (long)(until_ns % DM_NS_PER_S)};
        while (em_scheduler.host_done < number && dm_now_ns() < until_ns)
            em_lock_wait_until(&em_scheduler.progress, &until);
    }
    em_scheduler.waiters--;
}

// Lets the thread for host functions run the command. `wait`: until it has.
static void send_to_host(struct em_command *c, bool wait)
{
    uint64_t number = ++em_scheduler.host_sent;
    em_ready_push(&em_scheduler.hosted, c, c->rank);
    em_service_wake_host();
    if (wait)
        await_host(number);
}

static void run(struct em_command *c, bool wait)
{
    take_out(c);
    em_schedule_log_run(c);
    if (c->ops->place == EM_HOST_THREAD)
        send_to_host(c, wait);
    else
        em_run_chosen(c);
}

bool em_choice_run_first(void)
{
    em_assert_locked();
    struct em_command *c = em_scheduler.ready.first;
    if (!c)
        return false;
    em_scheduler.points++;
    run(c, false);
    return true;
}

// Runs a command of the list, or the first one if others have gone before it too often.
static void run_fairly(const struct ready *ready, unsigned option)
{
    struct em_command *first = em_scheduler.ready.first;
    if (ready->commands[option] != first)
        first->passed++;
    run(ready->commands[option], true);
}

static bool must_go_first(unsigned most)
{
    return em_scheduler.ready.first->passed >= most;
}

// ---- the points ----

static void hold(struct em_command *c)
{
    c->held = true;
    em_schedule_log_hold(c);
}

// Returns false if the thread should return to the program. `*held` is set once a command has been
// postponed at this point. Then no other one is about those that are, because the decision to run
// them first has been taken already.
static bool choose_at_call(bool *held)
{
    const struct ready r = look();
    if (!r.count || (!r.fresh && *held))
        return false;
    if (r.fresh) {
        unsigned option = decide(EM_CHOICE_NEW, r.count + 1);
        *held = *held || option == r.count;
        if (option == r.count)
            hold(r.commands[0]);
        else
            run(r.commands[option], true);
        return true;
    }
    if (must_go_first(MOST_CALLS)) {
        run(em_scheduler.ready.first, true);
        return true;
    }
    em_scheduler.ready.first->passed++;
    unsigned option = decide(EM_CHOICE_HELD, r.count + 1);
    if (option)
        run(r.commands[option - 1], true);
    return option != 0;
}

static bool belongs_to_program(void)
{
    return em_self.entry && !em_self.in_host_function && !em_self.in_command;
}

void em_choices_at_call(void)
{
    em_assert_locked();
    bool held = false;
    while (belongs_to_program() && choose_at_call(&held))
        ;
    // Another thread that waits may need a command that is postponed.
    if (em_scheduler.ready.first)
        em_wake_waiters();
}

void em_choices_at_poll(void)
{
    em_assert_locked();
    if (!belongs_to_program())
        return;
    const struct ready r = look();
    if (!r.count)
        return;
    if (must_go_first(MOST_PASSED)) {
        run(em_scheduler.ready.first, true);
    } else {
        unsigned option = decide(EM_CHOICE_POLL, r.count + (idle_polls < MOST_IDLE_POLLS));
        if (option == r.count) {
            idle_polls++;
            return;
        }
        run_fairly(&r, option);
    }
    idle_polls = 0;
    em_choices_at_call();
}

bool em_choices_in_wait(void)
{
    em_assert_locked();
    if (em_self.in_host_function)
        return false;
    const struct ready r = look();
    if (!r.count)
        return false;
    if (must_go_first(MOST_PASSED))
        run(em_scheduler.ready.first, true);
    else
        run_fairly(&r, decide(EM_CHOICE_WAIT, r.count));
    return true;
}
