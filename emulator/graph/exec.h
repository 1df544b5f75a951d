// SPDX-License-Identifier: MIT
// Instantiated graphs: instantiation, launch, update. All functions take the lock: precondition:
// em_lock not held. A bad handle is CUDA_ERROR_INVALID_VALUE.
#pragma once
#include <cuda.h>
#include <stdbool.h>

struct em_stream;

// `params->flags` is the only input. The outputs in `params` are always written.
CUresult em_graph_instantiate(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                              CUgraphExec *out);
// Pending launches still run.
CUresult em_graph_exec_destroy(CUgraphExec exec);
CUresult em_graph_exec_flags(CUgraphExec exec, cuuint64_t *out);
// "Each launch is ordered behind both any previous work in hStream and any previous launches of
// hGraphExec."
CUresult em_graph_launch(CUgraphExec exec, struct em_stream *stream);
// Checks the arguments. There is nothing to upload, because a launch uses the host's memory.
CUresult em_graph_upload(CUgraphExec exec, struct em_stream *stream);

// The parameters, and whether it is enabled, of the step that stands for a node of the graph from
// which `exec` was instantiated. They apply to later launches.
CUresult em_graph_exec_get(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                           CUgraphNodeParams *out);
CUresult em_graph_exec_set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *params);
CUresult em_graph_exec_enable(CUgraphExec exec, CUgraphNode node, bool enabled);
CUresult em_graph_exec_is_enabled(CUgraphExec exec, CUgraphNode node, unsigned *out);
// For a child graph node: takes over the parameters of a graph of the same topology.
CUresult em_graph_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child);
// Takes over the parameters of all nodes of a graph of the same topology.
CUresult em_graph_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
