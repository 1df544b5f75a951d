// SPDX-License-Identifier: MIT
// Waits that cannot end: if a thread has waited for CARDLESS_DEADLOCK_MS and nothing has happened
// meanwhile, S05 reports which commands wait for which, and the cycle if there is one.
//
//   CUstream #1:  wait for A ─────needs────▶ signal of A, in CUstream #2
//                     ▲                           │ is after
//   CUstream #1:  signal of B ◀───needs──── wait for B, in CUstream #2
//
// It is a report only: another process, or a thread of the program, may still end the wait. With
// CARDLESS_DEADLOCK=abort the process ends, as `cardless explore` wants, unless there is a thread
// of the program that does not wait for the driver.
//
// Everything here: precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_command;

// The need of a parked command.
struct em_need {
    char text[160];              // "value 3 of CUexternalSemaphore #1 (it is 2)"
    const struct em_command *by; // a pending command that brings it, or NULL
    char part[64];               // of `by` that brings it: "semaphore signal (step 2 of 3)", or ""
};

typedef bool em_match_fn(const struct em_command *, const void *argument);

// Commands that consist of others: launches of graphs. A part that waits is a pending command of
// its own, and one that has not begun is not.
struct em_parts_ops {
    // Of a whole command: the pending command of a part that waits, or NULL.
    const struct em_command *(*waiting)(const struct em_command *);
    // Of a whole command: a part that matches and has not begun, and its name; or NULL.
    const struct em_command *(*find)(const struct em_command *, em_match_fn *match,
                                     const void *argument, char *name, size_t size);
    // Of a part: the whole command, and the part's name.
    const struct em_command *(*whole)(const struct em_command *, char *name, size_t size);
};

// Returns a pending command for which `match` is true, or NULL.
const struct em_command *em_pending_find(em_match_fn *match, const void *argument);
// Functions that explain a wait should use this. Looks for a command that brings what is needed,
// among pending commands and their parts. Sets `by` and `part`, and returns the command or the part
// that matches, or NULL.
const struct em_command *em_need_find(struct em_need *need, em_match_fn *match,
                                      const void *argument);

// How long a thread may sleep before em_deadlock_examine, in ns of the monotonic clock; 0: for
// ever.
uint64_t em_deadlock_time(void);
// This thread has slept so long and nothing has happened. Reports a deadlock once, and ends the
// process as soon as all of the program's threads wait, if that is wanted.
void em_deadlock_examine(void);
