// SPDX-License-Identifier: MIT
// Waiting for the commands of a stream or a context, and the errors of asynchronous commands that
// synchronising calls return.
#include "call.h"
#include "context.h"
#include "error.h"
#include "guard.h"
#include "lock.h"
#include "order.h"
#include "progress.h"
#include "scheduler.h"
#include "stream.h"
#include "synchronised.h"

// ---- errors of asynchronous commands ----

// The list is in the order of creation, the newest stream first.
void em_stream_list_failure(struct em_stream *s, CUresult failure)
{
    em_assert_locked();
    __atomic_store_n(&s->failure, failure, __ATOMIC_RELEASE);
    struct em_stream **at = &s->object.context->work.failed_streams, *previous = NULL;
    for (; *at && (*at)->id > s->id; at = &(*at)->next_failed)
        previous = *at;
    s->previous_failed = previous;
    s->next_failed = *at;
    if (s->next_failed)
        s->next_failed->previous_failed = s;
    __atomic_store_n(at, s, __ATOMIC_RELEASE);
}

void em_stream_forget_failure(struct em_stream *s)
{
    em_assert_locked();
    if (!s->failure)
        return;
    if (s->previous_failed)
        s->previous_failed->next_failed = s->next_failed;
    else
        __atomic_store_n(&s->object.context->work.failed_streams, s->next_failed, __ATOMIC_RELEASE);
    if (s->next_failed)
        s->next_failed->previous_failed = s->previous_failed;
    __atomic_store_n(&s->failure, CUDA_SUCCESS, __ATOMIC_RELEASE);
}

// ---- waiting ----

// Whether a command up to this sequence number is not complete: in the stream, and for the legacy
// stream also in the blocking streams, which it waits for.
static bool is_pending(const struct em_stream *s, uint64_t up_to)
{
    em_assert_locked();
    if (s->kind == EM_STREAM_LEGACY && !s->dead)
        return em_context_ordered_is_pending(s->object.context, up_to);
    return s->first && s->first->sequence <= up_to;
}

// Whether a context may have lost work. Call it after a list of commands was seen empty: the end of
// a context empties the lists too, between `ending` and the error state.
static bool may_have_lost_work(const struct em_context *context)
{
    return __atomic_load_n(&context->ending, __ATOMIC_ACQUIRE) || em_context_has_failed(context);
}

// Whether a synchronising call has nothing to wait for and nothing to report. Takes no lock: if the
// stream is idle when this looks, the calling thread sees everything that its commands have done.
static inline __attribute__((always_inline)) bool looks_idle(const struct em_stream *s)
{
    const struct em_context *context = s->object.context;
    bool legacy = s->kind == EM_STREAM_LEGACY;
    if (em_unlikely(em_order_on)) // it has to know that the host has waited
        return false;
    // The command of a shared call is in no list. Once it is adopted, it is in its list before its
    // stream looks unclaimed.
    if (legacy ? !em_sharing_is_quiet(em_thread()) : __atomic_load_n(&s->claimed, __ATOMIC_ACQUIRE))
        return false;
    if (__atomic_load_n(legacy ? &context->work.ordered.first : &s->first, __ATOMIC_ACQUIRE))
        return false;
    if (legacy ? __atomic_load_n(&context->work.failed_streams, __ATOMIC_ACQUIRE) != NULL
               : __atomic_load_n(&s->failure, __ATOMIC_ACQUIRE) != CUDA_SUCCESS)
        return false;
    return !may_have_lost_work(context) && !__atomic_load_n(&s->dead, __ATOMIC_ACQUIRE);
}

static bool context_looks_idle(const struct em_context *context)
{
    const struct em_context_work *work = &context->work;
    return !em_order_on && em_sharing_is_quiet(em_thread()) &&
           !__atomic_load_n(&work->ordered.first, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&work->unordered.first, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&work->failed_streams, __ATOMIC_ACQUIRE) &&
           !may_have_lost_work(context);
}

static CUresult take_failure(struct em_stream *s)
{
    CUresult r = s->failure;
    if (!r)
        return CUDA_SUCCESS;
    char call[64];
    em_call_text(s->failed_call, call, sizeof call);
    em_stream_forget_failure(s);
    return em_fail(r, "an asynchronous %s that %s submitted to the stream has failed", s->failed,
                   call);
}

// The result of a synchronising call: the context's sticky error, or the error that the stream
// keeps.
static CUresult outcome(struct em_stream *s)
{
    em_assert_locked();
    if (s->dead)
        return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context of this stream was destroyed");
    struct em_context *context = s->object.context;
    if (em_context_has_failed(context))
        return em_context_error(context);
    if (s->failure || s->kind != EM_STREAM_LEGACY)
        return take_failure(s);
    struct em_stream *other = context->work.failed_streams;
    while (other && !other->blocking)
        other = other->next_failed;
    return other ? take_failure(other) : CUDA_SUCCESS;
}

// Calls for streams that have work are functions of their own, so that calls for idle streams,
// which are short, save no registers for them.
static __attribute__((noinline)) CUresult query_busy(struct em_stream *s)
{
    em_assert_unlocked();
    em_lock();
    if (is_pending(s, UINT64_MAX))
        em_poll(s->first);
    // NOT_READY is not an error and has no sentence: it answers the program's question.
    CUresult r = is_pending(s, UINT64_MAX) ? CUDA_ERROR_NOT_READY : outcome(s);
    if (em_unlikely(em_order_on) && !r)
        em_order_host_waited_stream(s, em_scheduler.last_sequence);
    em_unlock();
    return r;
}

CUresult em_stream_query(struct em_stream *s)
{
    em_assert_unlocked();
    return looks_idle(s) ? CUDA_SUCCESS : query_busy(s);
}

static CUresult no_waiting_inside(void)
{
    return em_fail(CUDA_ERROR_NOT_PERMITTED,
                   "a host function must not wait for work: the work of its stream does not go on "
                   "until the function returns");
}

// The end of a call that synchronises.
static CUresult synchronised(CUresult r)
{
    em_ordered();
    em_synchronised(EM_SYNC_CALL);
    return r;
}

CUresult em_context_wait_result(struct em_context *context, uint64_t abandonments)
{
    em_assert_locked();
    if (em_context_has_failed(context))
        return em_context_error(context);
    if (context->ending || context->work.abandonments != abandonments)
        return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                       "the context was destroyed while this call waited for its work, part of "
                       "which never ran");
    return CUDA_SUCCESS;
}

static __attribute__((noinline)) CUresult synchronize_busy(struct em_stream *s)
{
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    dm_guard_begins();
    em_lock();
    uint64_t up_to = s->dead ? 0 : s->object.context->work.last_sequence,
             before = em_scheduler.last_sequence;
    while (!r && is_pending(s, up_to)) {
        if (em_self.in_host_function)
            r = no_waiting_inside();
        else
            em_wait_progress();
    }
    em_wait_over();
    if (!r)
        r = outcome(s);
    if (em_unlikely(em_order_on) && !r)
        em_order_host_waited_stream(s, before);
    em_unlock();
    dm_guard_ends();
    return synchronised(r);
}

CUresult em_stream_synchronize(struct em_stream *s)
{
    em_assert_unlocked();
    if (!looks_idle(s))
        return synchronize_busy(s);
    const CUresult r = synchronised(CUDA_SUCCESS);
    dm_guard_passes();
    return r;
}

CUresult em_context_synchronize(struct em_context *context)
{
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    if (context_looks_idle(context)) {
        r = synchronised(CUDA_SUCCESS);
        dm_guard_passes();
        return r;
    }
    dm_guard_begins();
    em_lock();
    em_object_ref(&context->base.object);
    uint64_t up_to = context->work.last_sequence, before = context->work.abandonments,
             sequence = em_scheduler.last_sequence;
    while (!r && em_context_is_pending(context, up_to)) {
        if (em_self.in_host_function)
            r = no_waiting_inside();
        else
            em_wait_progress();
    }
    em_wait_over();
    if (!r)
        r = em_context_wait_result(context, before);
    if (!r && context->work.failed_streams)
        r = take_failure(context->work.failed_streams);
    if (em_unlikely(em_order_on) && !r)
        em_order_host_waited_context(context, sequence);
    em_object_unref(&context->base.object);
    em_unlock();
    dm_guard_ends();
    return synchronised(r);
}

void em_context_drain(struct em_context *context)
{
    em_assert_unlocked();
    em_lock();
    em_object_ref(&context->base.object);
    const uint64_t up_to = context->work.last_sequence;
    while (em_context_is_pending(context, up_to))
        em_wait_progress();
    em_wait_over();
    em_object_unref(&context->base.object);
    em_unlock();
}

struct em_context *em_context_with_work(uint64_t up_to)
{
    struct em_context *c = em_context_next(NULL);
    while (c && !em_context_is_pending(c, up_to))
        c = em_context_next(c);
    return c;
}
