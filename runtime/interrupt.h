// SPDX-License-Identifier: MIT
// Calls of signal handlers. A few parts of this library cannot begin again in a thread before they
// have ended: loading the driver, using the registry, and allocating memory. A call that begins
// meanwhile is one of a signal handler. It might wait for its own thread, so it fails. Cardless's
// driver refuses such calls inside its own functions.
#pragma once
#include <stdbool.h>

#include "thread.h"

// Whether a call that begins now interrupts a part that it must not interrupt.
static inline bool rt_interrupts(const struct rt_thread *self)
{
    return __builtin_expect(self->registry_locks | self->busy | self->finds_driver, 0);
}

// Refuses a call of a signal handler: returns cudaErrorNotPermitted, which becomes the last error,
// and writes a sentence that names the call (`name`) and the interrupted one. Takes no lock and
// allocates nothing.
cudaError_t rt_refuse(struct rt_thread *self, const char *name) __attribute__((cold));
