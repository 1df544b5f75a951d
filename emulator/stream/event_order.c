// SPDX-License-Identifier: MIT
// Commands of events: records, and waits for them.
#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "clock.h"
#include "command.h"
#include "context_work.h"
#include "deadlock.h"
#include "error.h"
#include "event.h"
#include "event_marker.h"
#include "event_shared.h"
#include "lock.h"
#include "order.h"
#include "order_signal.h"
#include "record.h"
#include "scheduler.h"
#include "synchronised.h"

// ---- record ----

struct record {
    struct em_command command;
    struct em_event *event; // keeps the slot
    struct em_marker *marker;
    uint64_t up_to; // of em_event_record_context: the sequence number of the last command before it
};

static const struct em_command_ops record_context_ops;

// CU_EVENT_DISABLE_TIMING: "Event will not record timing data".
static bool has_time(const struct em_event *e)
{
    return !(e->flags & CU_EVENT_DISABLE_TIMING);
}

static CUresult run_record(struct em_command *c)
{
    const struct record *r = (struct record *)c;
    if (has_time(r->event))
        r->marker->time_ns = dm_now_ns();
    return CUDA_SUCCESS;
}

// Everything before the record is ordered before those who wait for it.
static void order_record(struct record *r)
{
    struct em_command *c = &r->command;
    em_order_recorded(c);
    if (r->marker->slot)
        em_order_release_outside(c);
    em_order_mark(c, &r->marker->order);
    if (c->ops != &record_context_ops)
        return;
    r->marker->order.base = 0;
    em_order_release_context(c->stream->object.context, r->up_to, &r->marker->order.known);
}

static void finish_record(struct em_command *c)
{
    struct record *r = (struct record *)c;
    em_assert_locked();
    if (em_unlikely(em_order_on))
        order_record(r);
    if (em_unlikely(em_recording))
        em_record_signalled((uintptr_t)r->marker, 0, c->sequence);
    r->marker->done = true;
    em_condition_notify(&r->marker->completed);
    if (r->marker->slot)
        em_event_slot_complete(r->marker->slot, r->marker->slot_record);
    em_marker_unref(r->marker);
    em_object_unref(&r->event->object);
}

static bool context_reached(struct em_command *c)
{
    return !em_context_is_pending(c->stream->object.context, ((struct record *)c)->up_to);
}

static const struct em_command_ops record_ops = {
    .name = "event record", .run = run_record, .finish = finish_record};
static const struct em_command_ops record_context_ops = {
    .name = "event record", .ready = context_reached, .run = run_record, .finish = finish_record};

// Gives a record its marker, which is the event's last one from now on.
static CUresult begin_record(struct em_event *e, struct record *c)
{
    em_assert_locked();
    if (e->captured)
        em_capture->forget(e);
    c->event = e;
    CUresult r = em_event_next_marker(e, &c->marker);
    if (!r)
        em_object_ref(&e->object);
    return r;
}

// Submits the record of an event.
static CUresult record(struct em_event *e, struct em_stream *s, struct record *c)
{
    CUresult r = begin_record(e, c);
    return r ? r : em_issue(s, &c->command, EM_SUBMIT_ASYNC);
}

CUresult em_event_record_prepare(struct em_event *e, struct em_command **out)
{
    em_assert_locked();
    struct record *c = dm_alloc(sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a record of an event");
    em_command_init(&c->command, &record_ops, sizeof *c);
    CUresult r = begin_record(e, c);
    if (r)
        dm_free(c);
    else
        *out = &c->command;
    return r;
}

// Of two threads that record an event at once, the later time counts.
static void raise_time(uint64_t *time_ns, uint64_t now_ns)
{
    uint64_t before = __atomic_load_n(time_ns, __ATOMIC_RELAXED);
    while (before < now_ns && !__atomic_compare_exchange_n(time_ns, &before, now_ns, true,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

// Whether a record that completes at once differs from the last one in its time only: nobody uses
// the last marker any more.
static bool record_is_plain(const struct em_event *e)
{
    const struct em_marker *m = e->marker;
    return m && m->references == 1 && !em_recording && em_event_is_plainly_done(e);
}

// In a free stream, a record completes at once.
static bool record_shared(struct em_share *share, struct em_event *e, const struct em_stream *s)
{
    const bool can = record_is_plain(e) && em_stream_is_free(s);
    if (can && has_time(e))
        raise_time(&e->marker->time_ns, dm_now_ns());
    em_share_leave(share);
    return can;
}

// The same with em_lock held.
static bool record_in_place(struct em_event *e, const struct em_stream *s)
{
    em_assert_locked();
    const bool can = record_is_plain(e) && em_stream_runs_in_place(s);
    if (can && has_time(e))
        raise_time(&e->marker->time_ns, dm_now_ns());
    return can;
}

CUresult em_event_record(struct em_event *e, struct em_stream *s)
{
    struct record c;
    // "hEvent and hStream must be from the same context otherwise CUDA_ERROR_INVALID_HANDLE is
    // returned".
    if (e->object.context != s->object.context)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "the event and the stream belong to different contexts");
    if (em_stream_is_captured(s))
        return em_capture->record(e, s);
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        if (record_shared(share, e, s))
            return CUDA_SUCCESS;
        em_lock_briefly();
    }
    CUresult r = CUDA_SUCCESS;
    if (em_unlikely(!record_in_place(e, s))) {
        em_cancel_off();
        em_command_init(&c.command, &record_ops, sizeof c);
        r = record(e, s, &c);
    }
    em_offer_sharing(s);
    em_unlock();
    return r;
}

CUresult em_event_record_context(struct em_event *e, struct em_context *context)
{
    struct record c;
    struct em_stream *s;
    if (e->object.context != context)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "the event belongs to another context");
    em_lock();
    CUresult r = em_stream_new_hidden(context, &s);
    if (!r) {
        em_command_init(&c.command, &record_context_ops, sizeof c);
        c.command.condition = &context->work.reached;
        c.up_to = context->work.last_sequence;
        c.command.stream = s; // `ready` is asked before the submission
        r = record(e, s, &c);
        em_object_unref(&s->object);
    }
    em_unlock();
    return r;
}

// ---- wait ----

struct wait {
    struct em_command command;
    struct em_event *event; // of another process's record, or NULL
    struct em_marker *marker;
    uint64_t slot_record;
};

static bool marker_done(struct em_command *c)
{
    return ((struct wait *)c)->marker->done;
}

static bool slot_done(struct em_command *c)
{
    struct wait *w = (struct wait *)c;
    return em_event_slot_is_complete(w->event->slot, w->slot_record);
}

static CUresult run_wait(struct em_command *c)
{
    (void)c;
    return CUDA_SUCCESS;
}

static void finish_wait(struct em_command *c)
{
    struct wait *w = (struct wait *)c;
    if (em_unlikely(em_order_on)) {
        if (w->marker)
            em_order_acquire_mark(c, &w->marker->order);
        else
            em_order_acquire_outside(c);
    }
    if (em_unlikely(em_recording) && w->marker)
        em_record_awaited((uintptr_t)w->marker, 0, false, c->sequence, "event");
    em_marker_unref(w->marker);
    if (w->event)
        em_object_unref(&w->event->object);
}

static bool records(const struct em_command *c, const void *marker)
{
    return (c->ops == &record_ops || c->ops == &record_context_ops) &&
           ((const struct record *)c)->marker == marker;
}

static void explain_wait(const struct em_command *c, struct em_need *need)
{
    snprintf(need->text, sizeof need->text, "the record of an event");
    const struct record *record =
        (const struct record *)em_need_find(need, records, ((const struct wait *)c)->marker);
    if (record)
        em_object_text(&record->event->object, need->text, sizeof need->text);
}

static const struct em_command_ops wait_ops = {.name = "event wait",
                                               .ready = marker_done,
                                               .run = run_wait,
                                               .finish = finish_wait,
                                               .explain = explain_wait};
static const struct em_command_ops wait_slot_ops = {
    .name = "event wait", .ready = slot_done, .run = run_wait, .finish = finish_wait};

// Makes a wait for the last record. Returns false if the event was never recorded: "If
// cuEventRecord() has not been called on hEvent, this call acts as if the record had already
// completed, and so is a functional no-op."
static bool begin_wait(struct em_event *e, struct wait *c)
{
    em_assert_locked();
    em_command_init(&c->command, &wait_ops, sizeof *c);
    c->event = NULL;
    c->marker = NULL;
    if (!em_event_is_ours(e)) {
        c->command.ops = &wait_slot_ops;
        c->event = e;
        c->slot_record = em_event_slot_last(e->slot);
        c->command.condition = em_event_slot_watch(e->slot, c->slot_record);
        em_object_ref(&e->object);
    } else if (e->marker) {
        c->marker = e->marker;
        c->marker->references++;
        c->command.condition = &c->marker->completed;
    } else {
        return false;
    }
    return true;
}

static CUresult wait_for_record(struct em_event *e, struct em_stream *s)
{
    struct wait c;
    return begin_wait(e, &c) ? em_issue(s, &c.command, EM_SUBMIT_ASYNC) : CUDA_SUCCESS;
}

CUresult em_event_wait_prepare(struct em_event *e, struct em_command **out)
{
    em_assert_locked();
    *out = NULL;
    struct wait *c = dm_alloc(sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a wait for an event");
    if (begin_wait(e, c))
        *out = &c->command;
    else
        dm_free(c);
    return CUDA_SUCCESS;
}

// A free stream need not wait for a complete record.
static bool wait_shared(struct em_share *share, const struct em_event *e, const struct em_stream *s)
{
    bool can = !em_recording && em_event_is_plainly_done(e) && em_stream_is_free(s);
    em_share_leave(share);
    return can;
}

// The same with em_lock held.
static bool wait_in_place(const struct em_event *e, const struct em_stream *s)
{
    em_assert_locked();
    return !em_recording && em_event_is_plainly_done(e) && em_stream_runs_in_place(s);
}

CUresult em_event_wait(struct em_event *e, struct em_stream *s)
{
    if (em_stream_is_captured(s) || __atomic_load_n(&e->captured, __ATOMIC_ACQUIRE))
        return em_capture->wait(e, s);
    em_ordered();
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        if (wait_shared(share, e, s))
            return CUDA_SUCCESS;
        em_lock_briefly();
    }
    CUresult r = CUDA_SUCCESS;
    if (em_unlikely(!wait_in_place(e, s))) {
        em_cancel_off();
        r = wait_for_record(e, s);
    }
    em_unlock();
    return r;
}

CUresult em_event_wait_context(struct em_event *e, struct em_context *context)
{
    struct em_stream **barrier = &context->work.barrier;
    em_ordered();
    em_lock();
    CUresult r = *barrier ? CUDA_SUCCESS : em_stream_new_hidden(context, barrier);
    if (!r) {
        struct em_stream *s = *barrier; // the context may end while the command runs
        em_object_ref(&s->object);
        r = wait_for_record(e, s);
        em_object_unref(&s->object);
    }
    em_unlock();
    return r;
}
