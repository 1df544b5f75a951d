// SPDX-License-Identifier: MIT
// The structs of captures, for the files of this room. Everything here: precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "capture.h"

struct em_event;
struct em_graph;
struct em_stream;

struct em_capture_state {
    uint32_t references; // of the capture while it lasts, and of captured records
    uint64_t id;
    uint64_t thread; // the thread that began it (em_thread.number)
    CUstreamCaptureMode mode;
    struct em_graph *graph;
    bool new_graph; // made by the capture
    bool invalid, ended;
    uint64_t invalid_call; // that invalidated it, and its name
    const char *invalid_by;
    struct em_captured *origin, *streams;
    struct em_capture_state *previous, *next; // in em_capture_first
};
extern struct em_capture_state *em_capture_first;

// Nodes, each once, and as many edge data, which are all zero.
struct em_node_set {
    CUgraphNode *nodes;
    CUgraphEdgeData *data;
    size_t count, capacity;
};

// A capture in one stream.
struct em_captured {
    struct em_capture_state *capture;
    struct em_stream *stream; // NULL: it was destroyed, and its work must still be joined
    struct em_node_set last;  // the stream's next node depends on these
    struct em_captured *next; // in capture->streams
};

// A record that was captured.
struct em_captured_record {
    struct em_capture_state *capture;
    struct em_node_set last;
};

CUresult em_node_set_add(struct em_node_set *set, const CUgraphNode *nodes, size_t count);
CUresult em_node_set_replace(struct em_node_set *set, const CUgraphNode *nodes, size_t count);
void em_node_set_finish(struct em_node_set *set);

// A stream becomes part of a capture.
CUresult em_capture_join(struct em_capture_state *capture, struct em_stream *stream);
// Ends a capture: its streams are not captured any more. Keeps the graph.
void em_capture_leave(struct em_capture_state *capture);
void em_capture_unref(struct em_capture_state *capture);
static inline void em_capture_invalidate(struct em_capture_state *capture)
{
    if (!capture->invalid) {
        capture->invalid_call = em_call_now();
        capture->invalid_by = em_entry_name();
    }
    capture->invalid = true;
}
// Reports that the capture is invalid.
CUresult em_capture_is_invalid(const struct em_capture_state *capture);

// The functions of captured.h (capture_work.c).
extern const struct em_capture_ops em_capture_functions;
