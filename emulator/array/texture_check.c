// SPDX-License-Identifier: MIT
// Checks the descriptors of texture and surface objects: resource, texture descriptor and view.
#include "texture_check.h"

#include <string.h>

#include "array.h"
#include "call.h"
#include "device.h"
#include "format.h"
#include "lock.h"
#include "quirk.h"

// ---- the resource

// Checks the format and the address of linear memory.
static CUresult check_texture_memory(const struct em_device *device, CUarray_format format,
                                     unsigned channels, CUdeviceptr address)
{
    uint64_t alignment = (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_texture_alignment);
    const struct dm_format_info *info = dm_format_info((uint32_t)format);
    bool plain = info && info->kind <= DM_FORMAT_KIND_FLOAT;
    bool packed = info && info->format == DM_FORMAT_UNORM_INT_101010_2;
    // "numChannels specifies the number of packed components per array element"
    if ((!plain && !packed) || (channels != 1 && channels != 2 && channels != 4))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "format %#x with %u channels is not valid for linear memory; use 1, 2 or 4 channels "
            "of an integer or float format",
            (unsigned)format, channels);
    // "must be aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT"
    if (!address || address % alignment)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "devPtr is %#llx; it must be a non-zero multiple of %llu",
                       (unsigned long long)address, (unsigned long long)alignment);
    return CUDA_SUCCESS;
}

static CUresult check_texture_linear(const struct em_device *device, const CUDA_RESOURCE_DESC *r)
{
    CUresult result = check_texture_memory(device, r->res.linear.format, r->res.linear.numChannels,
                                           r->res.linear.devPtr);
    if (result)
        return result;
    // "The total number of elements … cannot exceed
    // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH"
    uint64_t element_B = dm_format_texel_B(dm_format_info((uint32_t)r->res.linear.format),
                                           r->res.linear.numChannels);
    uint64_t most =
        em_quirk(LINEAR_TEXTURE_WIDTH)
            ? em_device_linear_texels(device, element_B)
            : (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_maximum_texture1d_linear_width);
    uint64_t elements = r->res.linear.sizeInBytes / element_B;
    if (elements > most)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "sizeInBytes (%zu) is %llu elements; a texture of linear memory can have at most %llu",
            r->res.linear.sizeInBytes, (unsigned long long)elements, (unsigned long long)most);
    return CUDA_SUCCESS;
}

static CUresult check_texture_pitch(const struct em_device *device, const CUDA_RESOURCE_DESC *r)
{
    CUresult result = check_texture_memory(device, r->res.pitch2D.format,
                                           r->res.pitch2D.numChannels, r->res.pitch2D.devPtr);
    if (result)
        return result;
    uint64_t step = (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_texture_pitch_alignment);
    if (r->res.pitch2D.width >
            (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_maximum_texture2d_linear_width) ||
        r->res.pitch2D.height >
            (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_maximum_texture2d_linear_height) ||
        r->res.pitch2D.pitchInBytes >
            (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_maximum_texture2d_linear_pitch))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "width %zu, height %zu, pitchInBytes %zu exceed the limits of the device "
                       "(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_*)",
                       r->res.pitch2D.width, r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
    // "pitchInBytes … must be a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT". The
    // driver does not check if a row fits into the pitch.
    if (r->res.pitch2D.pitchInBytes % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "pitchInBytes is %zu; it must be a multiple of %llu",
                       r->res.pitch2D.pitchInBytes, (unsigned long long)step);
    return CUDA_SUCCESS;
}

// Looks up the array of a resource descriptor. If the handle is not valid, the driver always
// answers CUDA_ERROR_INVALID_VALUE. Precondition: em_lock held.
static CUresult find_texture_array(const CUDA_RESOURCE_DESC *r, struct em_texture_subject *s)
{
    em_assert_locked();
    struct em_array *a;
    struct em_mipmap *m;
    bool array = r->resType == CU_RESOURCE_TYPE_ARRAY;
    uint64_t handle = array ? (uint64_t)(uintptr_t)r->res.array.hArray
                            : (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray;
    CUresult result = em_array_was_lent(handle, CUDA_ERROR_INVALID_VALUE);
    if (result)
        return result;
    if (array) {
        result = em_object_get(EM_ARRAY, handle, CUDA_ERROR_INVALID_VALUE, &a);
        if (result)
            return result;
        *s = (struct em_texture_subject){
            .desc = &a->desc, .has_levels = a->parent, .storage = a->storage};
        s->nv12_plane = a->whole && em_array_format(&a->whole->desc)->format == DM_FORMAT_NV12;
    } else {
        result = em_object_get(EM_MIPMAP, handle, CUDA_ERROR_INVALID_VALUE, &m);
        if (result)
            return result;
        *s = (struct em_texture_subject){
            .desc = &m->desc, .has_levels = true, .storage = m->storage};
    }
    s->format = em_array_format(s->desc);
    return CUDA_SUCCESS;
}

CUresult em_texture_check_resource(const struct em_device *device, const CUDA_RESOURCE_DESC *r,
                                   struct em_texture_subject *s)
{
    em_assert_locked();
    memset(s, 0, sizeof *s);
    // "flags must be set to zero"
    if (r->flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags of the resource descriptor are %#x; they must be 0", r->flags);
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return find_texture_array(r, s);
    case CU_RESOURCE_TYPE_LINEAR:
        return check_texture_linear(device, r);
    case CU_RESOURCE_TYPE_PITCH2D:
        return check_texture_pitch(device, r);
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "resType %d is not a CUresourcetype",
                       (int)r->resType);
    }
}

// ---- the texture descriptor

static bool texture_is_cube(const struct em_texture_subject *s)
{
    return s->desc && (s->desc->Flags & CUDA_ARRAY3D_CUBEMAP);
}

unsigned em_texture_coordinates(const CUDA_RESOURCE_DESC *r, const struct em_texture_subject *s)
{
    if (!s->desc)
        return r->resType == CU_RESOURCE_TYPE_PITCH2D ? 2 : 1;
    bool slices =
        s->desc->Depth && !(s->desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    return slices ? 3 : s->desc->Height ? 2 : 1;
}

// "addressMode … is ignored if resType is CU_RESOURCE_TYPE_LINEAR", and so is filterMode.
bool em_texture_ignores_modes(const CUDA_RESOURCE_DESC *r)
{
    return r->resType == CU_RESOURCE_TYPE_LINEAR && !em_quirk(LINEAR_TEXTURE_MODES);
}

static bool texture_is_srgb(const struct dm_format_info *f)
{
    return f && (f->format == DM_FORMAT_BC1_UNORM_SRGB || f->format == DM_FORMAT_BC2_UNORM_SRGB ||
                 f->format == DM_FORMAT_BC3_UNORM_SRGB || f->format == DM_FORMAT_BC7_UNORM_SRGB);
}

CUresult em_texture_check(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                          const struct em_texture_subject *s)
{
    // Textures read video formats one plane at a time.
    if (s->desc && s->format->kind == DM_FORMAT_KIND_YUV)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the array has the video format %s, which textures cannot read; use the arrays of "
            "cuArrayGetPlane",
            s->format->name);
    const bool ignored = em_texture_ignores_modes(r);
    for (unsigned i = 0, n = em_texture_coordinates(r, s); i < n && !ignored; i++)
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "addressMode[%u] is %d, which is not a CUaddress_mode", i,
                           (int)t->addressMode[i]);
    // "If the flag CU_TRSF_NORMALIZED_COORDINATES is not set, the only supported address mode is
    // CU_TR_ADDRESS_MODE_CLAMP."
    if (s->nv12_plane && em_quirk(NV12_PLANE_TEXTURE) &&
        !(t->flags & CU_TRSF_NORMALIZED_COORDINATES))
        for (unsigned i = 0; i < 2; i++)
            if (t->addressMode[i] != CU_TR_ADDRESS_MODE_CLAMP)
                return em_fail(CUDA_ERROR_INVALID_VALUE,
                               "the array is a plane of an NV12 array, and addressMode[%u] is %d; "
                               "without CU_TRSF_NORMALIZED_COORDINATES, the driver accepts only "
                               "CU_TR_ADDRESS_MODE_CLAMP (1) for such planes",
                               i, (int)t->addressMode[i]);
    if ((!ignored && (unsigned)t->filterMode > CU_TR_FILTER_MODE_LINEAR) ||
        (unsigned)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "filterMode is %d and mipmapFilterMode %d; each must be a CUfilter_mode (0 or 1)",
            (int)t->filterMode, (int)t->mipmapFilterMode);
    // The driver ignores the bits below the named ones.
    unsigned allowed =
        (CU_TRSF_SEAMLESS_CUBEMAP - 1) | (texture_is_cube(s) ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    if (t->flags & ~allowed)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "flags of the texture are %#x; clear %#x, which this resource does not support",
            t->flags, t->flags & ~allowed);
    if (texture_is_srgb(s->format) && !(t->flags & CU_TRSF_SRGB))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags of the texture are %#x; format %s needs CU_TRSF_SRGB", t->flags,
                       s->format->name);
    if (!em_all_zero((const unsigned *)t->reserved, sizeof t->reserved / sizeof *t->reserved))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "reserved of the texture descriptor is not zero; clear the descriptor first");
    return CUDA_SUCCESS;
}

// ---- the view

// Returns the bytes of an element of a view format, or 0 if there is no such format, and sets
// *block if it is block-compressed.
static unsigned view_element_B(CUresourceViewFormat format, bool *block)
{
    unsigned f = (unsigned)format;
    static const unsigned char block_B[] = {8, 16, 16, 8, 8, 16, 16, 16, 16, 16};
    *block = f >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && f <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7;
    if (*block)
        return block_B[f - CU_RES_VIEW_FORMAT_UNSIGNED_BC1];
    if (f < CU_RES_VIEW_FORMAT_UINT_1X8 || f > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return 0;
    // The formats come in groups of three (1, 2 and 4 channels): two groups of 8 bits, two of 16
    // bits, two of 32 bits, then half and float.
    static const unsigned char channel_B[] = {1, 1, 2, 2, 4, 4, 2, 4}, channels[] = {1, 2, 4};
    unsigned i = f - CU_RES_VIEW_FORMAT_UINT_1X8;
    return channel_B[i / 3] * channels[i % 3];
}

// "the underlying resource must have a base format that matches: same total bits; a
// block-compressed view is laid over 32-bit unsigned elements".
static CUresult check_view_format(const CUDA_RESOURCE_VIEW_DESC *v,
                                  const struct em_texture_subject *s, bool *block)
{
    unsigned bytes = view_element_B(v->format, block);
    if (v->format == CU_RES_VIEW_FORMAT_NONE)
        return CUDA_SUCCESS; // rejected last, by em_texture_create
    bool fits = bytes && s->format->kind != DM_FORMAT_KIND_BLOCK &&
                bytes == dm_format_element_B(s->format, s->desc->NumChannels);
    if (*block)
        fits &= s->desc->Format == CU_AD_FORMAT_UNSIGNED_INT32;
    return fits ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_INVALID_VALUE,
                          "the view's format %#x does not match the resource's format %s with %u "
                          "channels",
                          (unsigned)v->format, s->format->name, s->desc->NumChannels);
}

CUresult em_texture_check_view(const CUDA_RESOURCE_VIEW_DESC *v, const struct em_texture_subject *s)
{
    bool block, layered = s->desc->Flags & CUDA_ARRAY3D_LAYERED;
    CUresult r = check_view_format(v, s, &block);
    if (r)
        return r;
    size_t scale = block ? 4 : 1;
    if (v->width != s->desc->Width * scale || v->height != s->desc->Height * scale ||
        v->depth != s->desc->Depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the view is %zux%zux%zu; it must be %zux%zux%zu, the size of the resource",
                       v->width, v->height, v->depth, s->desc->Width * scale,
                       s->desc->Height * scale, s->desc->Depth);
    bool levels = s->has_levels ? v->firstMipmapLevel <= v->lastMipmapLevel
                                : !v->firstMipmapLevel && !v->lastMipmapLevel;
    bool layers = layered ? v->firstLayer <= v->lastLayer : !v->firstLayer && !v->lastLayer;
    if (!levels || !layers)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the view shows levels %u to %u and layers %u to %u; the resource has %s and %s",
            v->firstMipmapLevel, v->lastMipmapLevel, v->firstLayer, v->lastLayer,
            s->has_levels ? "levels" : "no levels", layered ? "layers" : "no layers");
    if (!em_all_zero((const unsigned *)v->reserved, sizeof v->reserved / sizeof *v->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved of the view is not zero; clear the view first");
    return CUDA_SUCCESS;
}
