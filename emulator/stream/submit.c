// SPDX-License-Identifier: MIT
// Submission: checks the stream, then runs a command at once or leaves it to the scheduler. If the
// command fails, keeps its error for a synchronising call.
#include <assert.h>
#include <string.h>

#include "access.h"
#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "choice.h"
#include "context.h"
#include "error.h"
#include "inject.h"
#include "lock.h"
#include "order.h"
#include "outside.h"
#include "policy.h"
#include "progress.h"
#include "record.h"
#include "record_command.h"
#include "record_content.h"
#include "schedule_log.h"
#include "scheduler.h"
#include "service.h"
#include "stop.h"
#include "stream.h"

enum {
    QUEUE_MOST = 1024, // commands that wait in a stream before its submitters have to wait
    OFFERS = 64        // of sharing while commands run
};

uint64_t em_order_epoch;
bool em_order_counts;

// ---- running ----

static CUresult context_result(struct em_context *context)
{
    CUresult r = em_context_error_code(context);
    return r ? r : CUDA_ERROR_CONTEXT_IS_DESTROYED; // destroyed, and begun again since
}

static __attribute__((noinline, cold)) CUresult lose_device(void)
{
    em_devices_fail(CUDA_ERROR_LAUNCH_FAILED);
    return em_fail(CUDA_ERROR_LAUNCH_FAILED, "the device is lost, as cardlessFuzzFail asked");
}

// Inline, as other functions between the call of a launch and its first instruction, because
// processors predict the returns of the innermost 16 calls only.
static inline __attribute__((always_inline)) CUresult run_command(struct em_command *c)
{
    em_assert_unlocked();
    struct em_context *context = c->stream->object.context;
    c->result = CUDA_SUCCESS;
    if (em_context_has_failed(context)) {
        c->result = context_result(context);
        if (c->ops->always)
            c->ops->run(c);
        return c->result;
    }
    CUresult r = em_inject(EM_INJECT_DEVICE) ? lose_device() : c->ops->run(c);
    if (r && em_error_is_sticky(r))
        em_context_set_sticky(context, r);
    return r;
}

CUresult em_command_run(struct em_command *c)
{
    em_assert_unlocked();
    return run_command(c);
}

// ---- ending ----

static void end_command(struct em_command *c, CUresult r)
{
    em_assert_locked();
    c->result = r;
    if (c->ops->finish)
        c->ops->finish(c);
    em_accesses_finish(c, r);
    if (c->ops->release)
        c->ops->release(c);
}

// The first error counts; a synchronising call returns it.
static void keep_failure(const struct em_command *c, CUresult r)
{
    struct em_stream *s = c->stream;
    if (s->failure || em_error_is_sticky(r))
        return;
    s->failed = c->ops->name;
    s->failed_call = c->call;
    em_stream_list_failure(s, r);
}

// `keep`: nobody waits for the result.
static void complete(struct em_command *c, CUresult r, bool keep)
{
    struct em_context *context = c->stream->object.context;
    end_command(c, r);
    if (em_unlikely(r && keep))
        keep_failure(c, r); // before the stream looks idle
    em_scheduler_leave(c);
    if (em_unlikely(r && em_context_has_failed(context)))
        em_scheduler_context_failed(context);
}

void em_command_end_waiting(struct em_command *c, CUresult r)
{
    struct em_stream *s = c->stream;
    complete(c, r, c->copied);
    if (em_unlikely(em_order_on) && !c->copied)
        em_order_host_waited(c);
    if (c->copied) {
        dm_free(c);
    } else {
        c->done = true; // its thread, which waits, may now return from the function that holds it
    }
    em_object_unref(&s->object);
    em_wake_waiters();
}

// ---- submission ----

static CUresult refuse(struct em_command *c, CUresult r)
{
    end_command(c, r);
    return r;
}

static CUresult begin_effects(struct em_command *c)
{
    return em_unlikely(c->ops->enter) ? c->ops->enter(c) : CUDA_SUCCESS;
}

static bool start_threads_for(const struct em_command *c)
{
    return (c->ops->place != EM_HOST_THREAD || em_service_need_host()) &&
           (!em_scheduler.policy->late_ms || em_service_need_late()) &&
           (!c->condition || !c->condition->source || em_outside_start());
}

// Leaves the command to the scheduler.
static CUresult submit_waiting(struct em_stream *s, struct em_command *c, int how)
{
    if (!start_threads_for(c))
        return refuse(c, em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                                 "cannot start the thread that a %s needs", c->ops->name));
    struct em_command *copy = NULL;
    if (how == EM_SUBMIT_ASYNC) {
        copy = dm_alloc(c->size_B);
        if (!copy)
            return refuse(c, em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                                     "out of host memory for a %s (%u bytes) that has to wait",
                                     c->ops->name, c->size_B));
    }
    CUresult r = begin_effects(c);
    if (r) {
        dm_free(copy);
        return refuse(c, r);
    }
    if (copy)
        c = memcpy(copy, c, c->size_B);
    c->stream = s;
    c->copied = how == EM_SUBMIT_ASYNC;
    c->done = false;
    c->call = em_call_now();
    c->entry = em_named_entry();
    em_object_ref(&s->object);
    if (!s->last || (s->first == s->last && s->first->state == EM_RUNNING))
        s->waiting_since = ++em_scheduler.turns;
    em_scheduler_enter(s, c);
    em_schedule_log_submit(c);
    if (!c->unfinished)
        em_scheduler_take_turn(c);
    if (c->ops->resumes || (em_choice_is_on() && how == EM_SUBMIT_ASYNC))
        em_run_share();
    if (how == EM_SUBMIT_ASYNC)
        return CUDA_SUCCESS;
    while (!c->done)
        em_wait_progress();
    r = c->result;
    em_wait_over();
    return r;
}

bool em_stream_must_wait(const struct em_stream *s)
{
    em_assert_readable();
    const struct em_context *context = s->object.context;
    const struct em_context_work *work = &context->work;
    if (s->first)
        return true;
    if (em_unlikely(em_scheduler.policy->at_submission == EM_POLICY_NEVER))
        return true;
    if (em_unlikely(work->barrier && work->barrier != s && work->barrier->first && !s->of_graph))
        return true;
    return s->blocking ? context->default_stream && context->default_stream->first
                       : s->kind == EM_STREAM_LEGACY && work->ordered.first;
}

// Whether the oldest command of a stream completes without help from outside. It does if it is
// ready or running, unless it is a host function, which may wait for this thread; or if it waits
// for a stream of which the same is true.
static bool goes_on(const struct em_stream *s, unsigned depth)
{
    const struct em_command *c = s->first;
    if (!c || !depth)
        return false;
    if (c->state != EM_BLOCKED)
        return c->state != EM_PARKED && c->ops->place == EM_ANYWHERE;
    const struct em_context *context = s->object.context;
    const struct em_stream *barrier = context->work.barrier;
    if (barrier && barrier != s && barrier->first && barrier->first->sequence < c->sequence)
        return goes_on(barrier, depth - 1);
    return goes_on(s->blocking ? context->default_stream : context->work.ordered.first->stream,
                   depth - 1);
}

// If a queue holds QUEUE_MOST commands, its submitters wait until one has completed, as on a card.
// They do not wait if the stream makes no progress, because this thread may be the one that has to
// end the wait. May release em_lock.
static void wait_while_full(struct em_stream *s)
{
    bool waited = false;
    while (s->pending >= QUEUE_MOST && !s->dead && !em_self.in_host_function && goes_on(s, 4)) {
        em_wait_progress();
        waited = true;
    }
    if (em_unlikely(waited))
        em_wait_over();
}

// Whether a stream still takes a command.
static CUresult check_stream(const struct em_stream *s, const struct em_command *c)
{
    if (s->dead)
        return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context of this stream was destroyed");
    if (s->object.context->ending || (em_context_has_failed(s->object.context) && !c->ops->always))
        return em_context_error(s->object.context);
    if (em_stream_is_captured(s))
        return em_capture->refuse((struct em_stream *)s, c->ops->name);
    return CUDA_SUCCESS;
}

// The command has run in the thread that submitted it.
static inline __attribute__((always_inline)) CUresult end_at_once(struct em_command *c, CUresult r,
                                                                  int how)
{
    em_assert_locked();
    if (em_unlikely(r && how == EM_SUBMIT_ASYNC)) {
        c->call = em_call_now();
        complete(c, r, true);
        r = CUDA_SUCCESS;
    } else {
        complete(c, r, false);
        if (em_unlikely(em_order_on) && how == EM_SUBMIT_SYNC)
            em_order_host_waited(c);
    }
    em_wake_waiters();
    em_run_share();
    return r;
}

CUresult em_issue(struct em_stream *s, struct em_command *c, int how)
{
    em_assert_locked();
    wait_while_full(s);
    CUresult refused = check_stream(s, c);
    bool must_wait = em_stream_must_wait(s);
    if (!refused && c->access_count && em_accesses_begin(c, must_wait)) {
        refused = check_stream(s, c);
        must_wait = em_stream_must_wait(s);
    }
    if (refused)
        return refuse(c, refused);
    if (must_wait || c->ops->place != EM_ANYWHERE || c->ops->resumes ||
        (c->ops->ready && !c->ops->ready(c)))
        return submit_waiting(s, c, how);

    CUresult r = begin_effects(c);
    if (r)
        return refuse(c, r);
    c->stream = s;
    em_scheduler_enter(s, c);
    em_scheduler_start(c);
    em_unlock();
    r = run_command(c);
    em_lock_again();
    return end_at_once(c, r, how);
}

CUresult em_submit(struct em_stream *stream, struct em_command *command, int how)
{
    em_assert_unlocked();
    em_lock();
    CUresult r = em_issue(stream, command, how);
    em_unlock();
    return r;
}

// ---- shared calls ----

bool em_stream_is_free(const struct em_stream *s)
{
    em_assert_readable();
    const struct em_context *context = s->object.context;
    // The legacy stream waits for the blocking streams, whose commands may be running unseen.
    return s->kind != EM_STREAM_LEGACY && !__atomic_load_n(&s->claimed, __ATOMIC_ACQUIRE) &&
           !em_stream_must_wait(s) && !s->dead && !context->ending &&
           !em_context_has_failed(context) && !em_stream_is_captured(s);
}

void em_command_adopt(void *argument)
{
    em_assert_locked();
    struct em_command *c = argument;
    struct em_stream *s = c->stream;
    em_scheduler_enter(s, c);
    em_scheduler_start(c);
    __atomic_store_n(&s->claimed, false, __ATOMIC_RELEASE); // after `first` was set
}

// The command has failed, or em_lock was taken meanwhile.
static __attribute__((noinline, cold)) CUresult end_with_lock(struct em_share *share,
                                                              struct em_command *c, CUresult r,
                                                              int how, bool recording, uint64_t end)
{
    em_lock(); // which adopts a command that has failed, unless it was adopted already
    const bool adopted = em_share_was_adopted(share);
    if (em_unlikely(recording))
        em_record_shared_end(c, end, adopted);
    if (adopted)
        r = end_at_once(c, r, how);
    else
        __atomic_store_n(&c->stream->claimed, false, __ATOMIC_RELEASE);
    em_unlock();
    return r;
}

bool em_issue_shared(struct em_share *share, struct em_stream *s, struct em_command *c, int how,
                     CUresult *result)
{
    assert(em_share_is_inside() && c->ops->place == EM_ANYWHERE && !c->ops->ready);
    if (!em_stream_is_free(s) || __atomic_exchange_n(&s->claimed, true, __ATOMIC_ACQ_REL)) {
        em_share_leave(share);
        return false;
    }
    c->stream = s;
    const bool recording = em_recording;
    const uint64_t begin = em_unlikely(recording) ? em_record_in_order() : 0;
    em_share_run(share, em_command_adopt, c);
    if (em_unlikely(recording))
        em_record_shared_begin(c, begin);
    CUresult r = em_command_run(c);
    const uint64_t end = em_unlikely(recording) ? em_record_end() : 0;
    const bool alone = em_likely(!r && em_share_end(share));
    if (alone) {
        if (em_unlikely(recording))
            em_record_shared_end(c, end, false);
        __atomic_store_n(&s->claimed, false, __ATOMIC_RELEASE);
        *result = CUDA_SUCCESS;
        return true;
    }
    *result = end_with_lock(share, c, r, how, recording, end);
    return true;
}

// ---- detached commands ----

static void detach(struct em_stream *s, void (*adopt)(void *), void *command)
{
    __atomic_store_n(&s->claimed, true, __ATOMIC_RELAXED);
    em_detach(adopt, command);
    em_unlock();
}

bool em_stream_detach(struct em_stream *s, void (*adopt)(void *), void *command)
{
    em_assert_locked();
    if (em_unlikely(em_sharing_wanted || !em_detached_is(EM_DETACHED_IDLE)))
        return false;
    detach(s, adopt, command);
    return true;
}

bool em_stream_may_detach(const struct em_stream *s)
{
    em_assert_locked();
    return em_stream_runs_in_place(s) && !em_sharing_wanted && em_detached_is(EM_DETACHED_IDLE);
}

// Ends a command that has failed or was adopted. `ended`: its state is IDLE.
static __attribute__((noinline, cold)) CUresult end_detached(struct em_command *c, CUresult r,
                                                             bool ended)
{
    struct em_stream *s = c->stream;
    em_sharing_prepare();
    em_lock(); // which adopts a command that has failed, unless it was adopted already
    if (!ended)
        em_stream_end_detached(s);
    r = end_at_once(c, r, EM_SUBMIT_ASYNC);
    em_offer_sharing(s);
    em_unlock();
    return r;
}

CUresult em_issue_detached(struct em_stream *s, struct em_command *c, void (*adopt)(void *))
{
    em_assert_locked();
    assert(em_stream_may_detach(s));
    c->stream = s;
    detach(s, adopt, c);
    const CUresult r = run_command(c);
    const bool adopted = !r && em_stream_end_detached(s);
    return em_likely(!r && !adopted) ? CUDA_SUCCESS : end_detached(c, r, adopted);
}

bool em_stream_end_detached(struct em_stream *s)
{
    __atomic_store_n(&s->claimed, false, __ATOMIC_RELEASE);
    return em_detached_end();
}

CUresult em_command_end_adopted(struct em_command *c, bool failed, int how)
{
    em_assert_unlocked();
    CUresult r = failed ? em_command_run(c) : CUDA_SUCCESS;
    em_sharing_prepare();
    em_lock();
    r = end_at_once(c, r, how);
    em_offer_sharing(c->stream);
    em_unlock();
    return r;
}

bool em_stream_runs_in_place(const struct em_stream *s)
{
    em_assert_locked();
    const struct em_scheduler *all = &em_scheduler;
    const struct em_context *context = s->object.context;
    return all->policy->at_submission == EM_POLICY_ALWAYS && !em_choice_is_on() && !em_order_on &&
           !em_stops && !em_recording_contents &&
           !__atomic_load_n(&em_injecting, __ATOMIC_RELAXED) && !all->ready.first &&
           !all->hosted.first && !all->waiters && !em_outside_memory.condition.first &&
           !em_stream_must_wait(s) && !s->dead && !context->ending &&
           !em_context_has_failed(context);
}

void em_sharing_is_wanted(const struct em_stream *s)
{
    em_assert_locked();
    struct em_scheduler *all = &em_scheduler;
    if ((s && s->kind == EM_STREAM_LEGACY) || all->policy->at_submission != EM_POLICY_ALWAYS ||
        em_choice_is_on() || em_order_on || all->ready.first || all->hosted.first || all->waiters ||
        em_outside_memory.condition.first)
        return;
    // The end of a command ends sharing. Most commands end soon, but some run for long.
    if (em_context_with_work(UINT64_MAX) && ++all->refused_offers < OFFERS)
        return;
    all->refused_offers = 0;
    em_sharing_begin();
}
