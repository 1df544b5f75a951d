// SPDX-License-Identifier: MIT
// Events: records, waits, queries, times.
#include "event.h"

#include <string.h>
#include <time.h>

#include "alloc.h"
#include "call.h"
#include "error.h"
#include "event_shared.h"
#include "lock.h"
#include "outside.h"
#include "progress.h"
#include "scheduler.h"
#include "synchronised.h"

// ---- markers ----

static void unref_marker(struct em_marker *m)
{
    em_assert_locked();
    if (m && !--m->references)
        dm_free(m);
}

// The marker of the event's next record, with a reference for the command that completes it.
static CUresult next_marker(struct em_event *e, struct em_marker **out)
{
    em_assert_locked();
    struct em_marker *m = e->marker;
    if (m && m->references == 1 && m->done) { // nobody uses the last one any more
        m->done = false;
    } else {
        m = dm_calloc(1, sizeof *m);
        if (!m)
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a record of an event");
        m->references = 1;
        unref_marker(e->marker);
        e->marker = m;
    }
    m->slot = e->slot;
    m->slot_record = e->slot ? em_event_slot_begin(e->slot) : 0;
    m->references++;
    *out = m;
    return CUDA_SUCCESS;
}

// ---- creating and ending ----

static void finish_event(struct em_object *object)
{
    struct em_event *e = (struct em_event *)object;
    em_assert_locked();
    unref_marker(e->marker);
    if (e->slot)
        em_event_slot_close(e->slot);
    dm_free(e);
}

static CUresult start_event(struct em_event *e, struct em_context *context, CUevent *out)
{
    CUresult r = em_object_start(&e->object, EM_EVENT, context, finish_event);
    if (!r)
        *out = (CUevent)(uintptr_t)e->object.handle;
    return r;
}

CUresult em_event_create(struct em_context *context, unsigned flags, CUevent *out)
{
    struct em_event *e = dm_calloc(1, sizeof *e);
    if (!e)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an event");
    e->flags = flags;
    if (flags & CU_EVENT_INTERPROCESS) // creates a file
        em_cancel_off();
    em_lock_briefly();
    CUresult r = flags & CU_EVENT_INTERPROCESS ? em_event_slot_create(&e->slot) : CUDA_SUCCESS;
    if (!r)
        r = start_event(e, context, out);
    if (r && e->slot)
        em_event_slot_close(e->slot);
    em_unlock();
    if (r)
        dm_free(e);
    return r;
}

// "An event may be destroyed before it is complete … In this case, the call does not block on
// completion of the event".
CUresult em_event_destroy(CUevent handle)
{
    struct em_event *e;
    em_lock_briefly();
    CUresult r = em_object_get(EM_EVENT, handle, CUDA_ERROR_INVALID_HANDLE, &e);
    if (!r && e->slot) // closes a file
        em_cancel_off();
    if (!r)
        em_object_retire(&e->object);
    em_unlock();
    return r;
}

CUresult em_event_get(CUevent handle, struct em_event **out)
{
    if (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY)
        return em_not_ready();
    CUresult r = em_object_pin(EM_EVENT, handle, CUDA_ERROR_INVALID_HANDLE, out);
    if (em_unlikely(!r && em_context_has_failed((*out)->object.context))) {
        r = em_context_error((*out)->object.context);
        em_event_put(*out);
    }
    return r;
}

void em_event_put(struct em_event *e)
{
    em_object_unpin(&e->object);
}

// ---- record ----

struct record {
    struct em_command command;
    struct em_event *event; // keeps the slot
    struct em_marker *marker;
    uint64_t up_to; // of em_event_record_context: the sequence number of the last command before it
};

static CUresult run_record(struct em_command *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((struct record *)c)->marker->time_ns =
        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return CUDA_SUCCESS;
}

static void finish_record(struct em_command *c)
{
    struct record *r = (struct record *)c;
    em_assert_locked();
    r->marker->done = true;
    em_condition_notify(&r->marker->completed);
    if (r->marker->slot)
        em_event_slot_complete(r->marker->slot, r->marker->slot_record);
    unref_marker(r->marker);
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

// Submits the record of an event.
static CUresult record(struct em_event *e, struct em_stream *s, struct record *c)
{
    em_assert_locked();
    c->event = e;
    CUresult r = next_marker(e, &c->marker);
    if (r)
        return r;
    em_object_ref(&e->object);
    return em_issue(s, &c->command, EM_SUBMIT_ASYNC);
}

CUresult em_event_record(struct em_event *e, struct em_stream *s)
{
    struct record c;
    // "hEvent and hStream must be from the same context otherwise CUDA_ERROR_INVALID_HANDLE is
    // returned".
    if (e->object.context != s->object.context)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "the event and the stream belong to different contexts");
    em_command_init(&c.command, &record_ops, sizeof c);
    em_lock();
    CUresult r = record(e, s, &c);
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
    unref_marker(w->marker);
    if (w->event)
        em_object_unref(&w->event->object);
}

static const struct em_command_ops wait_ops = {
    .name = "event wait", .ready = marker_done, .run = run_wait, .finish = finish_wait};
static const struct em_command_ops wait_slot_ops = {
    .name = "event wait", .ready = slot_done, .run = run_wait, .finish = finish_wait};

// Whether this process made the last record of an event that processes share.
static bool is_ours(const struct em_event *e)
{
    em_assert_locked();
    return !e->slot || (e->marker && e->marker->slot_record == em_event_slot_last(e->slot));
}

static CUresult wait_for_record(struct em_event *e, struct em_stream *s)
{
    em_assert_locked();
    struct wait c;
    em_command_init(&c.command, &wait_ops, sizeof c);
    c.event = NULL;
    c.marker = NULL;
    if (!is_ours(e)) {
        c.command.ops = &wait_slot_ops;
        c.event = e;
        c.slot_record = em_event_slot_last(e->slot);
        c.command.condition = em_event_slot_watch(e->slot, c.slot_record);
        em_object_ref(&e->object);
    } else if (e->marker) {
        c.marker = e->marker;
        c.marker->references++;
        c.command.condition = &c.marker->completed;
    } else {
        // "If cuEventRecord() has not been called on hEvent, this call acts as if the record had
        // already completed, and so is a functional no-op."
        return CUDA_SUCCESS;
    }
    return em_issue(s, &c.command, EM_SUBMIT_ASYNC);
}

CUresult em_event_wait(struct em_event *e, struct em_stream *s)
{
    em_ordered();
    em_lock();
    CUresult r = wait_for_record(e, s);
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

// ---- asking ----

static bool is_done(const struct em_event *e)
{
    em_assert_locked();
    return is_ours(e) ? !e->marker || e->marker->done
                      : em_event_slot_is_complete(e->slot, em_event_slot_last(e->slot));
}

static CUresult context_error_of(const struct em_event *e)
{
    struct em_context *context = e->object.context;
    return em_context_has_failed(context) ? em_context_error(context) : CUDA_SUCCESS;
}

CUresult em_event_query(struct em_event *e)
{
    em_lock();
    if (!is_done(e))
        em_poll(NULL);
    CUresult r = is_done(e) ? context_error_of(e) : CUDA_ERROR_NOT_READY;
    em_unlock();
    return r;
}

struct slot_wait {
    struct em_event_slot *slot;
    uint64_t record;
};

static bool slot_wait_done(void *argument)
{
    const struct slot_wait *w = argument;
    return em_event_slot_is_complete(w->slot, w->record);
}

static void wait_for_slot(struct em_event *e, uint64_t record)
{
    struct slot_wait w = {e->slot, record};
    em_source_wait(em_event_slot_watch(e->slot, record)->source, slot_wait_done, &w);
}

CUresult em_event_synchronize(struct em_event *e)
{
    CUresult r = CUDA_SUCCESS;
    em_ordered();
    em_lock();
    // Waits for the record that is the last one now; later ones do not count.
    struct em_marker *m = is_ours(e) ? e->marker : NULL;
    uint64_t slot_record = !m && e->slot ? em_event_slot_last(e->slot) : 0;
    bool waits = m ? !m->done : slot_record && !em_event_slot_is_complete(e->slot, slot_record);
    if (m)
        m->references++;
    if (waits && em_self.in_host_function) {
        r = em_fail(CUDA_ERROR_NOT_PERMITTED,
                    "a host function must not wait for work, because work waits for the function");
    } else if (waits && !m) {
        wait_for_slot(e, slot_record);
    } else if (waits) {
        while (!m->done)
            em_wait_progress();
    }
    if (!r)
        r = context_error_of(e);
    unref_marker(m);
    em_unlock();
    em_synchronised(EM_SYNC_CALL);
    return r;
}

CUresult em_event_elapsed(struct em_event *start, struct em_event *end, float *milliseconds)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    // "If either event was created with the CU_EVENT_DISABLE_TIMING flag, then this function will
    // return CUDA_ERROR_INVALID_HANDLE."
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        r = em_fail(CUDA_ERROR_INVALID_HANDLE,
                    "the %s event was created with CU_EVENT_DISABLE_TIMING, so it has no time",
                    start->flags & CU_EVENT_DISABLE_TIMING ? "first" : "second");
    // "If cuEventRecord() has not been called on either event then CUDA_ERROR_INVALID_HANDLE is
    // returned."
    else if (!start->marker || !end->marker)
        r = em_fail(CUDA_ERROR_INVALID_HANDLE, "the %s event was never recorded",
                    start->marker ? "second" : "first");
    else if (!start->marker->done || !end->marker->done)
        r = CUDA_ERROR_NOT_READY;
    if (!r) // the difference may be negative
        *milliseconds =
            (float)((double)(int64_t)(end->marker->time_ns - start->marker->time_ns) / 1e6);
    em_unlock();
    return r;
}

// ---- between processes ----

CUresult em_event_export(struct em_event *e, CUipcEventHandle *out)
{
    memset(out, 0, sizeof *out); // also on failure, as the card does
    if (!e->slot)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "the event was created without CU_EVENT_INTERPROCESS");
    if (e->imported)
        return em_fail(
            CUDA_ERROR_INVALID_HANDLE,
            "the event was opened from a handle of another process; pass that handle on instead");
    return em_event_slot_export(e->slot, out);
}

CUresult em_event_import(struct em_context *context, const CUipcEventHandle *handle, CUevent *out)
{
    struct em_event *e = dm_calloc(1, sizeof *e);
    if (!e)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an event");
    e->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    e->imported = true;
    em_lock();
    CUresult r = em_event_slot_open(handle, &e->slot);
    if (!r) {
        r = start_event(e, context, out);
        if (r)
            em_event_slot_close(e->slot);
    }
    em_unlock();
    if (r)
        dm_free(e);
    return r;
}
