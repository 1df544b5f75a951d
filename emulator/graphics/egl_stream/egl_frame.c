// SPDX-License-Identifier: MIT
// Frames of EGL streams: their checks, and the consumer's views of them.
#include "egl_frame.h"

#include <assert.h>

#include "alloc.h"
#include "device.h"
#include "egl_color.h"
#include "error.h"
#include "format.h"
#include "graphics_memory.h"
#include "lock.h"
#include "memory.h"
#include "physical.h"
#include "quirk.h"

// ---- the producer's frame ----

static CUresult keep_array(const struct em_egl_frame *f, unsigned i, struct em_egl_plane *p)
{
    struct em_array *a;
    // The driver returns CUDA_ERROR_INVALID_VALUE for an array that has been destroyed.
    CUresult r = em_object_get(EM_ARRAY, f->plane[i], CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        return r;
    // The driver checks that the first plane is as large as the frame. It does not check the
    // format, channels, slices and layers.
    if (!i && (a->desc.Width != f->width || a->desc.Height != f->height))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the frame is %ux%u, but its first array is %zux%zu", f->width, f->height,
                       a->desc.Width, a->desc.Height);
    p->storage = a->storage;
    p->level = a->level;
    p->desc = a->desc;
    em_storage_ref(p->storage);
    return CUDA_SUCCESS;
}

static CUresult keep_memory(const struct em_egl_frame *f, unsigned i, struct em_egl_plane *p)
{
    struct em_allocation *a;
    CUresult r =
        em_memory_get(f->plane[i], 1, "a plane of the frame", CUDA_ERROR_INVALID_HANDLE, &a);
    if (r)
        return r;
    // The driver refuses memory of cuMemAllocAsync and cuMemMap. Managed memory crashes it.
    if (a->kind == EM_MEMORY_POOLED || a->kind == EM_MEMORY_MANAGED ||
        a->kind == EM_MEMORY_VIRTUAL || a->kind == EM_MEMORY_GRAPHICS)
        return em_fail(
            CUDA_ERROR_INVALID_HANDLE,
            "plane %u is memory that an EGLStream does not support; allocate it with cuMemAlloc",
            i);
    p->offset_B = a->physical_offset + (f->plane[i] - a->base);
    p->have_B = a->size - (f->plane[i] - a->base);
    p->whole = f->plane[i] == a->base;
    if (a->physical)
        p->physical = dm_physical_ref(a->physical);
    return CUDA_SUCCESS;
}

// The driver does not check extents, pitch and depth.
static CUresult check_format(const struct em_egl_frame *f)
{
    unsigned planes = em_egl_color_planes(f->color);
    if (f->type > EM_EGL_PITCH || !planes)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "frameType (%u) or eglColorFormat (%#x) is unknown", f->type, f->color);
    if (f->planes != planes || !em_egl_color_has_channels(f->color, f->channels))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "planeCount (%u) or numChannels (%u) does not match eglColorFormat %#x, which has %u "
            "planes",
            f->planes, f->channels, f->color, planes);
    if (!em_egl_color_takes(f->color, f->format))
        return em_fail(CUDA_ERROR_UNKNOWN, "cuFormat (%#x) does not match eglColorFormat %#x",
                       f->format, f->color);
    return CUDA_SUCCESS;
}

static struct em_egl_key key_of(const struct em_egl_frame *f)
{
    return (struct em_egl_key){
        .plane = {f->plane[0], f->planes > 1 ? f->plane[1] : 0, f->planes > 2 ? f->plane[2] : 0},
        .rest = {f->width, f->height, f->depth, f->pitch, f->planes, f->channels, f->type, f->color,
                 f->format},
    };
}

CUresult em_egl_keep(const struct em_egl_frame *frame, struct em_egl_kept **out)
{
    em_assert_locked();
    CUresult r = check_format(frame);
    if (r)
        return r;
    struct em_egl_kept *k = dm_calloc(1, sizeof *k);
    if (!k)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking a frame");
    k->references = 1;
    k->data = *frame;
    k->key = key_of(frame);
    for (unsigned i = 0; !r && i < frame->planes; i++)
        r = frame->type == EM_EGL_ARRAY ? keep_array(frame, i, &k->plane[i])
                                        : keep_memory(frame, i, &k->plane[i]);
    if (r)
        em_egl_unref(k);
    else
        *out = k;
    return r;
}

void em_egl_unref(struct em_egl_kept *k)
{
    em_assert_locked();
    if (!k || --k->references)
        return;
    assert(!k->listed);
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++) {
        if (k->plane[i].storage)
            em_storage_unref(k->plane[i].storage);
        if (k->plane[i].physical)
            dm_physical_unref(k->plane[i].physical);
    }
    dm_free(k);
}

// ---- the consumer's view ----

static void close_planes(struct em_egl_view *v)
{
    // If the context ends, handles may end before the view.
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++) {
        if (v->allocation[i])
            em_memory_remove(v->allocation[i]);
        if (!v->array[i])
            continue;
        if (em_object_peek(EM_ARRAY, v->array[i]->object.handle))
            em_array_retire(v->array[i]);
        em_object_unref(&v->array[i]->object);
        v->array[i] = NULL;
    }
}

static void view_finish(struct em_object *object)
{
    struct em_egl_view *v = (struct em_egl_view *)object;
    close_planes(v);
    em_egl_unref(v->kept);
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++)
        em_graphics_memory_unref(v->memory[i]);
    dm_free(v);
}

static void allocation_release(struct em_allocation *a)
{
    struct em_egl_view *v = a->owner;
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++)
        if (v->allocation[i] == a)
            v->allocation[i] = NULL;
    dm_free(a);
}

static CUresult open_array(struct em_egl_view *v, const struct em_egl_plane *p, unsigned i)
{
    CUresult r =
        em_array_start(v->frame.object.context, &p->desc, p->storage, p->level, &v->array[i]);
    if (r)
        return r;
    v->array[i]->lent = true;
    em_object_ref(&v->array[i]->object);
    v->shown.plane[i] = v->array[i]->object.handle;
    return CUDA_SUCCESS;
}

// For the driver, a plane that begins with its allocation is all of the allocation. A plane that
// begins inside has the frame's rows, which must fit.
static CUresult open_memory(struct em_egl_view *v, const struct em_egl_plane *p, unsigned i)
{
    struct em_context *context = v->frame.object.context;
    uint64_t size_B = p->whole ? p->have_B : (uint64_t)v->shown.pitch * v->shown.height;
    if (!size_B || (!i && size_B > p->have_B))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "%u rows of %u bytes exceed the frame's memory, which has %llu bytes from its "
            "first plane on",
            v->shown.height, v->shown.pitch, (unsigned long long)p->have_B);
    if (size_B > p->have_B) // how many rows of chroma there are depends on the format
        size_B = p->have_B;
    struct em_graphics_shape shape = {.physical = p->physical, .physical_offset = p->offset_B};
    CUresult r = em_graphics_memory_new(context->device, &shape, size_B, &v->memory[i]);
    struct em_allocation *a = r ? NULL : dm_calloc(1, sizeof *a);
    if (!a)
        return r ? r
                 : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking a frame");
    a->base = v->memory[i]->address;
    a->size = size_B;
    a->kind = EM_MEMORY_GRAPHICS;
    a->context = context;
    a->device = context->device->ordinal;
    a->physical = p->physical;
    a->physical_offset = p->offset_B;
    a->owner = v;
    a->release = allocation_release;
    r = em_memory_enter(a);
    if (r) {
        dm_free(a);
        return r;
    }
    v->allocation[i] = a;
    v->shown.plane[i] = a->base;
    return CUDA_SUCCESS;
}

static bool has_arrays(const struct em_graphics_frame *frame)
{
    return ((const struct em_egl_view *)frame)->data.type == EM_EGL_ARRAY;
}

static const struct em_graphics_frame_ops frame_ops = {.has_arrays = has_arrays};

CUresult em_egl_view_open(struct em_context *context, const void *owner,
                          const struct em_egl_kept *kept, struct em_egl_view **out)
{
    em_assert_locked();
    const struct em_egl_frame *f = &kept->data;
    if (!em_egl_color_can_be_acquired(f->color, f->format))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "eglColorFormat %#x with cuFormat %#x can be presented but not acquired",
                       f->color, f->format);
    struct em_egl_view *v = dm_calloc(1, sizeof *v);
    CUresult r = v ? em_object_start(&v->frame.object, EM_EGL_FRAME, context, view_finish)
                   : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking a frame");
    if (r) {
        dm_free(v);
        return r;
    }
    v->frame.ops = &frame_ops;
    v->owner = owner;
    v->key = kept->key;
    v->data = v->shown = *f;
    v->shown.depth = 0;
    if (em_quirk(EGL_FRAME_FORMATS))
        em_egl_color_as_reported(&v->shown.color, &v->shown.format);
    if (!f->pitch)
        v->shown.pitch = f->width * f->channels * dm_format_info(f->format)->channel_B;
    for (unsigned i = 0; !r && i < f->planes; i++) {
        if (f->type == EM_EGL_ARRAY)
            r = open_array(v, &kept->plane[i], i);
        else if (kept->plane[i].physical)
            r = open_memory(v, &kept->plane[i], i);
    }
    if (r)
        em_egl_view_end(v);
    else
        *out = v;
    return r;
}

void em_egl_view_end(struct em_egl_view *v)
{
    em_assert_locked();
    em_egl_unref(v->kept);
    v->kept = NULL;
    close_planes(v);
    if (em_object_peek(EM_EGL_FRAME, v->frame.object.handle))
        em_object_retire(&v->frame.object);
}
