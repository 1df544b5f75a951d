// SPDX-License-Identifier: MIT
// Calls of signal handlers. A nested call comes from a signal handler, unless the driver is running
// a callback. It is refused if it could deadlock with the call that it interrupted: if this library
// is in code that is not re-entrant, or if the driver would refuse it.
#pragma once
#include <stdbool.h>

#include "driver.h"
#include "thread.h"

// Whether the driver would refuse a call because it interrupts one of its functions. Only
// Cardless's driver knows.
bool rt_driver_refuses(void) __attribute__((cold));

// Whether a call that begins now has to be refused.
static inline bool rt_interrupts(const struct rt_thread *self)
{
    return __builtin_expect(self->busy | self->finds_driver, 0) ||
           (__builtin_expect(self->entry != NULL, 0) && rt_driver_refuses());
}

// Refuses a call of a signal handler: returns cudaErrorNotPermitted, which becomes the last error,
// and writes a sentence that names the call (`name`) and the interrupted one. Takes no lock and
// allocates nothing.
cudaError_t rt_refuse(struct rt_thread *self, const char *name) __attribute__((cold));
