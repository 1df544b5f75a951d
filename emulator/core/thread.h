// SPDX-License-Identifier: MIT
// The state of a thread that uses the driver.
//
// A program may load libcuda.so.1 at any time with dlopen. So the library must not depend on the
// memory that the C library reserves for thread-local variables of late libraries (the model
// initial-exec, flag STATIC_TLS): other libraries may have used it up. It uses a TLS descriptor
// instead, which costs about two nanoseconds and works in fully static programs too, where
// __tls_get_addr (the model global-dynamic) does not.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_entry;
struct em_stream;

struct em_thread {
    const struct em_entry *entry; // the call in progress, or NULL
    uint64_t calls;               // counts this thread's calls
    uint64_t number;              // of this thread from 1; 0 until the first call
    struct em_context *current;   // top of the context stack, or NULL
    struct em_context_stack *stack;
    bool inside; // a host function runs in this thread: it may not call what needs a context

    struct em_stream *streams; // the default streams of this thread, one for each context
    int capture_mode;          // CUstreamCaptureMode

    // A thread that pthread_cancel ends inside the driver would leave locks behind: a call cannot
    // be cancelled from its first lock until it returns.
    bool cancel_off;
    int cancel_before; // the state that pthread_setcancelstate returned
};

// The calling thread's state. All thread-local state of the driver is in this struct, because this
// function is the one place that addresses it properly. `const`: the result stays the same in a
// thread, so that the compiler may keep it.
struct em_thread *em_thread(void) __attribute__((const));
#define em_self (*em_thread())
