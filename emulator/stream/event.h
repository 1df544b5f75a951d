// SPDX-License-Identifier: MIT
// Events: markers in streams. A record is a marker of its own, so that an event recorded again does
// not confuse those who wait for the first record.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "stream.h"

struct em_event_slot;

// One record of an event. Under em_lock; `time_ns` may be read once `done` is set.
struct em_marker {
    uint32_t references; // of the event, and one of each command that records it or waits for it
    bool done;
    uint64_t time_ns; // CLOCK_MONOTONIC at completion
    struct em_event_slot
        *slot; // with CU_EVENT_INTERPROCESS: where the other processes see it, and its number there
    uint64_t slot_record;
};

struct em_event {
    struct em_object object;  // type EM_EVENT
    unsigned flags;           // CU_EVENT_*
    struct em_marker *marker; // the last record made in this process, or NULL
    struct em_event_slot
        *slot;     // with CU_EVENT_INTERPROCESS: what the processes share (ipc_event.h)
    bool imported; // by cuIpcOpenEventHandle
};

// All take the lock: precondition: em_lock NOT held, where they do not say otherwise.

// cuEventCreate: checked flags.
CUresult em_event_create(struct em_context *context, unsigned flags, CUevent *out);
CUresult em_event_destroy(CUevent handle);

// A reference is taken; em_event_put drops it. A bad handle is CUDA_ERROR_INVALID_HANDLE; an event
// whose context has failed returns its error.
CUresult em_event_get(CUevent handle, struct em_event **out);
void em_event_put(struct em_event *event);

CUresult em_event_record(struct em_event *event, struct em_stream *stream);
// Completes when all that the context's streams hold now is complete.
CUresult em_event_record_context(struct em_event *event, struct em_context *context);
// What is submitted to the stream from now on waits for the event's last record; one never recorded
// is complete.
CUresult em_event_wait(struct em_event *event, struct em_stream *stream);
// The same for all streams of a context.
CUresult em_event_wait_context(struct em_event *event, struct em_context *context);
CUresult em_event_query(struct em_event *event);
CUresult em_event_synchronize(struct em_event *event);
CUresult em_event_elapsed(struct em_event *start, struct em_event *end, float *milliseconds);

// cuIpcGetEventHandle and cuIpcOpenEventHandle.
CUresult em_event_export(struct em_event *event, CUipcEventHandle *out);
CUresult em_event_import(struct em_context *context, const CUipcEventHandle *handle, CUevent *out);
