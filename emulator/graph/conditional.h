// SPDX-License-Identifier: MIT
// Conditional handles: the values that decide which bodies of conditional nodes run, and how often.
//
// A handle belongs to one graph. It stays valid while that graph, a node that uses it, or an
// instantiated graph exists, because kernels of a launch set its value.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct em_graph;

struct em_conditional {
    struct em_object object; // type EM_GRAPH_CONDITIONAL, in no context
    uint32_t uses;           // of the graph, of nodes and of steps
    struct em_graph *graph;  // NULL after its end
    CUcontext context;
    bool has_node;
    bool assigns_default;        // at each launch
    unsigned first_value;        // the default
    unsigned value;              // read and written atomically
    struct em_conditional *next; // of the graph
};

// Precondition: em_lock not held.
CUresult em_conditional_create(CUgraph graph, CUcontext context, unsigned first_value,
                               unsigned flags, CUgraphConditionalHandle *out);
// The function cudaGraphSetConditional of device code. Precondition: em_lock not held.
CUresult em_conditional_set(CUgraphConditionalHandle handle, unsigned value);

// ---- for this room. Precondition of all: em_lock held ----

CUresult em_conditional_find(CUgraphConditionalHandle handle, struct em_conditional **out);
void em_conditional_ref(struct em_conditional *c);
void em_conditional_unref(struct em_conditional *c);
// A graph ends.
void em_conditionals_leave(struct em_graph *graph);
// Checks that each handle of a graph has a node.
CUresult em_conditionals_check(const struct em_graph *graph);
// A launch begins: the value is the default, if the handle was created so.
void em_conditional_launch(struct em_conditional *c);
unsigned em_conditional_value(const struct em_conditional *c);
