// SPDX-License-Identifier: MIT
// Conditional nodes, for the files of this room. Precondition of all: em_lock held.
#pragma once
#include <cuda.h>

struct em_conditional;
struct em_graph;
struct em_graph_node;

// The parameters. Steps of plans have them without the graphs.
struct em_condition_params {
    struct em_conditional *conditional; // with a reference
    CUgraphConditionalNodeType type;
    unsigned count; // of bodies
    CUcontext context;
    struct em_graph **bodies; // NULL in a step
    CUgraph *handles;         // of the bodies, for the program
};

// The parameters of a conditional node, or NULL for nodes of other types.
const struct em_condition_params *em_node_condition(const struct em_graph_node *node);
