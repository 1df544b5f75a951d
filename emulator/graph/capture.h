// SPDX-License-Identifier: MIT
// Stream capture: the manual's functions cuStreamBeginCapture to
// cuStreamUpdateCaptureDependencies, and the rules of the table's column `capture`.
//
// All functions take the lock: precondition: em_lock not held.
#pragma once
#include <cuda.h>
#include <stddef.h>

#include "graph.h"

struct em_context;
struct em_stream;

// Registers the functions of captured.h. Called when the driver starts.
void em_graph_start(void);

// Checks whether the rules for a call (enum em_capture) allow it now. `stream` is the call's
// stream, or NULL. A call that is not allowed invalidates the captures that forbid it.
CUresult em_capture_check(unsigned rules, struct em_stream *stream);

// The same for a call about all streams of a context.
CUresult em_capture_check_context(unsigned rules, const struct em_context *context);

// Fails if the stream is being captured and the capture is invalid. A call that adds to a capture
// should check this before its arguments.
CUresult em_capture_check_valid(const struct em_stream *stream);

// `graph` is the graph to add to, with the dependencies of the first nodes, or NULL for a new
// graph.
CUresult em_capture_begin(struct em_stream *stream, CUstreamCaptureMode mode, const CUgraph *graph,
                          const struct em_dependencies *dependencies);
// *out is NULL if there is no graph. `out` may be NULL.
CUresult em_capture_end(struct em_stream *stream, CUgraph *out);

struct em_capture_info {
    CUstreamCaptureStatus status;
    // Set only if the status is ACTIVE.
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *dependencies; // they belong to the stream
    const CUgraphEdgeData *data;
    size_t count;
};
CUresult em_capture_get(struct em_stream *stream, struct em_capture_info *out);
CUresult em_capture_update(struct em_stream *stream, const struct em_dependencies *dependencies,
                           unsigned flags);
