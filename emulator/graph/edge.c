// SPDX-License-Identifier: MIT
// Edges: each is in the lists of its two nodes, and in a hash table by its ends, so that every
// operation on one edge takes constant time however many edges a node has.
#include "alloc.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"
#include "wording.h"

static uint64_t bucket_of(const struct em_graph *g, const struct em_graph_node *from,
                          const struct em_graph_node *to)
{
    uint64_t h = (uintptr_t)from * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)to;
    return (h * UINT64_C(0xff51afd7ed558ccd) >> 24) & (g->bucket_count - 1);
}

// Doubles the buckets if there is an edge for each.
static CUresult make_room(struct em_graph *g)
{
    if (g->edge_count < g->bucket_count)
        return CUDA_SUCCESS;
    uint64_t count = g->bucket_count ? 2 * g->bucket_count : 8;
    struct em_graph_edge **old = g->buckets, **buckets = dm_calloc(count, sizeof *buckets);
    uint64_t old_count = g->bucket_count;
    if (!buckets)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %llu edges",
                       (unsigned long long)count);
    g->buckets = buckets;
    g->bucket_count = count;
    for (uint64_t i = 0; i < old_count; i++) {
        for (struct em_graph_edge *e = old[i], *next; e; e = next) {
            struct em_graph_edge **place = &buckets[bucket_of(g, e->from, e->to)];
            next = e->next_in_bucket;
            e->next_in_bucket = *place;
            *place = e;
        }
    }
    dm_free(old);
    return CUDA_SUCCESS;
}

struct em_graph_edge *em_graph_edge_find(const struct em_graph_node *from,
                                         const struct em_graph_node *to)
{
    em_assert_locked();
    const struct em_graph *g = from->graph;
    if (!g->bucket_count)
        return NULL;
    struct em_graph_edge *e = g->buckets[bucket_of(g, from, to)];
    while (e && (e->from != from || e->to != to))
        e = e->next_in_bucket;
    return e;
}

CUresult em_graph_edge_add(struct em_graph_node *from, struct em_graph_node *to,
                           const CUgraphEdgeData *data)
{
    em_assert_locked();
    struct em_graph *g = from->graph;
    CUresult r = make_room(g);
    if (r)
        return r;
    struct em_graph_edge *e = dm_calloc(1, sizeof *e);
    if (!e)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an edge");
    e->from = from;
    e->to = to;
    if (data)
        e->data = *data;
    e->previous_out = from->last_out;
    *(from->last_out ? &from->last_out->next_out : &from->first_out) = e;
    from->last_out = e;
    e->previous_in = to->last_in;
    *(to->last_in ? &to->last_in->next_in : &to->first_in) = e;
    to->last_in = e;
    struct em_graph_edge **place = &g->buckets[bucket_of(g, from, to)];
    e->next_in_bucket = *place;
    *place = e;
    from->out_count++;
    if (!to->in_count)
        em_graph_root_remove(to);
    to->in_count++;
    g->edge_count++;
    return CUDA_SUCCESS;
}

void em_graph_root_add(struct em_graph_node *n)
{
    em_assert_locked();
    n->previous_root = NULL;
    n->next_root = n->graph->first_root;
    if (n->next_root)
        n->next_root->previous_root = n;
    n->graph->first_root = n;
}

void em_graph_root_remove(struct em_graph_node *n)
{
    em_assert_locked();
    *(n->previous_root ? &n->previous_root->next_root : &n->graph->first_root) = n->next_root;
    if (n->next_root)
        n->next_root->previous_root = n->previous_root;
}

void em_graph_edge_remove(struct em_graph_edge *e)
{
    em_assert_locked();
    struct em_graph_node *from = e->from, *to = e->to;
    struct em_graph *g = from->graph;
    struct em_graph_edge **place = &g->buckets[bucket_of(g, from, to)];
    while (*place != e)
        place = &(*place)->next_in_bucket;
    *place = e->next_in_bucket;
    *(e->previous_out ? &e->previous_out->next_out : &from->first_out) = e->next_out;
    *(e->next_out ? &e->next_out->previous_out : &from->last_out) = e->previous_out;
    *(e->previous_in ? &e->previous_in->next_in : &to->first_in) = e->next_in;
    *(e->next_in ? &e->next_in->previous_in : &to->last_in) = e->previous_in;
    from->out_count--;
    to->in_count--;
    if (!to->in_count)
        em_graph_root_add(to);
    g->edge_count--;
    dm_free(e);
}

void em_graph_edges_finish(struct em_graph *g)
{
    em_assert_locked();
    dm_free(g->buckets);
    g->buckets = NULL;
    g->bucket_count = 0;
}

// Only kernel nodes have other ports and programmatic dependencies (recorded: x_streams
// graph_topology/edge-data).
// "This type of dependency lets the downstream node use cudaGridDependencySynchronize(). It may
// only be used between kernel nodes, and must be used with either the
// CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC or CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER outgoing port."
static bool is_programmatic(const struct em_graph_node *from, CUgraphNodeType to,
                            const CUgraphEdgeData *data)
{
    return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && !data->to_port &&
           (data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
            data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
           from->type == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL;
}

// An ordinary dependency on the blocks of a kernel that have started (recorded: graph_nesting,
// edge_updates/add-port-2).
static bool is_launch_order(const struct em_graph_node *from, CUgraphNodeType to,
                            const CUgraphEdgeData *data)
{
    return data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && !data->to_port &&
           data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
           from->type == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL;
}

CUresult em_graph_edge_check(const struct em_graph_node *from, CUgraphNodeType to,
                             const CUgraphEdgeData *data)
{
    for (size_t i = 0; data && i < sizeof data->reserved; i++)
        if (data->reserved[i])
            return em_fail(CUDA_ERROR_INVALID_VALUE, "edgeData.reserved[%zu] (%u) must be 0", i,
                           data->reserved[i]);
    if (!data || em_graph_edge_is_default(data) || is_programmatic(from, to, data) ||
        is_launch_order(from, to, data))
        return CUDA_SUCCESS;
    const char *from_name = em_node_type_name(from->type), *to_name = em_node_type_name(to);
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "edgeData {from_port %u, to_port %u, type %u}: an edge from %s %s node to %s %s "
                   "node must have ports of 0 and type CU_GRAPH_DEPENDENCY_TYPE_DEFAULT (0)",
                   data->from_port, data->to_port, data->type, em_wording_article(from_name),
                   from_name, em_wording_article(to_name), to_name);
}
