// SPDX-License-Identifier: MIT
// How commands that waited get to run.
#pragma once
#include <cuda.h>

struct em_command;

// Runs the command, or gives it the error of its context. Precondition: em_lock not held.
CUresult em_command_run(struct em_command *command);

// Runs a ready command that was chosen, and ends it. Precondition: em_lock held, which is released
// while the command runs.
void em_run_chosen(struct em_command *command);

// Wakes the threads in em_wait_progress. Precondition: em_lock held.
void em_wake_waiters(void);
// Runs ready commands, if the policy wants that from threads that complete a command: a share of
// them, so that the work of others does not hold this thread for long. The runner continues with
// the rest. Precondition: em_lock held, which is released meanwhile.
void em_run_share(void);
// A thread has asked whether work is complete, and it is not. If `oldest`, the command that the
// work waits for (or NULL), is parked, asks it whether it is ready by now; then runs ready
// commands. Precondition: em_lock held, which is released meanwhile.
void em_poll(struct em_command *oldest);
