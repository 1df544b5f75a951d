// SPDX-License-Identifier: MIT
// The manual's chapters "Texture Object Management" and "Surface Object Management".
#include <string.h>

#include "channel.h"

_Static_assert(cudaAddressModeBorder == (int)CU_TR_ADDRESS_MODE_BORDER, "modes of addressing");
_Static_assert(cudaFilterModeLinear == (int)CU_TR_FILTER_MODE_LINEAR, "filters");
_Static_assert(cudaResourceTypePitch2D == (int)CU_RESOURCE_TYPE_PITCH2D, "types of resources");
_Static_assert(cudaResViewFormatUnsignedBlockCompressed7 == (int)CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
               "formats of views");

// ---- resources

static cudaError_t resource_to_driver(const struct cudaResourceDesc *desc, CUDA_RESOURCE_DESC *out)
{
    struct rt_element element;
    cudaError_t r = cudaSuccess;
    *out = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)desc->resType};
    switch (desc->resType) {
    case cudaResourceTypeArray:
        out->res.array.hArray = (CUarray)desc->res.array.array;
        return desc->res.array.array
                   ? cudaSuccess
                   : rt_fail(cudaErrorInvalidResourceHandle, "res.array.array is NULL");
    case cudaResourceTypeMipmappedArray:
        out->res.mipmap.hMipmappedArray = (CUmipmappedArray)desc->res.mipmap.mipmap;
        return desc->res.mipmap.mipmap
                   ? cudaSuccess
                   : rt_fail(cudaErrorInvalidResourceHandle, "res.mipmap.mipmap is NULL");
    case cudaResourceTypeLinear:
        r = rt_element_of(&desc->res.linear.desc, &element);
        out->res.linear.devPtr = (CUdeviceptr)(uintptr_t)desc->res.linear.devPtr;
        out->res.linear.sizeInBytes = desc->res.linear.sizeInBytes;
        out->res.linear.format = element.format;
        out->res.linear.numChannels = element.channels;
        return r;
    case cudaResourceTypePitch2D:
        r = rt_element_of(&desc->res.pitch2D.desc, &element);
        out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)desc->res.pitch2D.devPtr;
        out->res.pitch2D.width = desc->res.pitch2D.width;
        out->res.pitch2D.height = desc->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = desc->res.pitch2D.pitchInBytes;
        out->res.pitch2D.format = element.format;
        out->res.pitch2D.numChannels = element.channels;
        return r;
    default:
        return rt_fail(cudaErrorInvalidValue, "resType (%d) is not a cudaResourceType",
                       (int)desc->resType);
    }
}

static cudaError_t resource_to_runtime(const CUDA_RESOURCE_DESC *desc, struct cudaResourceDesc *out)
{
    memset(out, 0, sizeof(*out));
    out->resType = (enum cudaResourceType)desc->resType;
#if RT_MAJOR >= 13
    out->flags = desc->flags;
#endif
    switch (desc->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        out->res.array.array = (cudaArray_t)desc->res.array.hArray;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out->res.mipmap.mipmap = (cudaMipmappedArray_t)desc->res.mipmap.hMipmappedArray;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = (void *)(uintptr_t)desc->res.linear.devPtr;
        out->res.linear.sizeInBytes = desc->res.linear.sizeInBytes;
        return rt_channel_of(
            (struct rt_element){desc->res.linear.format, desc->res.linear.numChannels},
            &out->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
        out->res.pitch2D.devPtr = (void *)(uintptr_t)desc->res.pitch2D.devPtr;
        out->res.pitch2D.width = desc->res.pitch2D.width;
        out->res.pitch2D.height = desc->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = desc->res.pitch2D.pitchInBytes;
        return rt_channel_of(
            (struct rt_element){desc->res.pitch2D.format, desc->res.pitch2D.numChannels},
            &out->res.pitch2D.desc);
    default:
        return cudaErrorInvalidValue;
    }
}

// The element of a resource.
static cudaError_t resource_channel(const CUDA_RESOURCE_DESC *desc,
                                    struct cudaChannelFormatDesc *channel)
{
    struct cudaResourceDesc runtime;
    CUarray array = desc->res.array.hArray;
    switch (desc->resType) {
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        RT_TRY(rt_cu.cuMipmappedArrayGetLevel(&array, desc->res.mipmap.hMipmappedArray, 0));
        return rt_cudaGetChannelDesc(channel, (cudaArray_t)array);
    case CU_RESOURCE_TYPE_ARRAY:
        return rt_cudaGetChannelDesc(channel, (cudaArray_t)array);
    default: {
        cudaError_t r = resource_to_runtime(desc, &runtime);
        *channel = desc->resType == CU_RESOURCE_TYPE_LINEAR ? runtime.res.linear.desc
                                                            : runtime.res.pitch2D.desc;
        return r;
    }
    }
}

// ---- sampling

// Manual, cudaTextureReadMode: integers of 8 and 16 bits can be read as numbers from 0 or -1 to 1.
static bool is_narrow_integer(const struct cudaChannelFormatDesc *c)
{
    return (c->f == cudaChannelFormatKindSigned || c->f == cudaChannelFormatKindUnsigned) &&
           c->x <= 16;
}

static bool is_integer(const struct cudaChannelFormatDesc *c)
{
    return c->f == cudaChannelFormatKindSigned || c->f == cudaChannelFormatKindUnsigned;
}

static bool is_normalized_kind(const struct cudaChannelFormatDesc *c)
{
    return c->f >= cudaChannelFormatKindUnsignedNormalized8X1 &&
           c->f <= cudaChannelFormatKindSignedNormalized16X4;
}

// Manual: linear filtering is "only valid for … floating-point type"; the read mode
// cudaReadModeNormalizedFloat "applies only to 8-bit and 16-bit integer formats". A kind that is
// normalized itself cannot be read as anything else.
static cudaError_t sampling_check(const struct cudaTextureDesc *t,
                                  const struct cudaChannelFormatDesc *c)
{
    const bool as_element = t->readMode == cudaReadModeElementType;
    const bool integers = is_integer(c) && (as_element || !is_narrow_integer(c));
    if (t->filterMode == cudaFilterModeLinear && integers)
        return rt_fail(cudaErrorInvalidFilterSetting,
                       "filterMode is cudaFilterModeLinear, but the texture returns integers; use "
                       "cudaFilterModePoint or cudaReadModeNormalizedFloat");
    if (is_normalized_kind(c) && as_element)
        return rt_fail(cudaErrorInvalidNormSetting,
                       "the format is normalized; use cudaReadModeNormalizedFloat");
    if (!is_normalized_kind(c) && t->readMode == cudaReadModeNormalizedFloat &&
        !is_narrow_integer(c))
        return rt_fail(cudaErrorInvalidNormSetting,
                       "cudaReadModeNormalizedFloat is for integers of 8 and 16 bits");
    return cudaSuccess;
}

static const struct {
    size_t member;
    unsigned int flag;
} sampling_flags[] = {
    {offsetof(struct cudaTextureDesc, normalizedCoords), CU_TRSF_NORMALIZED_COORDINATES},
    {offsetof(struct cudaTextureDesc, sRGB), CU_TRSF_SRGB},
    {offsetof(struct cudaTextureDesc, disableTrilinearOptimization),
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION},
    {offsetof(struct cudaTextureDesc, seamlessCubemap), CU_TRSF_SEAMLESS_CUBEMAP},
};
enum { SAMPLING_FLAGS = sizeof(sampling_flags) / sizeof(sampling_flags[0]) };

static void sampling_to_driver(const struct cudaTextureDesc *t, CUDA_TEXTURE_DESC *out)
{
    *out = (CUDA_TEXTURE_DESC){
        .filterMode = (CUfilter_mode)t->filterMode,
        .maxAnisotropy = t->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)t->mipmapFilterMode,
        .mipmapLevelBias = t->mipmapLevelBias,
        .minMipmapLevelClamp = t->minMipmapLevelClamp,
        .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
        .flags = t->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0,
    };
    for (int i = 0; i < SAMPLING_FLAGS; i++)
        if (*(const int *)((const char *)t + sampling_flags[i].member))
            out->flags |= sampling_flags[i].flag;
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (CUaddress_mode)t->addressMode[i];
    for (int i = 0; i < 4; i++)
        out->borderColor[i] = t->borderColor[i];
}

// The border colour is not returned (recorded: textures/border-kept).
static void sampling_to_runtime(const CUDA_TEXTURE_DESC *t, const struct cudaChannelFormatDesc *c,
                                struct cudaTextureDesc *out)
{
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
    for (int i = 0; i < SAMPLING_FLAGS; i++)
        *(int *)((char *)out + sampling_flags[i].member) = !!(t->flags & sampling_flags[i].flag);
    out->readMode =
        (is_narrow_integer(c) || is_normalized_kind(c)) && !(t->flags & CU_TRSF_READ_AS_INTEGER)
            ? cudaReadModeNormalizedFloat
            : cudaReadModeElementType;
    out->filterMode = (enum cudaTextureFilterMode)t->filterMode;
    out->maxAnisotropy = t->maxAnisotropy;
    out->mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode;
    out->mipmapLevelBias = t->mipmapLevelBias;
    out->minMipmapLevelClamp = t->minMipmapLevelClamp;
    out->maxMipmapLevelClamp = t->maxMipmapLevelClamp;
}

// ---- views

static void view_to_driver(const struct cudaResourceViewDesc *v, CUDA_RESOURCE_VIEW_DESC *out)
{
    *out = (CUDA_RESOURCE_VIEW_DESC){
        .format = (CUresourceViewFormat)v->format,
        .width = v->width,
        .height = v->height,
        .depth = v->depth,
        .firstMipmapLevel = v->firstMipmapLevel,
        .lastMipmapLevel = v->lastMipmapLevel,
        .firstLayer = v->firstLayer,
        .lastLayer = v->lastLayer,
    };
}

static void view_to_runtime(const CUDA_RESOURCE_VIEW_DESC *v, struct cudaResourceViewDesc *out)
{
    memset(out, 0, sizeof(*out));
    out->format = (enum cudaResourceViewFormat)v->format;
    out->width = v->width;
    out->height = v->height;
    out->depth = v->depth;
    out->firstMipmapLevel = v->firstMipmapLevel;
    out->lastMipmapLevel = v->lastMipmapLevel;
    out->firstLayer = v->firstLayer;
    out->lastLayer = v->lastLayer;
}

// ---- textures

// Manual: a view "must be NULL" for linear memory; it is ignored there (recorded:
// textures/view-linear).
cudaError_t rt_cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                       const struct cudaResourceDesc *pResDesc,
                                       const struct cudaTextureDesc *pTexDesc,
                                       const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_VIEW_DESC view;
    struct cudaChannelFormatDesc channel;
    if (!pTexDesc)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument pTexDesc is NULL");
    cudaError_t r = resource_to_driver(pResDesc, &resource);
    if (!r)
        r = resource_channel(&resource, &channel);
    if (!r)
        r = sampling_check(pTexDesc, &channel);
    if (r)
        return r;
    const bool in_array = resource.resType == CU_RESOURCE_TYPE_ARRAY ||
                          resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    sampling_to_driver(pTexDesc, &sampling);
    if (pResViewDesc)
        view_to_driver(pResViewDesc, &view);
    return rt_error(rt_cu.cuTexObjectCreate(pTexObject, &resource, &sampling,
                                            pResViewDesc && in_array ? &view : NULL));
}

// Object 0 is nothing to destroy, but the rules about capture hold (recorded: null_objects
// nulls/texture-0 and nulls/surface-0). Freeing NULL makes the same checks.
static CUresult destroy_nothing(void)
{
    return rt_cu.cuMemFree(0);
}

cudaError_t rt_cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    return rt_error(texObject ? rt_cu.cuTexObjectDestroy(texObject) : destroy_nothing());
}

cudaError_t rt_cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC resource;
    RT_TRY(rt_cu.cuTexObjectGetResourceDesc(&resource, texObject));
    return resource_to_runtime(&resource, pResDesc);
}

cudaError_t rt_cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                               cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_DESC resource;
    struct cudaChannelFormatDesc channel;
    if (!pTexDesc)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument pTexDesc is NULL");
    RT_TRY(rt_cu.cuTexObjectGetTextureDesc(&sampling, texObject));
    RT_TRY(rt_cu.cuTexObjectGetResourceDesc(&resource, texObject));
    cudaError_t r = resource_channel(&resource, &channel);
    if (!r)
        sampling_to_runtime(&sampling, &channel, pTexDesc);
    return r;
}

// Without an output, the call only tests the object (recorded: textures/get-null).
cudaError_t rt_cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                    cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_VIEW_DESC view = {0};
    RT_TRY(rt_cu.cuTexObjectGetResourceViewDesc(&view, texObject));
    if (pResViewDesc)
        view_to_runtime(&view, pResViewDesc);
    return cudaSuccess;
}

// ---- surfaces

cudaError_t rt_cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                       const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC resource;
    // Manual: "cudaResourceDesc::resType must be cudaResourceTypeArray".
    if (pResDesc->resType != cudaResourceTypeArray)
        return rt_fail(cudaErrorInvalidValue, "resType (%d) must be cudaResourceTypeArray",
                       (int)pResDesc->resType);
    cudaError_t r = resource_to_driver(pResDesc, &resource);
    return r ? r : rt_error(rt_cu.cuSurfObjectCreate(pSurfObject, &resource));
}

cudaError_t rt_cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    return rt_error(surfObject ? rt_cu.cuSurfObjectDestroy(surfObject) : destroy_nothing());
}

cudaError_t rt_cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC resource;
    RT_TRY(rt_cu.cuSurfObjectGetResourceDesc(&resource, surfObject));
    return resource_to_runtime(&resource, pResDesc);
}
