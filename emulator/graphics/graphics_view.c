// SPDX-License-Identifier: MIT
// The arrays of a mapped image, and the program's view of a mapping as a whole.
#include <string.h>

#include "alloc.h"
#include "config.h"
#include "error.h"
#include "graphics_resource.h"
#include "lock.h"
#include "quirk.h"

// ---- images ----

// The storage of an image, or of one of its layers.
struct view_storage {
    struct em_storage storage;
    struct em_graphics *graphics;      // NULL: the resource has ended
    struct em_graphics_window *window; // a reference
    uint32_t first_layer;
    struct em_graphics *keeper; // keeps the memory of this struct when the storage ends, or NULL
};

static void view_image_release(struct em_storage *storage)
{
    struct view_storage *s = storage->owner;
    em_graphics_window_unref(s->window);
    if (s->keeper && !s->keeper->spare)
        s->keeper->spare = s;
    else
        dm_free(s);
}

static struct em_graphics_part view_part(const struct em_access *access)
{
    const struct em_storage *storage = access->owner;
    const struct view_storage *s = storage->owner;
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
static enum em_access_mode view_mode(const struct em_access *access)
{
    uint32_t element_B = ((const struct em_storage *)access->owner)->layout.element_B;
    bool whole = !(access->at.x_B % element_B || access->extent.width_B % element_B);
    return access->mode == EM_ACCESS_WRITE && !whole ? EM_ACCESS_WRITE_SOME : access->mode;
}

static bool view_access_begin(struct em_access *access)
{
    struct em_graphics *g =
        ((struct view_storage *)((struct em_storage *)access->owner)->owner)->graphics;
    access->watcher = NULL;
    if (!g)
        return false;
    em_graphics_watch_begin(access, g);
    struct em_graphics_part part = view_part(access);
    return em_graphics_access_begin(g, &part, view_mode(access));
}

static void view_make_resident(struct em_access *access, bool may_wait)
{
    struct em_graphics_part part = view_part(access);
    em_graphics_make_resident(access->watcher, &part, view_mode(access), may_wait);
}

static bool view_copy_directly(struct em_access *access, const struct em_rows *rows)
{
    struct em_graphics_part part = view_part(access);
    uint32_t element_B = ((const struct em_storage *)access->owner)->layout.element_B;
    bool whole = !(access->at.x_B % element_B || access->extent.width_B % element_B);
    return whole && em_graphics_copy_directly(access->watcher, &part, access->mode, rows);
}

static void view_access_end(struct em_access *access, CUresult result)
{
    struct em_graphics_part part = view_part(access);
    if (access->watcher)
        em_graphics_watch_end(access, &part, view_mode(access), result);
}

static const struct em_watch_ops view_watch_ops = {.begin = view_access_begin,
                                                   .make_resident = view_make_resident,
                                                   .copy_directly = view_copy_directly,
                                                   .end = view_access_end};

static CUresult view_storage_new(struct em_graphics *g, const struct dm_layout *layout,
                                 uint32_t first_layer, struct em_storage **out)
{
    struct view_storage *s = g->spare ? g->spare : dm_alloc(sizeof *s);
    g->spare = NULL;
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while mapping a graphics resource");
    s->graphics = g;
    s->window = g->window;
    s->window->references++;
    s->first_layer = first_layer;
    s->keeper = NULL;
    s->storage = (struct em_storage){
        .references = 1,
        .layout = *layout,
        .address = g->window->address,
        .size_B = layout->total_B,
        .of_graphics = true,
        .owner = s,
        .release = view_image_release,
        .watch = &view_watch_ops,
    };
    *out = &s->storage;
    return CUDA_SUCCESS;
}

static CUresult view_storage_whole(struct em_graphics *g, struct em_storage **out)
{
    CUresult r = g->storage ? CUDA_SUCCESS : view_storage_new(g, &g->layout, 0, &g->storage);
    *out = g->storage;
    return r;
}

// A layer is a two-dimensional image. Its levels begin at that layer.
static CUresult view_storage_layer(struct em_graphics *g, uint32_t layer, struct em_storage **out)
{
    struct dm_layout layout;
    CUresult r = CUDA_SUCCESS;
    if (!g->layer[layer] && !dm_layout_layer(&g->layout, layer, &layout))
        r = view_storage_new(g, &layout, layer, &g->layer[layer]);
    *out = g->layer[layer];
    return r;
}

static uint32_t view_layers(const struct em_graphics *g)
{
    return g->shape.layers ? g->shape.layers : 1;
}

static CUDA_ARRAY3D_DESCRIPTOR view_describe(const struct em_graphics *g, bool whole)
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
    // The driver counts layers in Depth, but not the faces of a cube (recorded: x_graphics mip-*).
    if (whole && g->shape.cube)
        d.Flags |= CUDA_ARRAY3D_CUBEMAP;
    else if (whole && g->shape.layers) {
        d.Flags |= CUDA_ARRAY3D_LAYERED;
        d.Depth = g->shape.layers;
    }
    return d;
}

static CUresult view_array_new(struct em_graphics *g, unsigned index, unsigned level,
                               struct em_array **slot)
{
    CUDA_ARRAY3D_DESCRIPTOR d = view_describe(g, false);
    struct em_storage *storage;
    CUresult r =
        g->shape.layers ? view_storage_layer(g, index, &storage) : view_storage_whole(g, &storage);
    if (r)
        return r;
    size_t *extents[] = {&d.Width, &d.Height, &d.Depth};
    for (unsigned i = 0; i < 3; i++)
        *extents[i] = dm_layout_minify(*extents[i], level);
    struct em_array *a;
    r = em_array_start(g->object.context, &d, storage, level, &a);
    if (r)
        return r;
    a->lent = true;
    em_object_ref(&a->object);
    *slot = a;
    return CUDA_SUCCESS;
}

// Finds a mapped image. `view` names the kind of array that the program asks for. Precondition:
// em_lock held.
static CUresult view_get_image(CUgraphicsResource resource, const char *view,
                               struct em_graphics **out)
{
    em_assert_locked();
    char text[160];
    CUresult r = em_graphics_get(resource, out);
    if (!r && !(*out)->mapped)
        r = em_mistake(G05, CUDA_ERROR_NOT_MAPPED, "%s is not mapped, so it has no %s",
                       em_graphics_text(*out, text, sizeof text), view);
    // "If resource is not a texture then it cannot be accessed via an array and
    // CUDA_ERROR_NOT_MAPPED_AS_ARRAY is returned."
    if (!r && (*out)->shape.kind != EM_GRAPHICS_IMAGE)
        r = em_mistake(G04, CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                       "%s is a buffer; only images have arrays",
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
    CUresult r = frame && !frame->ops->has_arrays(frame)
                     ? em_fail(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                               "the frame lies in pitched memory, so it has no arrays")
                     : view_get_image(resource, "array", &g);
    if (r)
        goto unlock;
    // "If arrayIndex is not a valid array index … or mipLevel is not a valid mipmap level for
    // resource then CUDA_ERROR_INVALID_VALUE is returned."
    if (g->shape.persistent)
        index = level = 0;
    if (index >= view_layers(g) || level < g->shape.first_level ||
        level - g->shape.first_level >= g->shape.levels) {
        r = em_mistake(G17, CUDA_ERROR_INVALID_VALUE,
                       "arrayIndex %u, mipLevel %u: %s has %u layers and the levels %u to %u",
                       index, level, em_graphics_text(g, text, sizeof text), view_layers(g),
                       g->shape.first_level, g->shape.first_level + g->shape.levels - 1);
        goto unlock;
    }
    level -= g->shape.first_level;
    struct em_array **slot = &g->array[index * g->shape.levels + level];
    if (!*slot)
        r = view_array_new(g, index, level, slot);
    if (r)
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
    CUresult r = view_get_image(resource, "mipmapped array", &g);
    if (!r && g->shape.persistent)
        r = em_fail(CUDA_ERROR_UNKNOWN,
                    "the resource is an EGLImage, which has no mipmapped array");
    bool is_new = !r && !g->mipmap;
    if (is_new)
        r = view_storage_whole(g, &storage);
    if (is_new && !r) {
        struct em_array_plan plan = {
            .desc = view_describe(g, true), .levels = g->shape.levels, .layout = g->layout};
        CUmipmappedArray handle;
        em_storage_ref(storage);
        r = em_mipmap_start(g->object.context, &plan, storage, &handle);
        if (!r) {
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

// Drops the resource's reference to a storage. Objects that were made on the storage keep the bytes
// alive, but accesses are no longer watched.
static void view_storage_drop(struct em_graphics *g, struct em_storage **slot)
{
    if (!*slot)
        return;
    struct view_storage *s = (*slot)->owner;
    s->graphics = NULL;
    if (s->storage.references == 1)
        s->keeper = g;
    s->storage.stale_reason = "an image of a graphics resource that has been unregistered";
    em_storage_unref(*slot);
    *slot = NULL;
}

static void view_end_image(struct em_graphics *g)
{
    // If the context ends, handles may end before the resource.
    for (uint32_t i = 0; i < view_layers(g) * g->shape.levels; i++) {
        if (!g->array[i])
            continue;
        if (em_object_peek(EM_ARRAY, g->array[i]->object.handle))
            em_object_end(&g->array[i]->object, EM_END_UNMAP);
        em_object_unref(&g->array[i]->object);
        g->array[i] = NULL;
    }
    if (g->mipmap) {
        if (em_object_peek(EM_MIPMAP, g->mipmap->object.handle))
            em_mipmap_retire(g->mipmap, EM_END_UNMAP);
        em_object_unref(&g->mipmap->object);
        g->mipmap = NULL;
    }
    for (uint32_t i = 0; i < g->shape.layers; i++)
        view_storage_drop(g, &g->layer[i]);
    view_storage_drop(g, &g->storage);
}

// ---- the view as a whole ----

CUresult em_graphics_view_begin(struct em_graphics *g)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    bool is_new = !g->window, strict = em_config()->personality == EM_MANUAL;
    // With a seed, `manual` gives each mapping other addresses, so that programs which keep a
    // pointer fail. Two resources of the same bytes have different pointers.
    bool elsewhere = (strict && em_config()->have_seed) ||
                     (g->shape.kind == EM_GRAPHICS_BUFFER && g->memory->shown);
    if (is_new)
        r = em_graphics_window_open(g->memory, elsewhere, &g->window);
    if (r)
        return r;
    if (g->shape.kind == EM_GRAPHICS_BUFFER && !g->allocation)
        r = em_graphics_pointer_begin(g);
    if (r && is_new) {
        em_graphics_window_unref(g->window);
        g->window = NULL;
    }
    g->poisoned = g->reported_write = g->reported_read = false;
    g->written_first = g->written_end = 0;
    return r;
}

void em_graphics_view_end(struct em_graphics *g)
{
    em_assert_locked();
    if (g->allocation)
        em_memory_remove(g->allocation);
    if (g->shape.kind == EM_GRAPHICS_IMAGE)
        view_end_image(g);
    em_graphics_window_unref(g->window);
    g->window = NULL;
}
