// SPDX-License-Identifier: MIT
// Texture and surface objects.
#include "texture.h"

#include <string.h>

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "format.h"
#include "lock.h"
#include "quirk.h"

struct em_texture {
    struct em_object object; // type EM_TEXTURE or EM_SURFACE
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct em_storage *storage; // of arrays: keeps the memory
};

// What a texture descriptor and a view are checked against.
struct subject {
    const CUDA_ARRAY3D_DESCRIPTOR *desc; // of an array or a mipmapped array; NULL: linear memory
    const struct dm_format_info *format;
    bool has_levels; // a mipmapped array, or a level of one
    bool nv12_plane;
    struct em_storage *storage;
};

// ---- the resource

// Linear memory's format and address.
static CUresult check_memory(const struct em_device *device, CUarray_format format,
                             unsigned channels, CUdeviceptr address)
{
    uint64_t alignment = (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_texture_alignment);
    const struct dm_format_info *info = dm_format_info((uint32_t)format);
    bool plain = info && info->kind <= DM_FORMAT_KIND_FLOAT;
    bool packed = info && info->format == DM_FORMAT_UNORM_INT_101010_2;
    // "numChannels specifies the number of packed components per array element"
    if ((!plain && !packed) || (channels != 1 && channels != 2 && channels != 4))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "linear memory of format %#x with %u channels has no texture",
                       (unsigned)format, channels);
    // "must be aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT"
    if (!address || address % alignment)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "devPtr %#llx is no multiple of %llu",
                       (unsigned long long)address, (unsigned long long)alignment);
    return CUDA_SUCCESS;
}

static CUresult check_linear(const struct em_device *device, const CUDA_RESOURCE_DESC *r)
{
    CUresult result =
        check_memory(device, r->res.linear.format, r->res.linear.numChannels, r->res.linear.devPtr);
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
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%llu elements are more than the %llu of a linear texture",
                       (unsigned long long)elements, (unsigned long long)most);
    return CUDA_SUCCESS;
}

static CUresult check_pitch(const struct em_device *device, const CUDA_RESOURCE_DESC *r)
{
    CUresult result = check_memory(device, r->res.pitch2D.format, r->res.pitch2D.numChannels,
                                   r->res.pitch2D.devPtr);
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
                       "%zu x %zu elements with a pitch of %zu bytes are more than a texture of "
                       "linear memory can have",
                       r->res.pitch2D.width, r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
    // "pitchInBytes … must be a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT"; whether a
    // row fits is not looked at
    if (r->res.pitch2D.pitchInBytes % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a pitch of %zu bytes is no multiple of %llu",
                       r->res.pitch2D.pitchInBytes, (unsigned long long)step);
    return CUDA_SUCCESS;
}

// An array's handle in a descriptor: whatever it is, the driver answers CUDA_ERROR_INVALID_VALUE.
// Precondition: em_lock held.
static CUresult find_array(const CUDA_RESOURCE_DESC *r, struct subject *s)
{
    struct em_array *a;
    struct em_mipmap *m;
    bool array = r->resType == CU_RESOURCE_TYPE_ARRAY;
    uint64_t handle = array ? (uint64_t)(uintptr_t)r->res.array.hArray
                            : (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray;
    CUresult result = em_array_was_lent(handle, CUDA_ERROR_INVALID_VALUE);
    if (result)
        return result;
    if (array) {
        if ((result = em_object_get(EM_ARRAY, handle, CUDA_ERROR_INVALID_VALUE, &a)))
            return result;
        *s = (struct subject){.desc = &a->desc, .has_levels = a->parent, .storage = a->storage};
        s->nv12_plane = a->whole && em_array_format(&a->whole->desc)->format == DM_FORMAT_NV12;
    } else {
        if ((result = em_object_get(EM_MIPMAP, handle, CUDA_ERROR_INVALID_VALUE, &m)))
            return result;
        *s = (struct subject){.desc = &m->desc, .has_levels = true, .storage = m->storage};
    }
    s->format = em_array_format(s->desc);
    return CUDA_SUCCESS;
}

static CUresult check_resource(const struct em_device *device, const CUDA_RESOURCE_DESC *r,
                               struct subject *s)
{
    memset(s, 0, sizeof *s);
    // "flags must be set to zero"
    if (r->flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags of the resource are %#x; they must be 0",
                       r->flags);
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return find_array(r, s);
    case CU_RESOURCE_TYPE_LINEAR:
        return check_linear(device, r);
    case CU_RESOURCE_TYPE_PITCH2D:
        return check_pitch(device, r);
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "resType %d is no CUresourcetype",
                       (int)r->resType);
    }
}

// ---- the texture descriptor

static bool is_cube(const struct subject *s)
{
    return s->desc && (s->desc->Flags & CUDA_ARRAY3D_CUBEMAP);
}

// How many coordinates have an address mode: layers have none.
static unsigned coordinates(const CUDA_RESOURCE_DESC *r, const struct subject *s)
{
    if (!s->desc)
        return r->resType == CU_RESOURCE_TYPE_PITCH2D ? 2 : 1;
    bool slices =
        s->desc->Depth && !(s->desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    return slices ? 3 : s->desc->Height ? 2 : 1;
}

static bool is_srgb(const struct dm_format_info *f)
{
    return f && (f->format == DM_FORMAT_BC1_UNORM_SRGB || f->format == DM_FORMAT_BC2_UNORM_SRGB ||
                 f->format == DM_FORMAT_BC3_UNORM_SRGB || f->format == DM_FORMAT_BC7_UNORM_SRGB);
}

static CUresult check_texture(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                              const struct subject *s)
{
    // Video formats are read plane by plane.
    if (s->desc && s->format->kind == DM_FORMAT_KIND_YUV)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "format %s has no textures; the arrays of cuArrayGetPlane have",
                       s->format->name);
    if (s->nv12_plane && em_quirk(NV12_PLANE_TEXTURE))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a plane of an array of format NV12: the driver "
                                                 "makes no texture of it, though surfaces");
    for (unsigned i = 0, n = coordinates(r, s); i < n; i++)
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "addressMode[%u] = %d is no CUaddress_mode", i,
                           (int)t->addressMode[i]);
    if ((unsigned)t->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        (unsigned)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "filterMode %d, mipmapFilterMode %d: one is no CUfilter_mode",
                       (int)t->filterMode, (int)t->mipmapFilterMode);
    // Bits below the named ones are not looked at.
    unsigned allowed = (CU_TRSF_SEAMLESS_CUBEMAP - 1) | (is_cube(s) ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    if (t->flags & ~allowed)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags %#x of the texture hold %#x, which cannot be set for this resource",
                       t->flags, t->flags & ~allowed);
    if (is_srgb(s->format) && !(t->flags & CU_TRSF_SRGB))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "format %s is read with CU_TRSF_SRGB",
                       s->format->name);
    if (!em_all_zero((const unsigned *)t->reserved, sizeof t->reserved / sizeof *t->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero: the texture descriptor was not cleared");
    return CUDA_SUCCESS;
}

// ---- the view

// Bytes of an element of a view format, and whether it is block-compressed; 0: no such format.
static unsigned view_element_B(CUresourceViewFormat format, bool *block)
{
    unsigned f = (unsigned)format;
    static const unsigned char block_B[] = {8, 16, 16, 8, 8, 16, 16, 16, 16, 16};
    *block = f >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && f <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7;
    if (*block)
        return block_B[f - CU_RES_VIEW_FORMAT_UNSIGNED_BC1];
    if (f < CU_RES_VIEW_FORMAT_UINT_1X8 || f > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return 0;
    // In threes (1, 2 and 4 channels): 8 bits twice, 16 bits twice, 32 bits twice, then half and
    // float.
    static const unsigned char channel_B[] = {1, 1, 2, 2, 4, 4, 2, 4}, channels[] = {1, 2, 4};
    unsigned i = f - CU_RES_VIEW_FORMAT_UINT_1X8;
    return channel_B[i / 3] * channels[i % 3];
}

// "the underlying resource must have a base format that matches: same total bits; a
// block-compressed view is laid over 32-bit unsigned elements".
static CUresult check_view_format(const CUDA_RESOURCE_VIEW_DESC *v, const struct subject *s,
                                  bool *block)
{
    unsigned bytes = view_element_B(v->format, block);
    if (v->format == CU_RES_VIEW_FORMAT_NONE)
        return CUDA_SUCCESS; // refused last, in em_texture_create
    bool fits = bytes && s->format->kind != DM_FORMAT_KIND_BLOCK &&
                bytes == dm_format_element_B(s->format, s->desc->NumChannels);
    if (*block)
        fits &= s->desc->Format == CU_AD_FORMAT_UNSIGNED_INT32;
    return fits ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_INVALID_VALUE,
                          "a view of format %#x does not go with format %s of %u channels",
                          (unsigned)v->format, s->format->name, s->desc->NumChannels);
}

static CUresult check_view(const CUDA_RESOURCE_VIEW_DESC *v, const struct subject *s)
{
    bool block, layered = s->desc->Flags & CUDA_ARRAY3D_LAYERED;
    CUresult r = check_view_format(v, s, &block);
    if (r)
        return r;
    size_t scale = block ? 4 : 1;
    if (v->width != s->desc->Width * scale || v->height != s->desc->Height * scale ||
        v->depth != s->desc->Depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a view of %zux%zux%zu on %zux%zux%zu", v->width,
                       v->height, v->depth, s->desc->Width * scale, s->desc->Height * scale,
                       s->desc->Depth);
    bool levels = s->has_levels ? v->firstMipmapLevel <= v->lastMipmapLevel
                                : !v->firstMipmapLevel && !v->lastMipmapLevel;
    bool layers = layered ? v->firstLayer <= v->lastLayer : !v->firstLayer && !v->lastLayer;
    if (!levels || !layers)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a view of levels %u to %u and layers %u to %u on what has %s and %s",
                       v->firstMipmapLevel, v->lastMipmapLevel, v->firstLayer, v->lastLayer,
                       s->has_levels ? "levels" : "no levels", layered ? "layers" : "no layers");
    if (!em_all_zero((const unsigned *)v->reserved, sizeof v->reserved / sizeof *v->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero: the view was not cleared");
    return CUDA_SUCCESS;
}

// ---- objects

static void texture_finish(struct em_object *object)
{
    struct em_texture *t = (struct em_texture *)object;
    if (t->storage)
        em_storage_unref(t->storage);
    dm_free(t);
}

// Precondition: em_lock held.
static CUresult start(enum em_type type, const CUDA_RESOURCE_DESC *resource,
                      struct em_storage *storage, struct em_texture **out)
{
    struct em_texture *t = dm_calloc(1, sizeof *t);
    if (!t)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a %s", em_type_name(type));
    CUresult r = em_object_start(&t->object, type, em_self.current, texture_finish);
    if (r) {
        dm_free(t);
        return r;
    }
    t->resource = *resource;
    t->storage = storage;
    if (storage)
        em_storage_ref(storage);
    *out = t;
    return CUDA_SUCCESS;
}

CUresult em_texture_create(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view, CUtexObject *out)
{
    struct subject s;
    struct em_texture *t;
    em_lock();
    CUresult r = check_resource(em_self.current->device, resource, &s);
    // "pResViewDesc can only be specified if the type of resource is a CUDA array or a CUDA
    // mipmapped array": elsewhere it is not looked at.
    bool viewed = view && s.desc;
    if (!r && !(r = check_texture(resource, texture, &s)) && viewed)
        r = check_view(view, &s);
    if (!r && viewed && view->format == CU_RES_VIEW_FORMAT_NONE) {
        // Silicon: a view without a format passes every other check, then fails and clears the
        // handle.
        *out = 0;
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "a view must name its format: CU_RES_VIEW_FORMAT_NONE is none");
    }
    if (!r)
        r = start(EM_TEXTURE, resource, s.storage, &t);
    if (!r) {
        t->texture = *texture;
        // Silicon: an unknown mode of a coordinate that the resource does not have reads back as
        // clamp.
        for (unsigned i = coordinates(resource, &s); i < 3; i++)
            if ((unsigned)texture->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
                t->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
        t->has_view = viewed;
        if (viewed)
            t->view = *view;
        *out = t->object.handle;
    }
    em_unlock();
    return r;
}

// The driver takes any number for a texture or surface that may be destroyed.
static CUresult destroy(enum em_type type, uint64_t handle)
{
    em_lock();
    struct em_object *object = em_object_peek(type, handle);
    CUresult r = CUDA_SUCCESS;
    if (object)
        em_object_retire(object);
    else if (em_quirk(TEXTURE_DESTROY_ANYTHING))
        em_explain(CUDA_SUCCESS, "%#llx is no %s and nothing was destroyed",
                   (unsigned long long)handle, em_type_name(type));
    else
        r = em_object_get(type, handle, CUDA_ERROR_INVALID_VALUE, &object);
    em_unlock();
    return r;
}

CUresult em_texture_destroy(CUtexObject handle)
{
    return destroy(EM_TEXTURE, handle);
}

CUresult em_surface_destroy(CUsurfObject handle)
{
    return destroy(EM_SURFACE, handle);
}

static CUresult read_back(uint64_t handle, struct em_texture *copy)
{
    struct em_texture *t;
    em_lock();
    CUresult r = em_object_get(EM_TEXTURE, handle, CUDA_ERROR_INVALID_VALUE, &t);
    if (!r)
        *copy = *t;
    em_unlock();
    return r;
}

// A texture keeps the memory of its array, not the handle: of an array that was destroyed meanwhile
// there is none to tell.
static void forget_stale(CUDA_RESOURCE_DESC *r)
{
    if (r->resType == CU_RESOURCE_TYPE_ARRAY &&
        !em_object_peek(EM_ARRAY, (uint64_t)(uintptr_t)r->res.array.hArray))
        r->res.array.hArray = NULL;
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
        !em_object_peek(EM_MIPMAP, (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray))
        r->res.mipmap.hMipmappedArray = NULL;
}

static CUresult resource_of(enum em_type type, uint64_t handle, CUDA_RESOURCE_DESC *out)
{
    struct em_texture *t;
    em_lock();
    CUresult r = em_object_get(type, handle, CUDA_ERROR_INVALID_VALUE, &t);
    if (!r) {
        *out = t->resource;
        forget_stale(out);
    }
    em_unlock();
    return r;
}

// Silicon: a texture's header has no rows for pitch-linear memory of height 0, so that it reads
// back as linear memory of one pitch; and of one row it keeps no pitch.
static void as_header_keeps(CUDA_RESOURCE_DESC *r)
{
    if (r->resType != CU_RESOURCE_TYPE_PITCH2D || r->res.pitch2D.height > 1)
        return;
    size_t pitch_B = r->res.pitch2D.pitchInBytes;
    if (r->res.pitch2D.height == 1) {
        r->res.pitch2D.pitchInBytes = 0;
        return;
    }
    r->resType = CU_RESOURCE_TYPE_LINEAR;
    memset(&r->res.linear.sizeInBytes, 0,
           sizeof r->res - offsetof(CUDA_RESOURCE_DESC, res.linear.sizeInBytes) +
               offsetof(CUDA_RESOURCE_DESC, res));
    r->res.linear.sizeInBytes = pitch_B;
}

CUresult em_texture_resource(CUtexObject handle, CUDA_RESOURCE_DESC *out)
{
    CUresult r = resource_of(EM_TEXTURE, handle, out);
    if (!r && em_quirk(TEXTURE_FEW_ROWS))
        as_header_keeps(out);
    return r;
}

CUresult em_texture_texture(CUtexObject handle, CUDA_TEXTURE_DESC *out)
{
    struct em_texture t;
    CUresult r = read_back(handle, &t);
    if (!r)
        memcpy(out, &t.texture, offsetof(CUDA_TEXTURE_DESC, borderColor));
    return r;
}

CUresult em_texture_view(CUtexObject handle, CUDA_RESOURCE_VIEW_DESC *out)
{
    struct em_texture t;
    CUresult r = read_back(handle, &t);
    if (!r && t.has_view)
        *out = t.view;
    return r;
}

CUresult em_surface_create(const CUDA_RESOURCE_DESC *resource, CUsurfObject *out)
{
    struct subject s;
    struct em_texture *t;
    em_lock();
    CUresult r = check_resource(em_self.current->device, resource, &s);
    // "resType must be CU_RESOURCE_TYPE_ARRAY"
    if (!r && (resource->resType != CU_RESOURCE_TYPE_ARRAY ||
               s.format->kind == DM_FORMAT_KIND_BLOCK || dm_format_planes(s.format) > 1))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "surfaces are made of arrays alone, and neither of "
                                              "block-compressed nor of planar ones");
    if (!r && !(s.desc->Flags & CUDA_ARRAY3D_SURFACE_LDST))
        em_mistake(I08, CUDA_SUCCESS, "the array has Flags %#x", s.desc->Flags);
    if (!r)
        r = start(EM_SURFACE, resource, s.storage, &t);
    if (!r)
        *out = t->object.handle;
    em_unlock();
    return r;
}

CUresult em_surface_resource(CUsurfObject handle, CUDA_RESOURCE_DESC *out)
{
    return resource_of(EM_SURFACE, handle, out);
}
