// SPDX-License-Identifier: MIT
// Streams: the queues of a context, and how a CUstream argument becomes one.
#pragma once
#include "command.h"
#include "context.h"

struct em_stream {
    struct em_object object; // type EM_STREAM; the default streams have no handle in the table
    unsigned flags;          // CU_STREAM_NON_BLOCKING
    int priority;
    uint64_t id;
    struct em_stream *next; // in context->streams
    // queue of pending commands etc. follows with the funnel
};

// NULL and CU_STREAM_LEGACY: the current context's default stream; CU_STREAM_PER_THREAD: this thread's; else the handle's, which may belong to a
// context other than the current one. A reference is taken; em_stream_put drops it. Fails with the card's code for a bad handle.
// Takes the lock: precondition: em_lock NOT held.
CUresult em_stream_get(CUstream handle, struct em_stream **out);
void em_stream_put(struct em_stream *stream);
