// SPDX-License-Identifier: MIT
// Starts the driver's own threads.
#pragma once
#include <sched.h>
#include <stdbool.h>

// Starts a detached thread. It does not receive the program's signals, and the exit of the program
// does not wait for it. Debuggers show `name`: "cardless " and at most six letters. The thread runs
// on `cores`, or if that is NULL, on those of the calling thread. Returns false if it cannot be
// started.
bool em_own_thread(const char *name, const cpu_set_t *cores, void *(*thread_main)(void *),
                   void *arg);
// How many of them there are now.
unsigned em_own_threads(void);
