// SPDX-License-Identifier: MIT
// Events as objects: their life, queries, times, and handles for other processes.
// event_order.c has their commands.
#include "event.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "error.h"
#include "event_marker.h"
#include "event_shared.h"
#include "lock.h"
#include "order.h"
#include "order_signal.h"
#include "outside.h"
#include "progress.h"
#include "synchronised.h"

// ---- creating and ending ----

static void finish_event(struct em_object *object)
{
    struct em_event *e = (struct em_event *)object;
    em_assert_locked();
    if (e->captured)
        em_capture->forget(e);
    em_marker_unref(e->marker);
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

// ---- asking ----

static bool is_done(const struct em_event *e)
{
    em_assert_locked();
    return em_event_is_ours(e) ? !e->marker || e->marker->done
                               : em_event_slot_is_complete(e->slot, em_event_slot_last(e->slot));
}

static CUresult context_error_of(const struct em_event *e)
{
    em_assert_locked();
    struct em_context *context = e->object.context;
    return em_context_wait_result(context, context->work.abandonments);
}

static bool is_captured(const struct em_event *e)
{
    return em_unlikely(__atomic_load_n(&e->captured, __ATOMIC_ACQUIRE) != NULL);
}

// The host has waited for a record: one of another process, or the one of `m`, if any.
static void order_host_waited(bool of_other, const struct em_marker *m)
{
    em_assert_locked();
    if (of_other)
        em_order_host_acquire_outside();
    else if (m)
        em_order_host_acquire_mark(&m->order);
}

// Whether a shared call finds the event complete, and nothing wrong with its context.
static bool is_done_shared(struct em_share *share, const struct em_event *e)
{
    const struct em_context *context = e->object.context;
    bool done = em_event_is_plainly_done(e) && !context->ending && !em_context_has_failed(context);
    em_share_leave(share);
    return done;
}

CUresult em_event_query(struct em_event *e)
{
    if (is_captured(e))
        return em_capture->ask(e, true);
    struct em_share *share = em_share_or_lock();
    if (em_unlikely(share)) {
        if (is_done_shared(share, e))
            return CUDA_SUCCESS;
        em_lock();
    }
    if (!is_done(e))
        em_poll(NULL);
    CUresult r = is_done(e) ? context_error_of(e) : CUDA_ERROR_NOT_READY;
    if (em_unlikely(em_order_on) && !r)
        order_host_waited(!em_event_is_ours(e) && em_event_slot_last(e->slot), e->marker);
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
    if (is_captured(e))
        return em_capture->ask(e, true);
    em_ordered();
    struct em_share *share = em_share_or_lock();
    if (em_unlikely(share)) {
        if (is_done_shared(share, e)) {
            em_synchronised(EM_SYNC_CALL);
            return CUDA_SUCCESS;
        }
        em_lock();
    }
    // Waits for the record that is the last one now; later ones do not count.
    struct em_marker *m = em_event_is_ours(e) ? e->marker : NULL;
    uint64_t slot_record = !m && e->slot ? em_event_slot_last(e->slot) : 0;
    bool waits = m ? !m->done : slot_record && !em_event_slot_is_complete(e->slot, slot_record);
    if (m)
        m->references++;
    uint64_t before = e->object.context->work.abandonments;
    if (waits && em_self.in_host_function) {
        r = em_fail(CUDA_ERROR_NOT_PERMITTED,
                    "a host function must not wait for work, because work waits for the function");
    } else if (waits && !m) {
        wait_for_slot(e, slot_record);
    } else if (waits) {
        while (!m->done)
            em_wait_progress();
        em_wait_over();
    }
    if (!r)
        r = em_context_wait_result(e->object.context, before);
    if (em_unlikely(em_order_on) && !r)
        order_host_waited(slot_record != 0, m);
    em_marker_unref(m);
    em_unlock();
    em_synchronised(EM_SYNC_CALL);
    return r;
}

CUresult em_event_elapsed(struct em_event *start, struct em_event *end, float *milliseconds)
{
    CUresult r = CUDA_SUCCESS;
    // (recorded: cuEventElapsedTime-captured; random_captures for an end that is captured)
    if (is_captured(start) || (is_captured(end) && start->marker))
        return em_capture->ask(is_captured(start) ? start : end, false);
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
    if (em_unlikely(em_order_on) && !r) {
        em_order_host_acquire_mark(&start->marker->order);
        em_order_host_acquire_mark(&end->marker->order);
    }
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
