// SPDX-License-Identifier: MIT
// Scheduling policies. They choose among the orders that streams and events allow.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_command;

struct em_policy {
    const char *name;
    // A command that has nothing to wait for runs when it is submitted, in the submitting thread.
    bool at_submission;
    // Threads that complete a command go on with the commands that have become ready. Otherwise
    // only threads that synchronise run them.
    bool at_completion;
    // One large command may use several processor cores (workers.h).
    bool workers;
    // The rank of a command that has become ready: among the ready commands the one with the lowest
    // rank goes first. It depends on nothing but the command, so that a run can be repeated.
    // Precondition: em_lock held.
    uint64_t (*rank)(const struct em_command *command);
};

extern const struct em_policy em_policy_eager, em_policy_parallel;
