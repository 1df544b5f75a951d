// SPDX-License-Identifier: MIT
// Conditional nodes: nodes with body graphs, which run if a value says so, or as long as it does.
#include "node_conditional.h"

#include "alloc.h"
#include "conditional.h"
#include "error.h"
#include "lock.h"
#include "node_type.h"

enum { BODIES_MOST = 1 << 20 };

// "size: Size of graph output array. Allowed values are 1 for CU_GRAPH_COND_TYPE_WHILE, 1 or 2 for
// CU_GRAPH_COND_TYPE_IF, or any value greater than zero for CU_GRAPH_COND_TYPE_SWITCH."
static CUresult check_size(CUgraphConditionalNodeType type, unsigned size)
{
    if ((unsigned)type > CU_GRAPH_COND_TYPE_SWITCH)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "type (%d) is not a CUgraphConditionalNodeType",
                       (int)type);
    if (!size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size is 0: a conditional node has a body");
    if (size > BODIES_MOST)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "size (%u) exceeds the limit of %d bodies", size,
                       BODIES_MOST);
    if (type == CU_GRAPH_COND_TYPE_IF && size > 2)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "size (%u) must be 1 or 2 for CU_GRAPH_COND_TYPE_IF", size);
    if (type == CU_GRAPH_COND_TYPE_WHILE && size > 1)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size (%u) must be 1 for CU_GRAPH_COND_TYPE_WHILE",
                       size);
    return CUDA_SUCCESS;
}

static const struct em_graph *outermost(const struct em_graph *g)
{
    while (g->parent)
        g = g->parent->graph;
    return g;
}

// The node may be in a body inside of the handle's graph (recorded: graph_rules,
// conditionals/handle-9).
static CUresult check(const CUDA_CONDITIONAL_NODE_PARAMS *p, const struct em_graph *g,
                      struct em_conditional **out)
{
    CUresult r = em_conditional_find(p->handle, out);
    if (!r)
        r = check_size(p->type, p->size);
    if (!r && (!(*out)->graph || outermost((*out)->graph) != outermost(g)))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the conditional handle belongs to another graph");
    if (!r && (*out)->has_node)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "another node uses the conditional handle already; create one for each node");
    if (!r && !p->ctx)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT, "ctx is NULL");
    if (!r && p->ctx != (*out)->context)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "ctx (%p) must be the context of the conditional handle (%p)", (void *)p->ctx,
                    (void *)(*out)->context);
    return r ? r : em_graph_check_depth(g, NULL, EM_BODY_DEPTH_MOST);
}

static void free_condition(void *params)
{
    struct em_condition_params *c = params;
    for (unsigned i = 0; c->bodies && i < c->count; i++)
        if (c->bodies[i])
            em_graph_drop(c->bodies[i]);
    if (c->bodies)
        c->conditional->has_node = false;
    em_conditional_unref(c->conditional);
    dm_free(c->bodies);
    dm_free(c->handles);
    dm_free(c);
}

static CUresult make_bodies(struct em_condition_params *c)
{
    c->bodies = dm_calloc(c->count, sizeof(struct em_graph *));
    c->handles = dm_calloc(c->count, sizeof *c->handles);
    CUresult r = CUDA_SUCCESS;
    if (!c->bodies || !c->handles)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u bodies", c->count);
    for (unsigned i = 0; i < c->count && !r; i++) {
        r = em_graph_new(&c->bodies[i]);
        if (!r)
            c->handles[i] = em_graph_handle(c->bodies[i]);
    }
    return r;
}

static CUresult make_condition(const CUgraphNodeParams *given, const struct em_graph *graph,
                               void **out)
{
    const CUDA_CONDITIONAL_NODE_PARAMS *p = &given->conditional;
    struct em_conditional *found;
    if (!graph)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the parameters of conditional nodes cannot be changed");
    CUresult r = check(p, graph, &found);
    if (r)
        return r;
    struct em_condition_params *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a conditional node");
    *c = (struct em_condition_params){
        .conditional = found, .type = p->type, .count = p->size, .context = p->ctx};
    em_conditional_ref(found);
    found->has_node = true;
    r = make_bodies(c);
    if (r) {
        found->has_node = false;
        free_condition(c);
    } else {
        *out = c;
    }
    return r;
}

// For a step. Clones of graphs are refused before (recorded: graph_build/conditional-errors).
static CUresult copy_condition(const void *params, void **out)
{
    CUresult r = em_node_duplicate(params, sizeof(struct em_condition_params), out);
    if (r)
        return r;
    struct em_condition_params *c = *out;
    c->bodies = NULL;
    c->handles = NULL;
    em_conditional_ref(c->conditional);
    return CUDA_SUCCESS;
}

static void get_condition(const void *params, CUgraphNodeParams *out)
{
    const struct em_condition_params *c = params;
    out->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = c->conditional->object.handle,
        .type = c->type,
        .size = c->count,
        .phGraph_out = c->handles,
        .ctx = c->context,
    };
}

// "Conditional nodes: Changing node parameters is not supported. … Conditional handle flags and
// default values are updated as part of the graph update."
static const char *object_condition(const void *from, const void *to)
{
    const struct em_condition_params *a = from, *b = to;
    if (a->type == b->type && a->count == b->count)
        return NULL;
    return "the type and the size of a conditional node must stay the same";
}

const struct em_condition_params *em_node_condition(const struct em_graph_node *n)
{
    em_assert_locked();
    return n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? n->params : NULL;
}

const struct em_node_type em_conditional_node = {
    .name = "conditional",
    .make = make_condition,
    .copy = copy_condition,
    .free = free_condition,
    .get = get_condition,
    .objection = object_condition,
};
