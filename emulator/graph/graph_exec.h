// SPDX-License-Identifier: MIT
// The struct of instantiated graphs, for the files of this room.
#pragma once
#include "exec.h"
#include "handle_map.h"
#include "object.h"
#include "plan.h"

struct em_clock;
struct em_held_object;
struct em_launch;

struct em_graph_exec {
    struct em_object object; // type EM_GRAPH_EXEC, in no context
    cuuint64_t flags;
    uint64_t graph;     // the handle of the original graph
    bool uses_priority; // CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
    bool has_memory;    // it is the one instance of its memory allocation nodes
    bool is_updatable;  // it has kernel nodes that the device may update (node_updatable.h)
    struct em_plan *plan;
    struct em_handle_map step_of; // from the nodes of the original graph
    struct em_held_object *held;
    struct em_launch *first, *last; // launches that are not complete, in their order
    struct em_clock *order;         // of the launches that have ended, for the ordering checker
    struct em_launch *spare;        // for the next launch, or NULL
};

// Precondition of all: em_lock held.
CUresult em_graph_exec_find(CUgraphExec handle, struct em_graph_exec **out);
// Finds an instantiated graph and the step of a node, which has the given type.
CUresult em_graph_exec_step(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                            struct em_graph_exec **out, uint32_t *step);
// Makes the plan one that pending launches do not use.
CUresult em_graph_exec_own_plan(struct em_graph_exec *exec);
