// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": kernel nodes. The calls before CUDA 12 have no kernel
// and no context among the parameters.
#include <string.h>

#include "api_bodies.h"
#include "exec.h"
#include "graph.h"

// Parameters of either version in the form for all types of nodes.
#define PARAMS(pointer)                                                                            \
    ({                                                                                             \
        CUgraphNodeParams p_ = {.type = CU_GRAPH_NODE_TYPE_KERNEL};                                \
        memcpy(&p_.kernel, (pointer), sizeof *(pointer));                                          \
        p_;                                                                                        \
    })

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    const CUgraphNodeParams *params)
{
    return em_graph_add(graph, &(struct em_dependencies){dependencies, NULL, count}, params, out);
}

CUresult api_cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &p);
    if (!r)
        memcpy(nodeParams, &p.kernel, sizeof *nodeParams);
    return r;
}

CUresult api_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &p);
    if (!r)
        memcpy(nodeParams, &p.kernel, sizeof *nodeParams);
    return r;
}

CUresult api_cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return em_graph_node_set(hNode, &p);
}

CUresult api_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return em_graph_node_set(hNode, &p);
}

CUresult api_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(nodeParams);
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                           CUkernelNodeAttrValue *value_out)
{
    return em_graph_kernel_get_attribute(hNode, attr, value_out);
}

CUresult api_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                           const CUkernelNodeAttrValue *value)
{
    return em_graph_kernel_set_attribute(hNode, attr, value);
}

CUresult api_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    return em_graph_kernel_copy_attributes(dst, src);
}
