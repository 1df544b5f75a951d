// SPDX-License-Identifier: MIT
// Memory of this library's own. The C library would wait for itself if a signal handler that has
// interrupted malloc or free came to one of them again, so the handler's calls are refused
// meanwhile (interrupt.h).
#pragma once
#include <stdatomic.h>
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
