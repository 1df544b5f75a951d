// SPDX-License-Identifier: MIT
// Launches of instantiated graphs.
//
// A launch is one command of its stream. When its turn has come, it runs the steps of the plan in
// an order that respects all edges:
//
//   - If no step can wait, it runs all of them in the topological order, one after the other.
//   - Otherwise it counts the unfinished predecessors of each step, and runs a step when its count
//     is 0. A step that has to wait, or that needs the thread for host functions, becomes a command
//     of its own in a hidden stream. While only such commands are left, the launch is parked; each
//     of them notifies it when it completes. So branches that wait do not stop the others.
//
// Launches of one instantiated graph run one after the other, in the order of their submission.
#include <string.h>

#include "access.h"
#include "alloc.h"
#include "call.h"
#include "command.h"
#include "condition.h"
#include "error.h"
#include "event.h"
#include "graph_exec.h"
#include "graph_memory.h"
#include "graph_node.h"
#include "lock.h"
#include "stream.h"

struct em_launch {
    uint32_t references; // of its command and of the steps' commands
    struct em_graph_exec *exec;
    struct em_plan *plan;
    struct em_launch *previous, *next; // in the exec's list
    struct em_condition changed;       // it is the exec's first launch, or a step has completed
    struct em_command **events;        // by step: commands of events that have not run, or NULL
    struct em_stream *host;            // hidden: for host functions; NULL before the first
    bool started, over;
    uint32_t first_ready, end_ready; // in plan->ready
    uint32_t outstanding;            // steps that have commands of their own
    CUresult failed;
};

struct launch_command {
    struct em_command command;
    struct em_launch *launch;
};

// A step that waits, or runs in another thread.
struct step_command {
    struct em_command command;
    struct em_launch *launch;
    uint32_t step;
    struct em_command *inner; // what it does
    bool own;                 // `inner` belongs to it, else to the plan
};

static struct em_launch *launch_of(struct em_command *c)
{
    return ((struct launch_command *)c)->launch;
}

// ---- commands of steps ----

// Ends a command that is not the plan's, whether it ran or not.
static void end_own(struct em_command *c, CUresult r)
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
        end_own(c, r);
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

// ---- the end of a launch ----

static void unref_launch(struct em_launch *l)
{
    em_assert_locked();
    struct em_graph_exec *x = l->exec;
    if (--l->references)
        return;
    if (l->host)
        em_object_unref(&l->host->object);
    dm_free(l->events);
    em_plan_unref(l->plan);
    if (x->spare)
        dm_free(l);
    else
        x->spare = l;
    em_object_unref(&x->object);
}

static void finish_launch(struct em_command *c)
{
    struct em_launch *l = launch_of(c);
    struct em_graph_exec *x = l->exec;
    em_assert_locked();
    for (uint32_t i = 0; l->events && i < l->plan->count; i++) {
        if (l->events[i])
            end_own(l->events[i], c->result);
        l->events[i] = NULL;
    }
    bool first = x->first == l;
    *(l->previous ? &l->previous->next : &x->first) = l->next;
    *(l->next ? &l->next->previous : &x->last) = l->previous;
    if (first && x->first)
        em_condition_notify(&x->first->changed);
    l->over = true;
    unref_launch(l);
}

// ---- steps ----

static void push_ready(struct em_launch *l, uint32_t step)
{
    l->plan->ready[l->end_ready++] = step;
}

// A step is complete: its successors lose a predecessor.
static void complete_step(struct em_launch *l, uint32_t step)
{
    const struct em_plan *p = l->plan;
    for (uint32_t o = p->steps[step].first_out; o < p->steps[step + 1].first_out; o++)
        if (!--p->waiting[p->outs[o]])
            push_ready(l, p->outs[o]);
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
    em_assert_locked();
    end_inner(s->inner, s->own, c->result);
    if (!l->over) { // else the plan may belong to the next launch
        l->outstanding--;
        if (c->result && !l->failed)
            l->failed = c->result;
        complete_step(l, s->step);
        em_condition_notify(&l->changed);
    }
    unref_launch(l);
}

static const struct em_command_ops host_step_ops = {
    .name = "host node", .run = run_step, .finish = finish_step, .place = EM_HOST_THREAD};
static const struct em_command_ops waiting_step_ops = {.name = "node that waits",
                                                       .ready = step_ready,
                                                       .run = run_step,
                                                       .finish = finish_step,
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
            end_inner(inner, own, r);
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

enum { STEP_LEFT = -2 }; // the step has a command of its own now

// Releases em_lock meanwhile. Precondition: em_lock held.
static CUresult do_step(struct em_launch *l, uint32_t step, struct em_stream *stream)
{
    em_assert_locked();
    struct em_command *c;
    bool own;
    CUresult r = command_of(l, step, &c, &own);
    if (r || !c)
        return r;
    c->stream = stream;
    if (c->access_count)
        em_accesses_begin(c, false);
    if (c->ops->place != EM_HOST_THREAD && (!c->ops->ready || c->ops->ready(c))) {
        r = run_inner(c);
        if (r != EM_RUN_AGAIN) {
            end_inner(c, own, r);
            return r;
        }
    }
    r = submit_step(l, step, c, own, stream->object.context);
    return r ? r : (CUresult)STEP_LEFT;
}

// ---- the command of a launch ----

static bool launch_ready(struct em_command *c)
{
    const struct em_launch *l = launch_of(c);
    if (!l->started)
        return l->exec->first == l;
    return l->first_ready != l->end_ready || !l->outstanding || l->failed;
}

// If no step waits.
static CUresult run_in_order(struct em_command *c)
{
    struct em_launch *l = launch_of(c);
    const struct em_plan *p = l->plan;
    CUresult r = CUDA_SUCCESS;
    em_lock();
    for (uint32_t i = 0; i < p->count && !r; i++)
        r = do_step(l, p->order[i], c->stream);
    em_unlock();
    return r;
}

static void start_launch(struct em_launch *l)
{
    const struct em_plan *p = l->plan;
    l->started = true;
    for (uint32_t i = 0; i < p->count; i++) {
        p->waiting[i] = p->steps[i].in_count;
        if (!p->waiting[i])
            push_ready(l, i);
    }
}

static CUresult run_as_ready(struct em_command *c)
{
    struct em_launch *l = launch_of(c);
    em_lock();
    if (!l->started)
        start_launch(l);
    while (l->first_ready != l->end_ready && !l->failed) {
        uint32_t step = l->plan->ready[l->first_ready++];
        CUresult r = do_step(l, step, c->stream);
        if (r == (CUresult)STEP_LEFT)
            continue;
        if (r && !l->failed)
            l->failed = r;
        complete_step(l, step);
    }
    CUresult r = l->failed ? l->failed : l->outstanding ? EM_RUN_AGAIN : CUDA_SUCCESS;
    em_unlock();
    return r;
}

static const struct em_command_ops ordered_ops = {
    .name = "graph launch", .ready = launch_ready, .run = run_in_order, .finish = finish_launch};
static const struct em_command_ops waiting_ops = {.name = "graph launch",
                                                  .ready = launch_ready,
                                                  .run = run_as_ready,
                                                  .finish = finish_launch,
                                                  .resumes = true};

// ---- submission ----

// A record counts from the launch on, as if it had been submitted with it. A wait is for the record
// that is the last one then, or for that of a step before it.
static CUresult make_events(struct em_launch *l)
{
    const struct em_plan *p = l->plan;
    CUresult r = CUDA_SUCCESS;
    if (!p->event_steps)
        return r;
    l->events = dm_calloc(p->count, sizeof *l->events);
    if (!l->events)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the events of a graph");
    for (uint32_t i = 0; i < p->count && !r; i++) {
        uint32_t at = p->order[i];
        const struct em_step *s = &p->steps[at];
        if (s->kind == EM_STEP_RECORD)
            r = em_event_record_prepare(em_node_event(s->type, s->params), &l->events[at]);
        else if (s->kind == EM_STEP_AWAIT)
            r = em_event_wait_prepare(em_node_event(s->type, s->params), &l->events[at]);
    }
    return r;
}

static CUresult new_launch(struct em_graph_exec *x, struct em_launch **out)
{
    struct em_launch *l = x->spare ? x->spare : dm_alloc(sizeof *l);
    if (!l)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a launch of a graph");
    x->spare = NULL;
    *l = (struct em_launch){.references = 1, .exec = x, .plan = x->plan, .previous = x->last};
    x->plan->references++;
    em_object_ref(&x->object);
    *(x->last ? &x->last->next : &x->first) = l;
    x->last = l;
    *out = l;
    return CUDA_SUCCESS;
}

static struct em_graph_memory *memory_of(const struct em_step *s, CUgraphNodeType type)
{
    return s->type == type ? em_node_memory(type, s->params) : NULL;
}

// Checks the memory allocation nodes before anything of the launch exists.
static CUresult check_memory(const struct em_graph_exec *x)
{
    const struct em_plan *p = x->plan;
    const bool auto_free = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; p->memory_steps && i < p->count && !r; i++) {
        const struct em_graph_memory *m = memory_of(&p->steps[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC);
        r = m ? em_graph_memory_check_launch(m, auto_free) : CUDA_SUCCESS;
    }
    return r;
}

// Memory that the graph frees itself is free again after the launch.
static void allocate_memory(const struct em_plan *p)
{
    for (uint32_t i = 0; p->memory_steps && i < p->count; i++)
        if (memory_of(&p->steps[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            em_graph_memory_launch(p->steps[i].params);
    for (uint32_t i = 0; p->memory_steps && i < p->count; i++)
        if (memory_of(&p->steps[i], CU_GRAPH_NODE_TYPE_MEM_FREE))
            em_graph_memory_free(p->steps[i].params);
}

static CUresult launch(struct em_graph_exec *x, struct em_stream *stream)
{
    struct launch_command c;
    CUresult r = check_memory(x);
    if (!r)
        r = new_launch(x, &c.launch);
    if (r)
        return r;
    em_command_init(&c.command, x->plan->waits ? &waiting_ops : &ordered_ops, sizeof c);
    c.command.condition = &c.launch->changed;
    r = make_events(c.launch);
    if (r) {
        c.command.result = r;
        finish_launch(&c.command);
        return r;
    }
    allocate_memory(x->plan);
    return em_issue(stream, &c.command, EM_SUBMIT_ASYNC);
}

CUresult em_graph_launch(CUgraphExec handle, struct em_stream *stream)
{
    struct em_graph_exec *x;
    em_lock();
    CUresult r = em_graph_exec_find(handle, &x);
    if (!r)
        r = launch(x, stream);
    em_unlock();
    return r;
}
