// SPDX-License-Identifier: MIT
// Events. Each record of an event has a marker of its own, so that recording an event again does
// not affect the waits for an earlier record.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "stream.h"

struct em_event_slot;
struct em_marker;

struct em_event {
    struct em_object object;             // type EM_EVENT
    unsigned flags;                      // CU_EVENT_*
    struct em_marker *marker;            // the last record made in this process, or NULL
    struct em_event_slot *slot;          // with CU_EVENT_INTERPROCESS: shared with other processes
    struct em_captured_record *captured; // if the last record was captured: that record. Written
                                         // atomically (captured.h)
    bool imported;                       // by cuIpcOpenEventHandle
};

// Everything here takes the lock: precondition: em_lock not held.

// cuEventCreate, after the check of its flags.
CUresult em_event_create(struct em_context *context, unsigned flags, CUevent *out);
CUresult em_event_destroy(CUevent handle);

// The event stays valid until em_event_put. A bad handle is CUDA_ERROR_INVALID_HANDLE; an event
// whose context has failed returns the context's error. Both take no lock.
CUresult em_event_get(CUevent handle, struct em_event **out);
void em_event_put(struct em_event *event);

CUresult em_event_record(struct em_event *event, struct em_stream *stream);
// The record completes when all commands that the context's streams hold now have completed.
CUresult em_event_record_context(struct em_event *event, struct em_context *context);
// Commands submitted to the stream from now on wait for the event's last record. An event that was
// never recorded counts as complete.
CUresult em_event_wait(struct em_event *event, struct em_stream *stream);
// The same for all streams of a context.
CUresult em_event_wait_context(struct em_event *event, struct em_context *context);
// The same two commands on the heap, for a graph that runs them itself. The event's last record is
// the new one from now on. Each must be ended by its operation `finish`, once, and then freed.
// *out is NULL if there is no record to wait for. Precondition: em_lock held.
CUresult em_event_record_prepare(struct em_event *event, struct em_command **out);
CUresult em_event_wait_prepare(struct em_event *event, struct em_command **out);

CUresult em_event_query(struct em_event *event);
CUresult em_event_synchronize(struct em_event *event);
CUresult em_event_elapsed(struct em_event *start, struct em_event *end, float *milliseconds);

// cuIpcGetEventHandle and cuIpcOpenEventHandle.
CUresult em_event_export(struct em_event *event, CUipcEventHandle *out);
CUresult em_event_import(struct em_context *context, const CUipcEventHandle *handle, CUevent *out);
