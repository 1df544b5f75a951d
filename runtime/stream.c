// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Management". Handles of streams are the driver's.
#include "rt.h"

cudaError_t rt_cudaStreamCreate(cudaStream_t *pStream)
{
    return rt_error(rt_cu.cuStreamCreate(pStream, CU_STREAM_DEFAULT));
}

cudaError_t rt_cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    return rt_error(rt_cu.cuStreamCreate(pStream, flags));
}

cudaError_t rt_cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    return rt_error(rt_cu.cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t rt_cudaStreamDestroy(cudaStream_t stream)
{
    return rt_error(rt_cu.cuStreamDestroy(stream));
}

cudaError_t rt_cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    return rt_error(rt_cu.cuStreamGetPriority(hStream, priority));
}

cudaError_t rt_cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    return rt_error(rt_cu.cuStreamGetFlags(hStream, flags));
}

cudaError_t rt_cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    return rt_error(rt_cu.cuStreamGetId(hStream, streamId));
}

cudaError_t rt_cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    return rt_error(rt_cu.cuStreamGetDevice(hStream, device));
}

// Attributes have the numbers and the layout of the driver's.
cudaError_t rt_cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    return rt_error(rt_cu.cuStreamCopyAttributes(dst, src));
}

cudaError_t rt_cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                      cudaLaunchAttributeValue *value_out)
{
    return rt_error(
        rt_cu.cuStreamGetAttribute(hStream, (CUstreamAttrID)attr, (CUstreamAttrValue *)value_out));
}

cudaError_t rt_cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                      const cudaLaunchAttributeValue *value)
{
    return rt_error(rt_cu.cuStreamSetAttribute(hStream, (CUstreamAttrID)attr,
                                               (const CUstreamAttrValue *)value));
}

cudaError_t rt_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return rt_error(rt_cu.cuStreamWaitEvent(stream, event, flags));
}

cudaError_t rt_cudaStreamSynchronize(cudaStream_t stream)
{
    CUresult result;
    RT_IN_CONTEXT(result, rt_cu.cuStreamSynchronize(stream));
    return rt_error(result);
}

cudaError_t rt_cudaStreamQuery(cudaStream_t stream)
{
    return rt_error(rt_cu.cuStreamQuery(stream));
}

cudaError_t rt_cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                        unsigned int flags)
{
    return rt_error(rt_cu.cuStreamAttachMemAsync(stream, (CUdeviceptr)devPtr, length, flags));
}
