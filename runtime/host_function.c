// SPDX-License-Identifier: MIT
// Functions of the host in streams, and the objects of the program that graphs keep alive.
#include "rt.h"

cudaError_t rt_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return rt_error(rt_cu.cuLaunchHostFunc(stream, fn, userData));
}

// The driver calls the program's function itself: streams are the driver's handles, and the errors
// that a callback can get have the same numbers in both APIs.
cudaError_t rt_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                     void *userData, unsigned int flags)
{
    return rt_error(
        rt_cu.cuStreamAddCallback(stream, (CUstreamCallback)(void *)callback, userData, flags));
}

cudaError_t rt_cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                    unsigned int initialRefcount, unsigned int flags)
{
    return rt_error(rt_cu.cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags));
}

cudaError_t rt_cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    return rt_error(rt_cu.cuUserObjectRetain(object, count));
}

cudaError_t rt_cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    return rt_error(rt_cu.cuUserObjectRelease(object, count));
}

cudaError_t rt_cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                         unsigned int count, unsigned int flags)
{
    return rt_error(rt_cu.cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t rt_cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                          unsigned int count)
{
    return rt_error(rt_cu.cuGraphReleaseUserObject(graph, object, count));
}
