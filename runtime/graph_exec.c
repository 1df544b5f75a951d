// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": executable graphs.
#include "rt.h"

cudaError_t rt_cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                    unsigned long long flags)
{
    return rt_error(rt_cu.cuGraphInstantiate(pGraphExec, graph, flags));
}

cudaError_t rt_cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                             unsigned long long flags)
{
    return rt_error(rt_cu.cuGraphInstantiate(pGraphExec, graph, flags));
}

// The driver gets a copy of the parameters, because a twin replaces a NULL stream by the per-thread
// default stream.
cudaError_t rt_cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                              cudaGraphInstantiateParams *instantiateParams,
                                              cudaStream_t default_stream)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    if (!instantiateParams)
        return rt_fail(cudaErrorInvalidValue, "argument instantiateParams is NULL");
    params = (CUDA_GRAPH_INSTANTIATE_PARAMS){
        .flags = instantiateParams->flags,
        .hUploadStream =
            instantiateParams->uploadStream ? instantiateParams->uploadStream : default_stream,
    };
    CUresult r = rt_cu.cuGraphInstantiateWithParams(pGraphExec, graph, &params);
    instantiateParams->errNode_out = params.hErrNode_out;
    instantiateParams->result_out = (cudaGraphInstantiateResult)params.result_out;
    return rt_error(r);
}

cudaError_t rt_cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    return rt_error(rt_cu.cuGraphExecGetFlags(graphExec, (cuuint64_t *)flags));
}

cudaError_t rt_cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return rt_error(rt_cu.cuGraphUpload(graphExec, stream));
}

cudaError_t rt_cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return rt_error(rt_cu.cuGraphLaunch(graphExec, stream));
}

cudaError_t rt_cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    return rt_error(rt_cu.cuGraphExecDestroy(graphExec));
}

cudaError_t rt_cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                       unsigned int isEnabled)
{
    return rt_error(rt_cu.cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t rt_cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                       unsigned int *isEnabled)
{
    return rt_error(rt_cu.cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

// `resultInfo` may be NULL (recorded: graphs/update).
cudaError_t rt_cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                   cudaGraphExecUpdateResultInfo *resultInfo)
{
    CUgraphExecUpdateResultInfo unused;
    return rt_error(rt_cu.cuGraphExecUpdate(
        hGraphExec, hGraph, resultInfo ? (CUgraphExecUpdateResultInfo *)resultInfo : &unused));
}

cudaError_t rt_cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
                                                    cudaGraphNode_t node, cudaGraph_t childGraph)
{
    return rt_error(rt_cu.cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

cudaError_t rt_cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                    cudaGraphNode_t hNode, cudaEvent_t event)
{
    return rt_error(rt_cu.cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event));
}

cudaError_t rt_cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                  cudaEvent_t event)
{
    return rt_error(rt_cu.cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event));
}

cudaError_t rt_cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
    const struct cudaExternalSemaphoreSignalNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphExecExternalSemaphoresSignalNodeSetParams(
        hGraphExec, hNode, (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
    const struct cudaExternalSemaphoreWaitNodeParams *nodeParams)
{
    return rt_error(rt_cu.cuGraphExecExternalSemaphoresWaitNodeSetParams(
        hGraphExec, hNode, (const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)nodeParams));
}

cudaError_t rt_cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *pNodeParams)
{
    return rt_error(rt_cu.cuGraphExecHostNodeSetParams(hGraphExec, node,
                                                       (const CUDA_HOST_NODE_PARAMS *)pNodeParams));
}
