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
#include "texture_check.h"
#include "texture_object.h"

static void texture_finish(struct em_object *object)
{
    struct em_texture *t = (struct em_texture *)object;
    if (t->storage)
        em_storage_unref(t->storage);
    dm_free(t);
}

// The memory of an array or mipmapped array that is alive, or NULL.
static struct em_storage *storage_of(const CUDA_RESOURCE_DESC *r)
{
    em_assert_locked();
    const struct em_array *a;
    const struct em_mipmap *m;
    switch ((int)r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        a = (const struct em_array *)em_object_peek(EM_ARRAY,
                                                    (uint64_t)(uintptr_t)r->res.array.hArray);
        return a ? a->storage : NULL;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        m = (const struct em_mipmap *)em_object_peek(
            EM_MIPMAP, (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray);
        return m ? m->storage : NULL;
    default:
        return NULL;
    }
}

CUresult em_texture_new(enum em_type type, const CUDA_RESOURCE_DESC *resource,
                        struct em_texture **out)
{
    em_assert_locked();
    struct em_texture *t = dm_calloc(1, sizeof *t);
    if (!t)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a %s", em_type_name(type));
    t->object = (struct em_object){.type = type, .references = 1, .finish = texture_finish};
    t->resource = *resource;
    t->storage = storage_of(resource);
    if (t->storage)
        em_storage_ref(t->storage);
    *out = t;
    return CUDA_SUCCESS;
}

// Precondition: em_lock held.
static CUresult texture_start(enum em_type type, const CUDA_RESOURCE_DESC *resource,
                              struct em_storage *storage, struct em_texture **out)
{
    em_assert_locked();
    struct em_texture *t = dm_calloc(1, sizeof *t);
    if (!t)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating a %s",
                       em_type_name(type));
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
    struct em_texture_subject s;
    struct em_texture *t;
    em_lock();
    CUresult r = em_texture_check_resource(em_self.current->device, resource, &s);
    // "pResViewDesc can only be specified if the type of resource is a CUDA array or a CUDA
    // mipmapped array". The driver ignores the view if the resource is linear memory.
    bool viewed = view && s.desc;
    if (!r)
        r = em_texture_check(resource, texture, &s);
    if (!r && viewed)
        r = em_texture_check_view(view, &s);
    if (!r && viewed && view->format == CU_RES_VIEW_FORMAT_NONE) {
        // As measured, the driver checks everything else first, then rejects a view without a
        // format and clears the handle.
        *out = 0;
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "format of the view is CU_RES_VIEW_FORMAT_NONE; set the format of the elements");
    }
    if (!r)
        r = texture_start(EM_TEXTURE, resource, s.storage, &t);
    if (!r) {
        t->texture = *texture;
        // As measured, the driver accepts any mode for a coordinate that the resource lacks, and
        // reads an unknown mode back as clamp.
        const bool ignored = em_texture_ignores_modes(resource);
        for (unsigned i = ignored ? 0 : em_texture_coordinates(resource, &s); i < 3; i++)
            if ((unsigned)texture->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
                t->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
        t->has_view = viewed;
        if (viewed)
            t->view = *view;
        em_texture_prepare(t);
        *out = t->object.handle;
    }
    em_unlock();
    return r;
}

// The driver accepts any number, because it does not check the handle of a texture or surface that
// is destroyed.
static CUresult texture_destroy(enum em_type type, uint64_t handle)
{
    em_lock();
    struct em_object *object = em_object_peek(type, handle);
    CUresult r = CUDA_SUCCESS;
    if (object)
        em_object_retire(object);
    else if (em_quirk(TEXTURE_DESTROY_ANYTHING))
        em_explain(CUDA_SUCCESS, "handle %#llx is not a %s; nothing was destroyed",
                   (unsigned long long)handle, em_type_name(type));
    else
        r = em_object_get(type, handle, CUDA_ERROR_INVALID_VALUE, &object);
    em_unlock();
    return r;
}

CUresult em_texture_destroy(CUtexObject handle)
{
    return texture_destroy(EM_TEXTURE, handle);
}

CUresult em_surface_destroy(CUsurfObject handle)
{
    return texture_destroy(EM_SURFACE, handle);
}

static CUresult texture_read_back(uint64_t handle, struct em_texture *copy)
{
    struct em_texture *t;
    em_lock();
    CUresult r = em_object_get(EM_TEXTURE, handle, CUDA_ERROR_INVALID_VALUE, &t);
    if (!r)
        *copy = *t;
    em_unlock();
    return r;
}

// Clears the handle of an array that has been destroyed. A texture holds a reference to the memory
// of its array, not to the array.
static void texture_forget_array(CUDA_RESOURCE_DESC *r)
{
    if (r->resType == CU_RESOURCE_TYPE_ARRAY &&
        !em_object_peek(EM_ARRAY, (uint64_t)(uintptr_t)r->res.array.hArray))
        r->res.array.hArray = NULL;
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
        !em_object_peek(EM_MIPMAP, (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray))
        r->res.mipmap.hMipmappedArray = NULL;
}

static CUresult texture_get_resource(enum em_type type, uint64_t handle, CUDA_RESOURCE_DESC *out)
{
    struct em_texture *t;
    em_lock();
    CUresult r = em_object_get(type, handle, CUDA_ERROR_INVALID_VALUE, &t);
    if (!r) {
        *out = t->resource;
        texture_forget_array(out);
    }
    em_unlock();
    return r;
}

// Changes a descriptor the way the hardware's texture header stores it. The header cannot describe
// pitch-linear memory of height 0, which reads back as linear memory of one pitch. If there is one
// row, the header drops the pitch (as measured).
static void texture_as_in_header(CUDA_RESOURCE_DESC *r)
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
    CUresult r = texture_get_resource(EM_TEXTURE, handle, out);
    if (!r && em_quirk(TEXTURE_FEW_ROWS))
        texture_as_in_header(out);
    return r;
}

CUresult em_texture_texture(CUtexObject handle, CUDA_TEXTURE_DESC *out)
{
    struct em_texture t;
    CUresult r = texture_read_back(handle, &t);
    if (!r)
        memcpy(out, &t.texture, offsetof(CUDA_TEXTURE_DESC, borderColor));
    return r;
}

CUresult em_texture_view(CUtexObject handle, CUDA_RESOURCE_VIEW_DESC *out)
{
    struct em_texture t;
    CUresult r = texture_read_back(handle, &t);
    if (!r && t.has_view)
        *out = t.view;
    return r;
}

CUresult em_surface_create(const CUDA_RESOURCE_DESC *resource, CUsurfObject *out)
{
    struct em_texture_subject s;
    struct em_texture *t;
    em_lock();
    CUresult r = em_texture_check_resource(em_self.current->device, resource, &s);
    // "resType must be CU_RESOURCE_TYPE_ARRAY"
    if (!r && (resource->resType != CU_RESOURCE_TYPE_ARRAY ||
               s.format->kind == DM_FORMAT_KIND_BLOCK || dm_format_planes(s.format) > 1))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "resType is %d; it must be CU_RESOURCE_TYPE_ARRAY, and the array must be "
                    "neither block-compressed nor planar",
                    (int)resource->resType);
    if (!r && !(s.desc->Flags & CUDA_ARRAY3D_SURFACE_LDST))
        em_mistake(I08, CUDA_SUCCESS, "the flags of the array are %#x", s.desc->Flags);
    if (!r)
        r = texture_start(EM_SURFACE, resource, s.storage, &t);
    if (!r) {
        em_surface_prepare(t);
        *out = t->object.handle;
    }
    em_unlock();
    return r;
}

CUresult em_surface_resource(CUsurfObject handle, CUDA_RESOURCE_DESC *out)
{
    return texture_get_resource(EM_SURFACE, handle, out);
}
