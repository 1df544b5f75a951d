// SPDX-License-Identifier: MIT
// Launches of instantiated graphs.
//
// A launch is one command of its stream. When its turn has come, it runs the steps of the plan in
// an order that respects all edges:
//
//   - If no step can wait, it runs all of them in the topological order, one after the other.
//     Not if the policy decides (choice.h): other commands may run between any two steps then.
//   - Otherwise it counts the unfinished predecessors of each step, and runs a step when its count
//     is 0. A step that has to wait, or that needs the thread for host functions, becomes a command
//     of its own in a hidden stream. While only such commands are left, the launch is parked; each
//     of them notifies it when it completes. So branches that wait do not stop the others.
//
// Launches of one instantiated graph run one after the other, in the order of their submission.
//
// A conditional node whose body repeats takes turns with the other steps, and with other commands.
#include "launch.h"

#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "choice.h"
#include "clock.h"
#include "command.h"
#include "condition.h"
#include "error.h"
#include "event.h"
#include "graph_exec.h"
#include "graph_memory.h"
#include "graph_node.h"
#include "guard.h"
#include "launch_order.h"
#include "lock.h"
#include "memory_device.h"
#include "schedule_log.h"
#include "stream.h"
#include "user_object.h"

enum { TURN_NS = 100000 }; // how long a repeated body keeps its thread

struct launch_command {
    struct em_command command;
    struct em_launch *launch;
};

static struct em_launch *launch_of(struct em_command *c)
{
    return ((struct launch_command *)c)->launch;
}

// ---- the end of a launch ----

void em_launch_unref(struct em_launch *l)
{
    em_assert_locked();
    struct em_graph_exec *x = l->exec;
    if (--l->references)
        return;
    if (l->host)
        em_object_unref(&l->host->object);
    dm_free(l->events);
    em_plan_unref(l->plan);
    em_user_objects_release_all(&l->retired);
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
            em_launch_end_command(l->events[i], c->result);
        l->events[i] = NULL;
    }
    em_launch_order_end(l->order);
    l->order = NULL;
    bool first = x->first == l;
    *(l->previous ? &l->previous->next : &x->first) = l->next;
    *(l->next ? &l->next->previous : &x->last) = l->previous;
    if (first && x->first)
        em_condition_notify(&x->first->changed);
    l->over = true;
    em_launch_unref(l);
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
    em_lock();
    l->order = em_launch_order_begin(l->exec, l->plan, c);
    CUresult r = em_launch_steps(l, c->stream);
    em_unlock();
    return r;
}

// The steps of bodies are left to their conditional nodes.
static void start_launch(struct em_launch *l, struct em_command *c)
{
    const struct em_plan *p = l->plan;
    l->started = true;
    l->order = em_launch_order_begin(l->exec, l->plan, c);
    em_launch_start_choices(p);
    for (uint32_t i = 0; i < p->count; i++) {
        p->waiting[i] = p->steps[i].in_count;
        if (!p->waiting[i] && !p->steps[i].section)
            em_launch_push(l, i);
    }
}

// The ready step that the policy chooses changes places with the first one. `ready` is a ring.
static void choose_ready(struct em_launch *l)
{
    uint32_t *ready = l->plan->ready, first = l->first_ready, size = l->plan->count + 1;
    uint32_t chosen = em_choose((l->end_ready + size - first) % size);
    uint32_t *a = &ready[first], *b = &ready[(first + chosen) % size], step = *a;
    *a = *b;
    *b = step;
}

static uint32_t pop_ready(struct em_launch *l)
{
    if (em_choice_is_on())
        choose_ready(l);
    uint32_t step = l->plan->ready[l->first_ready++];
    if (l->first_ready > l->plan->count)
        l->first_ready = 0;
    return step;
}

static CUresult run_as_ready(struct em_command *c)
{
    struct em_launch *l = launch_of(c);
    em_lock();
    if (!l->started)
        start_launch(l, c);
    const uint64_t begin = l->plan->section_count > 1 ? dm_now_ns() : 0;
    bool turn_over = false;
    while (l->first_ready != l->end_ready && !l->failed && !turn_over) {
        uint32_t step = pop_ready(l);
        turn_over = em_choice_is_on(); // commands of other streams may run before the next step
        if (turn_over && l->plan->steps[step].command)
            em_schedule_log_step(c, l->plan->steps[step].command->ops->name);
        const bool choice = l->plan->steps[step].kind == EM_STEP_CHOICE;
        CUresult r =
            choice ? em_launch_choice(l, step, c->stream) : em_launch_step(l, step, c->stream);
        if (r == EM_STEP_LEFT)
            continue;
        if (r == EM_STEP_AGAIN) {
            em_launch_push(l, step);
            turn_over = turn_over || dm_now_ns() - begin > TURN_NS;
            continue;
        }
        if (r && !l->failed)
            l->failed = r;
        em_launch_complete(l, step);
    }
    CUresult r = l->failed                                          ? l->failed
                 : l->outstanding || l->first_ready != l->end_ready ? EM_RUN_AGAIN
                                                                    : CUDA_SUCCESS;
    em_unlock();
    return r;
}

// ---- for reports of deadlocks ----

static const struct em_launch *launch_of_const(const struct em_command *c)
{
    return ((const struct launch_command *)c)->launch;
}

static void explain_launch(const struct em_command *c, struct em_need *need)
{
    const struct em_launch *previous = launch_of_const(c)->previous;
    if (!previous)
        return;
    snprintf(need->text, sizeof need->text, "the end of the graph's launch before it");
    need->by = em_pending_find(em_launch_is_command_of, previous);
}

static const struct em_command *waiting_step(const struct em_command *c)
{
    return em_launch_waiting_step(launch_of_const(c));
}

static const struct em_command *find_step(const struct em_command *c, em_match_fn *match,
                                          const void *argument, char *name, size_t size)
{
    return em_launch_find_step(launch_of_const(c), match, argument, name, size);
}

static const struct em_parts_ops launch_parts = {.waiting = waiting_step, .find = find_step};

bool em_launch_is_command_of(const struct em_command *c, const void *launch)
{
    return c->ops->parts == &launch_parts && launch_of_const(c) == launch;
}

static const struct em_command_ops ordered_ops = {.name = "graph launch",
                                                  .ready = launch_ready,
                                                  .run = run_in_order,
                                                  .finish = finish_launch,
                                                  .explain = explain_launch,
                                                  .parts = &launch_parts};
static const struct em_command_ops waiting_ops = {.name = "graph launch",
                                                  .ready = launch_ready,
                                                  .run = run_as_ready,
                                                  .finish = finish_launch,
                                                  .explain = explain_launch,
                                                  .parts = &launch_parts,
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
    struct em_graph_memory *first = NULL;
    for (uint32_t i = 0; p->memory_steps && i < p->count; i++)
        if (memory_of(&p->steps[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            em_graph_memory_launch(p->steps[i].params, &first);
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
    bool in_order = !x->plan->waits && !em_choice_is_on();
    em_command_init(&c.command, in_order ? &ordered_ops : &waiting_ops, sizeof c);
    c.command.condition = &c.launch->changed;
    r = make_events(c.launch);
    if (r) {
        c.command.result = r;
        finish_launch(&c.command);
        return r;
    }
    em_memory_close_freed();
    allocate_memory(x->plan);
    return em_issue(stream, &c.command, EM_SUBMIT_ASYNC);
}

CUresult em_graph_launch(CUgraphExec handle, struct em_stream *stream)
{
    struct em_graph_exec *x;
    dm_guard_begins();
    em_lock();
    CUresult r = em_graph_exec_find(handle, &x);
    if (!r)
        r = launch(x, stream);
    em_unlock();
    dm_guard_ends();
    return r;
}
