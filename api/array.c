// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": arrays and mipmapped arrays.
#include "api_bodies.h"
#include "array.h"
#include "array_map.h"
#include "call.h"

CUresult api_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return em_array_create(pAllocateArray, pHandle);
}

CUresult api_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = pAllocateArray->Width,
        .Height = pAllocateArray->Height,
        .Format = pAllocateArray->Format,
        .NumChannels = pAllocateArray->NumChannels,
    };
    return em_array_create(&desc, pHandle);
}

CUresult api_cuArrayDestroy(CUarray hArray)
{
    return em_array_destroy(hArray);
}

CUresult api_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    return em_array_describe(hArray, pArrayDescriptor);
}

CUresult api_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUresult r = em_array_describe(hArray, &desc);
    if (r)
        return r;
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = desc.Width,
                                                .Height = desc.Height,
                                                .Format = desc.Format,
                                                .NumChannels = desc.NumChannels};
    return CUDA_SUCCESS;
}

CUresult api_cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                    const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                    unsigned int numMipmapLevels)
{
    return em_mipmap_create(pMipmappedArrayDesc, numMipmapLevels, pHandle);
}

CUresult api_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    return em_mipmap_destroy(hMipmappedArray);
}

CUresult api_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                      unsigned int level)
{
    return em_mipmap_level(hMipmappedArray, level, pLevelArray);
}

CUresult api_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                          CUarray array, CUdevice device)
{
    return em_array_requirements(array, memoryRequirements);
}

CUresult
api_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                          CUmipmappedArray mipmap, CUdevice device)
{
    return em_mipmap_requirements(mipmap, memoryRequirements);
}

CUresult api_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
                                        CUarray array)
{
    return em_array_sparse(array, sparseProperties);
}

CUresult api_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
                                                 CUmipmappedArray mipmap)
{
    return em_mipmap_sparse(mipmap, sparseProperties);
}

CUresult api_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    return em_array_plane(hArray, planeIdx, pPlaneArray);
}

CUresult api_cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count,
                                struct em_stream *hStream)
{
    if (!mapInfoList || !count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "mapInfoList (%p) is NULL or count (%u) is 0",
                       (void *)mapInfoList, count);
    return em_array_map(mapInfoList, count, hStream);
}
