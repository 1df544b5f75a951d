// SPDX-License-Identifier: MIT
// Decisions: under the policies `lazy`, `seed:N` and `schedule:…`, the order of work is a list of
// numbered decisions. The same decisions give the same order, provided that the program submits
// from one thread.
//
// Work happens inside calls of the program only, at three kinds of points:
//
//   end of a call that submits, signals or has waited
//
//      a new command is ready ──▶ NEW: run a ready command, or postpone the new one ──┐
//                   ▲                                                                 │
//                   └──────────────────── until no command is new ────────────────────┘
//                   │
//                   ▼
//      postponed commands are ready ──▶ HELD: return to the program, or run one of them first
//
//   a query finds work that is not complete     POLL: run a ready command, or nothing
//   a call waits                                WAIT: run a ready command
//
// A new command is one that has become ready since the last decision about it. It may have waited
// for another process, so to postpone it also means that this process notices late. A command that
// is postponed stays so until a decision runs it, a call waits, or the limits below are reached.
// Nothing is decided if there is only one option.
//
// Host functions are ready commands as well. They run in their own thread; the thread that has
// chosen one waits until it has returned, but not longer than the policy's late_ms, because the
// function may wait for this thread.
//
// Everything here: precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "lock.h"
#include "policy.h"
#include "scheduler.h"

struct em_command;

// The command has become ready.
void em_choice_add(struct em_command *command, uint64_t rank);
// The end of a call. Does nothing in threads of the driver, in host functions, and while this
// thread runs a command. Releases em_lock meanwhile.
void em_choices_at_call(void);
// A query has found work that is not complete. Releases em_lock meanwhile.
void em_choices_at_poll(void);
// A thread waits. Returns false if no command is ready that it may run. Releases em_lock meanwhile.
bool em_choices_in_wait(void);
// Whether the policy decides.
static inline bool em_choice_is_on(void)
{
    em_assert_locked();
    return em_scheduler.policy->decide;
}
// Decides which of so many things that could happen next is the one: a number below `options`, and
// 0 if the policy does not decide. For commands that consist of several steps.
unsigned em_choose(unsigned options);
// Runs the first ready command without a decision, or sends it to the thread for host functions.
// Returns false if no command is ready. Releases em_lock meanwhile.
bool em_choice_run_first(void);
