// SPDX-License-Identifier: MIT
// Kernel nodes that kernels may update (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE), as far
// as the host sees them. A kernel would update a node by functions of NVIDIA's device runtime,
// which is machine code. Precondition of all: em_lock held.
#pragma once
#include <stdbool.h>

#include "graph_node.h"
#include "kernel_launch.h"

// Whether the node that keeps this launch is updatable.
bool em_launch_is_updatable(const struct em_launch_kept *kept);
// Whether a graph has such a node, not counting the graphs inside of its nodes.
bool em_graph_has_updatable(const struct em_graph *graph);

// Gives the launch of a node that is updatable a fresh handle.
void em_launch_name_updatable(struct em_launch_kept *kept);
// Sets the attribute of a node to the program's value. If the node is or becomes updatable, writes
// its handle to `value`.
CUresult em_launch_set_updatable(struct em_launch_kept *kept, CUlaunchAttributeValue *value);

// Refuses to destroy an updatable node, or to clone its graph or make a second instance of it.
CUresult em_updatable_check_destroy(const struct em_graph_node *node);
CUresult em_updatable_check_clone(const struct em_graph *graph);
CUresult em_updatable_check_instance(const struct em_graph *graph);
