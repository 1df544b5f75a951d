// SPDX-License-Identifier: MIT
// Streams: the queues of a context, and how a CUstream argument becomes one.
#pragma once
#include "command.h"
#include "context.h"

// CU_STREAM_LEGACY of a context; one thread's CU_STREAM_PER_THREAD; made by cuStreamCreate.
enum em_stream_kind { EM_STREAM_LEGACY, EM_STREAM_OF_THREAD, EM_STREAM_CREATED };

struct em_stream_attributes {
    int sync_policy; // CUsynchronizationPolicy; 0: never set
    CUaccessPolicyWindow window;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
};

struct em_stream {
    struct em_object object; // type EM_STREAM; the default streams have no handle in the table
    enum em_stream_kind kind;
    unsigned flags; // CU_STREAM_NON_BLOCKING
    int priority;
    uint64_t id;
    struct em_stream *next, *previous; // in context->streams
    struct em_stream_attributes attributes;

    bool blocking; // ordered with the context's legacy stream, and not that stream itself
    bool dead;     // its context is destroyed: the context must not be touched
    uint64_t submitted, completed;   // commands; equal: idle
    struct em_command *running;      // the one in progress, or NULL
    struct em_command *first, *last; // those that wait
    CUresult failure;     // of an asynchronous command, not yet returned by a synchronising call
    const char *failed;   // name of that command
    uint64_t failed_call; // the call that submitted it
    struct em_stream *next_waiting,
        *previous_waiting; // in the list of streams with commands that wait
    struct em_stream
        *next_of_thread; // with EM_STREAM_OF_THREAD: the same thread's in other contexts
};

// NULL and CU_STREAM_LEGACY: the current context's default stream; CU_STREAM_PER_THREAD: this
// thread's; else the handle's, which may belong to a context other than the current one. A
// reference is taken; em_stream_put drops it. The first three need a current context and say so; a
// bad handle is CUDA_ERROR_INVALID_HANDLE; a stream whose context has failed returns the context's
// error. Takes the lock: precondition: em_lock NOT held.
CUresult em_stream_get(CUstream handle, struct em_stream **out);
void em_stream_put(struct em_stream *stream);

// cuStreamCreate…: checked arguments. `priority` is clamped to the range of the context's device.
CUresult em_stream_create(struct em_context *context, unsigned flags, int priority, CUstream *out);
// cuStreamDestroy: the handle is invalid at once, what is in the stream runs on.
CUresult em_stream_destroy(CUstream handle);

// CUDA_ERROR_NOT_READY while something in the stream (the legacy stream: or in a blocking one) is
// not complete; then the kept error, if any.
CUresult em_stream_query(struct em_stream *stream);
// Waits for all that was submitted before, then returns the kept error, if any.
CUresult em_stream_synchronize(struct em_stream *stream);
// The same over all streams of a context. Precondition: em_lock NOT held.
CUresult em_context_synchronize(struct em_context *context);

// Whether a command of the context with a ticket up to this one is not complete. Precondition:
// em_lock held.
bool em_context_is_pending(const struct em_context *context, uint64_t up_to);
// A living context that has such commands, or NULL. Precondition: em_lock held.
struct em_context *em_context_with_work(uint64_t up_to);
// A stream without a handle, not ordered with the legacy stream, that lives while something is in
// it. Precondition: em_lock held.
CUresult em_stream_new_hidden(struct em_context *context, struct em_stream **out);

// The streams' part of a context's end: runs what can run, waits for what is running, drops what
// waits for the outside, and ends the default streams. Called once, before the context's objects
// are retired, when no new call can find the context. Precondition: em_lock NOT held.
void em_streams_finish(struct em_context *context);
// Registers the streams' part as an observer. Called when the driver starts.
void em_streams_start(void);

enum { EM_PRIORITY_LEAST = 0, EM_PRIORITY_GREATEST = -5 };
int em_stream_clamp_priority(int priority);
