// SPDX-License-Identifier: MIT
// Parameters of graph nodes of any kind: cudaGraphAddNode and its like.
#include "graph_params.h"

#include <string.h>

#include "copy_params.h"

cudaError_t rt_current_context(CUcontext *context)
{
    return rt_error(rt_cu.cuCtxGetCurrent(context));
}

// These have the driver's layout, and are copied as they are.
#define SAME_PARAMS(member, last)                                                                  \
    _Static_assert(offsetof(struct cudaGraphNodeParams, member.last) ==                            \
                           offsetof(CUgraphNodeParams, member.last) &&                             \
                       sizeof((struct cudaGraphNodeParams){0}.member) ==                           \
                           sizeof((CUgraphNodeParams){0}.member),                                  \
                   #member)
SAME_PARAMS(host, userData);
SAME_PARAMS(graph, ownership);
SAME_PARAMS(eventWait, event);
SAME_PARAMS(eventRecord, event);
SAME_PARAMS(extSemSignal, numExtSems);
SAME_PARAMS(extSemWait, numExtSems);
SAME_PARAMS(alloc, dptr);
SAME_PARAMS(free, dptr);

static cudaError_t params_kernel(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    const struct cudaKernelNodeParams in = {
        params->kernel.func,           params->kernel.gridDim,      params->kernel.blockDim,
        params->kernel.sharedMemBytes, params->kernel.kernelParams, params->kernel.extra};
    cudaError_t r = rt_kernel_node_params(&in, &kernel);
    if (r)
        return r;
    _Static_assert(sizeof out->kernel == sizeof kernel, "kernel");
    memcpy(&out->kernel, &kernel, sizeof kernel);
    return rt_current_context(&out->kernel.ctx);
}

static cudaError_t params_copy(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out)
{
    const struct cudaMemcpyNodeParams *copy = &params->memcpy;
    if (copy->flags || copy->reserved[0] || copy->reserved[1] || copy->reserved[2])
        return rt_fail(cudaErrorInvalidValue, "flags and reserved of a memcpy node must be 0");
    out->memcpy.flags = 0;
    out->memcpy.reserved = 0;
    cudaError_t r = rt_copy_3d_params(&copy->copyParams, &out->memcpy.copyParams);
    return r ? r : rt_current_context(&out->memcpy.copyCtx);
}

static cudaError_t params_fill(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out)
{
    out->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = (CUdeviceptr)params->memset.dst,
        .pitch = params->memset.pitch,
        .value = params->memset.value,
        .elementSize = params->memset.elementSize,
        .width = params->memset.width,
        .height = params->memset.height,
    };
    return rt_current_context(&out->memset.ctx);
}

static cudaError_t params_condition(const struct cudaGraphNodeParams *params,
                                    CUgraphNodeParams *out)
{
    out->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = params->conditional.handle,
        .type = (CUgraphConditionalNodeType)params->conditional.type,
        .size = params->conditional.size,
    };
    return rt_current_context(&out->conditional.ctx);
}

cudaError_t rt_graph_node_params(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out)
{
    if (!params)
        return rt_fail(cudaErrorInvalidValue, "argument nodeParams is NULL");
    *out = (CUgraphNodeParams){.type = (CUgraphNodeType)params->type};
    memcpy(out->reserved0, params->reserved0, sizeof out->reserved0);
    out->reserved2 = params->reserved2;
    switch (params->type) {
    case cudaGraphNodeTypeKernel:
        return params_kernel(params, out);
    case cudaGraphNodeTypeMemcpy:
        return params_copy(params, out);
    case cudaGraphNodeTypeMemset:
        return params_fill(params, out);
    case cudaGraphNodeTypeConditional:
        return params_condition(params, out);
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        memcpy(out->reserved1, params->reserved1, sizeof out->reserved1);
        return cudaSuccess;
    default:
        return rt_fail(cudaErrorInvalidValue, "type (%d) is not a kind of node that can be created",
                       (int)params->type);
    }
}

// The driver answers in the parameters of two kinds of nodes.
cudaError_t rt_cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                const cudaGraphNode_t *pDependencies,
                                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t r = rt_graph_node_params(nodeParams, &params);
    if (r)
        return r;
    RT_TRY(rt_cu.cuGraphAddNode(pGraphNode, graph, pDependencies,
                                (const CUgraphEdgeData *)dependencyData, numDependencies, &params));
    if (nodeParams->type == cudaGraphNodeTypeMemAlloc)
        nodeParams->alloc.dptr = (void *)params.alloc.dptr;
    if (nodeParams->type == cudaGraphNodeTypeConditional)
        nodeParams->conditional.phGraph_out = params.conditional.phGraph_out;
    return cudaSuccess;
}

cudaError_t rt_cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t r = rt_graph_node_params(nodeParams, &params);
    return r ? r : rt_error(rt_cu.cuGraphNodeSetParams(node, &params));
}

cudaError_t rt_cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                          struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t r = rt_graph_node_params(nodeParams, &params);
    return r ? r : rt_error(rt_cu.cuGraphExecNodeSetParams(graphExec, node, &params));
}
