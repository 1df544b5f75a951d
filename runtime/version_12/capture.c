// SPDX-License-Identifier: MIT
// Stream capture without data of edges. Manual, cudaErrorLossyQuery: one of the edges has data, and
// the call has no place for it.
#include "../rt.h"

cudaError_t rt12_cudaStreamGetCaptureInfo(cudaStream_t stream,
                                          enum cudaStreamCaptureStatus *captureStatus_out,
                                          unsigned long long *id_out)
{
    return rt_cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

cudaError_t rt12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                             enum cudaStreamCaptureStatus *captureStatus_out,
                                             unsigned long long *id_out, cudaGraph_t *graph_out,
                                             const cudaGraphNode_t **dependencies_out,
                                             size_t *numDependencies_out)
{
    return rt_cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out,
                                       dependencies_out, NULL, numDependencies_out);
}

cudaError_t rt12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                     cudaGraphNode_t *dependencies,
                                                     size_t numDependencies, unsigned int flags)
{
    return rt_cudaStreamUpdateCaptureDependencies(stream, dependencies, NULL, numDependencies,
                                                  flags);
}
