// SPDX-License-Identifier: MIT
// The steps of a launch: runs them in its thread, or leaves them to the scheduler as commands of
// their own.
#include "launch.h"

#include <stdio.h>

#include "access.h"
#include "alloc.h"
#include "command.h"
#include "condition.h"
#include "call.h"
#include "deadlock.h"
#include "error.h"
#include "launch_order.h"
#include "lock.h"
#include "order.h"
#include "record.h"
#include "record_command.h"
#include "stream.h"

// A step that waits, or runs in another thread.
struct step_command {
    struct em_command command;
    struct em_launch *launch;
    uint32_t step;
    struct em_command *inner; // what it does
    bool own;                 // `inner` belongs to it, else to the plan
};

// ---- commands of steps ----

void em_launch_end_command(struct em_command *c, CUresult r)
{
    em_assert_locked();
    c->result = r;
    if (c->ops->finish)
        c->ops->finish(c);
    em_accesses_finish(c, r);
    if (c->ops->release)
        c->ops->release(c);
    dm_free(c);
}

// Ends a run of a command that the plan keeps.
static void end_kept(struct em_command *c, CUresult r)
{
    em_assert_locked();
    struct em_access *list = em_command_accesses(c);
    for (unsigned i = 0; i < c->access_count; i++)
        em_access_end(&list[i], r);
}

static void end_inner(struct em_command *c, bool own, CUresult r)
{
    if (own)
        em_launch_end_command(c, r);
    else
        end_kept(c, r);
}

// Runs a command in this thread. Releases em_lock meanwhile.
static CUresult run_inner(struct em_command *c)
{
    em_unlock();
    CUresult r = c->ops->run(c);
    em_lock_again();
    return r;
}

// ---- steps ----

void em_launch_push(struct em_launch *l, uint32_t step)
{
    em_assert_locked();
    l->plan->ready[l->end_ready++] = step;
    if (l->end_ready > l->plan->count)
        l->end_ready = 0;
}

void em_launch_complete(struct em_launch *l, uint32_t step)
{
    em_assert_locked();
    const struct em_plan *p = l->plan;
    if (em_unlikely(l->order != NULL))
        em_launch_order_passed(l->order, step);
    for (uint32_t o = p->steps[step].first_out; o < p->steps[step + 1].first_out; o++)
        if (!--p->waiting[p->outs[o]])
            em_launch_push(l, p->outs[o]);
}

static bool step_ready(struct em_command *c)
{
    struct em_command *inner = ((struct step_command *)c)->inner;
    return !inner->ops->ready || inner->ops->ready(inner);
}

static CUresult run_step(struct em_command *c)
{
    struct em_command *inner = ((struct step_command *)c)->inner;
    CUresult r = inner->ops->run(inner);
    c->condition = inner->condition; // it may wait for something else from now on
    return r;
}

static void finish_step(struct em_command *c)
{
    struct step_command *s = (struct step_command *)c;
    struct em_launch *l = s->launch;
    struct em_order_point *point = s->inner->order;
    em_assert_locked();
    end_inner(s->inner, s->own, c->result);
    em_launch_order_step_done(l->order, s->step, point);
    if (!l->over) { // else the plan may belong to the next launch
        l->outstanding--;
        if (c->result && !l->failed)
            l->failed = c->result;
        const uint32_t outer = l->plan->steps[s->step].outer;
        if (outer != EM_NO_STEP) // the conditional node goes on
            em_launch_push(l, outer);
        else
            em_launch_complete(l, s->step);
        em_condition_notify(&l->changed);
    }
    em_launch_unref(l);
}

static void explain_step(const struct em_command *c, struct em_need *need)
{
    const struct em_command *inner = ((const struct step_command *)c)->inner;
    if (inner->ops->explain)
        inner->ops->explain(inner, need);
}

// ---- for reports of deadlocks ----

static void name_step(const struct em_launch *l, uint32_t step, const struct em_command *inner,
                      char *name, size_t size)
{
    snprintf(name, size, "%s (step %u of %u)", inner->ops->name, step + 1, l->plan->count);
}

static const struct em_command *whole_launch(const struct em_command *c, char *name, size_t size)
{
    const struct step_command *s = (const struct step_command *)c;
    const struct em_command *whole = em_pending_find(em_launch_is_command_of, s->launch);
    name_step(s->launch, s->step, s->inner, name, size);
    return whole ? whole : c;
}

static const struct em_parts_ops step_parts = {.whole = whole_launch};

static bool is_waiting_step(const struct em_command *c, const void *launch)
{
    return c->ops->parts == &step_parts && c->state == EM_PARKED &&
           ((const struct step_command *)c)->launch == launch;
}

const struct em_command *em_launch_waiting_step(const struct em_launch *l)
{
    em_assert_locked();
    return em_pending_find(is_waiting_step, l);
}

// Whether the step may still begin. Bodies of conditional nodes can be repeated.
static bool may_begin(const struct em_launch *l, uint32_t step)
{
    return !l->started || l->plan->waiting[step] || l->plan->steps[step].section;
}

const struct em_command *em_launch_find_step(const struct em_launch *l, em_match_fn *match,
                                             const void *argument, char *name, size_t size)
{
    em_assert_locked();
    for (uint32_t i = 0; i < l->plan->count; i++) {
        const struct em_step *s = &l->plan->steps[i];
        const struct em_command *c = l->events && l->events[i] ? l->events[i] : s->command;
        if (!c || !s->enabled || !may_begin(l, i) || !match(c, argument))
            continue;
        name_step(l, i, c, name, size);
        return c;
    }
    return NULL;
}

static const struct em_command_ops host_step_ops = {
    .name = "host node", .run = run_step, .finish = finish_step, .place = EM_HOST_THREAD};
static const struct em_command_ops waiting_step_ops = {.name = "node that waits",
                                                       .ready = step_ready,
                                                       .run = run_step,
                                                       .finish = finish_step,
                                                       .explain = explain_step,
                                                       .parts = &step_parts,
                                                       .resumes = true};

// Leaves a step to the scheduler. `inner`, whose accesses have begun, belongs to the step
// afterwards, also on failure, if `own` is set. May release em_lock.
static CUresult submit_step(struct em_launch *l, uint32_t step, struct em_command *inner, bool own,
                            struct em_context *context)
{
    const bool host = inner->ops->place == EM_HOST_THREAD;
    struct em_stream *s = host ? l->host : NULL;
    if (!s) {
        CUresult r = em_stream_new_hidden(context, &s);
        if (r) {
            struct em_order_point *point = inner->order;
            end_inner(inner, own, r);
            em_launch_order_step_done(l->order, step, point);
            return r;
        }
        s->of_graph = true;
        if (host)
            l->host = s;
    }
    inner->stream = s;
    struct step_command c = {.launch = l, .step = step, .inner = inner, .own = own};
    em_command_init(&c.command, host ? &host_step_ops : &waiting_step_ops, sizeof c);
    c.command.condition = inner->condition;
    l->outstanding++;
    l->references++;
    // A failure reaches the launch through finish_step.
    em_issue(s, &c.command, EM_SUBMIT_ASYNC);
    if (!host)
        em_object_unref(&s->object);
    return CUDA_SUCCESS;
}

// The command of a step in this launch, or NULL if there is nothing to do.
static CUresult command_of(struct em_launch *l, uint32_t step, struct em_command **out, bool *own)
{
    const struct em_step *s = &l->plan->steps[step];
    *own = s->kind != EM_STEP_RUN && s->kind != EM_STEP_HOST;
    *out = s->enabled ? s->command : NULL;
    if (s->kind == EM_STEP_WAIT && *out)
        return em_command_clone(s->command, out);
    if (l->events && l->events[step]) {
        *out = l->events[step];
        l->events[step] = NULL;
    }
    return CUDA_SUCCESS;
}

static inline CUresult do_step(struct em_launch *l, uint32_t step, struct em_stream *stream)
{
    struct em_command *c;
    bool own;
    CUresult r = command_of(l, step, &c, &own);
    if (r || !c)
        return r;
    c->stream = stream;
    if (c->access_count)
        em_accesses_begin(c, false);
    if (em_unlikely(em_order_on))
        em_launch_order_step(l->order, step, c, own || c->ops->place == EM_HOST_THREAD);
    if (c->ops->place != EM_HOST_THREAD && (!c->ops->ready || c->ops->ready(c))) {
        struct em_order_point *point = c->order;
        const uint64_t recorded = em_unlikely(em_recording) ? em_record_step_begin(c) : 0;
        r = run_inner(c);
        if (em_unlikely(recorded))
            em_record_step_end(recorded, r);
        if (r != EM_RUN_AGAIN) {
            end_inner(c, own, r);
            em_launch_order_step_done(l->order, step, point);
            return r;
        }
    }
    r = submit_step(l, step, c, own, stream->object.context);
    return r ? r : EM_STEP_LEFT;
}

CUresult em_launch_step(struct em_launch *l, uint32_t step, struct em_stream *stream)
{
    em_assert_locked();
    return do_step(l, step, stream);
}

CUresult em_launch_steps(struct em_launch *l, struct em_stream *stream)
{
    em_assert_locked();
    const struct em_plan *p = l->plan;
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; i < p->count && !r; i++)
        r = do_step(l, p->order[i], stream);
    return r;
}
