// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": nodes that copy and fill.
#include "copy_params.h"
#include "fat_binary.h"
#include "graph_params.h"

// ---- copies

static cudaError_t copy_params(const struct cudaMemcpy3DParms *in, CUDA_MEMCPY3D *out,
                               CUcontext *context)
{
    if (!in)
        return rt_fail(cudaErrorInvalidValue, "the parameters of the copy are NULL");
    cudaError_t r = rt_copy_3d_params(in, out);
    return r ? r : rt_current_context(context);
}

// A copy of `count` bytes has neither pitches nor heights (recorded: graphs/memcpy1d-kind0).
static cudaError_t copy_params_1d(void *dst, const void *src, size_t count,
                                  enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out, CUcontext *context)
{
    CUmemorytype source, destination;
    cudaError_t r = rt_copy_direction(kind, &source, &destination);
    if (r)
        return r;
    *out = (CUDA_MEMCPY3D){
        .srcMemoryType = source,
        .srcHost = src,
        .srcDevice = (CUdeviceptr)src,
        .dstMemoryType = destination,
        .dstHost = dst,
        .dstDevice = (CUdeviceptr)dst,
        .WidthInBytes = count,
        .Height = 1,
        .Depth = 1,
    };
    return rt_current_context(context);
}

// A copy to a variable of the device. Only the host's or the device's memory can be its source.
static cudaError_t copy_params_to_symbol(const void *symbol, const void *src, size_t count,
                                         size_t offset, enum cudaMemcpyKind kind,
                                         CUDA_MEMCPY3D *out, CUcontext *context)
{
    CUdeviceptr variable;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return rt_copy_against(kind, "a variable of the device as its destination");
    cudaError_t r = rt_variable_range(symbol, offset, count, &variable);
    return r ? r : copy_params_1d((void *)variable, src, count, kind, out, context);
}

static cudaError_t copy_params_from_symbol(void *dst, const void *symbol, size_t count,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           CUDA_MEMCPY3D *out, CUcontext *context)
{
    CUdeviceptr variable;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return rt_copy_against(kind, "a variable of the device as its source");
    cudaError_t r = rt_variable_range(symbol, offset, count, &variable);
    return r ? r : copy_params_1d(dst, (const void *)variable, count, kind, out, context);
}

cudaError_t rt_cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaMemcpy3DParms *pCopyParams)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params(pCopyParams, &copy, &context);
    return r ? r
             : rt_error(rt_cu.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &copy, context));
}

cudaError_t rt_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, void *dst, const void *src,
                                        size_t count, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_1d(dst, src, count, kind, &copy, &context);
    return r ? r
             : rt_error(rt_cu.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &copy, context));
}

cudaError_t rt_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                            struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    if (!pNodeParams)
        return rt_fail(cudaErrorInvalidValue, "argument pNodeParams is NULL");
    RT_TRY(rt_cu.cuGraphMemcpyNodeGetParams(node, &copy));
    return rt_copy_3d_parms_of(&copy, pNodeParams);
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params(pNodeParams, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                              size_t count, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_1d(dst, src, count, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params(pNodeParams, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, context));
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                  void *dst, const void *src, size_t count,
                                                  enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_1d(dst, src, count, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, context));
}

cudaError_t rt_cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies,
                                              size_t numDependencies, const void *symbol,
                                              const void *src, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_to_symbol(symbol, src, count, offset, kind, &copy, &context);
    return r ? r
             : rt_error(rt_cu.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &copy, context));
}

cudaError_t rt_cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                    const void *src, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_to_symbol(symbol, src, count, offset, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                        cudaGraphNode_t node, const void *symbol,
                                                        const void *src, size_t count,
                                                        size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_to_symbol(symbol, src, count, offset, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, context));
}

cudaError_t rt_cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies,
                                                size_t numDependencies, void *dst,
                                                const void *symbol, size_t count, size_t offset,
                                                enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_from_symbol(dst, symbol, count, offset, kind, &copy, &context);
    return r ? r
             : rt_error(rt_cu.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &copy, context));
}

cudaError_t rt_cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                      const void *symbol, size_t count,
                                                      size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_from_symbol(dst, symbol, count, offset, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                          cudaGraphNode_t node, void *dst,
                                                          const void *symbol, size_t count,
                                                          size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t r = copy_params_from_symbol(dst, symbol, count, offset, kind, &copy, &context);
    return r ? r : rt_error(rt_cu.cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, context));
}

// ---- fills: the parameters have the layout of the driver's

cudaError_t rt_cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      const struct cudaMemsetParams *pMemsetParams)
{
    CUcontext context;
    cudaError_t r = rt_current_context(&context);
    return r ? r
             : rt_error(rt_cu.cuGraphAddMemsetNode(
                   pGraphNode, graph, pDependencies, numDependencies,
                   (const CUDA_MEMSET_NODE_PARAMS *)pMemsetParams, context));
}

cudaError_t rt_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                            struct cudaMemsetParams *pNodeParams)
{
    return rt_error(rt_cu.cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)pNodeParams));
}

cudaError_t rt_cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaMemsetParams *pNodeParams)
{
    return rt_error(
        rt_cu.cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams));
}

cudaError_t rt_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                const struct cudaMemsetParams *pNodeParams)
{
    CUcontext context;
    cudaError_t r = rt_current_context(&context);
    return r ? r
             : rt_error(rt_cu.cuGraphExecMemsetNodeSetParams(
                   hGraphExec, node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams, context));
}

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS) &&
                   offsetof(struct cudaMemsetParams, height) ==
                       offsetof(CUDA_MEMSET_NODE_PARAMS, height),
               "fills are passed on as they are");
