// SPDX-License-Identifier: MIT
// Streams, and how the driver finds the stream of a CUstream argument.
#pragma once
#include "command.h"
#include "context.h"
#include "lock.h"
#include "object.h"
#include "order_point.h"

enum em_stream_kind {
    EM_STREAM_LEGACY,    // CU_STREAM_LEGACY of a context
    EM_STREAM_OF_THREAD, // CU_STREAM_PER_THREAD of a context and a thread
    EM_STREAM_CREATED,   // by cuStreamCreate, or hidden
};

struct em_stream_attributes {
    int sync_policy; // CUsynchronizationPolicy; 0: never set
    CUaccessPolicyWindow window;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
};

struct em_stream {
    struct em_object object; // type EM_STREAM; only created streams have a handle
    enum em_stream_kind kind;
    unsigned flags; // CU_STREAM_NON_BLOCKING
    int priority;
    uint64_t id;
    struct em_stream *next, *previous; // in context->streams
    struct em_stream_attributes attributes;

    bool of_graph; // hidden: for commands of a launched graph. They count as submitted with the
                   // launch, so they do not wait for the context's barrier
    bool recorded; // the record has its name
    bool blocking; // ordered with the context's legacy stream, and not that stream itself
    bool dead;     // its context is destroyed: nothing can be submitted. Written atomically

    // The scheduler's.
    // Commands that are not complete, in order; NULL: idle. `first` is written atomically.
    struct em_command *first, *last;
    uint64_t pending;       // how many
    uint64_t waiting_since; // em_scheduler.turns when its first waiting command came
    // A shared call (share.h) runs a command of the stream, which is not in `first`. Atomic
    bool claimed;

    // The error of an asynchronous command that no synchronising call has returned yet. Written
    // atomically.
    CUresult failure;
    const char *failed;                              // name of that command
    uint64_t failed_call;                            // the call that submitted it
    struct em_stream *next_failed, *previous_failed; // with a failure: in work.failed_streams

    struct em_order_point order; // for the ordering checker
    struct em_order_near order_near;

    struct em_captured *capture; // the part of a capture that is in this stream, or NULL. Written
                                 // atomically (captured.h)
    struct em_stream *next_of_thread; // EM_STREAM_OF_THREAD: the same thread's in other contexts
};

// Finds the stream of a handle. NULL and CU_STREAM_LEGACY are the current context's legacy default
// stream, CU_STREAM_PER_THREAD is this thread's default stream; anything else is a handle, which
// may belong to a context other than the current one. The stream stays valid until em_stream_put,
// which the same thread must call.
//
// The default streams need a current context. A bad handle is CUDA_ERROR_INVALID_HANDLE; a stream
// whose context has failed returns the context's error. Takes no lock, unless a default stream is
// used for the first time. Precondition: em_lock not held.
CUresult em_stream_get(CUstream handle, struct em_stream **out);
static inline void em_stream_put(struct em_stream *stream)
{
    em_assert_unlocked();
    if (stream->kind == EM_STREAM_CREATED)
        em_object_unpin(&stream->object);
}

// cuStreamCreate…, after the check of its arguments. `priority` is clamped to the range of the
// context's device.
CUresult em_stream_create(struct em_context *context, unsigned flags, int priority, CUstream *out);
// cuStreamDestroy: the handle becomes invalid at once; the commands in the stream still run.
CUresult em_stream_destroy(CUstream handle);

// Returns CUDA_ERROR_NOT_READY while a command of the stream is not complete (of the legacy stream:
// or one of a blocking stream), then the error that the stream keeps, if any.
CUresult em_stream_query(struct em_stream *stream);
// Waits for the commands submitted before, then returns the error that the stream keeps, if any.
CUresult em_stream_synchronize(struct em_stream *stream);
// The same for all streams of a context. Precondition: em_lock not held.
CUresult em_context_synchronize(struct em_context *context);
// Waits for the same work, whatever its result. A host function must not call it. Precondition:
// em_lock NOT held.
void em_context_drain(struct em_context *context);
// The result of a call that has waited for work of a context: fails if the context has failed, is
// ending, or has ended without running its work since work.abandonments had this value.
// Precondition: em_lock held.
CUresult em_context_wait_result(struct em_context *context, uint64_t abandonments);

// Keeps the error of an asynchronous command. The stream has no error yet.
// Precondition: em_lock held.
void em_stream_list_failure(struct em_stream *stream, CUresult failure);
// Drops the error, if there is one. Precondition: em_lock held.
void em_stream_forget_failure(struct em_stream *stream);
// A stream without a handle, not ordered with the legacy stream, with one reference. It lives on
// while commands are pending in it. Precondition: em_lock held.
CUresult em_stream_new_hidden(struct em_context *context, struct em_stream **out);

// The streams' part of the end of a context: runs the commands that can run, drops those that wait
// for something outside the context, and ends the default streams. Called before the
// context's objects are retired, when no new call can find the context.
// Precondition: em_lock not held.
void em_streams_finish(struct em_context *context);
// Registers the streams' part as an observer. Called when the driver starts.
void em_streams_start(void);

// Writes "CUstream #1", or the name of a default stream, and returns it.
const char *em_stream_text(const struct em_stream *stream, char *out, size_t size);

static inline bool em_context_has_failed(const struct em_context *context)
{
    return em_context_error_state(context) != EM_FINE;
}

enum { EM_PRIORITY_LEAST = 0, EM_PRIORITY_GREATEST = -5 };
int em_stream_clamp_priority(int priority);
