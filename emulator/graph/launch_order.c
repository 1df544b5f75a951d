// SPDX-License-Identifier: MIT
// Order among the steps of a launch, for the ordering checker.
#include "launch_order.h"

#include <stdbool.h>

#include "alloc.h"
#include "command.h"
#include "graph_exec.h"
#include "lock.h"
#include "order.h"
#include "order_clock.h"
#include "plan.h"

struct em_launch_order {
    struct em_order_launch base; // refers to the struct as long as work of the launch is known
    struct em_plan *plan;        // a reference
    struct em_graph_exec *exec;
    struct em_command *launch;
    struct em_clock **known;       // by step, if steps can wait; NULL: what the launch knows
    struct em_clock *all;          // what all steps know
    struct em_order_point scratch; // of the step that runs in the thread of the launch
    // For searches along edges: the position of each step in plan->order, the last search that
    // visited it, and the steps to visit.
    uint32_t *position, *visited, *stack;
    uint32_t searches;
};

// ---- edges ----

static bool prepare_search(struct em_launch_order *o)
{
    const struct em_plan *p = o->plan;
    if (o->position)
        return true;
    o->position = dm_calloc(3 * (size_t)p->count, sizeof *o->position);
    if (!o->position)
        return false;
    o->visited = o->position + p->count;
    o->stack = o->visited + p->count;
    for (uint32_t i = 0; i < p->count; i++)
        o->position[p->order[i]] = i;
    return true;
}

// Bodies of conditional nodes run one step after the other, perhaps more than once. What they do
// counts as done by the conditional node of section 0.
static uint32_t outermost(const struct em_plan *p, uint32_t step)
{
    return p->steps[step].outer == EM_NO_STEP ? step : p->steps[step].outer;
}

// Searches forwards, but not past the step that it looks for.
static bool reaches(struct em_order_launch *launch, uint32_t from, uint32_t to)
{
    struct em_launch_order *o = (struct em_launch_order *)launch;
    const struct em_plan *p = o->plan;
    em_assert_locked();
    from = outermost(p, from);
    to = outermost(p, to);
    if (!prepare_search(o)) {
        em_clock_failed = true;
        return true;
    }
    uint32_t depth = 0, search = ++o->searches;
    o->stack[depth++] = from;
    while (depth) {
        uint32_t at = o->stack[--depth];
        if (at == to)
            return true;
        for (uint32_t i = p->steps[at].first_out; i < p->steps[at + 1].first_out; i++) {
            uint32_t next = p->outs[i];
            if (o->visited[next] == search || o->position[next] > o->position[to])
                continue;
            o->visited[next] = search;
            o->stack[depth++] = next;
        }
    }
    return false;
}

// ---- the launch ----

static void free_order(struct em_order_launch *launch)
{
    struct em_launch_order *o = (struct em_launch_order *)launch;
    em_plan_unref(o->plan);
    dm_free(o->position);
    dm_free(o);
}

struct em_launch_order *em_launch_order_begin(struct em_graph_exec *exec, struct em_plan *plan,
                                              struct em_command *launch)
{
    em_assert_locked();
    if (!em_order_on || !launch->order)
        return NULL;
    struct em_launch_order *o = dm_calloc(1, sizeof *o);
    if (o && plan->waits) {
        o->known = dm_calloc(plan->count, sizeof(struct em_clock *));
        if (!o->known) {
            dm_free(o);
            o = NULL;
        }
    }
    if (!o) {
        em_clock_failed = true;
        em_order_stop_if_failed();
        return NULL;
    }
    o->base = (struct em_order_launch){.references = 1, .reaches = reaches, .free = free_order};
    o->plan = plan;
    plan->references++;
    o->launch = launch;
    o->exec = exec;
    if (exec->order)
        em_order_acquire(launch, exec->order);
    return o;
}

void em_launch_order_end(struct em_launch_order *o)
{
    em_assert_locked();
    em_order_stop_if_failed(); // a step may have had no memory
    if (!o)
        return;
    if (o->all)
        em_order_acquire(o->launch, o->all);
    // "Each launch is ordered behind both any previous work in hStream and any previous launches of
    // hGraphExec."
    em_order_release(o->launch, &o->exec->order);
    em_clock_unref(o->all);
    em_clock_unref(o->scratch.known);
    for (uint32_t i = 0; o->known && i < o->plan->count; i++)
        em_clock_unref(o->known[i]);
    dm_free(o->known);
    o->known = NULL;
    o->launch = NULL;
    em_order_launch_unref(&o->base);
}

// ---- steps ----

void em_launch_order_step(struct em_launch_order *o, uint32_t step, struct em_command *command,
                          bool long_lived)
{
    em_assert_locked();
    command->order = NULL;
    if (!o)
        return;
    struct em_order_point *p = long_lived ? dm_alloc(sizeof *p) : &o->scratch;
    if (!p) {
        em_clock_failed = true;
        return;
    }
    const struct em_order_point *launch = o->launch->order;
    if (!long_lived)
        em_clock_unref(p->known);
    *p = *launch;
    p->launch = &o->base;
    p->step = step + 1;
    step = outermost(o->plan, step);
    p->base = 0;
    p->known = em_clock_ref(o->known && o->known[step] ? o->known[step] : launch->known);
    em_order_step_started(command, p, o->launch);
}

void em_launch_order_step_done(struct em_launch_order *o, uint32_t step, struct em_order_point *p)
{
    em_assert_locked();
    if (!p)
        return;
    if (o && o->known) {
        em_clock_join(&o->known[outermost(o->plan, step)], p->known);
        em_clock_join(&o->all, p->known);
    }
    if (o && p == &o->scratch)
        return;
    em_clock_unref(p->known);
    dm_free(p);
}

void em_launch_order_passed(struct em_launch_order *o, uint32_t step)
{
    em_assert_locked();
    if (!o || !o->known || !o->known[step])
        return;
    const struct em_plan *p = o->plan;
    for (uint32_t i = p->steps[step].first_out; i < p->steps[step + 1].first_out; i++)
        em_clock_join(&o->known[p->outs[i]], o->known[step]);
}
