// SPDX-License-Identifier: MIT
// How commands that waited get to run.
#pragma once
#include <cuda.h>

struct em_command;
struct em_stream;

// Runs the command, or gives it the error of its context. Precondition: em_lock not held.
CUresult em_command_run(struct em_command *command);

// Wakes the threads in em_wait_progress. Precondition: em_lock held.
void em_wake_waiters(void);
// Runs ready commands, if the policy wants that from threads that complete a command: a share of
// them, so that the work of others does not hold this thread for long. The runner continues with
// the rest. Precondition: em_lock held, which is released meanwhile.
void em_run_share(void);
// A thread asks whether a stream is idle, which it is not: looks whether its oldest command, if it
// is parked, is ready by now, and runs ready commands. Precondition: em_lock held, which is
// released meanwhile.
void em_poll(struct em_stream *stream);
