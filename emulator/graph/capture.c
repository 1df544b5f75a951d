// SPDX-License-Identifier: MIT
// Captures: beginning and ending them, and what they tell about themselves.
#include "capture.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "capture_state.h"
#include "captured.h"
#include "error.h"
#include "graph_node.h"
#include "node_list.h"
#include "lock.h"
#include "startup.h"

struct em_capture_state *em_capture_first;

DM_STARTUP void em_graph_start(void)
{
    em_capture = &em_capture_functions;
}

// ---- sets of nodes ----

static CUresult reserve(struct em_node_set *set, size_t count)
{
    if (count <= set->capacity)
        return CUDA_SUCCESS;
    size_t capacity = count < 4 ? 4 : 2 * count;
    CUgraphNode *nodes = dm_alloc(capacity * sizeof *nodes);
    CUgraphEdgeData *data = dm_calloc(capacity, sizeof *data);
    if (!nodes || !data) {
        dm_free(nodes);
        dm_free(data);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %zu nodes of a capture",
                       count);
    }
    if (set->count)
        memcpy(nodes, set->nodes, set->count * sizeof *nodes);
    dm_free(set->nodes);
    dm_free(set->data);
    set->nodes = nodes;
    set->data = data;
    set->capacity = capacity;
    return CUDA_SUCCESS;
}

// Whether a node has been visited in this search. If not, it is now.
static bool visit(CUgraphNode handle, uint64_t mark)
{
    struct em_graph_node *n;
    if (em_graph_node_find(handle, &n))
        return true;
    bool seen = n->mark == mark;
    n->mark = mark;
    return seen;
}

CUresult em_node_set_add(struct em_node_set *set, const CUgraphNode *nodes, size_t count)
{
    em_assert_locked();
    CUresult r = reserve(set, set->count + count);
    if (r)
        return r;
    uint64_t mark = em_graph_next_mark();
    for (size_t i = 0; i < set->count; i++)
        visit(set->nodes[i], mark);
    for (size_t i = 0; i < count; i++)
        if (!visit(nodes[i], mark))
            set->nodes[set->count++] = nodes[i];
    return CUDA_SUCCESS;
}

CUresult em_node_set_replace(struct em_node_set *set, const CUgraphNode *nodes, size_t count)
{
    em_assert_locked();
    size_t before = set->count;
    set->count = 0;
    CUresult r = em_node_set_add(set, nodes, count);
    if (r)
        set->count = before;
    return r;
}

void em_node_set_finish(struct em_node_set *set)
{
    em_assert_locked();
    dm_free(set->nodes);
    dm_free(set->data);
}

// ---- life ----

CUresult em_capture_is_invalid(const struct em_capture_state *c)
{
    char call[64];
    em_assert_locked();
    em_call_text(c->invalid_call, call, sizeof call);
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                   "%s (%s) has invalidated the capture of this stream", c->invalid_by, call);
}

void em_capture_unref(struct em_capture_state *c)
{
    em_assert_locked();
    if (!--c->references)
        dm_free(c);
}

CUresult em_capture_join(struct em_capture_state *c, struct em_stream *stream)
{
    em_assert_locked();
    struct em_captured *part = dm_calloc(1, sizeof *part);
    if (!part)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a captured stream");
    part->capture = c;
    part->stream = stream;
    part->next = c->streams;
    c->streams = part;
    __atomic_store_n(&stream->capture, part, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

// The capture keeps its graph, and those that contain it, from being destroyed.
static void count_in_graphs(struct em_graph *graph, int change)
{
    graph->captures += (unsigned)change;
    while (graph->parent) {
        graph = graph->parent->graph;
        graph->captures += (unsigned)change;
    }
}

void em_capture_leave(struct em_capture_state *c)
{
    em_assert_locked();
    for (struct em_captured *part = c->streams, *next; part; part = next) {
        next = part->next;
        if (part->stream)
            __atomic_store_n(&part->stream->capture, NULL, __ATOMIC_RELEASE);
        em_node_set_finish(&part->last);
        dm_free(part);
    }
    c->streams = c->origin = NULL;
    *(c->previous ? &c->previous->next : &em_capture_first) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    __atomic_store_n(&em_captures, em_captures - 1, __ATOMIC_RELEASE);
    c->ended = true;
    count_in_graphs(c->graph, -1);
    em_capture_unref(c);
}

// ---- beginning ----

static CUresult begin(struct em_stream *stream, CUstreamCaptureMode mode, struct em_graph *graph,
                      const struct em_dependencies *d)
{
    static uint64_t last_id;
    struct em_capture_state *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a capture");
    CUresult r = graph ? CUDA_SUCCESS : em_graph_new(&c->graph);
    c->new_graph = !graph;
    if (graph)
        c->graph = graph;
    if (r) {
        dm_free(c);
        return r;
    }
    c->references = 1;
    c->id = ++last_id;
    c->thread = em_self.number;
    c->mode = mode;
    c->next = em_capture_first;
    if (c->next)
        c->next->previous = c;
    em_capture_first = c;
    __atomic_store_n(&em_captures, em_captures + 1, __ATOMIC_RELEASE);
    count_in_graphs(c->graph, 1);
    r = em_capture_join(c, stream);
    c->origin = c->streams;
    if (!r)
        r = em_node_set_replace(&c->origin->last, d->nodes, d->count);
    if (r) {
        struct em_graph *made = c->new_graph ? c->graph : NULL;
        em_capture_leave(c);
        if (made)
            em_graph_drop(made);
    }
    return r;
}

// A node may be in the list twice (recorded: graph_rules, ends/to-graph-2).
static CUresult check_first(struct em_graph *g, const struct em_dependencies *d)
{
    CUresult r = CUDA_SUCCESS;
    if (!d->nodes)
        return em_graph_check_dependencies(g, d, CU_GRAPH_NODE_TYPE_EMPTY);
    for (size_t i = 0; i < d->count && !r; i++) {
        const struct em_dependencies one = {&d->nodes[i], d->data ? &d->data[i] : NULL, 1};
        r = em_graph_check_dependencies(g, &one, CU_GRAPH_NODE_TYPE_EMPTY);
    }
    return r;
}

CUresult em_capture_begin(struct em_stream *stream, CUstreamCaptureMode mode, const CUgraph *handle,
                          const struct em_dependencies *d)
{
    struct em_graph *graph = NULL;
    em_lock();
    CUresult r = handle ? em_graph_get(*handle, &graph) : CUDA_SUCCESS;
    if (!r && stream->kind == EM_STREAM_LEGACY)
        r = em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "the legacy default stream cannot be captured; use a created stream, or "
                    "CU_STREAM_PER_THREAD");
    if (!r && stream->capture)
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
    if (!r && graph)
        r = check_first(graph, d);
    if (!r)
        r = begin(stream, mode, graph, d);
    em_unlock();
    return r;
}

// ---- ending ----

// Marks nodes and all that they depend on. The list, which has room for all nodes of the graph, is
// for the nodes whose edges should be followed.
static void mark_ancestors(const struct em_node_set *from, uint64_t mark,
                           struct em_graph_node **list)
{
    size_t count = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct em_graph_node *n;
        if (!em_graph_node_find(from->nodes[i], &n) && n->mark != mark) {
            n->mark = mark;
            list[count++] = n;
        }
    }
    while (count) {
        const struct em_graph_node *n = list[--count];
        for (const struct em_graph_edge *e = n->first_in; e; e = e->next_in) {
            if (e->from->mark == mark)
                continue;
            e->from->mark = mark;
            list[count++] = e->from;
        }
    }
}

// Whether the last nodes of all streams come before the origin's next node. A stream that has
// joined, but has no work of its own, need not be joined again (recorded:
// capture/fork-without-work-unjoined).
static CUresult check_joined(const struct em_capture_state *c)
{
    if (!c->streams->next)
        return CUDA_SUCCESS;
    struct em_graph_node **list = dm_alloc((c->graph->node_count + 1) * sizeof *list);
    if (!list)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the end of a capture");
    uint64_t mark = em_graph_next_mark();
    bool joined = true;
    mark_ancestors(&c->origin->last, mark, list);
    for (const struct em_captured *part = c->streams; part; part = part->next) {
        for (size_t i = 0; i < part->last.count; i++) {
            struct em_graph_node *n;
            joined &= em_graph_node_find(part->last.nodes[i], &n) || n->mark == mark;
        }
    }
    dm_free(list);
    if (joined)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                   "a stream that has joined the capture has work for which the stream where the "
                   "capture began does not wait; record an event after it, and wait for the event");
}

static CUresult end(struct em_captured *part, CUgraph *out)
{
    struct em_capture_state *c = part->capture;
    struct em_graph *g = c->graph;
    if (part != c->origin) {
        em_capture_invalidate(c);
        return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                       "the capture did not begin in this stream; the stream has joined it");
    }
    CUresult r = CUDA_SUCCESS;
    // In this order (recorded: graph_rules, ends).
    if (c->invalid)
        r = em_capture_is_invalid(c);
    else
        r = check_joined(c);
    if (!r && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != em_self.number)
        r = em_fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                    "another thread began the capture; only a capture of mode RELAXED can be ended "
                    "by any thread");
    bool keep = !c->new_graph || (!r && out);
    em_capture_leave(c);
    if (!keep)
        em_graph_drop(g);
    if (!r && out)
        *out = em_graph_handle(g);
    return r;
}

CUresult em_capture_end(struct em_stream *stream, CUgraph *out)
{
    if (out)
        *out = NULL;
    em_lock();
    CUresult r = stream->capture
                     ? end(stream->capture, out)
                     : em_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    em_unlock();
    return r;
}

// ---- questions ----

// "If called on CU_STREAM_LEGACY (the "null stream") while a stream not in
// CU_STREAM_NON_BLOCKING mode is capturing, this will return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT".
static CUresult check_legacy(const struct em_stream *stream)
{
    if (stream->kind != EM_STREAM_LEGACY)
        return CUDA_SUCCESS;
    for (const struct em_capture_state *c = em_capture_first; c; c = c->next)
        for (const struct em_captured *part = c->streams; part; part = part->next)
            if (part->stream && part->stream->blocking &&
                part->stream->object.context == stream->object.context)
                return em_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                               "a blocking stream is being captured, which makes the state of the "
                               "legacy default stream undefined");
    return CUDA_SUCCESS;
}

CUresult em_capture_get(struct em_stream *stream, struct em_capture_info *out)
{
    em_lock();
    CUresult r = check_legacy(stream);
    const struct em_captured *part = stream->capture;
    *out = (struct em_capture_info){.status = CU_STREAM_CAPTURE_STATUS_NONE};
    if (!r && part && part->capture->invalid)
        out->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    else if (!r && part)
        *out = (struct em_capture_info){.status = CU_STREAM_CAPTURE_STATUS_ACTIVE,
                                        .id = part->capture->id,
                                        .graph = em_graph_handle(part->capture->graph),
                                        .dependencies = part->last.nodes,
                                        .data = part->last.data,
                                        .count = part->last.count};
    em_unlock();
    return r;
}

CUresult em_capture_update(struct em_stream *stream, const struct em_dependencies *d,
                           unsigned flags)
{
    em_lock();
    struct em_captured *part = stream->capture;
    CUresult r = CUDA_SUCCESS;
    if (!part)
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    else if (part->capture->invalid)
        r = em_capture_is_invalid(part->capture);
    else
        r = em_graph_check_dependencies(part->capture->graph, d, CU_GRAPH_NODE_TYPE_EMPTY);
    if (!r)
        r = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES
                ? em_node_set_replace(&part->last, d->nodes, d->count)
                : em_node_set_add(&part->last, d->nodes, d->count);
    em_unlock();
    return r;
}
