// SPDX-License-Identifier: MIT
// Work in captured streams: nodes, records of events, and waits for them.
#include "alloc.h"
#include "call.h"
#include "capture_state.h"
#include "captured.h"
#include "conditional.h"
#include "error.h"
#include "event.h"
#include "graph_node.h"
#include "lock.h"
#include "node_kernel.h"
#include "node_list.h"

// ---- nodes ----

// Adds a node that takes over `copy`, if `r` is CUDA_SUCCESS: else making that has failed.
static CUresult add_made(struct em_captured *part, CUgraphNodeType type, void *copy, CUresult r)
{
    struct em_capture_state *c = part->capture;
    const struct em_dependencies d = {.nodes = part->last.nodes, .count = part->last.count};
    struct em_graph_node *n;
    if (!r)
        r = em_graph_add_checked(c->graph, &d, type, copy, &n);
    if (!r)
        r = em_node_set_replace(&part->last, &(CUgraphNode){em_graph_node_handle(n)}, 1);
    return r; // a refused call leaves the capture valid (recorded: graph_rules, failing)
}

static CUresult add_node(struct em_captured *part, const CUgraphNodeParams *params)
{
    void *copy;
    if (part->capture->invalid)
        return em_capture_is_invalid(part->capture);
    CUresult r = em_node_params_captured(params, part->capture->graph, &copy);
    return add_made(part, params->type, copy, r);
}

static CUresult add_launch(struct em_captured *part, const struct em_launch_config *config,
                           int priority)
{
    void *copy;
    if (part->capture->invalid)
        return em_capture_is_invalid(part->capture);
    CUresult r = em_node_kernel_captured(config, priority, &copy);
    r = add_made(part, CU_GRAPH_NODE_TYPE_KERNEL, copy, r);
    if (r) // unlike other work (recorded: capture/bad-launch-while-capturing)
        em_capture_invalidate(part->capture);
    return r;
}

// Another thread may have ended the capture since the caller looked.
static CUresult not_captured(void)
{
    return em_fail(CUDA_ERROR_ILLEGAL_STATE, "another thread has ended the capture of this stream");
}

static CUresult capture_add(struct em_stream *stream, const CUgraphNodeParams *params)
{
    em_lock();
    CUresult r = stream->capture ? add_node(stream->capture, params) : not_captured();
    em_unlock();
    return r;
}

static CUresult capture_add_launch(struct em_stream *stream, const struct em_launch_config *config)
{
    em_lock();
    CUresult r =
        stream->capture ? add_launch(stream->capture, config, stream->priority) : not_captured();
    em_unlock();
    return r;
}

// The program has named a pool, which cuMemAllocFromPoolAsync calls `pool`.
static CUresult check_pool(const CUmemPoolProps *p)
{
    if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "pool has managed memory; a captured allocation needs a pool of device "
                       "memory (CU_MEM_ALLOCATION_TYPE_PINNED)");
    if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "pool has memory of the host; a captured allocation needs a pool of device "
                       "memory");
    return CUDA_SUCCESS;
}

static CUresult capture_allocate(struct em_stream *stream, CUgraphNodeParams *params)
{
    em_lock();
    CUresult r = stream->capture ? CUDA_SUCCESS : not_captured();
    if (!r && !stream->capture->capture->invalid)
        r = check_pool(&params->alloc.poolProps);
    if (!r)
        r = add_node(stream->capture, params);
    if (!r) // the node is the last one now
        em_node_params_get(params->type, stream->capture->capture->graph->last->params, params);
    em_unlock();
    return r;
}

// ---- records ----

static void capture_forget(struct em_event *e)
{
    em_assert_locked();
    struct em_captured_record *record = e->captured;
    __atomic_store_n(&e->captured, NULL, __ATOMIC_RELEASE);
    em_node_set_finish(&record->last);
    em_capture_unref(record->capture);
    dm_free(record);
}

static CUresult record(struct em_event *e, const struct em_captured *part)
{
    if (part->capture->invalid)
        return em_capture_is_invalid(part->capture);
    struct em_captured_record *new = dm_calloc(1, sizeof *new);
    if (!new)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a captured record");
    CUresult r = em_node_set_replace(&new->last, part->last.nodes, part->last.count);
    if (r) {
        dm_free(new);
        return r;
    }
    if (e->captured)
        capture_forget(e);
    new->capture = part->capture;
    new->capture->references++;
    __atomic_store_n(&e->captured, new, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

static CUresult capture_record(struct em_event *e, struct em_stream *stream)
{
    em_lock();
    CUresult r = stream->capture ? record(e, stream->capture) : not_captured();
    em_unlock();
    return r;
}

// (recorded: capture/captured-event-used-after-end)
static CUresult record_is_over(void)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "the event was last recorded in a capture that has ended or is "
                   "invalid; record it again");
}

static CUresult capture_ask(struct em_event *e, bool invalidates)
{
    CUresult r;
    em_lock();
    struct em_capture_state *c = e->captured ? e->captured->capture : NULL;
    if (!c || c->ended || c->invalid) {
        r = record_is_over();
    } else {
        r = em_fail(CUDA_ERROR_CAPTURED_EVENT,
                    "the event was last recorded in a stream that is being captured, so there is "
                    "no work to ask for");
        if (invalidates)
            em_capture_invalidate(c);
    }
    em_unlock();
    return r;
}

// ---- waits ----

// "dependency created on uncaptured work in another stream"
static CUresult wait_for_uncaptured(const struct em_event *e, struct em_captured *part)
{
    if (part->capture->invalid)
        return em_capture_is_invalid(part->capture);
    if (!e->marker && !e->slot) // never recorded: no dependency
        return CUDA_SUCCESS;
    em_capture_invalidate(part->capture);
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                   "a captured stream must not wait for an event that was recorded outside of the "
                   "capture; use CU_EVENT_WAIT_EXTERNAL");
}

static CUresult wait_for_captured(const struct em_event *e, struct em_stream *stream)
{
    struct em_capture_state *c = e->captured->capture;
    struct em_captured *part = stream->capture;
    if (c->ended || c->invalid) {
        if (part)
            em_capture_invalidate(part->capture);
        return record_is_over();
    }
    if (stream->kind == EM_STREAM_LEGACY) {
        em_capture_invalidate(c);
        return em_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                       "the legacy default stream must not wait for an event of a capture");
    }
    if (part && part->capture != c) {
        em_capture_invalidate(c);
        em_capture_invalidate(part->capture);
        return em_fail(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                       "the event belongs to another capture than the stream");
    }
    CUresult r = part ? CUDA_SUCCESS : em_capture_join(c, stream);
    if (!r)
        r = em_node_set_add(&stream->capture->last, e->captured->last.nodes,
                            e->captured->last.count);
    if (r)
        em_capture_invalidate(c);
    return r;
}

static CUresult capture_check_record(const struct em_event *e, struct em_stream *stream)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    if (e->captured && (e->captured->capture->ended || e->captured->capture->invalid)) {
        if (stream->capture)
            em_capture_invalidate(stream->capture->capture);
        r = record_is_over();
    }
    em_unlock();
    return r;
}

static void capture_invalidate(struct em_stream *stream)
{
    em_lock();
    if (stream->capture)
        em_capture_invalidate(stream->capture->capture);
    em_unlock();
}

static CUresult capture_wait(struct em_event *e, struct em_stream *stream)
{
    CUresult r;
    em_lock();
    if (e->captured)
        r = wait_for_captured(e, stream);
    else
        r = stream->capture ? wait_for_uncaptured(e, stream->capture) : not_captured();
    em_unlock();
    return r;
}

// ---- streams ----

// A capture ends with the stream where it began (recorded: capture_destroy). Another stream may end
// as soon as its work has been submitted: the capture goes on, and its end checks that the work is
// joined.
static void capture_stream_ends(struct em_stream *stream)
{
    em_assert_locked();
    struct em_captured *part = stream->capture;
    struct em_capture_state *c = part->capture;
    if (part == c->origin) {
        struct em_graph *made = c->new_graph ? c->graph : NULL;
        em_capture_leave(c);
        if (made)
            em_graph_drop(made);
        return;
    }
    __atomic_store_n(&stream->capture, NULL, __ATOMIC_RELEASE);
    part->stream = NULL;
}

static CUresult capture_refuse(struct em_stream *stream, const char *what)
{
    em_assert_locked();
    em_capture_invalidate(stream->capture->capture);
    return em_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a %s cannot be captured", what);
}

const struct em_capture_ops em_capture_functions = {
    .add = capture_add,
    .add_launch = capture_add_launch,
    .allocate = capture_allocate,
    .record = capture_record,
    .wait = capture_wait,
    .check_record = capture_check_record,
    .invalidate = capture_invalidate,
    .ask = capture_ask,
    .forget = capture_forget,
    .stream_ends = capture_stream_ends,
    .refuse = capture_refuse,
    .set_conditional = em_conditional_set,
};
