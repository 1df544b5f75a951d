// SPDX-License-Identifier: MIT
// Finds the textures and surfaces that kernels use, and their accesses.
#include "kernel_object.h"

#include <stdio.h>

#include "alloc.h"
#include "array.h"
#include "error.h"
#include "lock.h"
#include "memory.h"
#include "surface_reference.h"
#include "texture_object.h"
#include "texture_reference.h"

static enum em_type type_of(enum kn_object_kind kind)
{
    return kind == KN_OBJECT_TEXTURE ? EM_TEXTURE : EM_SURFACE;
}

// Why kernels cannot access the memory of an object, or NULL.
static const char *inaccessible(const struct em_texture *t)
{
    const struct em_storage *s = t->storage;
    return !s ? NULL : s->poison_reason ? s->poison_reason : s->stale_reason;
}

static bool is_accessible(const struct em_texture *t)
{
    return t->usable && !inaccessible(t);
}

struct em_texture *em_kernel_object(const struct em_context *context, enum kn_object_kind kind,
                                    uint64_t handle)
{
    em_assert_locked();
    struct em_texture *t = (struct em_texture *)em_object_peek(type_of(kind), handle);
    return t && t->object.context == context && is_accessible(t) ? t : NULL;
}

struct em_object *em_kernel_object_base(struct em_texture *texture)
{
    return &texture->object;
}

const void *em_kernel_object_model(const struct em_texture *texture)
{
    return texture->object.type == EM_SURFACE ? (const void *)&texture->image : &texture->sampled;
}

bool em_kernel_handle_is_empty(uint64_t handle)
{
    em_assert_locked();
    enum { HANDLES_MOST = 1 << 20 }; // of a card
    return handle < HANDLES_MOST && !em_object_peek(EM_TEXTURE, handle) &&
           !em_object_peek(EM_SURFACE, handle) && !em_handle_was(handle);
}

const void *em_kernel_object_empty(enum kn_object_kind kind)
{
    static const struct kn_texture texture;
    static const struct kn_image image;
    return kind == KN_OBJECT_TEXTURE ? (const void *)&texture : &image;
}

void em_kernel_object_text(const struct em_context *context, enum kn_object_kind kind,
                           uint64_t handle, char *out, size_t size_B)
{
    em_assert_locked();
    char text[160];
    const struct em_texture *t = (struct em_texture *)em_object_peek(type_of(kind), handle);
    em_handle_text(handle, text, sizeof text);
    if (t && t->object.context != context)
        snprintf(out, size_B, "%s belongs to another context", text);
    else if (t && inaccessible(t))
        snprintf(out, size_B, "%s shows %s", text, inaccessible(t));
    else
        snprintf(out, size_B, "%s", text);
}

// ---- accesses ----

static unsigned array_accesses(struct em_texture *t, enum em_access_mode mode, struct em_access *to)
{
    const struct dm_layout *layout = &t->storage->layout;
    for (uint32_t i = 0; to && i < t->levels; i++) {
        const struct dm_layout_level *v = &layout->level[t->first_level + i];
        const struct dm_position at = {.z = t->first_layer};
        const struct dm_box_extent extent = {
            .width_B = (uint64_t)v->width_el * layout->element_B,
            .height = v->height_el,
            .depth = layout->layered ? t->layers : v->depth,
        };
        em_storage_access(&to[i], t->storage, t->first_level + i, &at, &extent, mode);
    }
    return t->levels;
}

static unsigned linear_accesses(const struct em_texture *t, struct em_access *to)
{
    const CUDA_RESOURCE_DESC *r = &t->resource;
    const bool rows = r->resType == CU_RESOURCE_TYPE_PITCH2D;
    const uint64_t address = rows ? r->res.pitch2D.devPtr : r->res.linear.devPtr;
    uint64_t size_B =
        rows ? r->res.pitch2D.pitchInBytes * r->res.pitch2D.height : r->res.linear.sizeInBytes;
    struct em_allocation *a = em_memory_find(address, 0);
    if (!a)
        return 0;
    if (size_B > a->base + a->size - address)
        size_B = a->base + a->size - address;
    if (to && size_B)
        em_memory_access(to, a, address, size_B, EM_ACCESS_READ);
    return size_B != 0;
}

unsigned em_kernel_object_accesses(struct em_texture *t, bool writes, struct em_access *to)
{
    em_assert_locked();
    if (!t->storage)
        return linear_accesses(t, to);
    return array_accesses(t, writes ? EM_ACCESS_WRITE_SOME : EM_ACCESS_READ, to);
}

unsigned em_kernel_object_watched(const struct em_context *context, bool writes,
                                  struct em_access *to)
{
    em_assert_locked();
    static const enum em_type types[] = {EM_TEXTURE, EM_SURFACE};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t position = 0;
        struct em_object *o;
        for (o = em_object_next(types[i], &position); o; o = em_object_next(types[i], &position)) {
            struct em_texture *t = (struct em_texture *)o;
            if (o->context == context && is_accessible(t) && t->storage && t->storage->watch)
                count += em_kernel_object_accesses(t, writes && types[i] == EM_SURFACE,
                                                   to ? to + count : NULL);
        }
    }
    return count;
}

// ---- references ----

CUresult em_kernel_reference(enum kn_object_kind kind, uint64_t handle, struct em_object **out)
{
    em_assert_locked();
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC texture = {0};
    const bool is_texture = kind == KN_OBJECT_TEXTURE;
    const struct em_surface_reference *s =
        (struct em_surface_reference *)em_object_peek(EM_SURFACE_REFERENCE, handle);
    *out = NULL;
    if (is_texture && !em_texture_reference_describe(handle, &resource, &texture))
        return CUDA_SUCCESS;
    if (!is_texture && (!s || !s->array))
        return CUDA_SUCCESS;
    if (!is_texture)
        resource.res.array.hArray = s->array;
    struct em_texture *t;
    CUresult r = em_texture_new(type_of(kind), &resource, &t);
    if (r)
        return r;
    t->texture = texture;
    if (is_texture)
        em_texture_prepare(t);
    else
        em_surface_prepare(t);
    if (is_accessible(t))
        *out = &t->object;
    else
        em_object_unref(&t->object);
    return CUDA_SUCCESS;
}
