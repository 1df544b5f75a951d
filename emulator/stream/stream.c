// SPDX-License-Identifier: MIT
// Streams: making, finding and ending them, and waiting for what is in them.
#include "stream.h"

#include <pthread.h>

#include "alloc.h"
#include "call.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "synchronised.h"

static uint64_t last_id; // under em_lock

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

int em_stream_clamp_priority(int priority)
{
    return priority > EM_PRIORITY_LEAST      ? EM_PRIORITY_LEAST
           : priority < EM_PRIORITY_GREATEST ? EM_PRIORITY_GREATEST
                                             : priority;
}

// ---- making and ending ----

static void unlink_stream(struct em_stream *s)
{
    struct em_context *context = s->object.context;
    if (s->previous)
        s->previous->next = s->next;
    else
        context->streams = s->next;
    if (s->next)
        s->next->previous = s->previous;
}

// The last reference is gone: it has no handle, and nothing is in it. Precondition: em_lock held.
static void finish_stream(struct em_object *object)
{
    struct em_stream *s = (struct em_stream *)object;
    if (!s->dead)
        unlink_stream(s);
    dm_free(s);
}

// A stream with one reference that is not yet in any list.
static struct em_stream *new_stream(enum em_stream_kind kind, unsigned flags, int priority)
{
    struct em_stream *s = dm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->kind = kind;
    s->flags = flags;
    s->priority = em_stream_clamp_priority(priority);
    s->blocking = kind != EM_STREAM_LEGACY && !(flags & CU_STREAM_NON_BLOCKING);
    s->attributes.domain_map = (CUlaunchMemSyncDomainMap){.default_ = 0, .remote = 1};
    return s;
}

// Precondition: em_lock held.
static void link_stream(struct em_stream *s, struct em_context *context)
{
    s->id = ++last_id;
    s->next = context->streams;
    if (s->next)
        s->next->previous = s;
    context->streams = s;
}

// Precondition: em_lock held.
static CUresult new_without_handle(struct em_context *context, enum em_stream_kind kind,
                                   unsigned flags, struct em_stream **out)
{
    // Another thread may have destroyed the context since this call found it alive.
    if (em_context_error_state(context) == EM_DESTROYED)
        return em_context_error(context);
    struct em_stream *s = new_stream(kind, flags, 0);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a stream");
    s->object = (struct em_object){
        .type = EM_STREAM,
        .references = 1,
        .born_call = em_call_now(),
        .born_by = em_entry_name(),
        .context = context,
        .finish = finish_stream,
    };
    em_object_ref(&context->base.object);
    link_stream(s, context);
    *out = s;
    return CUDA_SUCCESS;
}

CUresult em_stream_new_hidden(struct em_context *context, struct em_stream **out)
{
    return new_without_handle(context, EM_STREAM_CREATED, CU_STREAM_NON_BLOCKING, out);
}

CUresult em_stream_create(struct em_context *context, unsigned flags, int priority, CUstream *out)
{
    struct em_stream *s = new_stream(EM_STREAM_CREATED, flags, priority);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a stream");
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
    if (!r)
        em_object_retire(&s->object); // what is in it holds references
    em_unlock();
    return r;
}

// ---- per-thread default streams ----

static void end_thread(void *argument)
{
    struct em_thread *self = argument;
    em_lock();
    while (self->streams) {
        struct em_stream *s = self->streams;
        self->streams = s->next_of_thread;
        em_object_unref(&s->object);
    }
    em_unlock();
}

static void make_thread_end(void)
{
    pthread_key_create(&thread_end, end_thread);
}

// The calling thread's default stream in a context. Precondition: em_lock held.
static CUresult get_of_thread(struct em_context *context, struct em_stream **out)
{
    struct em_thread *self = em_thread();
    for (struct em_stream **at = &self->streams; *at;) {
        struct em_stream *s = *at;
        if (s->dead) {
            *at = s->next_of_thread;
            em_object_unref(&s->object);
        } else if (s->object.context == context) {
            *out = s;
            return CUDA_SUCCESS;
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

// Precondition: em_lock held.
static CUresult get_default(struct em_context *context, bool of_thread, struct em_stream **out)
{
    if (of_thread)
        return get_of_thread(context, out);
    if (!context->default_stream) {
        CUresult r = new_without_handle(context, EM_STREAM_LEGACY, CU_STREAM_DEFAULT,
                                        &context->default_stream);
        if (r)
            return r;
    }
    *out = context->default_stream;
    return CUDA_SUCCESS;
}

CUresult em_stream_get(CUstream handle, struct em_stream **out)
{
    CUresult r;
    bool is_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (is_default) {
        r = em_need_init();
        if (!r)
            r = em_need_context();
        if (r)
            return r;
    } else if (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY) {
        return em_not_ready();
    }
    em_lock_briefly();
    // Another thread may have destroyed the context since: then no stream may be made in it any
    // more.
    if (!is_default)
        r = em_object_get(EM_STREAM, handle, CUDA_ERROR_INVALID_HANDLE, out);
    else if (!(r = em_need_context()))
        r = get_default(em_self.current, handle == CU_STREAM_PER_THREAD, out);
    if (!r && em_context_error_state((*out)->object.context))
        r = em_context_error((*out)->object.context);
    if (!r)
        em_object_ref(&(*out)->object);
    em_unlock();
    return r;
}

void em_stream_put(struct em_stream *s)
{
    em_lock_briefly();
    em_object_unref(&s->object);
    em_unlock();
}

// ---- waiting ----

static bool is_pending(const struct em_stream *s, uint64_t up_to)
{
    const struct em_command *oldest = s->running ? s->running : s->first;
    return oldest && oldest->ticket <= up_to;
}

// Whether a command up to this ticket is not complete: in the stream, and for the legacy stream in
// the blocking ones too, which it is ordered with. Precondition: em_lock held.
static bool pending_behind(const struct em_stream *s, uint64_t up_to)
{
    if (is_pending(s, up_to))
        return true;
    if (s->kind == EM_STREAM_LEGACY && !s->dead && s->object.context->blocking_pending) {
        for (const struct em_stream *other = s->object.context->streams; other;
             other = other->next) {
            if (other->blocking && is_pending(other, up_to))
                return true;
        }
    }
    return false;
}

static CUresult take_failure(struct em_stream *s)
{
    CUresult r = s->failure;
    if (!r)
        return CUDA_SUCCESS;
    char call[64];
    em_call_text(s->failed_call, call, sizeof call);
    s->failure = CUDA_SUCCESS;
    return em_fail(r, "an asynchronous %s, submitted to the stream by %s, had failed", s->failed,
                   call);
}

// What a synchronising call returns: the context's sticky error, or the stream's kept one.
// Precondition: em_lock held.
static CUresult outcome(struct em_stream *s)
{
    if (s->dead)
        return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context of this stream was destroyed");
    struct em_context *context = s->object.context;
    if (em_context_error_state(context))
        return em_context_error(context);
    CUresult r = take_failure(s);
    if (s->kind == EM_STREAM_LEGACY) {
        for (struct em_stream *other = context->streams; other && !r; other = other->next) {
            if (other->blocking)
                r = take_failure(other);
        }
    }
    return r;
}

CUresult em_stream_query(struct em_stream *s)
{
    em_lock();
    if (pending_behind(s, UINT64_MAX))
        em_progress();
    // Not an error, and no sentence: it is what the program asks.
    CUresult r = pending_behind(s, UINT64_MAX) ? CUDA_ERROR_NOT_READY : outcome(s);
    em_unlock();
    return r;
}

static CUresult no_waiting_inside(void)
{
    return em_fail(
        CUDA_ERROR_NOT_PERMITTED,
        "a host function must not wait for work: nothing goes on in this context while it runs");
}

CUresult em_stream_synchronize(struct em_stream *s)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    uint64_t up_to = s->dead ? 0 : s->object.context->tickets;
    while (!r && pending_behind(s, up_to)) {
        if (em_self.inside)
            r = no_waiting_inside();
        else
            em_wait_progress();
    }
    if (!r)
        r = outcome(s);
    em_ordered();
    em_unlock();
    em_synchronised(EM_SYNC_CALL);
    return r;
}

bool em_context_is_pending(const struct em_context *context, uint64_t up_to)
{
    for (const struct em_stream *s = context->streams; s; s = s->next) {
        if (is_pending(s, up_to))
            return true;
    }
    return false;
}

struct em_context *em_context_with_work(uint64_t up_to)
{
    em_assert_locked();
    struct em_context *c = em_context_next(NULL);
    while (c && !em_context_is_pending(c, up_to))
        c = em_context_next(c);
    return c;
}

CUresult em_context_synchronize(struct em_context *context)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    em_object_ref(&context->base.object);
    uint64_t up_to = context->tickets;
    while (!r && em_context_is_pending(context, up_to)) {
        if (em_self.inside)
            r = no_waiting_inside();
        else
            em_wait_progress();
    }
    if (!r && em_context_error_state(context))
        r = em_context_error(context);
    for (struct em_stream *s = context->streams; s && !r; s = s->next)
        r = take_failure(s);
    em_ordered();
    em_object_unref(&context->base.object);
    em_unlock();
    em_synchronised(EM_SYNC_CALL);
    return r;
}

// ---- the end of a context ----

// Whether something in the context goes on without help from outside. Precondition: em_lock held.
static bool goes_on(const struct em_context *context)
{
    for (struct em_stream *s = context->streams; s; s = s->next) {
        if (s->running || em_stream_can_run(s))
            return true;
    }
    return false;
}

void em_streams_finish(struct em_context *context)
{
    em_lock();
    while (goes_on(context))
        em_wait_progress();
    for (struct em_stream *s = context->streams; s; s = s->next) {
        em_object_ref(&s->object); // abandoning may drop the last one
        em_stream_abandon(s, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    while (context->streams) {
        struct em_stream *s = context->streams;
        unlink_stream(s);
        s->dead = true;
        em_object_unref(&s->object);
    }
    if (context->default_stream)
        em_object_unref(&context->default_stream->object);
    context->default_stream = NULL;
    if (context->barrier)
        em_object_unref(&context->barrier->object);
    context->barrier = NULL;
    em_progress();
    em_unlock();
}

// A careless thread may have made streams since em_streams_finish.
static void stop_streams(struct em_context *context)
{
    em_assert_locked();
    while (context->streams || context->default_stream) {
        em_unlock();
        em_streams_finish(context);
        em_lock();
    }
}

void em_streams_start(void)
{
    static const struct em_context_observer observer = {.finish = em_streams_finish,
                                                        .stop = stop_streams};
    em_context_observe(EM_OBSERVER_STREAM, &observer);
}
