// SPDX-License-Identifier: MIT
// Starts the driver's own threads.
//
// A process whose first thread has called pthread_exit ends with its last thread. So the driver's
// threads end if they have had nothing to do for a while, and are started again when needed.
#pragma once
#include <sched.h>
#include <stdbool.h>
#include <time.h>

// Starts a detached thread. It does not receive the program's signals, and the exit of the program
// does not wait for it. Debuggers show `name`: "cardless " and at most six letters. The thread runs
// on `cores`, or if that is NULL, on those of the calling thread. Returns false if it cannot be
// started.
bool em_own_thread(const char *name, const cpu_set_t *cores, void *(*thread_main)(void *),
                   void *arg);
// How many of them there are now.
unsigned em_own_threads(void);

enum { EM_OWN_THREAD_IDLE_MS = 250 };

// The time of the monotonic clock at which a thread ends that has nothing to do from now on.
struct timespec em_own_thread_idle_end(void);
