// SPDX-License-Identifier: MIT
// Updates of whole graphs: pairs the nodes of two graphs, compares each pair, and gives the steps
// of the instantiated graph the parameters of their partners.
//
// Nodes are paired as on a card (recorded: graph_rules, updates): first the exit nodes, the newest
// first, then for each pair in turn its dependencies, in the order of their edges. A pair is
// compared when its turn comes: the number of dependencies, the type, the parameters, the graphs
// inside of the node, the pairs of its dependencies. The first difference is reported.
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "graph_exec.h"
#include "graph_node.h"
#include "launch.h"
#include "lock.h"
#include "node_kernel.h"
#include "node_updatable.h"
#include "user_object.h"

struct pair {
    uint32_t old, new; // steps
    uint32_t next;     // in the queue of its graph, or NO_PAIR
};
#define NO_PAIR UINT32_MAX

// The pairs of one graph, in the order in which they are compared.
struct queue {
    uint32_t first, last; // NO_PAIR: empty
};

struct update {
    struct em_plan *old, *new;
    struct em_graph_node **nodes;    // by step of `new`
    uint32_t *old_partner;           // by step of `old`: EM_NO_STEP before it is paired
    uint32_t *new_partner;           // by step of `new`
    bool *has_out_old, *has_out_new; // by step: another step of the same graph depends on it
    struct pair *pairs;              // all, in the order in which they were found
    uint32_t pair_count;
    CUgraphExecUpdateResultInfo *info;
    bool uses_priority;
};

// The steps of one graph: the whole one, a child graph or a body.
struct level {
    uint32_t first, end;
};

static CUgraphNode handle_of(const struct update *u, uint32_t step)
{
    return step == EM_NO_STEP ? NULL : em_graph_node_handle(u->nodes[step]);
}

static CUresult refuse(struct update *u, CUgraphExecUpdateResult result, uint32_t step,
                       const char *why)
{
    u->info->result = result;
    u->info->errorNode = handle_of(u, step);
    return em_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "%s", why);
}

// ---- exit nodes ----

// The next step of the same graph.
static uint32_t next_step(const struct em_plan *p, uint32_t step)
{
    return p->steps[step].last + 1;
}

// Counts the steps of a level, and marks those on which others depend.
static uint32_t mark_outs(const struct em_plan *p, const struct level *l, bool *has_out)
{
    uint32_t count = 0;
    for (uint32_t s = l->first; s < l->end; s = next_step(p, s), count++)
        for (uint32_t i = p->steps[s].first_in; i < p->steps[s + 1].first_in; i++)
            has_out[p->ins[i].step] = true;
    return count;
}

static uint32_t count_exits(const struct em_plan *p, const struct level *l, const bool *has_out)
{
    uint32_t count = 0;
    for (uint32_t s = l->first; s < l->end; s = next_step(p, s))
        count += !has_out[s];
    return count;
}

static uint32_t next_exit(const struct em_plan *p, uint32_t step, const bool *has_out)
{
    while (has_out[step])
        step = next_step(p, step);
    return step;
}

static uint32_t new_pair(struct update *u, uint32_t old, uint32_t new, uint32_t next)
{
    u->old_partner[old] = new;
    u->new_partner[new] = old;
    u->pairs[u->pair_count] = (struct pair){old, new, next};
    return u->pair_count++;
}

static void prepend_pair(struct update *u, struct queue *q, uint32_t old, uint32_t new)
{
    q->first = new_pair(u, old, new, q->first);
    if (q->last == NO_PAIR)
        q->last = q->first;
}

// Precondition: the queue is not empty.
static void append_pair(struct update *u, struct queue *q, uint32_t old, uint32_t new)
{
    uint32_t pair = new_pair(u, old, new, NO_PAIR);
    u->pairs[q->last].next = pair;
    q->last = pair;
}

// "hGraph has more exit nodes than hGraph, in which case resultInfo->errorNode is set to one of the
// exit nodes in hGraph."
static CUresult pair_exits(struct update *u, const struct level *old, const struct level *new,
                           struct queue *q)
{
    uint32_t count = count_exits(u->old, old, u->has_out_old);
    uint32_t new_count = count_exits(u->new, new, u->has_out_new);
    uint32_t a = old->first, b = new->first;
    for (uint32_t i = count + 1; i < new_count; i++)
        b = next_step(u->new, next_exit(u->new, b, u->has_out_new));
    if (new_count > count)
        return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                      next_exit(u->new, b, u->has_out_new),
                      "the graph has more exit nodes than the instantiated graph");
    if (new_count < count)
        return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, EM_NO_STEP,
                      "the graph has fewer exit nodes than the instantiated graph");
    for (uint32_t i = 0; i < count; i++) {
        a = next_exit(u->old, a, u->has_out_old);
        b = next_exit(u->new, b, u->has_out_new);
        prepend_pair(u, q, a, b);
        a = next_step(u->old, a);
        b = next_step(u->new, b);
    }
    return CUDA_SUCCESS;
}

// ---- comparison ----

static CUresult compare_level(struct update *u, const struct level *old, const struct level *new);

// (recorded: graph_rules, conditionals/update-3)
static CUgraphExecUpdateResult changed_result(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
                                                  : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

// The graphs inside of two nodes of the same type.
static CUresult compare_inside(struct update *u, struct pair p)
{
    const struct em_step *a = &u->old->steps[p.old], *b = &u->new->steps[p.new];
    CUresult r = CUDA_SUCCESS;
    if (a->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return compare_level(u, &(struct level){p.old + 1, a->last},
                             &(struct level){p.new + 1, b->last});
    if (a->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return r;
    const struct em_section *s = &u->old->sections[a->first_section];
    const struct em_section *t = &u->new->sections[b->first_section];
    for (; !r && s < u->old->sections + u->old->section_count && s->step == p.old; s++, t++)
        r = compare_level(u, &(struct level){s->first_step, s->end_step},
                          &(struct level){t->first_step, t->end_step});
    return r;
}

static bool is_same_edge(const struct em_step_in *a, const struct em_step_in *b)
{
    return a->from_port == b->from_port && a->to_port == b->to_port && a->type == b->type;
}

// "The dependencies are paired based on edge order and a dependency does not match when the nodes
// are already paired based on other edges examined in the graph." Nor does one whose edge has other
// ports or another type (recorded: graph_nesting, edge_updates).
static CUresult pair_dependencies(struct update *u, struct pair p, struct queue *q)
{
    const struct em_step_in *old = &u->old->ins[u->old->steps[p.old].first_in];
    const struct em_step_in *new = &u->new->ins[u->new->steps[p.new].first_in];
    const uint32_t count = u->new->steps[p.new + 1].first_in - u->new->steps[p.new].first_in;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = u->old_partner[old[i].step], b = u->new_partner[new[i].step];
        const bool same_edge = is_same_edge(&old[i], &new[i]);
        if (same_edge && a == EM_NO_STEP && b == EM_NO_STEP) {
            append_pair(u, q, old[i].step, new[i].step);
        } else if (!same_edge || a != new[i].step) {
            u->info->errorFromNode = handle_of(u, new[i].step);
            return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, p.new,
                          "a dependency of a node differs from that of the instantiated graph");
        }
    }
    return CUDA_SUCCESS;
}

static CUresult compare_pair(struct update *u, struct pair p, struct queue *q)
{
    const struct em_step *a = &u->old->steps[p.old], *b = &u->new->steps[p.new];
    char why[200];
    if (a[1].first_in - a->first_in != b[1].first_in - b->first_in)
        return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, p.new,
                      "a node has another number of dependencies than in the instantiated graph");
    if (a->type != b->type)
        return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, p.new,
                      "a node has another type than in the instantiated graph");
    if (b->params && !em_node_may_change(b->type, a->params, b->params, why, sizeof why))
        return refuse(u, changed_result(b->type), p.new, why);
    // (recorded: graph_moved, priorities/make-0-0-8; without the flag, priorities do not matter)
    if (u->uses_priority && b->type == CU_GRAPH_NODE_TYPE_KERNEL &&
        em_node_kernel_priority(a->params) != em_node_kernel_priority(b->params))
        return refuse(
            u, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, p.new,
            "the priority of a kernel must stay the same in a graph that was instantiated "
            "with CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY");
    CUresult r = compare_inside(u, p);
    return r ? r : pair_dependencies(u, p, q);
}

// Each node has a partner in the end, because a plan has no cycle: a path leads from each node to
// an exit node.
static CUresult compare_level(struct update *u, const struct level *old, const struct level *new)
{
    struct queue q = {NO_PAIR, NO_PAIR};
    if (mark_outs(u->old, old, u->has_out_old) != mark_outs(u->new, new, u->has_out_new))
        return refuse(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, EM_NO_STEP,
                      "the graph has another number of nodes than the instantiated graph");
    CUresult r = pair_exits(u, old, new, &q);
    for (uint32_t at = q.first; !r && at != NO_PAIR; at = u->pairs[at].next)
        r = compare_pair(u, u->pairs[at], &q);
    return r;
}

// ---- the update ----

// The steps exchange their parameters and commands.
static void take_over(const struct update *u)
{
    for (uint32_t i = 0; i < u->pair_count; i++) {
        struct em_step *a = &u->old->steps[u->pairs[i].old], *b = &u->new->steps[u->pairs[i].new];
        const struct em_step was = *a;
        a->params = b->params;
        a->command = b->command;
        b->params = was.params;
        b->command = was.command;
    }
}

static void list_nodes(struct em_graph *g, struct em_graph_node **out)
{
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        struct em_graph *inner;
        out[n->enter] = n;
        for (unsigned i = 0; (inner = em_node_graph(n, i)); i++)
            list_nodes(inner, out);
    }
}

// "If an executable graph is updated, the references in the new source graph are cloned, and
// replace the references in the target graph. If previous launches are not synchronized, any
// references which would be released are held until the launches have finished executing."
static void replace_objects(struct em_graph_exec *x, struct em_held_object *objects)
{
    if (x->last)
        em_user_objects_move(&x->held, &x->last->retired);
    else
        em_user_objects_release_all(&x->held);
    x->held = objects;
}

static CUresult start_update(struct update *u, struct em_graph *g)
{
    const size_t old = u->old->count + 1ul, new = u->new->count + 1ul;
    u->nodes = dm_calloc(new, sizeof(struct em_graph_node *));
    u->old_partner = dm_alloc(old * sizeof *u->old_partner);
    u->new_partner = dm_alloc(new * sizeof *u->new_partner);
    u->has_out_old = dm_calloc(old, sizeof *u->has_out_old);
    u->has_out_new = dm_calloc(new, sizeof *u->has_out_new);
    u->pairs = dm_alloc(new * sizeof *u->pairs);
    if (!u->nodes || !u->old_partner || !u->new_partner || !u->has_out_old || !u->has_out_new ||
        !u->pairs)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the update of a graph");
    memset(u->old_partner, 0xff, old * sizeof *u->old_partner); // EM_NO_STEP
    memset(u->new_partner, 0xff, new * sizeof *u->new_partner);
    list_nodes(g, u->nodes);
    return CUDA_SUCCESS;
}

static void finish_update(struct update *u)
{
    dm_free(u->nodes);
    dm_free(u->old_partner);
    dm_free(u->new_partner);
    dm_free(u->has_out_old);
    dm_free(u->has_out_new);
    dm_free(u->pairs);
}

// Compares a level of the instantiated graph with the whole of another graph, and updates it.
static CUresult update(struct em_graph_exec *x, const struct level *old, struct em_graph *g,
                       CUgraphExecUpdateResultInfo *info)
{
    struct em_plan_problem problem;
    struct update u = {.info = info, .uses_priority = x->uses_priority};
    struct em_held_object *objects = NULL;
    CUresult r = em_plan_new(g, &u.new, &problem);
    if (r)
        return r;
    u.old = x->plan;
    r = start_update(&u, g);
    if (!r)
        r = compare_level(&u, old, &(struct level){0, u.new->count});
    if (!r)
        r = em_user_objects_of_graph(g, &objects);
    if (!r)
        r = em_graph_exec_own_plan(x);
    if (r) {
        em_user_objects_release_all(&objects);
    } else {
        u.old = x->plan;
        take_over(&u);
        // Objects of the other graphs stay with the new ones of a child graph.
        if (old->first)
            em_user_objects_move(&objects, &x->held);
        else
            replace_objects(x, objects);
        info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    finish_update(&u);
    em_plan_unref(u.new);
    return r;
}

CUresult em_graph_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct em_graph_exec *x;
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_exec_find(exec, &x);
    if (!r)
        r = em_graph_get(graph, &g);
    // "Cannot be used as an argument to cuGraphExecUpdate". The result is not written (recorded:
    // graph_moved, moved/inside-s-0-5).
    if (!r && em_graph_is_embedded(g))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the graph belongs to a child graph node; update with the graph of the node, "
                    "or call cuGraphExecChildGraphNodeSetParams");
    // "Neither the graph nor its instantiated version can be passed to cuGraphExecUpdate." Again
    // the result is not written (recorded: updatable_nodes, updatable/5).
    else if (!r && (x->is_updatable || em_graph_has_updatable(g)))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "%s has kernel nodes that the device may update, so it cannot be part of an "
                    "update of the whole graph",
                    x->is_updatable ? "hGraphExec" : "hGraph");
    else
        *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    if (!r)
        r = update(x, &(struct level){0, x->plan->count}, g, info);
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
    // Not even by the graph of the node itself (recorded: graph_moved, updates/child-m-1-3-0).
    if (!r && g->memory_nodes)
        r = em_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                    "a graph that allocates or frees memory cannot replace a child graph");
    if (!r)
        r = update(x, &(struct level){at + 1, x->plan->steps[at].last}, g, &info);
    em_unlock();
    return r;
}
