// SPDX-License-Identifier: MIT
// Threads of the driver's own.
#pragma once
#include <sched.h>
#include <stdbool.h>

// Starts a thread that nobody waits for. The program's signals are not for it, and the program's
// exit does not wait for it. `name` is what debuggers show, "cardless " and at most six letters. It
// runs on `cores`, NULL: on those of its maker. False: no thread could be made.
bool em_own_thread(const char *name, const cpu_set_t *cores, void *(*thread_main)(void *),
                   void *arg);
