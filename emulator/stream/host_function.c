// SPDX-License-Identifier: MIT
// Host functions and stream callbacks.
#include "host_function.h"

#include "call.h"
#include "captured.h"
#include "error.h"
#include "lock.h"
#include "order.h"
#include "thread_exit.h"

struct host_function {
    struct em_command command;
    CUhostFn function;
    void *data;
};

struct callback {
    struct em_command command;
    CUstreamCallback function;
    CUstream handle;
    void *data;
};

// The function may let a thread of the program go on that waits for it, which the checker cannot
// see.
static void order_host_function(struct em_command *c)
{
    em_lock();
    em_order_host_waited(c);
    em_unlock();
}

// Calls a function of the program. If it calls pthread_exit, it must not end the driver's thread,
// which runs all host functions.
static CUresult call_program(void (*call)(void *), void *argument, const char *kind)
{
    em_self.in_host_function = true;
    const bool outer = em_program_begin(), ends = dm_call_ends_thread(call, argument, NULL);
    em_program_end(outer);
    em_self.in_host_function = false;
    if (!ends)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_LAUNCH_FAILED,
                   "a %s called pthread_exit, which would end a thread of the driver; return from "
                   "the function instead",
                   kind);
}

static void call_host_function(void *argument)
{
    const struct host_function *h = argument;
    h->function(h->data);
}

static CUresult run_host_function(struct em_command *c)
{
    if (em_unlikely(em_order_on))
        order_host_function(c);
    return call_program(call_host_function, c, "host function");
}

static void call_callback(void *argument)
{
    const struct callback *b = argument;
    b->function(b->handle, b->command.result, b->data);
}

static CUresult run_callback(struct em_command *c)
{
    if (em_unlikely(em_order_on))
        order_host_function(c);
    return call_program(call_callback, c, "stream callback");
}

static const struct em_command_ops host_function_ops = {
    .name = "host function", .run = run_host_function, .place = EM_HOST_THREAD};
static const struct em_command_ops callback_ops = {
    .name = "callback", .run = run_callback, .place = EM_HOST_THREAD, .always = true};

CUresult em_host_function(struct em_stream *stream, CUhostFn function, void *data)
{
    if (em_stream_is_captured(stream)) {
        const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {function, data}};
        return em_capture->add(stream, &p);
    }
    struct host_function h = {.command = {.ops = &host_function_ops, .size_B = sizeof h},
                              .function = function,
                              .data = data};
    return em_submit(stream, &h.command, EM_SUBMIT_ASYNC);
}

CUresult em_host_function_prepare(CUhostFn function, void *data, struct em_command **out)
{
    em_assert_locked();
    struct host_function h = {.command = {.ops = &host_function_ops, .size_B = sizeof h},
                              .function = function,
                              .data = data};
    return em_command_clone(&h.command, out);
}

CUresult em_stream_callback(struct em_stream *stream, CUstream handle, CUstreamCallback function,
                            void *data)
{
    struct callback b = {.command = {.ops = &callback_ops, .size_B = sizeof b},
                         .function = function,
                         .handle = handle,
                         .data = data};
    return em_submit(stream, &b.command, EM_SUBMIT_ASYNC);
}
