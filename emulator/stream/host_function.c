// SPDX-License-Identifier: MIT
// Host functions and stream callbacks.
#include "host_function.h"

#include "call.h"
#include "captured.h"
#include "lock.h"
#include "order.h"

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

static CUresult run_host_function(struct em_command *c)
{
    struct host_function *h = (struct host_function *)c;
    if (em_unlikely(em_order_on))
        order_host_function(c);
    em_self.in_host_function = true;
    h->function(h->data);
    em_self.in_host_function = false;
    return CUDA_SUCCESS;
}

static CUresult run_callback(struct em_command *c)
{
    struct callback *b = (struct callback *)c;
    if (em_unlikely(em_order_on))
        order_host_function(c);
    em_self.in_host_function = true;
    b->function(b->handle, c->result, b->data);
    em_self.in_host_function = false;
    return CUDA_SUCCESS;
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
