// SPDX-License-Identifier: MIT
// Graphs as objects: their life, and clones.
#include "alloc.h"
#include "conditional.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"
#include "node_updatable.h"
#include "user_object.h"

uint64_t em_graph_next_mark(void)
{
    static uint64_t last;
    em_assert_locked();
    return ++last;
}

CUresult em_graph_get(CUgraph handle, struct em_graph **out)
{
    em_assert_locked();
    return em_object_get(EM_GRAPH, handle, CUDA_ERROR_INVALID_VALUE, out);
}

CUresult em_graph_node_find(CUgraphNode handle, struct em_graph_node **out)
{
    em_assert_locked();
    return em_object_get(EM_GRAPH_NODE, handle, CUDA_ERROR_INVALID_VALUE, out);
}

static void finish_graph(struct em_object *object)
{
    dm_free(object);
}

CUresult em_graph_new(struct em_graph **out)
{
    em_assert_locked();
    struct em_graph *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a graph");
    CUresult r = em_object_start(&g->object, EM_GRAPH, NULL, finish_graph);
    if (r)
        dm_free(g);
    else
        *out = g;
    return r;
}

// ---- graphs inside of graphs ----

static unsigned count_levels(const struct em_graph *g)
{
    unsigned most = 0;
    for (const struct em_graph_node *n = g->first; n; n = n->next) {
        const struct em_graph *inner;
        for (unsigned i = 0; (inner = em_node_graph(n, i)); i++) {
            const unsigned levels = count_levels(inner) + 1;
            if (levels > most)
                most = levels;
        }
    }
    return most;
}

CUresult em_graph_check_depth(const struct em_graph *g, struct em_graph *inner, unsigned most)
{
    em_assert_locked();
    unsigned depth = 1;
    for (; g->parent; g = g->parent->graph)
        depth++;
    if (inner && depth + inner->levels > most)
        inner->levels = count_levels(inner); // nodes with graphs may have been destroyed
    if (depth + (inner ? inner->levels : 0) <= most)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                   "graphs would be nested %u deep; child graphs can be nested %d deep, and bodies "
                   "of conditional nodes %d deep",
                   depth + (inner ? inner->levels : 0), EM_GRAPH_DEPTH_MOST, EM_BODY_DEPTH_MOST);
}

bool em_graph_is_embedded(const struct em_graph *g)
{
    em_assert_locked();
    while (g->parent && g->parent->type != CU_GRAPH_NODE_TYPE_GRAPH)
        g = g->parent->graph;
    return g->parent;
}

// ---- life ----

void em_graph_drop(struct em_graph *g)
{
    em_assert_locked();
    while (g->last)
        em_graph_node_drop(g->last);
    em_graph_edges_finish(g);
    em_handle_map_finish(&g->clone_of);
    em_conditionals_leave(g);
    em_user_objects_release_all(&g->held);
    em_object_retire(&g->object);
}

CUresult em_graph_create(CUgraph *out)
{
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_new(&g);
    if (!r)
        *out = em_graph_handle(g);
    em_unlock();
    return r;
}

CUresult em_graph_destroy(CUgraph handle)
{
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    if (!r && g->parent)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "hGraph is embedded in a node; destroy the node instead");
    if (!r && g->captures)
        r = em_fail(CUDA_ERROR_ILLEGAL_STATE,
                    "hGraph is the graph of a stream capture; end the capture first");
    if (!r)
        em_graph_drop(g);
    em_unlock();
    return r;
}

// ---- clones ----

static CUresult copy_nodes(const struct em_graph *from, struct em_graph *to)
{
    for (const struct em_graph_node *n = from->first; n; n = n->next) {
        struct em_graph_node *copy;
        void *params;
        CUresult r = em_node_params_copy(n->type, n->params, &params);
        if (!r)
            r = em_graph_node_new(to, n->type, params, &copy);
        if (r)
            return r;
        em_handle_map_add(&to->clone_of, n->object.handle, (uintptr_t)copy);
    }
    return CUDA_SUCCESS;
}

static struct em_graph_node *node_of(const struct em_graph *clone, const struct em_graph_node *n)
{
    uint64_t at = 0;
    em_handle_map_find(&clone->clone_of, n->object.handle, &at);
    return (struct em_graph_node *)(uintptr_t)at;
}

// The edges that lead to a node keep their order.
static CUresult copy_edges(const struct em_graph *from, struct em_graph *to)
{
    CUresult r = CUDA_SUCCESS;
    for (const struct em_graph_node *n = from->first; n; n = n->next)
        for (const struct em_graph_edge *e = n->first_in; e && !r; e = e->next_in)
            r = em_graph_edge_add(node_of(to, e->from), node_of(to, n), &e->data);
    return r;
}

// From now on the map contains handles, because nodes of the clone may be destroyed.
static void map_to_handles(const struct em_graph *from, struct em_graph *to)
{
    for (const struct em_graph_node *n = from->first; n; n = n->next)
        em_handle_map_add(&to->clone_of, n->object.handle, node_of(to, n)->object.handle);
}

CUresult em_graph_copy(const struct em_graph *from, struct em_graph **out)
{
    em_assert_locked();
    struct em_graph *to;
    if (from->memory_nodes)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "a graph with memory nodes cannot be cloned, and becomes a child graph only "
                       "with CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE");
    // (recorded: graph_nesting, embedded/add-0-3: a handle is enough)
    if (from->conditional_nodes || from->conditionals)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "a graph with conditional nodes can neither be cloned nor be a child graph");
    CUresult r = em_graph_new(&to);
    if (r)
        return r;
    if (!em_handle_map_init(&to->clone_of, from->node_count))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a clone of %llu nodes",
                    (unsigned long long)from->node_count);
    if (!r)
        r = copy_nodes(from, to);
    if (!r)
        r = copy_edges(from, to);
    if (!r)
        r = em_user_objects_copy(from->held, &to->held);
    if (r) {
        em_graph_drop(to);
        return r;
    }
    map_to_handles(from, to);
    *out = to;
    return CUDA_SUCCESS;
}

CUresult em_graph_clone(CUgraph original, CUgraph *out)
{
    struct em_graph *g, *copy;
    em_lock();
    CUresult r = em_graph_get(original, &g);
    if (!r)
        r = em_updatable_check_clone(g);
    if (!r)
        r = em_graph_copy(g, &copy);
    if (!r)
        *out = em_graph_handle(copy);
    em_unlock();
    return r;
}

CUresult em_graph_find_in_clone(CUgraphNode original, CUgraph clone, CUgraphNode *out)
{
    struct em_graph_node *n;
    struct em_graph *g;
    uint64_t handle;
    em_lock();
    CUresult r = em_graph_node_find(original, &n);
    if (!r)
        r = em_graph_get(clone, &g);
    if (!r && (!em_handle_map_find(&g->clone_of, n->object.handle, &handle) ||
               !em_object_peek(EM_GRAPH_NODE, handle)))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "hClonedGraph has no node that was cloned from hOriginalNode");
    if (!r)
        *out = (CUgraphNode)(uintptr_t)handle;
    em_unlock();
    return r;
}
