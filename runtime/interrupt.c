// SPDX-License-Identifier: MIT
// Refuses calls of signal handlers.
#include "interrupt.h"

#include <stdio.h>
#include <unistd.h>

#include "message.h"

bool rt_driver_refuses(void)
{
    return rt_driver_is_loaded() && rt_cardless.cardlessMayCall && !rt_cardless.cardlessMayCall();
}

// The driver is not asked to write the sentence: perhaps it is not loaded yet.
cudaError_t rt_refuse(struct rt_thread *self, const char *name)
{
    static unsigned shown;
    char text[512];
    if (rt_may_write(&shown)) {
        const int length = snprintf(
            text, sizeof text,
            "cardless: %s: cudaErrorNotPermitted: a signal handler makes this call, and it has "
            "interrupted %s of the same thread; let it set a flag, and make the call later\n",
            name, self->entry ? self->entry->name : "a function of compiled code");
        (void)!write(STDERR_FILENO, text, (size_t)length);
    }
    self->last_error = cudaErrorNotPermitted;
    return cudaErrorNotPermitted;
}
