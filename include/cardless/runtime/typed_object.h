/* SPDX-License-Identifier: MIT */
/* C++: events, graphs and user objects, in the forms of earlier versions or with typed objects. */
#ifndef CARDLESS_RUNTIME_TYPED_OBJECT_H
#define CARDLESS_RUNTIME_TYPED_OBJECT_H

#ifdef __cplusplus
#include "typed.h"

static inline __host__ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

/* The form of CUDA 11, whose log stays empty. */
static inline __host__ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec,
                                                        cudaGraph_t graph,
                                                        cudaGraphNode_t *pErrorNode,
                                                        char *pLogBuffer, size_t bufferSize)
{
    (void)pErrorNode;
    (void)pLogBuffer;
    (void)bufferSize;
    return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}

#ifdef __CUDACC__
/* The form of CUDA 11, which returns two members of the result. */
static inline __host__ cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                       cudaGraphNode_t *errorNode,
                                                       enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info;
    const cudaError_t status = ::cudaGraphExecUpdate(exec, graph, &info);
    if (errorNode)
        *errorNode = info.errorNode;
    if (result)
        *result = info.result;
    return status;
}

#if __cplusplus >= 201103L
/* An object that `delete` destroys when its last reference is released. */
CARDLESS_TYPED cudaUserObjectCreate(cudaUserObject_t *object_out, T *objectToWrap,
                                    unsigned int initialRefcount, unsigned int flags)
{
    return ::cudaUserObjectCreate(
        object_out, objectToWrap, [](void *object) { delete static_cast<T *>(object); },
        initialRefcount, flags);
}

CARDLESS_TYPED cudaUserObjectCreate(cudaUserObject_t *object_out, T *objectToWrap,
                                    unsigned int initialRefcount, cudaUserObjectFlags flags)
{
    return cudaUserObjectCreate(object_out, objectToWrap, initialRefcount, (unsigned int)flags);
}
#endif
#endif
#endif

#endif
