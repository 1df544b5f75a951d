// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": graphs and their structure. Handles are the driver's.
#include "rt.h"

cudaError_t rt_cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    return rt_error(rt_cu.cuGraphCreate(pGraph, flags));
}

cudaError_t rt_cudaGraphDestroy(cudaGraph_t graph)
{
    return rt_error(rt_cu.cuGraphDestroy(graph));
}

cudaError_t rt_cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    return rt_error(rt_cu.cuGraphClone(pGraphClone, originalGraph));
}

cudaError_t rt_cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                        cudaGraph_t clonedGraph)
{
    return rt_error(rt_cu.cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

cudaError_t rt_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    return rt_error(rt_cu.cuGraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t rt_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    return rt_error(rt_cu.cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t rt_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                     size_t *pNumRootNodes)
{
    return rt_error(rt_cu.cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

cudaError_t rt_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    return rt_error(rt_cu.cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edgeData, numEdges));
}

cudaError_t rt_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                            cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    return rt_error(rt_cu.cuGraphNodeGetDependencies(
        node, pDependencies, (CUgraphEdgeData *)edgeData, pNumDependencies));
}

cudaError_t rt_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                              cudaGraphNode_t *pDependentNodes,
                                              cudaGraphEdgeData *edgeData,
                                              size_t *pNumDependentNodes)
{
    return rt_error(rt_cu.cuGraphNodeGetDependentNodes(
        node, pDependentNodes, (CUgraphEdgeData *)edgeData, pNumDependentNodes));
}

cudaError_t rt_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    return rt_error(rt_cu.cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edgeData,
                                                 numDependencies));
}

cudaError_t rt_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to,
                                           const cudaGraphEdgeData *edgeData,
                                           size_t numDependencies)
{
    return rt_error(rt_cu.cuGraphRemoveDependencies(
        graph, from, to, (const CUgraphEdgeData *)edgeData, numDependencies));
}

cudaError_t rt_cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return rt_error(rt_cu.cuGraphDestroyNode(node));
}

cudaError_t rt_cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out,
                                                cudaGraph_t graph, unsigned int defaultLaunchValue,
                                                unsigned int flags)
{
    CUcontext context;
    RT_TRY(rt_cu.cuCtxGetCurrent(&context));
    return rt_error(rt_cu.cuGraphConditionalHandleCreate(
        (CUgraphConditionalHandle *)pHandle_out, graph, context, defaultLaunchValue, flags));
}

cudaError_t rt_cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    return rt_error(rt_cu.cuGraphDebugDotPrint(graph, path, flags));
}

cudaError_t rt_cudaDeviceGraphMemTrim(int device)
{
    return rt_error(rt_cu.cuDeviceGraphMemTrim(device));
}

cudaError_t rt_cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                              void *value)
{
    return rt_error(rt_cu.cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value));
}

cudaError_t rt_cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                              void *value)
{
    return rt_error(rt_cu.cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value));
}
