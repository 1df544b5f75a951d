// SPDX-License-Identifier: MIT
// Scheduling policies. They choose among the orders that streams and events allow.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_command;
struct em_departure;

// A decision that a run may take either way. Option 0 is always the one that `eager` would take.
struct em_choice {
    // The situation, and the options after the ready commands of which one can run next:
    enum em_choice_kind {
        EM_CHOICE_NEW,  // a command has become ready: the last option is to postpone it
        EM_CHOICE_HELD, // only postponed commands are ready: option 0 is to run nothing now
        EM_CHOICE_POLL, // a thread has asked for work that is not complete: the last option is to
                        // run nothing now
        EM_CHOICE_WAIT, // a thread waits, so that a command has to run
        EM_CHOICE_STEP, // several steps of one command could run next
    } kind;
    unsigned options; // at least 2
    uint32_t number;  // decisions of a process are counted from 0
};

struct em_policy {
    const char *name;
    // A command that has nothing to wait for runs when it is submitted, in the submitting thread.
    enum { EM_POLICY_NEVER, EM_POLICY_ALWAYS } at_submission;
    // Threads that complete a command go on with the commands that have become ready. Otherwise
    // only threads that synchronise or ask run them.
    bool at_completion;
    // If no thread has run a ready command for so long, one of the driver's own does (service.h),
    // because a program may wait for its work without a call. 0: never.
    unsigned late_ms;
    // One large command may use several processor cores (workers.h).
    bool workers;
    // The rank of a command that has become ready: among the ready commands the one with the lowest
    // rank goes first. It depends on nothing but the command, so that a run can be repeated.
    // Precondition: em_lock held.
    uint64_t (*rank)(const struct em_command *command);
    // Returns the option that a decision takes. If it is not NULL, all work happens in calls of the
    // program, at the points of choice.h, so that the decisions determine the order of everything.
    // Precondition: em_lock held.
    unsigned (*decide)(const struct em_choice *choice);
};

extern const struct em_policy em_policy_eager, em_policy_parallel, em_policy_lazy, em_policy_seeded,
    em_policy_scheduled;

// Sets the seed from which em_policy_seeded draws. Precondition: em_lock held.
void em_policy_seed(uint64_t seed);

// Sets the departures of em_policy_scheduled, in the order of their numbers. The array must stay
// valid. Precondition: em_lock held.
void em_policy_schedule(const struct em_departure *departures, size_t count);
