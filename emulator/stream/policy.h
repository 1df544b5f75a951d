// SPDX-License-Identifier: MIT
// Scheduling policies. They choose among the orders that streams and events allow.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_command;

struct em_policy {
    const char *name;
    // A command that has nothing to wait for runs when it is submitted, in the submitting thread:
    // each of them, none, or those that em_policy_draw chooses.
    enum { EM_POLICY_NEVER, EM_POLICY_ALWAYS, EM_POLICY_DRAWN } at_submission;
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
};

extern const struct em_policy em_policy_eager, em_policy_parallel, em_policy_lazy, em_policy_seeded;

// Sets the seed from which em_policy_seeded draws. Precondition: em_lock held.
void em_policy_seed(uint64_t seed);
// Draws whether a command that is about to get this sequence number may run when it is submitted.
// The answer depends on the seed and the number alone. Precondition: em_lock held.
bool em_policy_draw(uint64_t sequence);
