// SPDX-License-Identifier: MIT
// Makes plans of graphs, in time and memory linear in nodes plus edges.
#include "plan.h"

#include <string.h>

#include "alloc.h"
#include "command.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"

// ---- numbering ----

// Numbers the steps of a graph and of its child graphs. Returns false if there are too many.
static bool number_steps(struct em_graph *g, uint64_t *count, uint64_t *edges)
{
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        struct em_graph *child = em_node_child(n);
        n->enter = (uint32_t)(*count)++;
        if (child && !number_steps(child, count, edges))
            return false;
        n->leave = n->enter;
        if (child) {
            n->leave = (uint32_t)(*count)++;
            // To each of its nodes, from each of them, or past all of them.
            *edges += 2 * child->node_count + 1;
        }
        *edges += n->out_count;
        if (*count >= UINT32_MAX || *edges >= UINT32_MAX)
            return false;
    }
    return true;
}

// ---- edges ----

struct walk {
    struct em_plan *plan;
    uint32_t outs;
};

static void put_out(struct walk *w, uint32_t to)
{
    w->plan->outs[w->outs++] = to;
    w->plan->steps[to].in_count++;
}

// Fills in the successors of the steps in the order of their numbers. `leave` is the last step of
// the child graph that is filled in, or UINT32_MAX for the graph itself.
static void fill_outs(struct em_graph *g, uint32_t leave, struct walk *w)
{
    struct em_step *steps = w->plan->steps;
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        struct em_graph *child = em_node_child(n);
        steps[n->enter].first_out = w->outs;
        if (child) {
            for (const struct em_graph_node *c = child->first; c; c = c->next)
                if (!c->in_count)
                    put_out(w, c->enter);
            if (!child->first)
                put_out(w, n->leave);
            fill_outs(child, n->leave, w);
            steps[n->leave].first_out = w->outs;
        }
        for (const struct em_graph_edge *e = n->first_out; e; e = e->next_out)
            put_out(w, e->to->enter);
        if (!n->out_count && leave != UINT32_MAX)
            put_out(w, leave);
    }
}

// ---- steps ----

static enum em_step_kind kind_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return EM_STEP_RUN;
    case CU_GRAPH_NODE_TYPE_HOST:
        return EM_STEP_HOST;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return EM_STEP_WAIT;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return EM_STEP_RECORD;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return EM_STEP_AWAIT;
    default:
        return EM_STEP_NOTHING;
    }
}

static void count_kind(struct em_plan *p, enum em_step_kind kind)
{
    p->waits |= kind == EM_STEP_HOST || kind == EM_STEP_WAIT || kind == EM_STEP_AWAIT;
    p->event_steps += kind == EM_STEP_RECORD || kind == EM_STEP_AWAIT;
}

static CUresult fill_steps(struct em_plan *p, struct em_graph *g, struct em_plan_problem *problem)
{
    CUresult r = CUDA_SUCCESS;
    for (struct em_graph_node *n = g->first; n && !r; n = n->next) {
        struct em_step *s = &p->steps[n->enter];
        s->type = n->type;
        s->enabled = true;
        s->kind = kind_of(n->type);
        count_kind(p, s->kind);
        p->memory_steps += em_node_memory(n->type, n->params) != NULL;
        if (em_node_child(n)) {
            s->leave = n->leave;
            p->steps[n->leave].type = n->type;
            p->steps[n->leave].enabled = true;
            r = fill_steps(p, em_node_child(n), problem);
            continue;
        }
        r = em_node_params_copy(n->type, n->params, &s->params);
        if (!r)
            r = em_node_prepare(n->type, s->params, &s->command);
        if (r && !problem->node)
            problem->node = em_graph_node_handle(n);
    }
    return r;
}

// Returns false if the steps form a cycle.
static bool sort_steps(struct em_plan *p)
{
    uint32_t filled = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        p->waiting[i] = p->steps[i].in_count;
        if (!p->waiting[i])
            p->order[filled++] = i;
    }
    for (uint32_t done = 0; done < filled; done++) {
        const struct em_step *s = &p->steps[p->order[done]];
        for (uint32_t o = s[0].first_out; o < s[1].first_out; o++)
            if (!--p->waiting[p->outs[o]])
                p->order[filled++] = p->outs[o];
    }
    return filled == p->count;
}

// ---- life ----

static bool alloc_arrays(struct em_plan *p, uint64_t outs)
{
    p->steps = dm_calloc(p->count + 1ul, sizeof *p->steps);
    p->outs = dm_alloc((outs + 1) * sizeof *p->outs);
    p->order = dm_alloc((p->count + 1ul) * sizeof *p->order);
    p->waiting = dm_alloc((p->count + 1ul) * sizeof *p->waiting);
    p->ready = dm_alloc((p->count + 1ul) * sizeof *p->ready);
    return p->steps && p->outs && p->order && p->waiting && p->ready;
}

static CUresult new_plan(uint64_t count, uint64_t outs, struct em_plan **out)
{
    struct em_plan *p = dm_calloc(1, sizeof *p);
    if (p) {
        p->references = 1;
        p->count = (uint32_t)count;
        if (alloc_arrays(p, outs)) {
            *out = p;
            return CUDA_SUCCESS;
        }
        p->count = 0;
        em_plan_unref(p);
    }
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a graph of %llu steps",
                   (unsigned long long)count);
}

static void free_step(struct em_step *s)
{
    if (s->command)
        em_command_free(s->command);
    em_node_params_free(s->type, s->params);
}

void em_plan_unref(struct em_plan *p)
{
    em_assert_locked();
    if (--p->references)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        free_step(&p->steps[i]);
    dm_free(p->steps);
    dm_free(p->outs);
    dm_free(p->order);
    dm_free(p->waiting);
    dm_free(p->ready);
    dm_free(p);
}

CUresult em_plan_new(struct em_graph *g, struct em_plan **out, struct em_plan_problem *problem)
{
    em_assert_locked();
    uint64_t count = 0, outs = 0;
    struct em_plan *p;
    *problem = (struct em_plan_problem){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    if (!number_steps(g, &count, &outs))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the graph has more than 2^32 nodes or edges");
    CUresult r = new_plan(count, outs, &p);
    if (r)
        return r;
    struct walk w = {.plan = p};
    fill_outs(g, UINT32_MAX, &w);
    p->steps[p->count].first_out = w.outs;
    if (!sort_steps(p)) {
        problem->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the edges of the graph form a cycle");
    }
    if (!r)
        r = fill_steps(p, g, problem);
    if (r)
        em_plan_unref(p);
    else
        *out = p;
    return r;
}

CUresult em_plan_copy(const struct em_plan *p, struct em_plan **out)
{
    em_assert_locked();
    struct em_plan *copy;
    uint32_t outs = p->steps[p->count].first_out;
    CUresult r = new_plan(p->count, outs, &copy);
    if (r)
        return r;
    copy->waits = p->waits;
    copy->event_steps = p->event_steps;
    copy->memory_steps = p->memory_steps;
    memcpy(copy->outs, p->outs, outs * sizeof *p->outs);
    memcpy(copy->order, p->order, p->count * sizeof *p->order);
    for (uint32_t i = 0; i <= p->count && !r; i++) {
        struct em_step *to = &copy->steps[i];
        const struct em_step *from = &p->steps[i];
        *to = *from;
        to->params = NULL;
        to->command = NULL;
        if (from->params)
            r = em_node_params_copy(from->type, from->params, &to->params);
        if (!r && from->command)
            r = em_command_clone(from->command, &to->command);
    }
    if (r)
        em_plan_unref(copy);
    else
        *out = copy;
    return r;
}

CUresult em_plan_set(struct em_plan *p, uint32_t step, void *params)
{
    em_assert_locked();
    struct em_step *s = &p->steps[step];
    struct em_command *command;
    CUresult r = em_node_prepare(s->type, params, &command);
    if (r) {
        em_node_params_free(s->type, params);
        return r;
    }
    free_step(s);
    s->params = params;
    s->command = command;
    return CUDA_SUCCESS;
}
