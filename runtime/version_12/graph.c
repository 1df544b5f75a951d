// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management", without data of edges: edges that are added have the
// default type, and a query of an edge that has data returns cudaErrorLossyQuery.
#include "../rt.h"

cudaError_t rt12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                   size_t *numEdges)
{
    return rt_cudaGraphGetEdges(graph, from, to, NULL, numEdges);
}

cudaError_t rt12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                              size_t *pNumDependencies)
{
    return rt_cudaGraphNodeGetDependencies(node, pDependencies, NULL, pNumDependencies);
}

cudaError_t rt12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                cudaGraphNode_t *pDependentNodes,
                                                size_t *pNumDependentNodes)
{
    return rt_cudaGraphNodeGetDependentNodes(node, pDependentNodes, NULL, pNumDependentNodes);
}

cudaError_t rt12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                          const cudaGraphNode_t *to, size_t numDependencies)
{
    return rt_cudaGraphAddDependencies(graph, from, to, NULL, numDependencies);
}

cudaError_t rt12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                             const cudaGraphNode_t *to, size_t numDependencies)
{
    return rt_cudaGraphRemoveDependencies(graph, from, to, NULL, numDependencies);
}

cudaError_t rt12_cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                  struct cudaGraphNodeParams *nodeParams)
{
    return rt_cudaGraphAddNode(pGraphNode, graph, pDependencies, NULL, numDependencies, nodeParams);
}
