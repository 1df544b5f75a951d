// SPDX-License-Identifier: MIT
// The manual's chapter "Graphics Interoperability".
#include "api_bodies.h"
#include "call.h"
#include "graphics.h"

// A language binding that loses the output of a registration passes NULL here. The driver checks
// the resource before the output pointer.
static CUresult check(CUgraphicsResource resource, const char *result_name, const void *result)
{
    if (!resource)
        return em_mistake(G15, CUDA_ERROR_INVALID_HANDLE, "the CUgraphicsResource is NULL");
    return result ? CUDA_SUCCESS : em_null(result_name);
}

CUresult api_cuGraphicsUnregisterResource(CUgraphicsResource resource)
{
    return em_graphics_unregister(resource);
}

CUresult api_cuGraphicsSubResourceGetMappedArray(CUarray *pArray, CUgraphicsResource resource,
                                                 unsigned int arrayIndex, unsigned int mipLevel)
{
    CUresult r = check(resource, "pArray", pArray);
    return r ? r : em_graphics_array(resource, arrayIndex, mipLevel, pArray);
}

CUresult api_cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *pMipmappedArray,
                                                       CUgraphicsResource resource)
{
    CUresult r = check(resource, "pMipmappedArray", pMipmappedArray);
    return r ? r : em_graphics_mipmap(resource, pMipmappedArray);
}

CUresult api_cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *pDevPtr, size_t *pSize,
                                                   CUgraphicsResource resource)
{
    return em_graphics_pointer(resource, pDevPtr, pSize);
}

CUresult api_cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags)
{
    return em_graphics_set_flags(resource, flags);
}

CUresult api_check_cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources)
{
    return em_graphics_check_list(count, resources);
}

CUresult api_cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources,
                                    struct em_stream *hStream)
{
    return em_graphics_map(count, resources, hStream);
}

CUresult api_check_cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources)
{
    return em_graphics_check_list(count, resources);
}

CUresult api_cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources,
                                      struct em_stream *hStream)
{
    return em_graphics_unmap(count, resources, hStream);
}
