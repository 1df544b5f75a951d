// SPDX-License-Identifier: MIT
// Streams: creating, finding and ending them.
#include "stream.h"

#include <stdio.h>

#include <pthread.h>

#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "condition.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "mutex.h"
#include "order.h"
#include "outside.h"
#include "scheduler.h"
#include "startup.h"

static uint64_t last_id; // under em_lock

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

int em_stream_clamp_priority(int priority)
{
    return priority > EM_PRIORITY_LEAST      ? EM_PRIORITY_LEAST
           : priority < EM_PRIORITY_GREATEST ? EM_PRIORITY_GREATEST
                                             : priority;
}

// ---- creating and ending ----

static void unlink_stream(struct em_stream *s)
{
    struct em_context *context = s->object.context;
    if (s->previous)
        s->previous->next = s->next;
    else
        context->streams = s->next;
    if (s->next)
        s->next->previous = s->previous;
    s->previous = s->next = NULL;
}

// The last reference is gone: the stream has no handle, and nothing is in it.
static void finish_stream(struct em_object *object)
{
    struct em_stream *s = (struct em_stream *)object;
    em_assert_locked();
    if (s->capture)
        em_capture->stream_ends(s);
    if (em_unlikely(em_order_on))
        em_order_stream_ends(s);
    if (!s->dead) {
        em_stream_forget_failure(s);
        unlink_stream(s);
    }
    dm_free(s);
}

static void set_initial_attributes(struct em_stream *s)
{
    s->attributes = (struct em_stream_attributes){.domain_map = {.default_ = 0, .remote = 1}};
}

static struct em_stream *new_stream(enum em_stream_kind kind, unsigned flags, int priority)
{
    struct em_stream *s = dm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->kind = kind;
    s->flags = flags;
    s->priority = em_stream_clamp_priority(priority);
    s->blocking = kind != EM_STREAM_LEGACY && !(flags & CU_STREAM_NON_BLOCKING);
    set_initial_attributes(s);
    return s;
}

static void link_stream(struct em_stream *s, struct em_context *context)
{
    em_assert_locked();
    s->previous = NULL;
    s->id = ++last_id;
    s->next = context->streams;
    if (s->next)
        s->next->previous = s;
    context->streams = s;
}

// A stream with one reference.
static CUresult new_without_handle(struct em_context *context, enum em_stream_kind kind,
                                   unsigned flags, struct em_stream **out)
{
    em_assert_locked();
    // Another thread may have destroyed the context since this call found it alive.
    if (em_context_error_state(context) == EM_DESTROYED)
        return em_context_error(context);
    struct em_stream *s = new_stream(kind, flags, 0);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a stream");
    s->object = (struct em_object){
        .type = EM_STREAM,
        .references = 1,
        .born_call = em_call_now(),
        .born_by = em_entry_name(),
        .context = context,
        .finish = finish_stream,
    };
    // The legacy stream lives as long as its context's memory, which frees it. So it does not keep
    // the context alive, and a thread whose current context it is needs no reference to use it.
    if (kind != EM_STREAM_LEGACY)
        em_object_ref(&context->base.object);
    link_stream(s, context);
    *out = s;
    return CUDA_SUCCESS;
}

CUresult em_stream_new_hidden(struct em_context *context, struct em_stream **out)
{
    em_assert_locked();
    return new_without_handle(context, EM_STREAM_CREATED, CU_STREAM_NON_BLOCKING, out);
}

CUresult em_stream_create(struct em_context *context, unsigned flags, int priority, CUstream *out)
{
    struct em_stream *s = new_stream(EM_STREAM_CREATED, flags, priority);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a stream");
    em_lock_briefly();
    CUresult r = em_object_start(&s->object, EM_STREAM, context, finish_stream);
    if (!r) {
        link_stream(s, context);
        *out = (CUstream)(uintptr_t)s->object.handle;
    }
    em_unlock();
    if (r)
        dm_free(s);
    return r;
}

CUresult em_stream_destroy(CUstream handle)
{
    struct em_stream *s;
    em_lock_briefly();
    CUresult r = em_object_get(EM_STREAM, handle, CUDA_ERROR_INVALID_HANDLE, &s);
    // (recorded: fault_first/cuStreamDestroy-later)
    if (!r && em_context_has_failed(s->object.context))
        r = em_context_error(s->object.context);
    if (!r && s->capture)
        em_capture->stream_ends(s);
    if (!r)
        em_object_retire(&s->object); // the commands in it hold references
    em_unlock();
    return r;
}

// ---- per-thread default streams ----

static void end_thread(void *argument)
{
    struct em_thread *self = argument;
    em_work_begin(&em_thread_end);
    em_lock();
    while (self->streams) {
        struct em_stream *s = self->streams;
        self->streams = s->next_of_thread;
        em_object_unref(&s->object);
    }
    em_unlock();
    em_work_end(&em_thread_end);
}

static void make_thread_end(void)
{
    pthread_key_create(&thread_end, end_thread);
}

// The calling thread's default stream in a context, or NULL. The list belongs to this thread, which
// alone changes it, so that this takes no lock.
static struct em_stream *find_of_thread(const struct em_context *context)
{
    struct em_stream *s = em_thread()->streams;
    while (s && (s->object.context != context || __atomic_load_n(&s->dead, __ATOMIC_ACQUIRE)))
        s = s->next_of_thread;
    return s;
}

static CUresult new_of_thread(struct em_context *context, struct em_stream **out)
{
    em_assert_locked();
    struct em_thread *self = em_thread();
    for (struct em_stream **at = &self->streams; *at;) {
        struct em_stream *s = *at;
        if (s->dead) {
            *at = s->next_of_thread;
            em_object_unref(&s->object);
        } else {
            at = &s->next_of_thread;
        }
    }
    pthread_once(&thread_end_once, make_thread_end);
    CUresult r = new_without_handle(context, EM_STREAM_OF_THREAD, CU_STREAM_DEFAULT, out);
    if (r)
        return r;
    (*out)->next_of_thread = self->streams;
    self->streams = *out;
    pthread_setspecific(thread_end, self);
    return CUDA_SUCCESS;
}

// ---- finding ----

static struct em_stream *find_legacy(struct em_context *context)
{
    struct em_stream *s = __atomic_load_n(&context->default_stream, __ATOMIC_ACQUIRE);
    return s && !__atomic_load_n(&s->dead, __ATOMIC_ACQUIRE) ? s : NULL;
}

static CUresult new_legacy(struct em_context *context, struct em_stream **out)
{
    em_assert_locked();
    struct em_stream *s = context->default_stream;
    if (!s) {
        CUresult r = new_without_handle(context, EM_STREAM_LEGACY, CU_STREAM_DEFAULT, &s);
        if (r)
            return r;
        __atomic_store_n(&context->default_stream, s, __ATOMIC_RELEASE);
    } else if (s->dead) { // a primary context that was ended and has begun again
        s->priority = EM_PRIORITY_LEAST;
        set_initial_attributes(s);
        link_stream(s, context);
        __atomic_store_n(&s->dead, false, __ATOMIC_RELEASE);
    }
    *out = s;
    return CUDA_SUCCESS;
}

static CUresult get_default(bool of_thread, struct em_stream **out)
{
    CUresult r = em_need_init();
    if (!r)
        r = em_need_context();
    if (r)
        return r;
    struct em_context *context = em_self.current;
    *out = of_thread ? find_of_thread(context) : find_legacy(context);
    if (em_likely(*out))
        return CUDA_SUCCESS;
    em_lock_briefly();
    // Another thread may have destroyed the context since: no stream may be created in it any more.
    r = em_need_context();
    if (!r)
        r = of_thread ? new_of_thread(context, out) : new_legacy(context, out);
    em_unlock();
    return r;
}

static __attribute__((noinline)) CUresult search_stream(CUstream handle, struct em_stream **out)
{
    em_assert_unlocked();
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return get_default(handle == CU_STREAM_PER_THREAD, out);
    if (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY)
        return em_not_ready();
    struct em_pin_again *last = em_self.last_streams;
    const bool again = em_object_pin_again(&last[1], (uint64_t)(uintptr_t)handle);
    struct em_stream *s = again ? (struct em_stream *)last[1].object : NULL;
    CUresult r =
        again ? CUDA_SUCCESS : em_object_pin(EM_STREAM, handle, CUDA_ERROR_INVALID_HANDLE, &s);
    if (r)
        return r;
    if (em_unlikely(em_context_has_failed(s->object.context))) {
        r = em_context_error(s->object.context);
        em_stream_put(s);
        return r; // without the stream: the caller puts what it was given
    }
    if (!again) {
        last[1] = last[0];
        em_object_note(&last[0], &s->object);
    }
    *out = s;
    return CUDA_SUCCESS;
}

CUresult em_stream_get(CUstream handle, struct em_stream **out)
{
    em_assert_unlocked();
    const struct em_pin_again *last = &em_thread()->last_streams[0];
    if (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY ||
        !em_object_pin_again(last, (uint64_t)(uintptr_t)handle))
        return search_stream(handle, out);
    struct em_stream *s = (struct em_stream *)last->object;
    if (em_likely(!em_context_has_failed(s->object.context))) {
        *out = s;
        return CUDA_SUCCESS;
    }
    em_stream_put(s);
    return search_stream(handle, out);
}

const char *em_stream_text(const struct em_stream *s, char *out, size_t size)
{
    switch (s->kind) {
    case EM_STREAM_LEGACY:
        return "legacy stream";
    case EM_STREAM_OF_THREAD:
        return "thread's stream";
    case EM_STREAM_CREATED:
        break;
    }
    if (!s->object.handle)
        return s->of_graph ? "graph" : "context";
    snprintf(out, size, "CUstream #%u", (unsigned)s->object.number);
    return out;
}

// ---- the end of a context ----

void em_streams_finish(struct em_context *context)
{
    em_assert_unlocked();
    em_lock();
    // Run every command that can run. Some may be parked although they could run by now, because
    // nobody has noticed yet.
    for (;;) {
        em_condition_notify(&em_outside_memory.condition);
        em_outside_ask_words();
        if (!context->work.active)
            break;
        em_wait_progress();
    }
    em_scheduler_abandon(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    while (context->streams) {
        struct em_stream *s = context->streams;
        em_stream_forget_failure(s);
        if (s->capture)
            em_capture->stream_ends(s);
        unlink_stream(s);
        __atomic_store_n(&s->dead, true, __ATOMIC_RELEASE);
    }
    if (context->work.barrier)
        em_object_unref(&context->work.barrier->object);
    context->work.barrier = NULL;
    if (em_unlikely(em_order_on))
        em_order_context_ends(context);
    em_progress();
    em_unlock();
}

// Another thread may have created a default stream since em_streams_finish.
static void stop_streams(struct em_context *context)
{
    em_assert_locked();
    while (context->streams) {
        em_unlock();
        em_streams_finish(context);
        em_lock();
    }
}

DM_STARTUP void em_streams_start(void)
{
    static const struct em_context_observer observer = {.finish = em_streams_finish,
                                                        .stop = stop_streams};
    em_context_observe(EM_OBSERVER_STREAM, &observer);
}
