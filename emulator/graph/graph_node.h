// SPDX-License-Identifier: MIT
// The structs of graphs, for the files of this room. Everything here: precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph.h"
#include "handle_map.h"
#include "object.h"

struct em_command;
struct em_conditional;
struct em_context;
struct em_event;
struct em_graph_memory;
struct em_held_object;

struct em_graph {
    struct em_object object;            // type EM_GRAPH, in no context
    struct em_graph_node *first, *last; // in the order of their creation
    struct em_graph_node *first_root;   // the last one that has become a root
    uint64_t node_count, edge_count;
    struct em_graph_edge **buckets; // the edges by their two ends
    uint64_t bucket_count;
    struct em_graph_node *parent;        // embedded in this node, or NULL
    struct em_handle_map clone_of;       // of a clone: from the original's nodes to its own
    struct em_held_object *held;         // user objects (user_object.h)
    struct em_conditional *conditionals; // the handles, the newest first
    unsigned levels;                     // of graphs inside of graphs; may be too high
    uint64_t memory_nodes;               // that allocate or free memory
    uint64_t conditional_nodes;
    uint64_t instances;           // that live
    uint64_t updatable_instances; // of them, with kernel nodes that the device may update
    unsigned captures;            // streams' captures that add nodes to it or to a graph inside
};

// An edge is in the lists of both its nodes, in the order of creation, and in a bucket.
struct em_graph_edge {
    struct em_graph_node *from, *to;
    struct em_graph_edge *next_out, *previous_out; // of `from`
    struct em_graph_edge *next_in, *previous_in;   // of `to`
    struct em_graph_edge *next_in_bucket;
    CUgraphEdgeData data;
};

struct em_graph_node {
    struct em_object object; // type EM_GRAPH_NODE, in no context
    struct em_graph *graph;
    struct em_graph_node *previous, *next;
    struct em_graph_node *previous_root, *next_root; // while it has no dependencies
    CUgraphNodeType type;
    uint32_t in_count, out_count;
    struct em_graph_edge *first_in, *last_in, *first_out, *last_out;
    void *params;          // by type: node_type.h
    uint64_t mark;         // the last search that has visited it
    uint32_t enter, leave; // during an instantiation: its steps
};

// A fresh value for em_graph_node.mark.
uint64_t em_graph_next_mark(void);

CUresult em_graph_get(CUgraph handle, struct em_graph **out);
CUresult em_graph_node_find(CUgraphNode handle, struct em_graph_node **out);

// Graphs inside of graphs, in child graph nodes and bodies. Functions that walk over them call
// themselves for each level, so there are limits. A card's driver accepts any depth, and overflows
// its stack somewhere between 4,096 and 20,000 levels (recorded: graph_nesting, nesting/moved-…).
enum { EM_GRAPH_DEPTH_MOST = 4096, EM_BODY_DEPTH_MOST = 256 };
// Checks that a graph with everything inside of it can become part of `graph`, so that there are at
// most `most` levels. `inner` is NULL for a new one.
CUresult em_graph_check_depth(const struct em_graph *graph, struct em_graph *inner, unsigned most);
// Whether a graph is in a child graph node, or inside of such a graph.
bool em_graph_is_embedded(const struct em_graph *graph);

// A graph without a handle, which em_graph_drop frees, and the same with all that a graph has.
CUresult em_graph_new(struct em_graph **out);
CUresult em_graph_copy(const struct em_graph *original, struct em_graph **out);
// Ends a graph, its nodes and its edges.
void em_graph_drop(struct em_graph *graph);
static inline CUgraph em_graph_handle(const struct em_graph *graph)
{
    return (CUgraph)(uintptr_t)graph->object.handle;
}
static inline CUgraphNode em_graph_node_handle(const struct em_graph_node *node)
{
    return (CUgraphNode)(uintptr_t)node->object.handle;
}

// A node begins or ends to be a root. Precondition: em_lock held.
void em_graph_root_add(struct em_graph_node *node);
void em_graph_root_remove(struct em_graph_node *node);

// A node without edges. It takes over `params`, also on failure.
CUresult em_graph_node_new(struct em_graph *graph, CUgraphNodeType type, void *params,
                           struct em_graph_node **out);
void em_graph_node_drop(struct em_graph_node *node);

// Adds one edge. `data` may be NULL.
CUresult em_graph_edge_add(struct em_graph_node *from, struct em_graph_node *to,
                           const CUgraphEdgeData *data);
struct em_graph_edge *em_graph_edge_find(const struct em_graph_node *from,
                                         const struct em_graph_node *to);
void em_graph_edge_remove(struct em_graph_edge *edge);
void em_graph_edges_finish(struct em_graph *graph);
// Checks the data of an edge between two nodes of these types.
CUresult em_graph_edge_check(const struct em_graph_node *from, CUgraphNodeType to,
                             const CUgraphEdgeData *data);
static inline bool em_graph_edge_is_default(const CUgraphEdgeData *data)
{
    return !data->type && !data->from_port && !data->to_port;
}

// ---- node_type.c: calls the functions of the type ----

// Checks parameters in the way of cuGraphAddNode, and copies them with everything that they point
// to. `graph` is the one that the node will be part of.
CUresult em_node_params_new(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out);
// The same for work in a captured stream. The memory of a fill is not checked yet.
CUresult em_node_params_captured(const CUgraphNodeParams *given, const struct em_graph *graph,
                                 void **out);
CUresult em_node_params_copy(CUgraphNodeType type, const void *params, void **out);
void em_node_params_free(CUgraphNodeType type, void *params);
// Writes them as cuGraphNodeGetParams would. Arrays belong to the node.
void em_node_params_get(CUgraphNodeType type, const void *params, CUgraphNodeParams *out);
// Makes the command of a node that does the same in every launch. *out is NULL for other nodes.
CUresult em_node_prepare(CUgraphNodeType type, const void *params, struct em_command **out);
// The event of a record or wait node, else NULL.
struct em_event *em_node_event(CUgraphNodeType type, const void *params);
// The memory that a node allocates or frees, else NULL.
struct em_graph_memory *em_node_memory(CUgraphNodeType type, const void *params);
struct em_graph *em_node_child(const struct em_graph_node *node);
// Graph number i inside of a node: a child graph or a body of a conditional node. NULL: there are
// not so many.
struct em_graph *em_node_graph(const struct em_graph_node *node, unsigned i);
// Whether an instantiated node may change its parameters in this way. If not, says why.
bool em_node_may_change(CUgraphNodeType type, const void *from, const void *to, char *why,
                        size_t size);
const char *em_node_type_name(CUgraphNodeType type);
