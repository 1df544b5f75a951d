// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": nodes other than kernels, copies and fills. Their
// parameters have the layout of the driver's.
#include "rt.h"

cudaError_t rt_cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    const struct cudaHostNodeParams *pNodeParams)
{
    return rt_error(rt_cu.cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies,
                                             (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t rt_cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                          struct cudaHostNodeParams *pNodeParams)
{
    return rt_error(rt_cu.cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t rt_cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                          const struct cudaHostNodeParams *pNodeParams)
{
    return rt_error(
        rt_cu.cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}

cudaError_t rt_cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies,
                                          size_t numDependencies, cudaGraph_t childGraph)
{
    return rt_error(rt_cu.cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, childGraph));
}

cudaError_t rt_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    return rt_error(rt_cu.cuGraphChildGraphNodeGetGraph(node, pGraph));
}

cudaError_t rt_cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    return rt_error(rt_cu.cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t rt_cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies,
                                           size_t numDependencies, cudaEvent_t event)
{
    return rt_error(
        rt_cu.cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t rt_cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    return rt_error(rt_cu.cuGraphEventRecordNodeGetEvent(node, event_out));
}

cudaError_t rt_cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return rt_error(rt_cu.cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t rt_cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies,
                                         size_t numDependencies, cudaEvent_t event)
{
    return rt_error(
        rt_cu.cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t rt_cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    return rt_error(rt_cu.cuGraphEventWaitNodeGetEvent(node, event_out));
}

cudaError_t rt_cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return rt_error(rt_cu.cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t rt_cudaGraphAddExternalSemaphoresSignalNode(
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
    size_t numDependencies, const struct cudaExternalSemaphoreSignalNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphAddExternalSemaphoresSignalNode(
        pGraphNode, graph, pDependencies, numDependencies,
        (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphExternalSemaphoresSignalNodeGetParams(
    cudaGraphNode_t hNode, struct cudaExternalSemaphoreSignalNodeParams *params_out)
{
    return rt_error(rt_cu.cuGraphExternalSemaphoresSignalNodeGetParams(
        hNode, (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)params_out));
}

cudaError_t rt_cudaGraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t hNode, const struct cudaExternalSemaphoreSignalNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphExternalSemaphoresSignalNodeSetParams(
        hNode, (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphAddExternalSemaphoresWaitNode(
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
    size_t numDependencies, const struct cudaExternalSemaphoreWaitNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphAddExternalSemaphoresWaitNode(
        pGraphNode, graph, pDependencies, numDependencies,
        (const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphExternalSemaphoresWaitNodeGetParams(
    cudaGraphNode_t hNode, struct cudaExternalSemaphoreWaitNodeParams *params_out)
{
    return rt_error(rt_cu.cuGraphExternalSemaphoresWaitNodeGetParams(
        hNode, (CUDA_EXT_SEM_WAIT_NODE_PARAMS *)params_out));
}

cudaError_t rt_cudaGraphExternalSemaphoresWaitNodeSetParams(
    cudaGraphNode_t hNode, const struct cudaExternalSemaphoreWaitNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphExternalSemaphoresWaitNodeSetParams(
        hNode, (const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies,
                                        struct cudaMemAllocNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                                 (CUDA_MEM_ALLOC_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                              struct cudaMemAllocNodeParams *params_out)
{
    return rt_error(
        rt_cu.cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params_out));
}

cudaError_t rt_cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       void *dptr)
{
    return rt_error(rt_cu.cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                                (CUdeviceptr)dptr));
}

cudaError_t rt_cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    return rt_error(rt_cu.cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)dptr_out));
}
