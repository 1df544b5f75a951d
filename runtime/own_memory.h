// SPDX-License-Identifier: MIT
// Memory of this library's own. malloc is not async-signal-safe: a signal handler that interrupts
// it and calls it again may deadlock. So the handler's calls are refused meanwhile (interrupt.h).
// The registry needs no such care, because it blocks signals.
#pragma once
#include <stdlib.h>

#include "thread.h"

// Returns NULL if out of memory.
static inline void *rt_alloc(size_t size_B)
{
    rt_busy_begin();
    void *memory = malloc(size_B);
    rt_busy_end();
    return memory;
}

static inline void rt_free(void *memory)
{
    rt_busy_begin();
    free(memory);
    rt_busy_end();
}
