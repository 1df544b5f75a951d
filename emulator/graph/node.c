// SPDX-License-Identifier: MIT
// Nodes: adding and ending them, and their parameters.
#include "node_list.h"

#include "alloc.h"
#include "error.h"
#include "graph_memory.h"
#include "lock.h"
#include "node_kernel.h"
#include "node_updatable.h"

static void finish_node(struct em_object *object)
{
    dm_free(object);
}

// Frees the parameters of a node that ends or has not begun.
static void drop_params(CUgraphNodeType type, void *params)
{
    if (type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        em_graph_memory_remove_free(params);
    em_node_params_free(type, params);
}

// A graph has become part of another one.
static void raise_levels(const struct em_graph *inner)
{
    for (; inner->parent; inner = inner->parent->graph)
        if (inner->parent->graph->levels < inner->levels + 1)
            inner->parent->graph->levels = inner->levels + 1;
}

// The graphs inside of a node belong to it.
static void own_graphs(struct em_graph_node *n)
{
    struct em_graph *inner;
    for (unsigned i = 0; (inner = em_node_graph(n, i)); i++) {
        inner->parent = n;
        raise_levels(inner);
    }
}

CUresult em_graph_node_new(struct em_graph *g, CUgraphNodeType type, void *params,
                           struct em_graph_node **out)
{
    em_assert_locked();
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    struct em_graph_node *n = dm_calloc(1, sizeof *n);
    if (!n)
        em_explain(r, "out of host memory for a node");
    else
        r = em_object_start(&n->object, EM_GRAPH_NODE, NULL, finish_node);
    if (r) {
        drop_params(type, params);
        dm_free(n);
        return r;
    }
    n->graph = g;
    n->type = type;
    n->params = params;
    n->previous = g->last;
    *(g->last ? &g->last->next : &g->first) = n;
    g->last = n;
    em_graph_root_add(n);
    g->node_count++;
    g->memory_nodes += em_node_memory(type, params) != NULL;
    g->conditional_nodes += type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    own_graphs(n);
    *out = n;
    return CUDA_SUCCESS;
}

void em_graph_node_drop(struct em_graph_node *n)
{
    em_assert_locked();
    struct em_graph *g = n->graph;
    while (n->first_in)
        em_graph_edge_remove(n->first_in);
    while (n->first_out)
        em_graph_edge_remove(n->first_out);
    em_graph_root_remove(n);
    *(n->previous ? &n->previous->next : &g->first) = n->next;
    *(n->next ? &n->next->previous : &g->last) = n->previous;
    g->node_count--;
    g->memory_nodes -= em_node_memory(n->type, n->params) != NULL;
    g->conditional_nodes -= n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    drop_params(n->type, n->params);
    em_object_retire(&n->object);
}

// ---- adding ----

CUresult em_graph_check_dependencies(struct em_graph *g, const struct em_dependencies *d,
                                     CUgraphNodeType type)
{
    em_assert_locked();
    uint64_t mark = em_graph_next_mark();
    if (d->count && !d->nodes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dependencies is NULL, but numDependencies is %zu",
                       d->count);
    for (size_t i = 0; i < d->count; i++) {
        struct em_graph_node *n;
        CUresult r = em_graph_node_find(d->nodes[i], &n);
        if (!r && n->graph != g)
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "dependencies[%zu] is a node of another graph",
                        i);
        if (!r && n->mark == mark)
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "dependencies[%zu] is in the list twice", i);
        if (!r)
            r = em_graph_edge_check(n, type, d->data ? &d->data[i] : NULL);
        if (r)
            return r;
        n->mark = mark;
    }
    return CUDA_SUCCESS;
}

CUresult em_graph_add_checked(struct em_graph *g, const struct em_dependencies *d,
                              CUgraphNodeType type, void *params, struct em_graph_node **out)
{
    em_assert_locked();
    CUresult r = em_graph_node_new(g, type, params, out);
    for (size_t i = 0; i < d->count && !r; i++) {
        struct em_graph_node *from;
        r = em_graph_node_find(d->nodes[i], &from);
        if (!r)
            r = em_graph_edge_add(from, *out, d->data ? &d->data[i] : NULL);
        if (r)
            em_graph_node_drop(*out);
    }
    return r;
}

CUresult em_graph_add(CUgraph handle, const struct em_dependencies *d,
                      const CUgraphNodeParams *params, CUgraphNode *out)
{
    struct em_graph *g;
    struct em_graph_node *n;
    void *copy;
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    if (!r)
        r = em_graph_check_dependencies(g, d, params->type);
    if (!r)
        r = em_node_params_new(params, g, &copy);
    if (!r)
        r = em_graph_add_checked(g, d, params->type, copy, &n);
    if (!r)
        *out = em_graph_node_handle(n);
    em_unlock();
    return r;
}

// Whether it is a child graph node whose graph allocates or frees memory (recorded: graph_moved,
// moved/inside-m-1-10).
static bool has_memory_inside(const struct em_graph_node *n)
{
    const struct em_graph *child = em_node_child(n);
    return child && child->memory_nodes;
}

CUresult em_graph_node_destroy(CUgraphNode handle)
{
    struct em_graph_node *n;
    em_lock();
    CUresult r = em_graph_node_find(handle, &n);
    if (!r && n->graph->captures)
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE,
                    "hNode belongs to the graph of a stream capture; end the capture first");
    // "Nodes and edges of the graph cannot be deleted."
    if (!r && (n->graph->memory_nodes || has_memory_inside(n)))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "nodes of a graph with memory nodes cannot be destroyed");
    if (!r)
        r = em_updatable_check_destroy(n);
    if (!r)
        em_graph_node_drop(n);
    em_unlock();
    return r;
}

// ---- parameters ----

CUresult em_graph_node_type(CUgraphNode handle, CUgraphNodeType *out)
{
    struct em_graph_node *n;
    em_lock();
    CUresult r = em_graph_node_find(handle, &n);
    if (!r)
        *out = n->type;
    em_unlock();
    return r;
}

CUresult em_graph_node_of_type(CUgraphNode handle, CUgraphNodeType type, struct em_graph_node **out)
{
    em_assert_locked();
    CUresult r = em_graph_node_find(handle, out);
    if (!r && (*out)->type != type)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the node's type is %s; this call is for %s nodes",
                    em_node_type_name((*out)->type), em_node_type_name(type));
    return r;
}

CUresult em_graph_node_get(CUgraphNode handle, CUgraphNodeType type, CUgraphNodeParams *out)
{
    struct em_graph_node *n;
    em_lock();
    CUresult r = em_graph_node_of_type(handle, type, &n);
    if (!r)
        em_node_params_get(n->type, n->params, out);
    em_unlock();
    return r;
}

// The node gets a copy of the graph, whatever the ownership (recorded: graph_moved,
// updates/node-s-0-0 …). After CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, the driver loses the graph; we
// refuse it.
static CUresult replace_child(struct em_graph_node *n, const CUgraphNodeParams *params)
{
    CUgraphNodeParams p = *params;
    void *copy;
    if (p.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a graph cannot be moved into a node that exists; add a node instead");
    p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    CUresult r = em_node_params_new(&p, n->graph, &copy);
    if (r)
        return r;
    em_node_params_free(n->type, n->params);
    n->params = copy;
    own_graphs(n);
    return CUDA_SUCCESS;
}

CUresult em_graph_node_set(CUgraphNode handle, const CUgraphNodeParams *params)
{
    struct em_graph_node *n;
    void *copy;
    em_lock();
    CUresult r = em_graph_node_of_type(handle, params->type, &n);
    if (!r && (em_node_memory(n->type, n->params) || has_memory_inside(n)))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED, "the parameters of memory nodes cannot be changed");
    if (!r && em_node_child(n)) {
        r = replace_child(n, params);
        em_unlock();
        return r;
    }
    if (!r && n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the parameters of conditional nodes cannot be changed");
    if (!r)
        r = em_node_params_new(params, n->graph, &copy);
    if (!r) {
        if (n->type == CU_GRAPH_NODE_TYPE_KERNEL)
            em_node_kernel_inherit(copy, n->params);
        em_node_params_free(n->type, n->params);
        n->params = copy;
    }
    em_unlock();
    return r;
}
