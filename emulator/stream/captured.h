// SPDX-License-Identifier: MIT
// Captured streams, as the rooms below `graph` see them. Work that is submitted to such a stream
// becomes a node of a graph. The room `graph` registers the functions that do so; they are called
// only while captures or captured events exist.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "hidden.h"
#include "stream.h"

struct em_event;
struct em_launch_config;

struct em_capture_ops {
    // Work for a captured stream: adds a node. Precondition: em_lock not held.
    CUresult (*add)(struct em_stream *stream, const CUgraphNodeParams *params);
    // The same for a kernel (kernel_launch.h).
    CUresult (*add_launch)(struct em_stream *stream, const struct em_launch_config *config);
    // The same for an allocation: writes the address into the parameters.
    CUresult (*allocate)(struct em_stream *stream, CUgraphNodeParams *params);
    // Of an event in a captured stream. Precondition: em_lock not held.
    CUresult (*record)(struct em_event *event, struct em_stream *stream);
    // If the stream is captured, or the event was recorded in one that was. Precondition: em_lock
    // not held.
    CUresult (*wait)(struct em_event *event, struct em_stream *stream);
    // For a wait with CU_EVENT_WAIT_EXTERNAL: fails if the event was recorded in a capture that has
    // ended or is invalid, and invalidates the stream's own capture. Precondition: em_lock not
    // held.
    CUresult (*check_record)(const struct em_event *event, struct em_stream *stream);
    // Ends the capture of a stream, if it has one. Precondition: em_lock not held.
    void (*invalidate)(struct em_stream *stream);
    // A call asks for a record that was captured, which is an error. `invalidates` ends the
    // capture. Precondition: em_lock not held.
    CUresult (*ask)(struct em_event *event, bool invalidates);
    // The event is recorded otherwise, or ends. Precondition: em_lock held.
    void (*forget)(struct em_event *event);
    // A captured stream ends. Precondition: em_lock held.
    void (*stream_ends)(struct em_stream *stream);
    // A captured stream gets work that cannot be a node. Precondition: em_lock held.
    CUresult (*refuse)(struct em_stream *stream, const char *what);
    // A kernel calls cudaGraphSetConditional. Precondition: em_lock not held.
    CUresult (*set_conditional)(CUgraphConditionalHandle handle, unsigned value);
};
extern DM_HIDDEN const struct em_capture_ops *em_capture;
// The captures that have not ended. Written atomically.
extern DM_HIDDEN uint64_t em_captures;

// Takes no lock.
static inline bool em_stream_is_captured(const struct em_stream *stream)
{
    return __builtin_expect(__atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL, 0);
}
