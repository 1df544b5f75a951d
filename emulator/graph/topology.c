// SPDX-License-Identifier: MIT
// Lists of nodes and edges, and edges that the program adds and removes.
#include <string.h>

#include "error.h"
#include "graph_node.h"
#include "lock.h"

#define LIST_MOST_B ((size_t)1 << 40) // of an array that a program can have

// "If numNodes is higher than the actual number of nodes, the remaining entries in nodes will be
// set to NULL, and the number of nodes actually obtained will be returned in numNodes." No array
// has as many entries as do not fit into memory: such a count means "all", and nothing is set.
static void end_list(void *list, size_t element_B, size_t filled, size_t capacity)
{
    if (list && filled < capacity && capacity <= LIST_MOST_B / element_B)
        memset((char *)list + filled * element_B, 0, (capacity - filled) * element_B);
}

static CUresult check_capacity(const void *list, const size_t *count)
{
    if (list && !*count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the count is 0, but an array was passed for it");
    return CUDA_SUCCESS;
}

// The driver lists the root first that has become one last. (asked on an H200)
static const struct em_graph_node *next_node(const struct em_graph_node *n,
                                             enum em_node_choice which)
{
    return which == EM_ROOT_NODES ? n->next_root : n->next;
}

CUresult em_graph_nodes(CUgraph handle, enum em_node_choice which, CUgraphNode *nodes,
                        size_t *count)
{
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    if (!r)
        r = check_capacity(nodes, count);
    if (!r) {
        size_t found = 0, capacity = nodes ? *count : SIZE_MAX;
        const struct em_graph_node *n = which == EM_ROOT_NODES ? g->first_root : g->first;
        for (; n && found < capacity; n = next_node(n, which)) {
            if (nodes)
                nodes[found] = em_graph_node_handle(n);
            found++;
        }
        end_list(nodes, sizeof *nodes, found, *count);
        *count = found;
    }
    em_unlock();
    return r;
}

// ---- edges as lists ----

// "CUDA_ERROR_LOSSY_QUERY: … one or more edges … would be lost, because edgeData is NULL."
static CUresult put_edge(const struct em_edge_list *out, size_t at, const struct em_graph_edge *e)
{
    if (!out->data && (out->from || out->to) && !em_graph_edge_is_default(&e->data))
        return em_fail(CUDA_ERROR_LOSSY_QUERY,
                       "edgeData is NULL, but an edge has data that is not zero");
    if (out->from)
        out->from[at] = em_graph_node_handle(e->from);
    if (out->to)
        out->to[at] = em_graph_node_handle(e->to);
    if (out->data)
        out->data[at] = e->data;
    return CUDA_SUCCESS;
}

static void end_edges(const struct em_edge_list *out, size_t filled)
{
    size_t capacity = *out->count;
    end_list(out->from, sizeof *out->from, filled, capacity);
    end_list(out->to, sizeof *out->to, filled, capacity);
    end_list(out->data, sizeof *out->data, filled, capacity);
    *out->count = filled;
}

CUresult em_graph_edges(CUgraph handle, const struct em_edge_list *out)
{
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    // "from and to may both be NULL".
    if (!r && !out->from != !out->to)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "only one of from and to is NULL");
    if (!r)
        r = check_capacity(out->from, out->count);
    if (!r && !out->from)
        *out->count = g->edge_count;
    if (!r && out->from) {
        size_t filled = 0;
        for (const struct em_graph_node *n = g->first; n && !r; n = n->next)
            for (const struct em_graph_edge *e = n->first_out; e && !r && filled < *out->count;
                 e = e->next_out)
                r = put_edge(out, filled++, e);
        if (!r)
            end_edges(out, filled);
    }
    em_unlock();
    return r;
}

// The edges that lead to a node, or from it.
static CUresult node_edges(CUgraphNode handle, bool incoming, const struct em_edge_list *out)
{
    struct em_graph_node *n;
    const CUgraphNode *list = incoming ? out->from : out->to;
    size_t filled = 0;
    em_lock();
    CUresult r = em_graph_node_find(handle, &n);
    if (!r)
        r = check_capacity(list, out->count);
    const struct em_graph_edge *e = r || !list ? NULL : incoming ? n->first_in : n->first_out;
    while (e && !r && filled < *out->count) {
        r = put_edge(out, filled++, e);
        e = incoming ? e->next_in : e->next_out;
    }
    if (!r && list)
        end_edges(out, filled);
    else if (!r)
        *out->count = incoming ? n->in_count : n->out_count;
    em_unlock();
    return r;
}

CUresult em_graph_node_dependencies(CUgraphNode node, const struct em_edge_list *out)
{
    return node_edges(node, true, out);
}

CUresult em_graph_node_dependents(CUgraphNode node, const struct em_edge_list *out)
{
    return node_edges(node, false, out);
}

// ---- changes ----

struct ends {
    struct em_graph_node *from, *to;
};

// Finds the two ends of edge number i.
static CUresult find_ends(struct em_graph *g, const CUgraphNode *from, const CUgraphNode *to,
                          size_t i, struct ends *out)
{
    CUresult r = em_graph_node_find(from[i], &out->from);
    if (!r)
        r = em_graph_node_find(to[i], &out->to);
    if (!r && (out->from->graph != g || out->to->graph != g))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "%s[%zu] is a node of another graph",
                    out->from->graph != g ? "from" : "to", i);
    return r;
}

static CUresult check_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count, struct em_graph **out)
{
    CUresult r = em_graph_get(handle, out);
    if (!r && count && (!from || !to))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL, but numDependencies is %zu",
                    from ? "to" : "from", count);
    return r;
}

CUresult em_graph_connect(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                          const CUgraphEdgeData *data, size_t count)
{
    struct em_graph *g;
    struct ends e;
    em_lock();
    CUresult r = check_edges(handle, from, to, count, &g);
    for (size_t i = 0; i < count && !r; i++) {
        r = find_ends(g, from, to, i, &e);
        if (!r && e.from == e.to)
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "from[%zu] and to[%zu] are the same node", i, i);
        if (!r)
            r = em_graph_edge_check(e.from, e.to->type, data ? &data[i] : NULL);
        if (!r && em_graph_edge_find(e.from, e.to))
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "the edge from[%zu] to to[%zu] exists already", i,
                        i);
    }
    // The checks look at the graph as it was, so a list may contain an edge twice. The card adds
    // the edge once and then fails (recorded: graph_topology/add-same-twice-in-one-call).
    for (size_t i = 0; i < count && !r; i++) {
        r = find_ends(g, from, to, i, &e);
        if (!r && em_graph_edge_find(e.from, e.to))
            r = em_fail(CUDA_ERROR_INVALID_VALUE,
                        "the edge from[%zu] to to[%zu] is in the list "
                        "twice",
                        i, i);
        if (!r)
            r = em_graph_edge_add(e.from, e.to, data ? &data[i] : NULL);
    }
    em_unlock();
    return r;
}

CUresult em_graph_disconnect(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                             size_t count)
{
    struct em_graph *g;
    struct ends e;
    em_lock();
    CUresult r = check_edges(handle, from, to, count, &g);
    if (!r && count && g->memory_nodes)
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "edges of a graph with memory nodes cannot be removed");
    for (size_t i = 0; i < count && !r; i++) {
        r = find_ends(g, from, to, i, &e);
        if (!r && !em_graph_edge_find(e.from, e.to))
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "there is no edge from[%zu] to to[%zu]", i, i);
    }
    for (size_t i = 0; i < count && !r; i++) {
        r = find_ends(g, from, to, i, &e);
        struct em_graph_edge *edge = r ? NULL : em_graph_edge_find(e.from, e.to);
        if (edge) // it is in the list once more if not
            em_graph_edge_remove(edge);
    }
    em_unlock();
    return r;
}
