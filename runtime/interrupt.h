// SPDX-License-Identifier: MIT
// Calls of signal handlers. A few parts of this library cannot begin again in a thread before they
// have ended: loading the driver, and whatever holds registry_mutex. A call that begins meanwhile
// is one of a signal handler. It would wait for its own thread, so it fails.
//
// A thread that loads a fat binary may run functions of the program, which may make calls. Only the
// load of another one may fail there (fat_binary.c).
#pragma once
#include <stdbool.h>

#include "thread.h"

// Whether a call that begins now interrupts a part that it must not interrupt.
static inline bool rt_interrupts(const struct rt_thread *self)
{
    return __builtin_expect(self->registry_locks | self->finds_driver, 0);
}

// Refuses a call of a signal handler: returns cudaErrorNotPermitted, which becomes the last error,
// and writes a sentence that names the call (`name`) and the interrupted one. Async-signal-safe.
cudaError_t rt_refuse(struct rt_thread *self, const char *name) __attribute__((cold));
