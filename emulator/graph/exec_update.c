// SPDX-License-Identifier: MIT
// Updates of whole graphs: the nodes of two graphs are paired in the order of their creation, then
// compared, and the steps take over the parameters.
#include "error.h"
#include "graph_exec.h"
#include "graph_node.h"
#include "lock.h"

// The steps [first, end) of `old` are compared with all steps of `plan`. They are those of the
// whole graph or of a child graph.
struct update {
    const struct em_plan *old;
    uint32_t first, end;
    struct em_plan *plan;
    CUgraphExecUpdateResultInfo *info;
};

static CUresult refuse(struct update *u, CUgraphExecUpdateResult result,
                       const struct em_graph_node *node, const char *why)
{
    u->info->result = result;
    u->info->errorNode = node ? em_graph_node_handle(node) : NULL;
    return em_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "%s", why);
}

// Whether a step has the same successors. Those outside the compared steps do not count: they are
// the last step of the child graph.
static bool same_outs(const struct update *u, uint32_t at)
{
    const struct em_step *a = &u->old->steps[u->first + at], *b = &u->plan->steps[at];
    uint32_t i = a[0].first_out, j = b[0].first_out;
    while (i < a[1].first_out) {
        uint32_t to = u->old->outs[i++];
        if (to >= u->first && to < u->end &&
            (j == b[1].first_out || u->plan->outs[j++] != to - u->first))
            return false;
    }
    return j == b[1].first_out;
}

// Whether a step is in the same body of the same conditional step, or outside of bodies.
static bool same_section(const struct update *u, uint32_t at)
{
    const struct em_plan *p = u->old, *q = u->plan;
    const uint32_t a = p->steps[u->first + at].section, b = q->steps[at].section;
    const uint32_t step = p->sections[a].step;
    if (!b)
        return step == EM_NO_STEP || step < u->first;
    return step == u->first + q->sections[b].step &&
           a - p->steps[step].first_section == b - q->steps[q->sections[b].step].first_section;
}

static CUresult compare_topology(struct update *u)
{
    bool same = u->end - u->first == u->plan->count;
    for (uint32_t i = 0; same && i < u->plan->count; i++)
        same = same_section(u, i) && same_outs(u, i);
    if (same)
        return CUDA_SUCCESS;
    return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL,
                  "the nodes or edges of the graph differ from those of the instantiated graph");
}

static CUresult compare_types(struct update *u, const struct em_graph *g)
{
    CUresult r = CUDA_SUCCESS;
    for (const struct em_graph_node *n = g->first; n && !r; n = n->next) {
        if (u->old->steps[u->first + n->enter].type != n->type)
            return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, n,
                          "a node has another type than in the instantiated graph");
        struct em_graph *inner;
        for (unsigned i = 0; !r && (inner = em_node_graph(n, i)); i++)
            r = compare_types(u, inner);
    }
    return r;
}

// (recorded: graph_rules, conditionals/update-3)
static CUgraphExecUpdateResult changed_result(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
                                                  : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUresult compare_params(struct update *u, const struct em_graph *g)
{
    CUresult r = CUDA_SUCCESS;
    char why[200];
    for (const struct em_graph_node *n = g->first; n && !r; n = n->next) {
        const void *params = u->old->steps[u->first + n->enter].params;
        struct em_graph *inner;
        if (!em_node_child(n) && !em_node_may_change(n->type, params, n->params, why, sizeof why))
            r = refuse(u, changed_result(n->type), n, why);
        for (unsigned i = 0; !r && (inner = em_node_graph(n, i)); i++)
            r = compare_params(u, inner);
    }
    return r;
}

// The steps exchange their parameters and commands.
static void take_over(struct em_plan *to, uint32_t first, struct em_plan *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct em_step *a = &to->steps[first + i], *b = &from->steps[i], old = *a;
        a->params = b->params;
        a->command = b->command;
        b->params = old.params;
        b->command = old.command;
    }
}

static CUresult update(struct em_graph_exec *x, struct em_graph *g, struct update *u)
{
    struct em_plan_problem problem;
    CUresult r = em_plan_new(g, &u->plan, &problem);
    if (r)
        return r;
    u->old = x->plan;
    // A pair of different types is reported even if the topology differs too.
    if (u->end - u->first == u->plan->count)
        r = compare_types(u, g);
    if (!r)
        r = compare_topology(u);
    if (!r)
        r = compare_params(u, g);
    if (!r)
        r = em_graph_exec_own_plan(x);
    if (!r) {
        take_over(x->plan, u->first, u->plan);
        u->info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    em_plan_unref(u->plan);
    return r;
}

CUresult em_graph_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct em_graph_exec *x;
    struct em_graph *g;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    em_lock();
    CUresult r = em_graph_exec_find(exec, &x);
    if (!r)
        r = em_graph_get(graph, &g);
    if (!r)
        r = update(x, g, &(struct update){.end = x->plan->count, .info = info});
    em_unlock();
    return r;
}

CUresult em_graph_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    struct em_graph_exec *x;
    struct em_graph *g;
    uint32_t at;
    em_lock();
    CUresult r = em_graph_exec_step(exec, node, CU_GRAPH_NODE_TYPE_GRAPH, &x, &at);
    if (!r)
        r = em_graph_get(child, &g);
    if (!r)
        r = update(
            x, g,
            &(struct update){.first = at + 1, .end = x->plan->steps[at].leave, .info = &info});
    em_unlock();
    return r;
}
