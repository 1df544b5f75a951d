// SPDX-License-Identifier: MIT
// The virtual graphics API: creates, resizes and destroys buffers and textures.
#include "virtual_graphics.h"

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "format.h"
#include "lock.h"
#include "virtual_object.h"

enum { EXTENT_MAX = 16384, LAYERS_MAX = 2048 };

// ---- objects ----

static void object_finish(struct em_object *object)
{
    struct em_virtual_object *o = (struct em_virtual_object *)object;
    em_virtual_storage_unref(o->storage);
    dm_free(o);
}

static CUresult create(enum em_virtual_kind kind, const struct em_graphics_shape *shape,
                       uint64_t *out)
{
    em_lock();
    struct em_virtual_object *o = dm_calloc(1, sizeof *o);
    CUresult r = o ? em_virtual_storage_new(shape, &o->storage)
                   : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                             "out of host memory while creating a virtual graphics object");
    if (r)
        goto free_object;
    r = em_object_start(&o->object, em_virtual_type(kind), NULL, object_finish);
    if (r)
        goto drop_storage;
    *out = o->object.handle;
    goto unlock;
drop_storage:
    em_virtual_storage_unref(o->storage);
free_object:
    dm_free(o);
unlock:
    em_unlock();
    return r;
}

bool em_virtual_is_strict(void)
{
    return em_config()->personality == EM_MANUAL;
}

static CUresult resize(enum em_virtual_kind kind, uint64_t handle,
                       const struct em_graphics_shape *shape)
{
    struct em_virtual_object *o;
    struct em_virtual_storage *storage;
    char text[128];
    em_lock();
    CUresult r = em_virtual_get(kind, handle, &o);
    if (!r)
        r = em_virtual_storage_new(shape, &storage);
    if (!r) {
        if (o->storage->mapped && em_virtual_is_strict())
            em_mistake(G07, CUDA_SUCCESS, "%s gets new storage while CUDA has it mapped",
                       em_object_text(&o->object, text, sizeof text));
        em_virtual_storage_unref(o->storage);
        o->storage = storage;
    }
    em_unlock();
    return r;
}

CUresult em_virtual_destroy(enum em_virtual_kind kind, uint64_t handle)
{
    struct em_virtual_object *o;
    char text[128];
    em_lock();
    CUresult r = em_virtual_get(kind, handle, &o);
    if (!r && o->storage->mapped && em_virtual_is_strict())
        em_mistake(G13, CUDA_SUCCESS, "%s is destroyed while CUDA has it mapped",
                   em_object_text(&o->object, text, sizeof text));
    if (!r)
        em_object_retire(&o->object);
    em_unlock();
    return r;
}

static CUresult buffer_shape(uint64_t size, struct em_graphics_shape *out)
{
    if (!size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size is 0; a buffer has at least one byte");
    *out = (struct em_graphics_shape){.kind = EM_GRAPHICS_BUFFER, .size_B = size};
    return CUDA_SUCCESS;
}

// Checks one member of a texture's size. It must be 0 if textures of this kind do not have it.
static CUresult check_extent(const char *name, unsigned extent, bool has_it, unsigned most)
{
    if (has_it && (!extent || extent > most))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s (%u) must be between 1 and %u for a texture of this kind", name, extent,
                       most);
    if (!has_it && extent)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s (%u) must be 0 for a texture of this kind",
                       name, extent);
    return CUDA_SUCCESS;
}

static CUresult texture_shape(const cardlessTextureDesc *d, struct em_graphics_shape *out)
{
    const struct dm_format_info *format = dm_format_info((uint32_t)d->format);
    int kind = (int)d->kind;
    bool array = kind == CARDLESS_TEXTURE_1D_ARRAY || kind == CARDLESS_TEXTURE_2D_ARRAY,
         cube = kind == CARDLESS_TEXTURE_CUBE;
    if (kind < CARDLESS_TEXTURE_1D || kind > CARDLESS_TEXTURE_CUBE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "kind %d is not a cardlessTextureKind", kind);
    if (!format || format->kind > DM_FORMAT_KIND_FLOAT ||
        (d->channels != 1 && d->channels != 2 && d->channels != 4))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "channels (%u) must be 1, 2 or 4, and format (%#x) must be an integer or float format",
            d->channels, (unsigned)d->format);
    bool high = kind != CARDLESS_TEXTURE_1D && kind != CARDLESS_TEXTURE_1D_ARRAY;
    CUresult r = check_extent("width", d->width, true, EXTENT_MAX);
    if (!r)
        r = check_extent("height", d->height, high, EXTENT_MAX);
    if (!r)
        r = check_extent("depth", d->depth, kind == CARDLESS_TEXTURE_3D, EXTENT_MAX);
    if (!r)
        r = check_extent("layers", d->layers, array, LAYERS_MAX);
    if (r)
        return r;
    if (cube && d->width != d->height)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "width (%u) must equal height (%u), because a cube's faces are squares",
                       d->width, d->height);
    uint32_t most = dm_layout_levels_most(d->width, d->height, d->depth);
    if (!d->levels || d->levels > most)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "levels (%u) must be between 1 and %u for a texture of this size", d->levels,
                       most);
    *out = (struct em_graphics_shape){
        .kind = EM_GRAPHICS_IMAGE,
        .width = d->width,
        .height = d->height,
        .depth = d->depth,
        .layers = cube ? 6 : d->layers,
        .cube = cube,
        .levels = d->levels,
        .format = d->format,
        .channels = d->channels,
        .element_B = format->channel_B * d->channels,
    };
    return CUDA_SUCCESS;
}

CUresult em_virtual_buffer_create(uint64_t size, cardlessBuffer *out)
{
    struct em_graphics_shape shape;
    uint64_t handle;
    CUresult r = buffer_shape(size, &shape);
    if (!r)
        r = create(EM_VIRTUAL_BUFFER_OBJECT, &shape, &handle);
    if (!r)
        *out = (cardlessBuffer)(uintptr_t)handle;
    return r;
}

CUresult em_virtual_buffer_resize(cardlessBuffer buffer, uint64_t size)
{
    struct em_graphics_shape shape;
    CUresult r = buffer_shape(size, &shape);
    return r ? r : resize(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, &shape);
}

CUresult em_virtual_texture_create(const cardlessTextureDesc *desc, cardlessTexture *out)
{
    struct em_graphics_shape shape;
    uint64_t handle;
    CUresult r = texture_shape(desc, &shape);
    if (!r)
        r = create(EM_VIRTUAL_TEXTURE_OBJECT, &shape, &handle);
    if (!r)
        *out = (cardlessTexture)(uintptr_t)handle;
    return r;
}

CUresult em_virtual_texture_resize(cardlessTexture texture, const cardlessTextureDesc *desc)
{
    struct em_graphics_shape shape;
    CUresult r = texture_shape(desc, &shape);
    return r ? r : resize(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, &shape);
}
