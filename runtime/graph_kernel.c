// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": nodes that run kernels.
#include "fat_binary.h"
#include "graph_params.h"

cudaError_t rt_kernel_node_params(const struct cudaKernelNodeParams *params,
                                  CUDA_KERNEL_NODE_PARAMS *out)
{
    CUfunction launchable, function;
    if (!params)
        return rt_fail(cudaErrorInvalidValue, "argument pNodeParams is NULL");
    cudaError_t r = rt_launchable(params->func, &launchable);
    if (r)
        return r;
    // Nodes keep kernels, which exist in every context, and functions, which exist in one.
    bool kernel = !rt_kernel_function(launchable, &function);
    *out = (CUDA_KERNEL_NODE_PARAMS){
        .func = kernel ? NULL : launchable,
        .kern = kernel ? (CUkernel)launchable : NULL,
        .gridDimX = params->gridDim.x,
        .gridDimY = params->gridDim.y,
        .gridDimZ = params->gridDim.z,
        .blockDimX = params->blockDim.x,
        .blockDimY = params->blockDim.y,
        .blockDimZ = params->blockDim.z,
        .sharedMemBytes = params->sharedMemBytes,
        .kernelParams = params->kernelParams,
        .extra = params->extra,
    };
    return cudaSuccess;
}

cudaError_t rt_cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t r = rt_kernel_node_params(pNodeParams, &params);
    return r ? r
             : rt_error(rt_cu.cuGraphAddKernelNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &params));
}

// The function of a node is the program's host function. Other kernels have none, which is an error
// (recorded: graphs/kernel, kernel_nodes/round-trip).
cudaError_t rt_cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                            struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (!pNodeParams)
        return rt_fail(cudaErrorInvalidValue, "argument pNodeParams is NULL");
    RT_TRY(rt_cu.cuGraphKernelNodeGetParams(node, &params));
    const void *host = params.kern ? rt_host_function(params.kern) : NULL;
    if (!host || host == (const void *)params.kern)
        return rt_fail(
            cudaErrorInvalidDeviceFunction,
            "the node's kernel has no host function, because the program loaded it itself");
    *pNodeParams = (struct cudaKernelNodeParams){
        .func = (void *)host,
        .gridDim = {params.gridDimX, params.gridDimY, params.gridDimZ},
        .blockDim = {params.blockDimX, params.blockDimY, params.blockDimZ},
        .sharedMemBytes = params.sharedMemBytes,
        .kernelParams = params.kernelParams,
        .extra = params.extra,
    };
    return cudaSuccess;
}

cudaError_t rt_cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t r = rt_kernel_node_params(pNodeParams, &params);
    return r ? r : rt_error(rt_cu.cuGraphKernelNodeSetParams(node, &params));
}

cudaError_t rt_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t r = rt_kernel_node_params(pNodeParams, &params);
    return r ? r : rt_error(rt_cu.cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
}

// Attributes have the numbers and the layout of the driver's.

cudaError_t rt_cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    return rt_error(rt_cu.cuGraphKernelNodeCopyAttributes(hDst, hSrc));
}

cudaError_t rt_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                               cudaLaunchAttributeValue *value_out)
{
    return rt_error(rt_cu.cuGraphKernelNodeGetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                        (CUkernelNodeAttrValue *)value_out));
}

cudaError_t rt_cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                               const cudaLaunchAttributeValue *value)
{
    return rt_error(rt_cu.cuGraphKernelNodeSetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                        (const CUkernelNodeAttrValue *)value));
}
