// SPDX-License-Identifier: MIT
// Makes plans of graphs, in time and memory linear in nodes plus edges.
#include "plan.h"

#include <string.h>

#include "alloc.h"
#include "command.h"
#include "conditional.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"
#include "wording.h"

// ---- numbering ----

struct size {
    uint64_t steps, edges, sections;
};

// Numbers the steps of a graph and of the graphs inside of its nodes. Returns false if there are
// too many.
static bool number_steps(struct em_graph *g, struct size *size)
{
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        struct em_graph *child = em_node_child(n), *inner;
        n->enter = (uint32_t)size->steps++;
        for (unsigned i = 0; (inner = em_node_graph(n, i)); i++) {
            size->sections += !child;
            if (!number_steps(inner, size))
                return false;
        }
        n->leave = n->enter;
        if (child) {
            n->leave = (uint32_t)size->steps++;
            // To each of its nodes, from each of them, or past all of them.
            size->edges += 2 * child->node_count + 1;
        }
        size->edges += n->out_count;
        if (size->steps >= UINT32_MAX || size->edges >= UINT32_MAX || size->sections >= UINT32_MAX)
            return false;
    }
    return true;
}

// ---- edges and sections ----

struct walk {
    struct em_plan *plan;
    uint32_t outs, ins, sections; // filled in
};

// The place of the graph that is filled in.
struct place {
    uint32_t leave; // the last step of the child graph, else EM_NO_STEP
    uint32_t section, outer;
};

static void put_out(struct walk *w, uint32_t to)
{
    w->plan->outs[w->outs++] = to;
    w->plan->steps[to].in_count++;
}

static void fill_outs(struct em_graph *g, const struct place *in, struct walk *w);

static void fill_child(struct em_graph_node *n, const struct place *in, struct walk *w)
{
    const struct em_graph *child = em_node_child(n);
    struct em_step *leave = &w->plan->steps[n->leave];
    for (const struct em_graph_node *c = child->first; c; c = c->next)
        if (!c->in_count)
            put_out(w, c->enter);
    if (!child->first)
        put_out(w, n->leave);
    struct place inside = *in;
    inside.leave = n->leave;
    fill_outs(em_node_child(n), &inside, w);
    leave->section = in->section;
    leave->outer = in->outer;
    leave->first_out = w->outs;
    leave->first_in = w->ins;
    leave->last = n->leave;
}

// Precondition: the step's own successors are filled in.
static void fill_bodies(struct em_graph_node *n, const struct place *in, struct walk *w)
{
    struct em_step *s = &w->plan->steps[n->enter];
    struct em_graph *body;
    s->first_section = w->sections;
    for (unsigned i = 0; em_node_graph(n, i); i++)
        w->plan->sections[w->sections++].step = n->enter;
    struct place inside = {EM_NO_STEP, s->first_section,
                           in->outer == EM_NO_STEP ? n->enter : in->outer};
    uint32_t step = n->enter + 1;
    for (unsigned i = 0; (body = em_node_graph(n, i)); i++, inside.section++) {
        struct em_section *section = &w->plan->sections[inside.section];
        fill_outs(body, &inside, w);
        section->first_step = step;
        if (body->last)
            step = w->plan->steps[body->last->enter].last + 1;
        section->end_step = step;
    }
    s->last = step - 1;
}

// Fills in the successors of the steps in the order of their numbers, and their sections.
static void fill_outs(struct em_graph *g, const struct place *in, struct walk *w)
{
    struct em_step *steps = w->plan->steps;
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        steps[n->enter].first_out = w->outs;
        steps[n->enter].first_in = w->ins;
        steps[n->enter].last = n->leave;
        steps[n->enter].section = in->section;
        steps[n->enter].outer = in->outer;
        for (const struct em_graph_edge *e = n->first_in; e; e = e->next_in)
            w->plan->ins[w->ins++] = (struct em_step_in){e->from->enter, e->data.from_port,
                                                         e->data.to_port, e->data.type};
        if (em_node_child(n))
            fill_child(n, in, w);
        for (const struct em_graph_edge *e = n->first_out; e; e = e->next_out)
            put_out(w, e->to->enter);
        if (!n->out_count && in->leave != EM_NO_STEP)
            put_out(w, in->leave);
        if (n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            fill_bodies(n, in, w);
    }
}

// ---- steps ----

static enum em_step_kind kind_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
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
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return EM_STEP_CHOICE;
    default:
        return EM_STEP_NOTHING;
    }
}

static void count_kind(struct em_plan *p, enum em_step_kind kind)
{
    p->waits |= kind == EM_STEP_HOST || kind == EM_STEP_WAIT || kind == EM_STEP_AWAIT ||
                kind == EM_STEP_CHOICE;
    p->event_steps += kind == EM_STEP_RECORD || kind == EM_STEP_AWAIT;
}

// "Allowed node types are kernel nodes, empty nodes, child graphs, memsets, memcopies, and
// conditionals. This applies recursively to child graphs and conditional bodies."
static CUresult check_body_node(const struct em_graph_node *n)
{
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return CUDA_SUCCESS;
    default:
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the body of a conditional node has %s %s node; only kernel, memcpy, memset, "
            "empty, conditional and child graph nodes are allowed there",
            em_wording_article(em_node_type_name(n->type)), em_node_type_name(n->type));
    }
}

static CUresult fill_steps(struct em_plan *p, struct em_graph *g, struct em_plan_problem *problem)
{
    CUresult r = em_conditionals_check(g);
    if (r)
        problem->result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    for (struct em_graph_node *n = g->first; n && !r; n = n->next) {
        struct em_step *s = &p->steps[n->enter];
        s->type = n->type;
        s->enabled = true;
        s->kind = kind_of(n->type);
        count_kind(p, s->kind);
        p->memory_steps += em_node_memory(n->type, n->params) != NULL;
        if (em_node_child(n)) {
            p->steps[n->leave].type = n->type;
            p->steps[n->leave].enabled = true;
            r = fill_steps(p, em_node_child(n), problem);
            continue;
        }
        if (s->section)
            r = check_body_node(n);
        if (r)
            problem->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        if (!r)
            r = em_node_params_copy(n->type, n->params, &s->params);
        if (!r)
            r = em_node_prepare(n->type, s->params, &s->command);
        if (r && !problem->node)
            problem->node = em_graph_node_handle(n);
        struct em_graph *body;
        for (unsigned i = 0; !r && (body = em_node_graph(n, i)); i++)
            r = fill_steps(p, body, problem);
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

// Puts the steps of each section together, in the order that they have. `scratch` has room for all
// steps.
static void sort_sections(struct em_plan *p, uint32_t *scratch)
{
    struct em_section *sections = p->sections;
    sections[0].end = p->count;
    if (p->section_count == 1)
        return;
    sections[0].end = 0;
    for (uint32_t i = 0; i < p->count; i++)
        sections[p->steps[i].section].end++;
    for (uint32_t i = 0, place = 0; i < p->section_count; i++) {
        uint32_t count = sections[i].end;
        sections[i].first = sections[i].end = place;
        place += count;
    }
    for (uint32_t i = 0; i < p->count; i++)
        scratch[sections[p->steps[p->order[i]].section].end++] = p->order[i];
    memcpy(p->order, scratch, p->count * sizeof *scratch);
    for (uint32_t i = 0; i < p->count; i++) // waiting: the place of each step
        p->waiting[p->order[i]] = i;
    for (uint32_t i = 1; i < p->section_count; i++)
        sections[i].at = p->waiting[sections[i].step];
}

// ---- life ----

static bool alloc_arrays(struct em_plan *p, uint64_t outs)
{
    p->sections = dm_calloc(p->section_count, sizeof *p->sections);
    p->steps = dm_calloc(p->count + 1ul, sizeof *p->steps);
    p->outs = dm_alloc((outs + 1) * sizeof *p->outs);
    p->ins = dm_alloc((outs + 1) * sizeof *p->ins);
    p->order = dm_alloc((p->count + 1ul) * sizeof *p->order);
    p->waiting = dm_alloc((p->count + 1ul) * sizeof *p->waiting);
    p->ready = dm_alloc((p->count + 1ul) * sizeof *p->ready);
    return p->sections && p->steps && p->outs && p->ins && p->order && p->waiting && p->ready;
}

static CUresult new_plan(const struct size *size, struct em_plan **out)
{
    struct em_plan *p = dm_calloc(1, sizeof *p);
    if (p) {
        p->references = 1;
        p->count = (uint32_t)size->steps;
        p->section_count = (uint32_t)size->sections;
        if (alloc_arrays(p, size->edges)) {
            *out = p;
            return CUDA_SUCCESS;
        }
        p->count = 0;
        em_plan_unref(p);
    }
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a graph of %llu steps",
                   (unsigned long long)size->steps);
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
    dm_free(p->sections);
    dm_free(p->steps);
    dm_free(p->outs);
    dm_free(p->ins);
    dm_free(p->order);
    dm_free(p->waiting);
    dm_free(p->ready);
    dm_free(p);
}

CUresult em_plan_new(struct em_graph *g, struct em_plan **out, struct em_plan_problem *problem)
{
    em_assert_locked();
    struct size size = {.sections = 1};
    struct em_plan *p;
    *problem = (struct em_plan_problem){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    if (!number_steps(g, &size))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the graph has more than 2^32 nodes or edges");
    CUresult r = new_plan(&size, &p);
    if (r)
        return r;
    struct walk w = {.plan = p, .sections = 1};
    p->sections[0].step = EM_NO_STEP;
    fill_outs(g, &(struct place){EM_NO_STEP, 0, EM_NO_STEP}, &w);
    p->steps[p->count].first_out = w.outs;
    p->steps[p->count].first_in = w.ins;
    if (!sort_steps(p)) {
        problem->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the edges of the graph form a cycle");
    } else {
        sort_sections(p, p->ready);
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
    CUresult r = new_plan(&(struct size){p->count, outs, p->section_count}, &copy);
    if (r)
        return r;
    copy->waits = p->waits;
    copy->event_steps = p->event_steps;
    copy->memory_steps = p->memory_steps;
    memcpy(copy->sections, p->sections, p->section_count * sizeof *p->sections);
    memcpy(copy->outs, p->outs, outs * sizeof *p->outs);
    memcpy(copy->ins, p->ins, p->steps[p->count].first_in * sizeof *p->ins);
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
