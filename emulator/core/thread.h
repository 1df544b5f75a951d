// SPDX-License-Identifier: MIT
// The state of a thread that uses the driver.
//
// A program may load libcuda.so.1 at any time with dlopen. The C library reserves a little memory
// for the thread-local variables of libraries that are loaded late (the model initial-exec, flag
// STATIC_TLS). Cardless must not depend on this memory, because other libraries may have used it
// up. It uses a TLS descriptor instead, which costs about two nanoseconds. A descriptor also works
// in fully static programs, unlike __tls_get_addr (the model global-dynamic).
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_entry;
struct em_stream;

struct em_thread {
    const struct em_entry *entry; // the call in progress, or NULL
    uint64_t calls;               // counts this thread's calls
    uint64_t number;              // threads are counted from 1; 0 until the first call
    struct em_context *current;   // top of the context stack, or NULL
    struct em_context_stack *stack;
    bool in_host_function; // calls that need a context fail, because a host function runs

    struct em_stream *streams; // the default streams of this thread, one for each context
    int capture_mode;          // CUstreamCaptureMode

    // If pthread_cancel ended a thread inside the driver, its locks would stay locked. So a call
    // disables cancellation before its first lock, and restores it when it returns.
    bool cancel_off;
    int cancel_before; // the state that pthread_setcancelstate returned
};

// Returns the state of the calling thread. All thread-local state of the driver should be in this
// struct, because only this function addresses it with a descriptor. The attribute `const` lets the
// compiler keep the result, which is safe because it stays the same in a thread.
struct em_thread *em_thread(void) __attribute__((const));
#define em_self (*em_thread())
