// SPDX-License-Identifier: MIT
// The funnel: takes commands into streams, runs them when their turn comes, and deals with what
// becomes of them.
#include "command.h"

#include <string.h>
#include <time.h>

#include "access.h"
#include "alloc.h"
#include "call.h"
#include "command_queue.h"
#include "context.h"
#include "error.h"
#include "scheduler.h"
#include "lock.h"
#include "policy.h"
#include "service.h"
#include "stream.h"

struct em_funnel em_funnel = {.progress = PTHREAD_COND_INITIALIZER, .policy = &em_policy_eager};

enum {
    POLLED_WAIT_NS = 50000,
    QUEUE_MOST = 1024, // commands that wait in a stream before its submitters do
    SHARE_MOST = 256,  // commands that a thread runs for others before the poller takes over …
    SHARE_NS = 1000000 // … or so long
};

uint64_t em_order_epoch;

// ---- order ----

static bool is_idle(const struct em_stream *s)
{
    return s->submitted == s->completed;
}

// The ticket of the oldest command in a stream that is not complete. Later than all if there is
// none.
static uint64_t oldest_ticket(const struct em_stream *s)
{
    return s->running ? s->running->ticket : s->first ? s->first->ticket : UINT64_MAX;
}

// "The legacy default stream … synchronizes with all other streams in the same context except for
// non-blocking streams": a command of the legacy stream waits for those submitted to blocking
// streams before it, and a command of a blocking stream for those submitted to the legacy one.
// Behind a cuCtxWaitEvent that is not complete all streams wait.
static bool is_turn(const struct em_stream *s, uint64_t ticket)
{
    const struct em_stream *barrier = s->object.context->barrier;
    if (em_unlikely(barrier && barrier != s) && oldest_ticket(barrier) < ticket)
        return false;
    if (s->blocking) {
        const struct em_stream *legacy = s->object.context->default_stream;
        return !legacy || is_idle(legacy) || oldest_ticket(legacy) > ticket;
    }
    if (s->kind == EM_STREAM_LEGACY && s->object.context->blocking_pending) {
        for (const struct em_stream *other = s->object.context->streams; other;
             other = other->next) {
            if (other->blocking && oldest_ticket(other) < ticket)
                return false;
        }
    }
    return true;
}

static bool context_failed(const struct em_context *context)
{
    return em_context_error_state(context) != EM_FINE;
}

bool em_stream_can_run(struct em_stream *s)
{
    struct em_command *c = s->first;
    return c && !s->running && is_turn(s, c->ticket) &&
           (!c->ops->ready || context_failed(s->object.context) || c->ops->ready(c));
}

bool em_stream_must_wait(const struct em_stream *s)
{
    return !em_funnel.policy->at_submission || !is_idle(s) ||
           !is_turn(s, s->object.context->tickets + 1);
}

static bool can_run_in(struct em_stream *s, int place)
{
    if (!em_stream_can_run(s))
        return false;
    if (s->first->ops->place == EM_ANYWHERE || place == EM_HOST_THREAD)
        return true;
    em_service_wake_host();
    return false;
}

// ---- running ----

// What a context that has failed answers.
static CUresult context_result(struct em_context *context)
{
    CUresult r = em_context_error_code(context);
    return r ? r : CUDA_ERROR_CONTEXT_IS_DESTROYED; // destroyed, and begun again since
}

// Precondition: em_lock NOT held.
static CUresult run(struct em_stream *s, struct em_command *c)
{
    struct em_context *context = s->object.context;
    c->result = CUDA_SUCCESS;
    if (context_failed(context)) {
        c->result = context_result(context);
        if (c->ops->always)
            c->ops->run(c);
        return c->result;
    }
    CUresult r = c->ops->run(c);
    if (r && em_error_sticks(r))
        em_context_set_sticky(context, r);
    return r;
}

// Runs a command that waited, in the name of the call that submitted it. Precondition: em_lock NOT
// held.
static CUresult run_for(struct em_stream *s, struct em_command *c)
{
    if (c->ops->place == EM_HOST_THREAD)
        return run(s, c);
    struct em_thread *self = &em_self;
    const struct em_entry *entry = self->entry;
    uint64_t number = self->number, calls = self->calls;
    self->entry = c->entry;
    self->number = c->call >> 40;
    self->calls = c->call & ((UINT64_C(1) << 40) - 1);
    CUresult r = run(s, c);
    self->entry = entry;
    self->number = number;
    self->calls = calls;
    return r;
}

// The end of a command that has run, failed or been refused. Precondition: em_lock held.
static void end_command(struct em_command *c, CUresult r)
{
    c->result = r;
    if (c->ops->finish)
        c->ops->finish(c);
    em_accesses_end(c, r);
    em_command_release(c);
}

// Precondition: em_lock held.
static void complete(struct em_stream *s, struct em_command *c, CUresult r)
{
    end_command(c, r);
    s->running = NULL;
    s->completed++;
    if (s->blocking)
        s->object.context->blocking_pending--;
}

static void keep_failure(struct em_stream *s, const struct em_command *c, CUresult r)
{
    if (s->failure || em_error_sticks(r))
        return;
    s->failure = r;
    s->failed = c->ops->name;
    s->failed_call = c->call;
}

// Precondition: em_lock held.
static void end_waiting(struct em_stream *s, struct em_command *c, CUresult r)
{
    complete(s, c, r);
    if (c->copied) {
        if (r)
            keep_failure(s, c, r);
        dm_free(c);
    } else {
        c->done = true; // in the stack of a thread that waits for it
    }
    em_object_unref(&s->object);
    if (em_funnel.waiters)
        pthread_cond_broadcast(&em_funnel.progress);
}

bool em_run_one(enum em_place place)
{
    if (em_likely(!em_funnel.first))
        return false;
    struct em_stream *s = em_funnel.policy->choose(em_funnel.first, can_run_in, place);
    if (!s)
        return false;
    struct em_command *c = s->running = em_queue_pop(s);
    em_unlock();
    CUresult r = run_for(s, c);
    em_lock();
    if (r == EM_RUN_AGAIN)
        em_queue_push_back(s, c);
    else
        end_waiting(s, c, r);
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Runs what can run of the commands that wait: a share of them. What others have submitted must not
// hold this thread for long; the poller goes on with the rest.
static void run_all(void)
{
    if (!em_funnel.policy->at_completion)
        return;
    if (em_likely(!em_funnel.first))
        return;
    unsigned share = SHARE_MOST;
    uint64_t until = now_ns() + SHARE_NS;
    while (em_run_one(EM_ANYWHERE)) {
        if (em_likely(!em_funnel.first))
            return;
        if ((--share == 0 || now_ns() > until) && em_service_need_poller()) {
            em_funnel.handed_over = true;
            em_service_wake_poller();
            return;
        }
    }
}

void em_progress(void)
{
    if (em_funnel.waiters)
        pthread_cond_broadcast(&em_funnel.progress);
    run_all();
}

static void wait_progress(bool outside)
{
    if (em_run_one(EM_ANYWHERE)) {
        run_all();
        return;
    }
    em_funnel.waiters++;
    if (outside || em_funnel.polled) { // do not wait for the poller's next look
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLLED_WAIT_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        em_lock_wait_until(&em_funnel.progress, &until);
    } else {
        em_lock_wait(&em_funnel.progress);
    }
    em_funnel.waiters--;
}

void em_wait_progress(void)
{
    wait_progress(false);
}

void em_wait_outside(void)
{
    wait_progress(true);
}

void em_stream_abandon(struct em_stream *s, CUresult result)
{
    while (s->first) {
        em_object_ref(&s->object);
        struct em_command *c = s->running = em_queue_pop(s);
        end_waiting(s, c, result);
        em_object_unref(&s->object);
    }
}

// ---- submission ----

static CUresult refuse(struct em_command *c, CUresult r)
{
    end_command(c, r);
    return r;
}

// Precondition: em_lock held.
static void number(struct em_stream *s, struct em_command *c)
{
    c->stream = s;
    c->sequence = ++s->submitted;
    c->ticket = s->object.context->tickets = ++em_funnel.tickets;
    if (s->blocking)
        s->object.context->blocking_pending++;
}

// Puts the command behind those that wait. Precondition: em_lock held.
static CUresult submit_waiting(struct em_stream *s, struct em_command *c, int how)
{
    if ((c->ops->place == EM_HOST_THREAD && !em_service_need_host()) ||
        (c->ops->polled && !em_service_need_poller()))
        return refuse(
            c, em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no thread can be made for a %s", c->ops->name));
    if (how == EM_SUBMIT_ASYNC) {
        struct em_command *copy = dm_alloc(c->size_B);
        if (!copy)
            return refuse(c, em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                                     "no host memory for a %s of %u bytes that must wait",
                                     c->ops->name, c->size_B));
        memcpy(copy, c, c->size_B);
        c = copy;
    }
    c->copied = how == EM_SUBMIT_ASYNC;
    c->done = false;
    c->call = em_call_now();
    c->entry = em_self.entry;
    number(s, c);
    em_queue_push(s, c);
    if (c->ops->polled)
        em_service_wake_poller();
    if (c->ops->place == EM_HOST_THREAD && em_stream_can_run(s))
        em_service_wake_host();
    if (c->ops->resumes)
        run_all();
    if (how == EM_SUBMIT_ASYNC)
        return CUDA_SUCCESS;
    while (!c->done)
        em_wait_progress();
    return c->result;
}

// Whether a stream goes on without help from outside: it runs, or could (not where that is a host
// function, which may wait for this thread), or its first command waits its turn behind one that
// does (is_turn). Precondition: em_lock held.
static bool goes_on(struct em_stream *s, unsigned behind)
{
    const struct em_command *c = s->first;
    if (s->running)
        return s->running->ops->place == EM_ANYWHERE;
    if (em_stream_can_run(s))
        return c->ops->place == EM_ANYWHERE;
    if (!c || !behind || (c->ops->ready && !c->ops->ready(s->first)))
        return false;
    struct em_context *context = s->object.context;
    if (context->barrier && context->barrier != s && oldest_ticket(context->barrier) < c->ticket)
        return goes_on(context->barrier, behind - 1);
    if (s->blocking)
        return context->default_stream && goes_on(context->default_stream, behind - 1);
    for (struct em_stream *other = context->streams; other; other = other->next) {
        if (other->blocking && oldest_ticket(other) < c->ticket)
            return goes_on(other, behind - 1);
    }
    return false;
}

// A queue holds so many commands; behind them a submitter waits, as behind a card's. Not where the
// stream stands still: what it waits for may be up to this very thread. Precondition: em_lock held,
// which may be released meanwhile.
static void wait_for_room(struct em_stream *s)
{
    while (s->submitted - s->completed >= QUEUE_MOST && !s->dead && !em_self.inside &&
           goes_on(s, 3))
        em_wait_progress();
}

// Whether a stream still takes a command. Precondition: em_lock held.
static CUresult check_stream(const struct em_stream *s, const struct em_command *c)
{
    if (s->dead)
        return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context of this stream was destroyed");
    if (s->object.context->ending || (context_failed(s->object.context) && !c->ops->always))
        return em_context_error(s->object.context);
    return CUDA_SUCCESS;
}

CUresult em_issue(struct em_stream *s, struct em_command *c, int how)
{
    wait_for_room(s);
    CUresult refused = check_stream(s, c);
    if (!refused && em_accesses_begin(c, em_stream_must_wait(s)))
        refused = check_stream(s, c);
    if (refused)
        return refuse(c, refused);
    if (em_stream_must_wait(s) || c->ops->place != EM_ANYWHERE || c->ops->resumes ||
        (c->ops->ready && !c->ops->ready(c)))
        return submit_waiting(s, c, how);

    number(s, c);
    s->running = c;
    em_unlock();
    CUresult r = run(s, c);
    em_lock();
    complete(s, c, r);
    if (__builtin_expect(r && how == EM_SUBMIT_ASYNC, 0)) {
        c->call = em_call_now();
        keep_failure(s, c, r);
        r = CUDA_SUCCESS;
    }
    if (em_funnel.waiters)
        pthread_cond_broadcast(&em_funnel.progress);
    run_all();
    return r;
}

CUresult em_submit(struct em_stream *stream, struct em_command *command, int how)
{
    em_lock();
    CUresult r = em_issue(stream, command, how);
    em_unlock();
    return r;
}
