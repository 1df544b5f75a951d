// SPDX-License-Identifier: MIT
// Resources of graphics APIs, whichever API they come from. They are the driver's.
#include "rt.h"

cudaError_t rt_cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)
{
    return rt_error(rt_cu.cuGraphicsUnregisterResource((CUgraphicsResource)resource));
}

// Flags that do not exist are ignored (recorded: gl_buffer/mapflags-3).
cudaError_t rt_cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags)
{
    const bool exist = flags <= cudaGraphicsMapFlagsWriteDiscard;
    return rt_error(rt_cu.cuGraphicsResourceSetMapFlags((CUgraphicsResource)resource,
                                                        exist ? flags : cudaGraphicsMapFlagsNone));
}

// The driver takes a number without a sign, of which it finds no resource (recorded:
// graphics_null/map-count-minus1).
static cudaError_t graphics_check(int count)
{
    if (count >= 0)
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidResourceHandle, "count (%d) is negative", count);
}

cudaError_t rt_cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources,
                                        cudaStream_t stream)
{
    const cudaError_t error = graphics_check(count);
    if (error != cudaSuccess)
        return error;
    return rt_error(
        rt_cu.cuGraphicsMapResources((unsigned)count, (CUgraphicsResource *)resources, stream));
}

cudaError_t rt_cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources,
                                          cudaStream_t stream)
{
    const cudaError_t error = graphics_check(count);
    if (error != cudaSuccess)
        return error;
    return rt_error(
        rt_cu.cuGraphicsUnmapResources((unsigned)count, (CUgraphicsResource *)resources, stream));
}

// In the following calls a NULL output is no error (recorded: gl_buffer/pointer-nulls).

cudaError_t rt_cudaGraphicsResourceGetMappedPointer(void **devPtr, size_t *size,
                                                    cudaGraphicsResource_t resource)
{
    const CUresult result = rt_cu.cuGraphicsResourceGetMappedPointer((CUdeviceptr *)devPtr, size,
                                                                     (CUgraphicsResource)resource);
    // Recorded: gl_buffer/not-mapped.
    if (result != CUDA_SUCCESS && devPtr)
        *devPtr = NULL;
    if (result != CUDA_SUCCESS && size)
        *size = 0;
    return rt_error(result);
}

cudaError_t rt_cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array,
                                                     cudaGraphicsResource_t resource,
                                                     unsigned int arrayIndex, unsigned int mipLevel)
{
    CUarray unwanted;
    return rt_error(rt_cu.cuGraphicsSubResourceGetMappedArray(
        array ? (CUarray *)array : &unwanted, (CUgraphicsResource)resource, arrayIndex, mipLevel));
}

cudaError_t rt_cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                                           cudaGraphicsResource_t resource)
{
    CUmipmappedArray unwanted;
    return rt_error(rt_cu.cuGraphicsResourceGetMappedMipmappedArray(
        mipmappedArray ? (CUmipmappedArray *)mipmappedArray : &unwanted,
        (CUgraphicsResource)resource));
}
