// SPDX-License-Identifier: MIT
// Graphs: nodes with parameters, and edges between them. exec.h has graphs that can be launched.
//
// All functions take the lock: precondition: em_lock not held. A bad handle of a graph or node is
// CUDA_ERROR_INVALID_VALUE, as on a card (recorded: x_streams graph_build, graph_topology).
#pragma once
#include <cuda.h>
#include <stddef.h>

// Edges that lead to a node; `data` is NULL if all are ordinary ones.
struct em_dependencies {
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
};

// Lists of edges as the program passes or receives them. Any array may be NULL.
struct em_edge_list {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t *count; // in: the capacity of the arrays; out: the number of edges
};

CUresult em_graph_create(CUgraph *out);
CUresult em_graph_destroy(CUgraph graph);
CUresult em_graph_clone(CUgraph original, CUgraph *out);
// The node of a clone that stands for a node of the original.
CUresult em_graph_find_in_clone(CUgraphNode original, CUgraph clone, CUgraphNode *out);

// Adds a node of the type that the parameters name. Copies everything that the parameters point to.
CUresult em_graph_add(CUgraph graph, const struct em_dependencies *dependencies,
                      const CUgraphNodeParams *params, CUgraphNode *out);
CUresult em_graph_node_destroy(CUgraphNode node);
CUresult em_graph_node_type(CUgraphNode node, CUgraphNodeType *out);
// Returns the parameters of a node of the given type. Arrays in them belong to the node.
CUresult em_graph_node_get(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams *out);
// Replaces the parameters of a node, which has the type that they name.
CUresult em_graph_node_set(CUgraphNode node, const CUgraphNodeParams *params);

// Attributes of kernel nodes (node_kernel.c).
CUresult em_graph_kernel_get_attribute(CUgraphNode node, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue *out);
CUresult em_graph_kernel_set_attribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue *value);
CUresult em_graph_kernel_copy_attributes(CUgraphNode to, CUgraphNode from);

// "If nodes is NULL, this function will instead return the number of nodes in numNodes. … If
// numNodes is higher than the actual number of nodes, the remaining entries in nodes will be set to
// NULL".
enum em_node_choice { EM_ALL_NODES, EM_ROOT_NODES };
CUresult em_graph_nodes(CUgraph graph, enum em_node_choice which, CUgraphNode *nodes,
                        size_t *count);
CUresult em_graph_edges(CUgraph graph, const struct em_edge_list *out);
// The nodes that a node depends on (in `from`), and those that depend on it (in `to`).
CUresult em_graph_node_dependencies(CUgraphNode node, const struct em_edge_list *out);
CUresult em_graph_node_dependents(CUgraphNode node, const struct em_edge_list *out);
CUresult em_graph_connect(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                          const CUgraphEdgeData *data, size_t count);
CUresult em_graph_disconnect(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             size_t count);

// Writes a graph in the language of Graphviz.
CUresult em_graph_print(CUgraph graph, const char *path, unsigned flags);
