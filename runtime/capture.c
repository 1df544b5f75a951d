// SPDX-License-Identifier: MIT
// Stream capture. Modes, states and edges have the driver's numbers and layout.
#include "rt.h"

cudaError_t rt_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return rt_error(rt_cu.cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies,
                                             const cudaGraphEdgeData *dependencyData,
                                             size_t numDependencies,
                                             enum cudaStreamCaptureMode mode)
{
    return rt_error(rt_cu.cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                      (const CUgraphEdgeData *)dependencyData,
                                                      numDependencies, (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return rt_error(rt_cu.cuStreamEndCapture(stream, pGraph));
}

cudaError_t rt_cudaStreamIsCapturing(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *pCaptureStatus)
{
    return rt_error(rt_cu.cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)pCaptureStatus));
}

cudaError_t rt_cudaStreamGetCaptureInfo(cudaStream_t stream,
                                        enum cudaStreamCaptureStatus *captureStatus_out,
                                        unsigned long long *id_out, cudaGraph_t *graph_out,
                                        const cudaGraphNode_t **dependencies_out,
                                        const cudaGraphEdgeData **edgeData_out,
                                        size_t *numDependencies_out)
{
    return rt_error(rt_cu.cuStreamGetCaptureInfo(
        stream, (CUstreamCaptureStatus *)captureStatus_out, (cuuint64_t *)id_out, graph_out,
        dependencies_out, (const CUgraphEdgeData **)edgeData_out, numDependencies_out));
}

cudaError_t rt_cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                   cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *dependencyData,
                                                   size_t numDependencies, unsigned int flags)
{
    return rt_error(rt_cu.cuStreamUpdateCaptureDependencies(
        stream, dependencies, (const CUgraphEdgeData *)dependencyData, numDependencies, flags));
}

cudaError_t rt_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    return rt_error(rt_cu.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}
