// SPDX-License-Identifier: MIT
// Scheduling policies: what runs when, where the order of streams and events leaves a choice.
#pragma once
#include <stdbool.h>

struct em_stream;

struct em_policy {
    const char *name;
    // Whether a command that could run when it is submitted does so, in the submitting thread.
    bool at_submission;
    // Whether threads that complete a command go on with those that it made ready; else only
    // threads that synchronise run them.
    bool at_completion;
    // Whether one large command may use a second processor core (second_core.h).
    bool second_core;
    // Which stream goes on next: one of those from `first` on (next_waiting) for which `can` holds,
    // or NULL. Precondition: em_lock held.
    struct em_stream *(*choose)(struct em_stream *first, bool (*can)(struct em_stream *, int place),
                                int place);
};

extern const struct em_policy em_policy_eager, em_policy_parallel;
