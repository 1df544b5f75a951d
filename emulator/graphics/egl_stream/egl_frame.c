// SPDX-License-Identifier: MIT
// Frames of EGL streams: their checks, and the consumer's views of them.
#include "egl_frame.h"

#include "alloc.h"
#include "device.h"
#include "egl_color.h"
#include "error.h"
#include "format.h"
#include "graphics_memory.h"
#include "memory.h"
#include "physical.h"
#include "quirk.h"

// ---- what a producer may present ----

static CUresult keep_array(const struct em_egl_frame *f, unsigned i, struct em_egl_plane *p)
{
    struct em_array *a;
    // Silicon: CUDA_ERROR_INVALID_VALUE of an array that is none any more.
    CUresult r = em_object_get(EM_ARRAY, f->plane[i], CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        return r;
    // Silicon: the first plane is as large as the frame. Its format, channels, slices and layers
    // may be any.
    if (!i && (a->desc.Width != f->width || a->desc.Height != f->height))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a frame of %ux%u in an array of %zux%zu",
                       f->width, f->height, a->desc.Width, a->desc.Height);
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
    // Silicon: what cuMemAllocAsync and cuMemMap give is refused. (Managed memory crashes the
    // driver.)
    if (a->kind == EM_MEMORY_POOLED || a->kind == EM_MEMORY_MANAGED ||
        a->kind == EM_MEMORY_VIRTUAL || a->kind == EM_MEMORY_GRAPHICS)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "plane %u lies in memory that an EGLStream does not take; use cuMemAlloc",
                       i);
    p->offset_B = a->physical_offset + (f->plane[i] - a->base);
    p->have_B = a->size - (f->plane[i] - a->base);
    p->whole = f->plane[i] == a->base;
    if (a->physical)
        p->physical = dm_physical_ref(a->physical);
    return CUDA_SUCCESS;
}

// Silicon: extents, pitch and depth may be any.
static CUresult check_format(const struct em_egl_frame *f)
{
    unsigned planes = em_egl_color_planes(f->color);
    if (f->type > EM_EGL_PITCH || !planes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a frame of type %u, colour format %#x", f->type,
                       f->color);
    if (f->planes != planes || !em_egl_color_has_channels(f->color, f->channels))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "a frame of %u planes and %u channels does not go with colour format %#x, "
                       "which has %u planes",
                       f->planes, f->channels, f->color, planes);
    if (!em_egl_color_takes(f->color, f->format))
        return em_fail(CUDA_ERROR_UNKNOWN,
                       "samples of CUarray_format %#x do not go with colour format %#x", f->format,
                       f->color);
    return CUDA_SUCCESS;
}

CUresult em_egl_keep(const struct em_egl_frame *frame, struct em_egl_kept **out)
{
    CUresult r = check_format(frame);
    if (r)
        return r;
    struct em_egl_kept *k = dm_calloc(1, sizeof *k);
    if (!k)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a frame");
    k->references = 1;
    k->data = *frame;
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
    if (!k || --k->references)
        return;
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++) {
        if (k->plane[i].storage)
            em_storage_unref(k->plane[i].storage);
        if (k->plane[i].physical)
            dm_physical_unref(k->plane[i].physical);
    }
    dm_free(k);
}

// ---- what a consumer has of it ----

static void close_planes(struct em_egl_view *v)
{
    // Where the context ends, handles may be gone before the view is.
    for (unsigned i = 0; i < EM_EGL_PLANES_MAX; i++) {
        if (v->allocation[i])
            em_memory_leave(v->allocation[i]);
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
    CUresult r = em_array_start(v->frame.object.context, &p->desc, p->storage, p->level, &v->array[i]);
    if (r)
        return r;
    v->array[i]->lent = true;
    em_object_ref(&v->array[i]->object);
    v->shown.plane[i] = v->array[i]->object.handle;
    return CUDA_SUCCESS;
}

// Silicon: a plane at the first byte of its allocation is all of it; one inside is as many rows as
// the frame has, which must be there.
static CUresult open_memory(struct em_egl_view *v, const struct em_egl_plane *p, unsigned i)
{
    struct em_context *context = v->frame.object.context;
    uint64_t size_B = p->whole ? p->have_B : (uint64_t)v->shown.pitch * v->shown.height;
    if (!size_B || (!i && size_B > p->have_B))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%u rows of %u bytes do not lie in the frame's memory, which has %llu bytes "
                       "from there on",
                       v->shown.height, v->shown.pitch, (unsigned long long)p->have_B);
    if (size_B > p->have_B) // how many rows of chroma there are depends on the format
        size_B = p->have_B;
    struct em_graphics_shape shape = {.physical = p->physical, .physical_offset = p->offset_B};
    CUresult r = em_graphics_memory_new(context->device, &shape, size_B, &v->memory[i]);
    struct em_allocation *a = r ? NULL : dm_calloc(1, sizeof *a);
    if (!a)
        return r ? r : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a frame");
    a->base = v->memory[i]->address;
    a->size = size_B;
    a->kind = EM_MEMORY_GRAPHICS;
    a->context = context;
    a->device = context->device->ordinal;
    a->physical = p->physical;
    a->physical_offset = p->offset_B;
    a->owner = v;
    a->release = allocation_release;
    if ((r = em_memory_enter(a))) {
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
    const struct em_egl_frame *f = &kept->data;
    if (!em_egl_color_can_be_acquired(f->color, f->format))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "eglColorFormat %#x with cuFormat %#x can be presented but not acquired",
                       f->color, f->format);
    struct em_egl_view *v = dm_calloc(1, sizeof *v);
    CUresult r = v ? em_object_start(&v->frame.object, EM_EGL_FRAME, context, view_finish)
                   : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a frame");
    if (r) {
        dm_free(v);
        return r;
    }
    v->frame.ops = &frame_ops;
    v->owner = owner;
    v->data = v->shown = *f;
    v->shown.depth = 0;
    if (em_quirk(EGL_FRAME_AS_TOLD))
        em_egl_color_as_told(&v->shown.color, &v->shown.format);
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
    em_egl_unref(v->kept);
    v->kept = NULL;
    close_planes(v);
    if (em_object_peek(EM_EGL_FRAME, v->frame.object.handle))
        em_object_retire(&v->frame.object);
}
