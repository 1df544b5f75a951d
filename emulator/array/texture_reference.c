// SPDX-License-Identifier: MIT
// Texture references and their bindings.
#include "texture_reference.h"

#include <string.h>

#include "alloc.h"
#include "arithmetic.h"
#include "array.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "format.h"
#include "lock.h"
#include "object.h"
#include "quirk.h"

struct em_texture_reference {
    struct em_object object; // type EM_TEXTURE_REFERENCE
    struct em_texture_binding bound;
    struct em_texture_sampling sampling;
};

static void texref_finish(struct em_object *object)
{
    dm_free(object);
}

CUresult em_texture_reference_new(struct em_context *context, struct em_object **out)
{
    em_assert_locked();
    struct em_texture_reference *t = dm_calloc(1, sizeof *t);
    if (!t)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating a texture reference");
    t->sampling.format = CU_AD_FORMAT_FLOAT;
    t->sampling.channels = 1;
    for (unsigned i = 0; i < 3; i++)
        t->sampling.address_mode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    CUresult r = em_object_start(&t->object, EM_TEXTURE_REFERENCE, context, texref_finish);
    if (r)
        dm_free(t);
    else
        *out = &t->object;
    return r;
}

CUresult em_texture_reference_create(CUtexref *out)
{
    struct em_object *o;
    em_lock();
    CUresult r = em_texture_reference_new(em_self.current, &o);
    if (!r)
        *out = (CUtexref)(uintptr_t)o->handle;
    em_unlock();
    return r;
}

CUresult em_reference_code(uint64_t handle)
{
    em_assert_locked();
    // A stale handle crashes the driver. If the handle points to other memory, the driver finds no
    // valid context there.
    return em_quirk(ARRAY_STALE_CODE) && !em_handle_was(handle) ? CUDA_ERROR_INVALID_CONTEXT
                                                                : CUDA_ERROR_INVALID_HANDLE;
}

// Precondition: em_lock held.
static CUresult texref_get(CUtexref handle, struct em_texture_reference **out)
{
    em_assert_locked();
    return em_object_get(EM_TEXTURE_REFERENCE, handle,
                         em_reference_code((uint64_t)(uintptr_t)handle), out);
}

CUresult em_texture_reference_destroy(CUtexref handle)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        em_object_retire(&t->object);
    em_unlock();
    return r;
}

// ---- binding

// Returns the bytes of an element. Under the driver's personality a reference accepts an unknown
// format, which counts as one byte per channel. The number of channels is signed; a negative number
// counts as 0.
static uint64_t texref_element_B(CUarray_format format, int channels)
{
    const struct dm_format_info *info = dm_format_info((uint32_t)format);
    uint32_t count = channels > 0 ? (uint32_t)channels : 0;
    return info ? dm_format_texel_B(info, count) : count;
}

static uint64_t texref_attribute(const struct em_texture_reference *t, enum dm_attribute which)
{
    return (uint64_t)em_device_attribute(t->object.context->device, which);
}

static CUresult texref_bind_linear(struct em_texture_reference *t, uint64_t address,
                                   uint64_t size_B, size_t *offset)
{
    uint64_t bytes =
        texref_element_B(t->sampling.format, t->sampling.channels > 0 ? t->sampling.channels : 1);
    uint64_t most = em_quirk(LINEAR_TEXTURE_WIDTH)
                        ? em_device_linear_texels(t->object.context->device, bytes)
                        : texref_attribute(t, DM_ATTRIBUTE_maximum_texture1d_linear_width);
    uint64_t misses = address % texref_attribute(t, DM_ATTRIBUTE_texture_alignment);
    // "The total number of elements (or texels) in the linear address range cannot exceed
    // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH."
    if (bytes && size_B / bytes > most)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "bytes (%llu) is %llu elements; a texture of linear memory can have at most %llu",
            (unsigned long long)size_B, (unsigned long long)(size_B / bytes),
            (unsigned long long)most);
    // "If the device memory pointer was returned from cuMemAlloc(), the offset is guaranteed to be
    // 0 and NULL may be passed as the ByteOffset parameter."
    if (misses && !offset)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dptr %#llx is not a multiple of %llu; align it, or pass ByteOffset",
                       (unsigned long long)address,
                       (unsigned long long)texref_attribute(t, DM_ATTRIBUTE_texture_alignment));
    t->bound = (struct em_texture_binding){
        .address = address - misses, .linear = true, .size_B = size_B + misses};
    if (offset)
        *offset = misses;
    return CUDA_SUCCESS;
}

static CUresult texref_bind_pitched(struct em_texture_reference *t,
                                    const CUDA_ARRAY_DESCRIPTOR *desc, uint64_t address,
                                    uint64_t pitch_B, bool strict)
{
    // The driver uses only the low 32 bits of the extents.
    uint64_t width = (uint32_t)desc->Width, height = (uint32_t)desc->Height;
    uint64_t row_B, alignment = texref_attribute(t, DM_ATTRIBUTE_texture_alignment);
    // "must be aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT"
    if (address % alignment)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dptr is %#llx; it must be a multiple of %llu",
                       (unsigned long long)address, (unsigned long long)alignment);
    // "Width and Height … cannot exceed CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH and
    // …_HEIGHT respectively. Pitch, in bytes, cannot exceed …_PITCH."
    if (width > texref_attribute(t, DM_ATTRIBUTE_maximum_texture2d_linear_width) ||
        height > texref_attribute(t, DM_ATTRIBUTE_maximum_texture2d_linear_height) ||
        (strict && pitch_B > texref_attribute(t, DM_ATTRIBUTE_maximum_texture2d_linear_pitch)))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Width %llu, Height %llu, Pitch %llu exceed the limits of the device "
                       "(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_*)",
                       (unsigned long long)width, (unsigned long long)height,
                       (unsigned long long)pitch_B);
    if (strict && pitch_B % texref_attribute(t, DM_ATTRIBUTE_texture_pitch_alignment))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE, "Pitch is %llu; it must be a multiple of %llu",
            (unsigned long long)pitch_B,
            (unsigned long long)texref_attribute(t, DM_ATTRIBUTE_texture_pitch_alignment));
    if (!dm_mul(width, texref_element_B(desc->Format, (int)desc->NumChannels), &row_B) ||
        row_B > pitch_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Width %llu does not fit into Pitch (%llu bytes); pass a larger pitch",
                       (unsigned long long)width, (unsigned long long)pitch_B);
    t->bound = (struct em_texture_binding){
        .address = address, .linear = true, .width = width, .height = height, .pitch_B = pitch_B};
    t->sampling.format = desc->Format;
    t->sampling.channels = (int)desc->NumChannels;
    return CUDA_SUCCESS;
}

static CUresult texref_check_flags(unsigned flags)
{
    // "Flags must be set to CU_TRSA_OVERRIDE_FORMAT". The driver also accepts 0, and then keeps the
    // reference's format.
    if (flags == CU_TRSA_OVERRIDE_FORMAT || (!flags && em_quirk(TEXTURE_REFERENCE_UNCHECKED)))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "Flags are %#x; they must be CU_TRSA_OVERRIDE_FORMAT (0x1)", flags);
}

static void texref_set_format(struct em_texture_reference *t, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                              unsigned flags)
{
    if (!(flags & CU_TRSA_OVERRIDE_FORMAT))
        return;
    t->sampling.format = desc->Format;
    t->sampling.channels = (int)desc->NumChannels;
}

static CUresult texref_bind_array(struct em_texture_reference *t, CUarray array, unsigned flags)
{
    struct em_array *a;
    CUresult r = em_array_get(array, &a);
    if (!r)
        r = texref_check_flags(flags);
    if (r)
        return r;
    t->bound = (struct em_texture_binding){.array = array};
    texref_set_format(t, &a->desc, flags);
    return CUDA_SUCCESS;
}

static CUresult texref_bind_mipmap(struct em_texture_reference *t, CUmipmappedArray mipmap,
                                   unsigned flags)
{
    struct em_mipmap *m;
    CUresult r = em_mipmap_get(mipmap, &m);
    if (!r)
        r = texref_check_flags(flags);
    if (r)
        return r;
    t->bound = (struct em_texture_binding){.mipmap = mipmap};
    texref_set_format(t, &m->desc, flags);
    return CUDA_SUCCESS;
}

CUresult em_texture_reference_linear(CUtexref handle, uint64_t address, uint64_t size_B,
                                     size_t *offset)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        r = texref_bind_linear(t, address, size_B, offset);
    em_unlock();
    return r;
}

CUresult em_texture_reference_pitched(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *desc,
                                      uint64_t address, uint64_t pitch_B, bool strict)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        r = texref_bind_pitched(t, desc, address, pitch_B, strict);
    em_unlock();
    return r;
}

CUresult em_texture_reference_array(CUtexref handle, CUarray array, unsigned flags)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        r = texref_bind_array(t, array, flags);
    em_unlock();
    return r;
}

CUresult em_texture_reference_mipmap(CUtexref handle, CUmipmappedArray mipmap, unsigned flags)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        r = texref_bind_mipmap(t, mipmap, flags);
    em_unlock();
    return r;
}

CUresult em_texture_reference_bound(CUtexref handle, struct em_texture_binding *out)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (r)
        goto unlock;
    *out = t->bound;
    if (!em_object_peek(EM_ARRAY, (uint64_t)(uintptr_t)out->array))
        out->array = NULL;
    if (!em_object_peek(EM_MIPMAP, (uint64_t)(uintptr_t)out->mipmap))
        out->mipmap = NULL;
unlock:
    em_unlock();
    return r;
}

// ---- sampling

static void texref_copy_member(struct em_texture_sampling *to, enum em_texture_member member,
                               const struct em_texture_sampling *from)
{
    switch (member) {
    case EM_TEXTURE_FORMAT:
        to->format = from->format;
        to->channels = from->channels;
        break;
    case EM_TEXTURE_ADDRESS_MODE_0:
    case EM_TEXTURE_ADDRESS_MODE_1:
    case EM_TEXTURE_ADDRESS_MODE_2:
        to->address_mode[member - EM_TEXTURE_ADDRESS_MODE_0] =
            from->address_mode[member - EM_TEXTURE_ADDRESS_MODE_0];
        break;
    case EM_TEXTURE_FILTER:
        to->filter = from->filter;
        break;
    case EM_TEXTURE_MIPMAP_FILTER:
        to->mipmap_filter = from->mipmap_filter;
        break;
    case EM_TEXTURE_LEVEL_BIAS:
        to->level_bias = from->level_bias;
        break;
    case EM_TEXTURE_LEVEL_CLAMP:
        memcpy(to->level_clamp, from->level_clamp, sizeof to->level_clamp);
        break;
    case EM_TEXTURE_BORDER:
        memcpy(to->border, from->border, sizeof to->border);
        break;
    case EM_TEXTURE_ANISOTROPY:
        to->anisotropy = from->anisotropy;
        break;
    case EM_TEXTURE_FLAGS:
        to->flags = from->flags;
        break;
    }
}

CUresult em_texture_reference_set(CUtexref handle, enum em_texture_member member,
                                  const struct em_texture_sampling *from)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        texref_copy_member(&t->sampling, member, from);
    em_unlock();
    return r;
}

CUresult em_texture_reference_sampling(CUtexref handle, struct em_texture_sampling *out)
{
    struct em_texture_reference *t;
    em_lock();
    CUresult r = texref_get(handle, &t);
    if (!r)
        *out = t->sampling;
    em_unlock();
    return r;
}

// ---- for kernels

static void describe_memory(const struct em_texture_reference *t, CUDA_RESOURCE_DESC *r)
{
    const struct em_texture_binding *b = &t->bound;
    const unsigned channels = t->sampling.channels > 0 ? (unsigned)t->sampling.channels : 1;
    if (b->pitch_B) {
        r->resType = CU_RESOURCE_TYPE_PITCH2D;
        r->res.pitch2D.devPtr = b->address;
        r->res.pitch2D.format = t->sampling.format;
        r->res.pitch2D.numChannels = channels;
        r->res.pitch2D.width = b->width;
        r->res.pitch2D.height = b->height;
        r->res.pitch2D.pitchInBytes = b->pitch_B;
    } else {
        r->resType = CU_RESOURCE_TYPE_LINEAR;
        r->res.linear.devPtr = b->address;
        r->res.linear.format = t->sampling.format;
        r->res.linear.numChannels = channels;
        r->res.linear.sizeInBytes = b->size_B;
    }
}

bool em_texture_reference_describe(uint64_t handle, CUDA_RESOURCE_DESC *resource,
                                   CUDA_TEXTURE_DESC *texture)
{
    em_assert_locked();
    const struct em_texture_reference *t =
        (const struct em_texture_reference *)em_object_peek(EM_TEXTURE_REFERENCE, handle);
    memset(resource, 0, sizeof *resource);
    memset(texture, 0, sizeof *texture);
    if (!t || (!t->bound.array && !t->bound.mipmap && !t->bound.linear))
        return false;
    const struct em_texture_sampling *s = &t->sampling;
    if (t->bound.linear) {
        describe_memory(t, resource);
    } else if (t->bound.array) {
        resource->resType = CU_RESOURCE_TYPE_ARRAY;
        resource->res.array.hArray = t->bound.array;
    } else {
        resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource->res.mipmap.hMipmappedArray = t->bound.mipmap;
    }
    for (unsigned i = 0; i < 3; i++)
        texture->addressMode[i] = s->address_mode[i];
    texture->filterMode = s->filter;
    texture->mipmapFilterMode = s->mipmap_filter;
    texture->flags = s->flags;
    texture->maxAnisotropy = (unsigned)s->anisotropy;
    texture->mipmapLevelBias = s->level_bias;
    texture->minMipmapLevelClamp = s->level_clamp[0];
    texture->maxMipmapLevelClamp = s->level_clamp[1];
    memcpy(texture->borderColor, s->border, sizeof texture->borderColor);
    return true;
}
