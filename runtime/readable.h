// SPDX-License-Identifier: MIT
// Checks pointers to the structures that a call reads and to the objects that it writes, so that a
// wrong one is an error with a sentence instead of a fault. The generated functions call it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "types.h"

enum { RT_NEAR_B = 16 << 10 };

// Whether memory at `p` is in the thread's stack for certain: it is just above the frame.
static inline bool rt_is_near(const void *p)
{
    return (uintptr_t)p - (uintptr_t)__builtin_frame_address(0) < RT_NEAR_B;
}

// Returns cudaSuccess if `count` elements of `element_B` bytes can be read at `p`, else
// cudaErrorInvalidValue with a message that begins with `name`. NULL passes because the caller
// checks it, and so does a small list just above the caller's frame: memory there is the thread's
// stack. Asks the kernel, because the runtime has no handlers for faults; passes if the kernel does
// not answer (as in some containers).
cudaError_t rt_readable(const char *name, const void *p, uint64_t count, uint64_t element_B);

// The same for one structure.
static inline cudaError_t rt_readable_object(const char *name, const void *p, uint64_t size_B)
{
    return rt_is_near(p) ? cudaSuccess : rt_readable(name, p, 1, size_B);
}

// Returns cudaSuccess if one object of `size_B` bytes, at most a page, can be written at `p`, else
// cudaErrorInvalidValue with a message. It does not change the memory. NULL passes. A page that
// could be written once passes from then on, so that a call does not have to ask the kernel.
cudaError_t rt_writable(const char *name, void *p, uint64_t size_B);

static inline cudaError_t rt_writable_object(const char *name, void *p, uint64_t size_B)
{
    return rt_is_near(p) ? cudaSuccess : rt_writable(name, p, size_B);
}
