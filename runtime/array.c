// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": arrays and mipmapped arrays.
#include <string.h>

#include "channel.h"

_Static_assert(cudaArrayLayered == CUDA_ARRAY3D_LAYERED, "flags of arrays");
_Static_assert(cudaArraySurfaceLoadStore == CUDA_ARRAY3D_SURFACE_LDST, "flags of arrays");
_Static_assert(cudaArrayCubemap == CUDA_ARRAY3D_CUBEMAP, "flags of arrays");
_Static_assert(cudaArrayTextureGather == CUDA_ARRAY3D_TEXTURE_GATHER, "flags of arrays");
_Static_assert(cudaArrayColorAttachment == CUDA_ARRAY3D_COLOR_ATTACHMENT, "flags of arrays");
_Static_assert(cudaArraySparse == CUDA_ARRAY3D_SPARSE, "flags of arrays");
_Static_assert(cudaArrayDeferredMapping == CUDA_ARRAY3D_DEFERRED_MAPPING, "flags of arrays");

static cudaError_t array_describe(const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned int flags,
                                  CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    struct rt_element element;
    cudaError_t r = rt_element_of(desc, &element);
    if (r)
        return r;
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width,
        .Height = extent.height,
        .Depth = extent.depth,
        .Format = element.format,
        .NumChannels = element.channels,
        .Flags = flags,
    };
    return cudaSuccess;
}

cudaError_t rt_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                 struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    *array = NULL;
    cudaError_t r = array_describe(desc, extent, flags, &descriptor);
    return r ? r : rt_error(rt_cu.cuArray3DCreate((CUarray *)array, &descriptor));
}

cudaError_t rt_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                               size_t width, size_t height, unsigned int flags)
{
    return rt_cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

// Manual: "numLevels … clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]"; the
// driver does so.
cudaError_t rt_cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                        const struct cudaChannelFormatDesc *desc,
                                        struct cudaExtent extent, unsigned int numLevels,
                                        unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    *mipmappedArray = NULL;
    cudaError_t r = array_describe(desc, extent, flags, &descriptor);
    return r ? r
             : rt_error(rt_cu.cuMipmappedArrayCreate((CUmipmappedArray *)mipmappedArray,
                                                     &descriptor, numLevels));
}

// Manual: "If array is 0, no operation is performed."
cudaError_t rt_cudaFreeArray(cudaArray_t array)
{
    return array ? rt_error(rt_cu.cuArrayDestroy((CUarray)array)) : cudaSuccess;
}

cudaError_t rt_cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    return mipmappedArray
               ? rt_error(rt_cu.cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray))
               : cudaSuccess;
}

cudaError_t rt_cudaGetMipmappedArrayLevel(cudaArray_t *levelArray,
                                          cudaMipmappedArray_const_t mipmappedArray,
                                          unsigned int level)
{
    if (!mipmappedArray)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument mipmappedArray is NULL");
    return rt_error(rt_cu.cuMipmappedArrayGetLevel((CUarray *)levelArray,
                                                   (CUmipmappedArray)mipmappedArray, level));
}

// Each output may be NULL. Without an array, no context is created (recorded:
// lazy/ArrayGetInfo-null). The outputs are zero if the call fails (recorded:
// arrays/info-null-array).
cudaError_t rt_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    struct cudaChannelFormatDesc channel = {0};
    cudaError_t r = array ? rt_need_context(rt_thread())
                          : rt_fail(cudaErrorInvalidResourceHandle, "argument array is NULL");
    if (!r)
        r = rt_error(rt_cu.cuArray3DGetDescriptor(&d, (CUarray)array));
    if (!r)
        r = rt_channel_of((struct rt_element){d.Format, d.NumChannels}, &channel);
    if (desc)
        *desc = channel;
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return r;
}

cudaError_t rt_cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray,
                                 unsigned int planeIdx)
{
    if (!hArray)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument hArray is NULL");
    return rt_error(rt_cu.cuArrayGetPlane((CUarray *)pPlaneArray, (CUarray)hArray, planeIdx));
}

// ---- memory requirements and sparse arrays. The outputs are zero if the call fails (recorded:
// arrays/requirements-flags0). The device is not checked (recorded: arrays/requirements-nulls).

static cudaError_t array_requirements(CUresult r, const CUDA_ARRAY_MEMORY_REQUIREMENTS *found,
                                      struct cudaArrayMemoryRequirements *out)
{
    memset(out, 0, sizeof(*out));
    if (r)
        return rt_error(r);
    out->size = found->size;
    out->alignment = found->alignment;
    return cudaSuccess;
}

cudaError_t rt_cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *out,
                                              cudaArray_t array, int device)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS found = {0};
    CUdevice current;
    (void)device;
    if (!array)
        return rt_fail(cudaErrorInvalidValue, "argument array is NULL");
    RT_TRY(rt_cu.cuCtxGetDevice(&current));
    return array_requirements(rt_cu.cuArrayGetMemoryRequirements(&found, (CUarray)array, current),
                              &found, out);
}

cudaError_t rt_cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *out,
                                                       cudaMipmappedArray_t mipmap, int device)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS found = {0};
    CUdevice current;
    (void)device;
    if (!mipmap)
        return rt_fail(cudaErrorInvalidValue, "argument mipmap is NULL");
    RT_TRY(rt_cu.cuCtxGetDevice(&current));
    return array_requirements(
        rt_cu.cuMipmappedArrayGetMemoryRequirements(&found, (CUmipmappedArray)mipmap, current),
        &found, out);
}

static cudaError_t array_sparse(CUresult r, const CUDA_ARRAY_SPARSE_PROPERTIES *found,
                                struct cudaArraySparseProperties *out)
{
    memset(out, 0, sizeof(*out));
    if (r)
        return rt_error(r);
    out->tileExtent.width = found->tileExtent.width;
    out->tileExtent.height = found->tileExtent.height;
    out->tileExtent.depth = found->tileExtent.depth;
    out->miptailFirstLevel = found->miptailFirstLevel;
    out->miptailSize = found->miptailSize;
    out->flags = found->flags;
    return cudaSuccess;
}

cudaError_t rt_cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                            cudaArray_t array)
{
    CUDA_ARRAY_SPARSE_PROPERTIES found = {0};
    if (!array)
        return rt_fail(cudaErrorInvalidValue, "argument array is NULL");
    return array_sparse(rt_cu.cuArrayGetSparseProperties(&found, (CUarray)array), &found,
                        sparseProperties);
}

cudaError_t
rt_cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                         cudaMipmappedArray_t mipmap)
{
    CUDA_ARRAY_SPARSE_PROPERTIES found = {0};
    if (!mipmap)
        return rt_fail(cudaErrorInvalidValue, "argument mipmap is NULL");
    return array_sparse(rt_cu.cuMipmappedArrayGetSparseProperties(&found, (CUmipmappedArray)mipmap),
                        &found, sparseProperties);
}
