// SPDX-License-Identifier: MIT
// Kernel nodes: their parameters and attributes. Precondition of all: em_lock held, unless stated
// otherwise.
#pragma once
#include "graph_node.h"

struct em_launch_config;

// The parameters of a launch that is captured from a stream of this priority.
CUresult em_node_kernel_captured(const struct em_launch_config *config, int priority, void **out);
const char *em_node_kernel_objection(const void *from, const void *to);
int em_node_kernel_priority(const void *params);
// New parameters leave the attributes of a node as they are.
void em_node_kernel_inherit(void *params, const void *from);
