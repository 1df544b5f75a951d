// SPDX-License-Identifier: MIT
// Nodes with a graph inside. Their parameters are the embedded graph.
#include "node_type.h"

#include "error.h"

// Whether `inner` is `graph` or contains it.
static bool contains(const struct em_graph *inner, const struct em_graph *graph)
{
    while (graph != inner && graph->parent)
        graph = graph->parent->graph;
    return graph == inner;
}

static CUresult make_child(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph *child, *copy;
    CUresult r = em_graph_get(given->graph.graph, &child);
    if (!r && contains(child, graph))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be a child of itself");
    if (!r)
        r = em_graph_check_depth(graph, child, EM_GRAPH_DEPTH_MOST);
    if (r)
        return r;
    // "Cannot be added as a child graph of a separate parent graph". This is true of clones too
    // (recorded: graph_moved, moved/inside-s-0-3).
    if (em_graph_is_embedded(child))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the graph belongs to a child graph node, and cannot be in another one");
    if (given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        if (child->parent || child->captures)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "a graph that is %s cannot be moved into a node",
                           child->parent ? "embedded in a node" : "being captured");
        if (child->conditional_nodes) // (recorded: graph_rules, conditionals/moved)
            return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                           "a graph with conditional nodes cannot be a child graph");
        *out = child;
        return CUDA_SUCCESS;
    }
    if (given->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ownership (%d) is not a CUgraphChildGraphNodeOwnership",
                       (int)given->graph.ownership);
    r = em_graph_copy(child, &copy);
    *out = copy;
    return r;
}

static CUresult copy_child(const void *params, void **out)
{
    struct em_graph *copy;
    CUresult r = em_graph_copy(params, &copy);
    *out = copy;
    return r;
}

static void free_child(void *params)
{
    em_graph_drop(params);
}

static void get_child(const void *params, CUgraphNodeParams *out)
{
    out->graph.graph = em_graph_handle(params);
}

const struct em_node_type em_child_node = {
    .name = "child graph",
    .make = make_child,
    .copy = copy_child,
    .free = free_child,
    .get = get_child,
};
