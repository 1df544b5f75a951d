// SPDX-License-Identifier: MIT
// Steps of adding a node, for the files of this room. Precondition of all: em_lock held.
#pragma once
#include "graph_node.h"

// Checks that a node of this type may depend on these nodes of the graph.
CUresult em_graph_check_dependencies(struct em_graph *graph,
                                     const struct em_dependencies *dependencies,
                                     CUgraphNodeType type);
// Adds a node whose dependencies have been checked. Takes over `params`, also on failure.
CUresult em_graph_add_checked(struct em_graph *graph, const struct em_dependencies *dependencies,
                              CUgraphNodeType type, void *params, struct em_graph_node **out);
// Finds a node and checks its type.
CUresult em_graph_node_of_type(CUgraphNode handle, CUgraphNodeType type,
                               struct em_graph_node **out);
