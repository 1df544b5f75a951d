// SPDX-License-Identifier: MIT
// What a program gets of a mapped graphics resource: the pointer of a buffer, the arrays of an
// image.
#include <string.h>

#include "alloc.h"
#include "config.h"
#include "device.h"
#include "error.h"
#include "graphics_resource.h"
#include "lock.h"
#include "memory_device.h"
#include "quirk.h"

// ---- buffers ----

static void buffer_release(struct em_allocation *a)
{
    struct em_graphics *g = a->owner;
    if (g && g->allocation == a) {
        g->allocation = NULL;
        if (g->memory->shown == g)
            g->memory->shown = NULL;
    }
    dm_free(a);
}

// An access of a mapped resource keeps the resource and the window that it goes through: the
// command may end after the program has unmapped the resource, or unregistered it.
static void begin_watching(struct em_access *access, struct em_graphics *g)
{
    em_object_ref(&g->object);
    g->window->references++;
    access->watcher = g;
    access->mark = (uint64_t)(uintptr_t)g->window;
}

static struct em_graphics_window *window_of(const struct em_access *access)
{
    return (struct em_graphics_window *)(uintptr_t)access->mark;
}

static void end_watching(struct em_access *access, const struct em_graphics_part *part,
                         enum em_access_mode mode, CUresult result)
{
    struct em_graphics *g = access->watcher;
    struct em_graphics_window *window = window_of(access);
    em_graphics_access_end(g, g->window == window ? part : NULL, mode, result);
    em_graphics_window_unref(window);
    em_object_unref(&g->object);
}

static struct em_graphics_part part_of_buffer(const struct em_access *access)
{
    return (struct em_graphics_part){.offset_B = access->address - window_of(access)->address,
                                     .size_B = access->size_B};
}

static bool buffer_begin(struct em_access *access)
{
    struct em_graphics *g = ((struct em_allocation *)access->owner)->owner;
    begin_watching(access, g);
    struct em_graphics_part part = part_of_buffer(access);
    return em_graphics_access_begin(g, &part, access->mode);
}

static void buffer_make_resident(struct em_access *access, bool may_wait)
{
    struct em_graphics_part part = part_of_buffer(access);
    em_graphics_make_resident(access->watcher, &part, access->mode, may_wait);
}

static void buffer_end(struct em_access *access, CUresult result)
{
    struct em_graphics_part part = part_of_buffer(access);
    end_watching(access, &part, access->mode, result);
}

static const struct em_watch_ops buffer_watch_ops = {
    .begin = buffer_begin, .make_resident = buffer_make_resident, .end = buffer_end};

static CUresult begin_buffer(struct em_graphics *g)
{
    struct em_allocation *a = dm_calloc(1, sizeof *a);
    if (!a)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mapping");
    a->base = g->window->address;
    a->size = g->memory->size_B;
    a->kind = EM_MEMORY_GRAPHICS;
    a->context = g->object.context;
    a->device = g->object.context->device->ordinal;
    a->physical = g->memory->physical;
    a->physical_offset = g->memory->physical_offset;
    a->owner = g;
    a->release = buffer_release;
    a->watch = &buffer_watch_ops;
    CUresult r = em_memory_enter(a);
    if (r) {
        dm_free(a);
        return r;
    }
    g->allocation = a;
    if (a->base == g->memory->address)
        g->memory->shown = g;
    return CUDA_SUCCESS;
}

CUresult em_graphics_pointer(CUgraphicsResource resource, CUdeviceptr *address, size_t *size)
{
    struct em_graphics *g;
    char text[160];
    em_lock();
    CUresult r = em_graphics_get(resource, &g);
    if (!r && !g->mapped)
        r = em_mistake(G05, CUDA_ERROR_NOT_MAPPED, "the pointer of %s, which is not mapped",
                       em_graphics_text(g, text, sizeof text));
    // "If resource is not a buffer then it cannot be accessed via a pointer and
    // CUDA_ERROR_NOT_MAPPED_AS_POINTER is returned."
    if (!r && g->shape.kind != EM_GRAPHICS_BUFFER)
        r = em_mistake(G04, CUDA_ERROR_NOT_MAPPED_AS_POINTER, "%s is an image and has no pointer",
                       em_graphics_text(g, text, sizeof text));
    // Silicon: either result may be left out (x_graphics mapped-ptr-nulls).
    if (!r && address)
        *address = g->allocation->base;
    if (!r && size)
        *size = g->shape.size_B;
    em_unlock();
    return r;
}

// ---- images ----

// The storage of an image, or of one of its layers.
struct image_storage {
    struct em_storage storage;
    struct em_graphics *graphics;      // NULL: the resource is gone
    struct em_graphics_window *window; // a reference
    uint32_t first_layer;
};

static void image_release(struct em_storage *storage)
{
    struct image_storage *s = storage->owner;
    em_graphics_window_unref(s->window);
    dm_free(s);
}

static struct em_graphics_part part_of_image(const struct em_access *access)
{
    const struct em_storage *storage = access->owner;
    const struct image_storage *s = storage->owner;
    uint32_t element_B = storage->layout.element_B;
    struct dm_position at = access->at;
    struct dm_box_extent extent = access->extent;
    return (struct em_graphics_part){
        .level = access->level,
        .x = (uint32_t)(at.x_B / element_B),
        .y = (uint32_t)at.y,
        .z = (uint32_t)at.z + s->first_layer,
        .width =
            (uint32_t)((at.x_B + extent.width_B + element_B - 1) / element_B - at.x_B / element_B),
        .height = (uint32_t)extent.height,
        .depth = (uint32_t)extent.depth,
    };
}

// A write of parts of texels leaves other bytes of its box as they are.
static enum em_access_mode mode_of_image(const struct em_access *access)
{
    uint32_t element_B = ((const struct em_storage *)access->owner)->layout.element_B;
    bool whole = !(access->at.x_B % element_B || access->extent.width_B % element_B);
    return access->mode == EM_ACCESS_WRITE && !whole ? EM_ACCESS_WRITE_SOME : access->mode;
}

static bool image_begin(struct em_access *access)
{
    struct em_graphics *g =
        ((struct image_storage *)((struct em_storage *)access->owner)->owner)->graphics;
    access->watcher = NULL;
    if (!g)
        return false;
    begin_watching(access, g);
    struct em_graphics_part part = part_of_image(access);
    return em_graphics_access_begin(g, &part, mode_of_image(access));
}

static void image_make_resident(struct em_access *access, bool may_wait)
{
    struct em_graphics_part part = part_of_image(access);
    em_graphics_make_resident(access->watcher, &part, mode_of_image(access), may_wait);
}

static void image_end(struct em_access *access, CUresult result)
{
    struct em_graphics_part part = part_of_image(access);
    if (access->watcher)
        end_watching(access, &part, mode_of_image(access), result);
}

static const struct em_watch_ops image_watch_ops = {
    .begin = image_begin, .make_resident = image_make_resident, .end = image_end};

static CUresult new_storage(struct em_graphics *g, const struct dm_layout *layout,
                            uint32_t first_layer, struct em_storage **out)
{
    struct image_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mapping");
    s->graphics = g;
    s->window = g->window;
    s->window->references++;
    s->first_layer = first_layer;
    s->storage = (struct em_storage){
        .references = 1,
        .layout = *layout,
        .address = g->window->address,
        .size_B = layout->total_B,
        .owner = s,
        .release = image_release,
        .watch = &image_watch_ops,
    };
    *out = &s->storage;
    return CUDA_SUCCESS;
}

static CUresult whole_storage(struct em_graphics *g, struct em_storage **out)
{
    CUresult r = g->storage ? CUDA_SUCCESS : new_storage(g, &g->layout, 0, &g->storage);
    *out = g->storage;
    return r;
}

// A layer is a two-dimensional image whose levels begin where that layer's do.
static CUresult layer_storage(struct em_graphics *g, uint32_t layer, struct em_storage **out)
{
    struct dm_layout layout;
    CUresult r = CUDA_SUCCESS;
    if (!g->layer[layer] && !dm_layout_layer(&g->layout, layer, &layout))
        r = new_storage(g, &layout, layer, &g->layer[layer]);
    *out = g->layer[layer];
    return r;
}

static uint32_t layers(const struct em_graphics *g)
{
    return g->shape.layers ? g->shape.layers : 1;
}

static CUDA_ARRAY3D_DESCRIPTOR describe(const struct em_graphics *g, bool whole)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    memset(&d, 0, sizeof d);
    d.Width = g->shape.width;
    d.Height = g->shape.height;
    d.Depth = g->shape.depth;
    d.Format = g->shape.format;
    d.NumChannels = g->shape.channels;
    if (g->register_flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST)
        d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (g->register_flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER)
        d.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    // Silicon (x_graphics mip-*): a cube's faces are not counted in Depth, layers are.
    if (whole && g->shape.cube)
        d.Flags |= CUDA_ARRAY3D_CUBEMAP;
    else if (whole && g->shape.layers) {
        d.Flags |= CUDA_ARRAY3D_LAYERED;
        d.Depth = g->shape.layers;
    }
    return d;
}

static CUresult new_array(struct em_graphics *g, unsigned index, unsigned level,
                          struct em_array **slot)
{
    CUDA_ARRAY3D_DESCRIPTOR d = describe(g, false);
    struct em_storage *storage;
    CUresult r = g->shape.layers ? layer_storage(g, index, &storage) : whole_storage(g, &storage);
    if (r)
        return r;
    size_t *extents[] = {&d.Width, &d.Height, &d.Depth};
    for (unsigned i = 0; i < 3; i++)
        *extents[i] = dm_layout_minify(*extents[i], level);
    struct em_array *a;
    if ((r = em_array_start(g->object.context, &d, storage, level, &a)))
        return r;
    a->lent = true;
    em_object_ref(&a->object);
    *slot = a;
    return CUDA_SUCCESS;
}

// What both kinds of arrays need: a mapped image. Precondition: em_lock held.
static CUresult get_image(CUgraphicsResource resource, const char *what, struct em_graphics **out)
{
    char text[160];
    CUresult r = em_graphics_get(resource, out);
    if (!r && !(*out)->mapped)
        r = em_mistake(G05, CUDA_ERROR_NOT_MAPPED, "%s of %s, which is not mapped", what,
                       em_graphics_text(*out, text, sizeof text));
    // "If resource is not a texture then it cannot be accessed via an array and
    // CUDA_ERROR_NOT_MAPPED_AS_ARRAY is returned."
    if (!r && (*out)->shape.kind != EM_GRAPHICS_IMAGE)
        r = em_mistake(G04, CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "%s is a buffer and has no arrays",
                       em_graphics_text(*out, text, sizeof text));
    return r;
}

CUresult em_graphics_array(CUgraphicsResource resource, unsigned index, unsigned level,
                           CUarray *out)
{
    struct em_graphics *g;
    char text[160];
    em_lock();
    const struct em_graphics_frame *frame = em_graphics_frame(resource);
    CUresult r =
        frame && !frame->ops->has_arrays(frame)
            ? em_fail(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "a frame of pitched memory has no arrays")
            : get_image(resource, "an array", &g);
    if (r)
        goto unlock;
    // "If arrayIndex is not a valid array index … or mipLevel is not a valid mipmap level for
    // resource then CUDA_ERROR_INVALID_VALUE is returned."
    if (g->shape.standing)
        index = level = 0;
    if (index >= layers(g) || level < g->shape.first_level ||
        level - g->shape.first_level >= g->shape.levels) {
        r = em_mistake(G17, CUDA_ERROR_INVALID_VALUE,
                       "arrayIndex %u, mipLevel %u of %s, which has %u and the levels %u to %u",
                       index, level, em_graphics_text(g, text, sizeof text), layers(g),
                       g->shape.first_level, g->shape.first_level + g->shape.levels - 1);
        goto unlock;
    }
    level -= g->shape.first_level;
    struct em_array **slot = &g->array[index * g->shape.levels + level];
    if (!*slot && (r = new_array(g, index, level, slot)))
        goto unlock;
    *out = (CUarray)(uintptr_t)(*slot)->object.handle;
unlock:
    em_unlock();
    return r;
}

CUresult em_graphics_mipmap(CUgraphicsResource resource, CUmipmappedArray *out)
{
    struct em_graphics *g;
    struct em_storage *storage;
    em_lock();
    CUresult r = get_image(resource, "the mipmapped array", &g);
    if (!r && g->shape.standing)
        r = em_fail(CUDA_ERROR_UNKNOWN, "an EGL image has no mipmapped array");
    if (!r && !g->mipmap && !(r = whole_storage(g, &storage))) {
        struct em_array_plan plan = {
            .desc = describe(g, true), .levels = g->shape.levels, .layout = g->layout};
        CUmipmappedArray handle;
        em_storage_ref(storage);
        if (!(r = em_mipmap_start(g->object.context, &plan, storage, &handle))) {
            em_mipmap_get(handle, &g->mipmap);
            g->mipmap->lent = true;
            em_object_ref(&g->mipmap->object);
        }
    }
    if (!r)
        *out = (CUmipmappedArray)(uintptr_t)g->mipmap->object.handle;
    em_unlock();
    return r;
}

// Takes the resource's reference to a storage away; what others have made on it keeps the bytes,
// but nobody watches any more.
static void drop_storage(struct em_storage **slot)
{
    if (!*slot)
        return;
    struct image_storage *s = (*slot)->owner;
    s->graphics = NULL;
    em_storage_unref(*slot);
    *slot = NULL;
}

static void end_image(struct em_graphics *g)
{
    // Where the context ends, handles may be gone before the resource is.
    for (uint32_t i = 0; i < layers(g) * g->shape.levels; i++) {
        if (!g->array[i])
            continue;
        if (em_object_peek(EM_ARRAY, g->array[i]->object.handle))
            em_object_retire(&g->array[i]->object);
        em_object_unref(&g->array[i]->object);
        g->array[i] = NULL;
    }
    if (g->mipmap) {
        if (em_object_peek(EM_MIPMAP, g->mipmap->object.handle))
            em_mipmap_retire(g->mipmap);
        em_object_unref(&g->mipmap->object);
        g->mipmap = NULL;
    }
    for (uint32_t i = 0; i < g->shape.layers; i++)
        drop_storage(&g->layer[i]);
    drop_storage(&g->storage);
}

// ---- both ----

CUresult em_graphics_view_begin(struct em_graphics *g)
{
    CUresult r = CUDA_SUCCESS;
    bool fresh = !g->window, strict = em_config()->personality == EM_MANUAL;
    bool elsewhere = (strict && em_config()->have_seed) ||
                     (g->shape.kind == EM_GRAPHICS_BUFFER && g->memory->shown);
    if (fresh && (r = em_graphics_window_open(g->memory, elsewhere, &g->window)))
        return r;
    if (g->shape.kind == EM_GRAPHICS_BUFFER && !g->allocation && (r = begin_buffer(g)) && fresh) {
        em_graphics_window_unref(g->window);
        g->window = NULL;
    }
    g->scrambled = g->said_written = g->said_read = false;
    g->written_first = g->written_end = 0;
    return r;
}

void em_graphics_view_end(struct em_graphics *g)
{
    if (g->allocation)
        em_memory_leave(g->allocation);
    if (g->shape.kind == EM_GRAPHICS_IMAGE)
        end_image(g);
    em_graphics_window_unref(g->window);
    g->window = NULL;
}
