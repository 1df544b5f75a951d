// SPDX-License-Identifier: MIT
// The state of a thread that uses the driver. All thread-local state of the rooms above
// device-model should be in this struct.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "spin.h"
#include "thread_state.h"

struct em_entry;
struct em_object;
struct em_share;
struct em_stream;
struct em_text;

enum { EM_LOG_DUE_MOST = 16 }; // messages of one call

// An object that the thread has used, which it finds again faster (em_object_pin_again).
struct em_pin_again {
    uint64_t handle; // or 0
    uint64_t alive;  // the upper bits of *pins while the handle is valid
    uint64_t *pins;
    struct em_object *object;
};

struct em_thread {
    const struct em_entry *entry;  // the call in progress, or NULL
    const struct em_entry *caller; // the call of another library that this thread is in, or NULL
    // The addresses to which `entry` and `caller` return, which is where the program calls them.
    // NULL if unknown, as after a callback that has made calls.
    const void *returns_to, *caller_returns_to;
    const struct em_entry *entry_caller; // `caller` when `entry` began
    uint64_t calls;                      // counts this thread's calls
    uint64_t number;                     // threads are counted from 1; 0 until the first call
    struct em_context *current;          // top of the context stack, or NULL
    struct em_context_stack *stack;
    bool quick;                      // started; its calls are neither recorded nor refused
    struct em_record_thread *record; // what it writes records to, or NULL
    bool has_waited;                 // since it looked at the clock for a record (record_write.h)
    bool in_host_function;           // calls that need a context fail, because a host function runs
    bool in_kernel;                  // likewise; it is a kernel
    bool in_guard;                   // the call that runs ends with dm_guard_ends
    bool in_command;                 // this thread runs a command that waited
    bool in_program;                 // the call that runs is in a function of the program (call.h)
    // How many calls of signal handlers were refused (call.h) and have not returned, and the call
    // that they have interrupted.
    unsigned interrupts;
    const struct em_entry *interrupted;

    // Numbers of messages that callbacks get at the end of the call (log.h).
    unsigned log_due[EM_LOG_DUE_MOST], log_due_count;
    bool logged; // the call that runs has added messages to the log
    bool in_log_callback;
    const void *log_callback;   // whose function the thread is in, or NULL
    struct em_message *message; // receives the text of errors (error.h), or NULL
    struct em_text *trace_note; // for the line of the call in progress (trace.h)

    struct em_stream *streams; // the default streams of this thread, one for each context
    int capture_mode;          // CUstreamCaptureMode
    // Objects that the thread's last calls have used. Two streams, because programs that make one
    // stream wait for another use both in turn.
    struct em_pin_again last_streams[2], last_function;
    struct em_pin_again last_graphics; // one that may be mapped

    // If pthread_cancel ended a thread inside the driver, its locks would stay locked. So a call
    // disables cancellation before its first lock, and restores it when it returns.
    bool cancel_off;
    bool cancel_asynchronous; // the type was PTHREAD_CANCEL_ASYNCHRONOUS, and is deferred now
    int cancel_before;        // the state that pthread_setcancelstate returned

    // For lock.c: when the thread last got em_lock from another one (dm_now_ns), `calls` then, and
    // how many more of its last waits were long than short.
    uint64_t contended_ns, contended_calls;
    unsigned crowded;

    struct em_share *share; // the thread's slot (share.h), or NULL

    // The OpenGL context that was current when call number `gl_call` asked (gl_context.c).
    uint64_t gl_call;
    int gl_system;
    void *gl_context, *gl_display; // the display is NULL if nobody has asked for it
    const void *gl_host;           // a context, and what gl_guest.c knows of it
    bool gl_host_answers, gl_host_may;
    unsigned gl_inside; // how often the thread is in OpenGL for the driver (gl_exit.c)

    struct dm_spin spin; // while it waits for another process, or for a thread of the driver
};

// struct em_thread *em_thread(void) returns the state of the calling thread.
DM_DECLARE_THREAD_STATE(struct em_thread, em_thread)
#define em_self (*em_thread())
