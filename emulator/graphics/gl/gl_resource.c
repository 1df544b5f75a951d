// SPDX-License-Identifier: MIT
// What of OpenGL registers, and how the core of graphics resources reaches it.
#include "gl_resource.h"

#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "gl_old.h"
#include "gl_shadow.h"
#include "gl_window.h"
#include "graphics.h"
#include "lock.h"

struct resource {
    struct em_gl_shadow *shadow; // a reference
    bool mapped;
    struct em_gl_old *old; // how the calls of CUDA 2 find it; NULL: they do not
};

// ---- the backend

static CUresult flush(void)
{
    CUresult r = em_gl_need_context();
    if (!r)
        em_gl_window_finish();
    return r;
}

static enum em_graphics_status check(void *owner)
{
    switch (em_gl_object_status(((struct resource *)owner)->shadow->object)) {
    case EM_GL_GONE:
        return EM_GRAPHICS_LOST;
    case EM_GL_MISSING:
        return EM_GRAPHICS_DELETED;
    default:
        return EM_GRAPHICS_OK; // whether it has another size is seen when bytes move: asking each
                               // time would cost more than all the rest
    }
}

static const char *text(void *owner, char *out, size_t room)
{
    const struct em_gl_object *o = ((struct resource *)owner)->shadow->object;
    if (o->kind == EM_GL_EGL_IMAGE)
        snprintf(out, room, "EGLImage %p", o->egl_image);
    else
        snprintf(out, room, "%s %u", em_gl_kind_text(o->kind), o->name);
    return out;
}

static CUresult acquire(void *owner, uint64_t sequence, unsigned flags)
{
    struct resource *r = owner;
    (void)sequence;
    if (!r->mapped)
        em_gl_shadow_map(r->shadow, !(flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    r->mapped = true;
    return CUDA_SUCCESS;
}

// What of a part the object has. False: nothing.
static bool box_of(const struct em_gl_shadow *m, const struct em_graphics_part *part,
                   struct em_gl_box *out)
{
    if (!m->size_B) {
        *out =
            (struct em_gl_box){part->x, part->width, part->y, part->z, part->height, part->depth};
        return part->width && part->height && part->depth;
    }
    uint64_t room = part->offset_B < m->size_B ? m->size_B - part->offset_B : 0;
    *out = (struct em_gl_box){.x = part->offset_B,
                              .width = part->size_B < room ? part->size_B : room,
                              .height = 1,
                              .depth = 1};
    return out->width;
}

static void written(void *owner, const struct em_graphics_part *part, CUresult result)
{
    struct em_gl_shadow *m = ((struct resource *)owner)->shadow;
    struct em_gl_box box;
    if (box_of(m, part, &box))
        em_gl_shadow_end_write(m, owner, m->size_B ? 0 : part->level, &box, !result);
}

static void make_resident(void *owner, const struct em_graphics_part *part,
                          enum em_access_mode mode)
{
    struct resource *r = owner;
    struct em_gl_shadow *m = r->shadow;
    struct em_gl_box box;
    if (part && !box_of(m, part, &box))
        return;
    em_lock();
    em_gl_shadow_wait(m);
    if (r->mapped)
        em_gl_shadow_make_resident(m, r, part && !m->size_B ? part->level : 0, part ? &box : NULL,
                                   mode);
    em_unlock();
}

static bool discard(void *owner)
{
    return em_gl_shadow_discard(((struct resource *)owner)->shadow);
}

static CUresult release(void *owner, uint64_t sequence, bool keep)
{
    (void)sequence;
    struct resource *r = owner;
    const struct em_gl_object *o = r->shadow->object;
    bool mapped = r->mapped;
    r->mapped = false;
    if (!mapped || em_gl_shadow_unmap(r->shadow, r, keep))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_UNKNOWN, "OpenGL %s %u did not take what CUDA has written",
                   em_gl_kind_text(o->kind), o->name);
}

static void copied(void *owner, uint64_t *to_cuda_B, uint64_t *to_graphics_B)
{
    const struct em_gl_shadow *m = ((struct resource *)owner)->shadow;
    *to_cuda_B = m->to_cuda_B;
    *to_graphics_B = m->to_graphics_B;
}

static void close_resource(void *owner)
{
    struct resource *r = owner;
    if (r->mapped)
        em_gl_shadow_unmap(r->shadow, r, false);
    em_gl_old_forget(r->old);
    em_gl_shadow_unref(r->shadow);
    dm_free(r);
}

static const struct em_graphics_ops opengl = {
    .api = "OpenGL",
    .flush = flush,
    .present = em_gl_need_context,
    .check = check,
    .text = text,
    .acquire = acquire,
    .make_resident = make_resident,
    .written = written,
    .discard = discard,
    .release = release,
    .copied = copied,
    .close = close_resource,
};

struct em_gl_old **em_gl_resource_old(CUgraphicsResource resource)
{
    struct resource *r = em_graphics_owner(resource, &opengl);
    return r ? &r->old : NULL;
}

// ---- registration

CUresult em_gl_need_context(void)
{
    return em_gl_window_current().system != GL_SYSTEM_NONE
               ? CUDA_SUCCESS
               : em_mistake(G12, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                            "no OpenGL context is current in this thread");
}

static CUresult refused(enum em_gl_kind kind, unsigned name, enum em_gl_status status)
{
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    if (status == EM_GL_MISSING || status == EM_GL_GONE)
        code = CUDA_ERROR_INVALID_HANDLE;
    else if (status == EM_GL_NO_MEMORY ||
             (status == EM_GL_NO_STORAGE &&
              kind == EM_GL_BUFFER)) // silicon: x_graphics buffer/size-0
        code = CUDA_ERROR_OUT_OF_MEMORY;
    else if (status == EM_GL_REFUSED)
        code = CUDA_ERROR_UNKNOWN;
    if (status == EM_GL_MULTISAMPLE || status == EM_GL_NO_STORAGE)
        return em_mistake(G11, code, "OpenGL %s %u: %s", em_gl_kind_text(kind), name,
                          em_gl_status_text(status));
    return em_fail(code, "OpenGL %s %u: %s", em_gl_kind_text(kind), name,
                   em_gl_status_text(status));
}

static CUresult open_object(enum em_gl_kind kind, unsigned name, struct em_gl_object **out)
{
    struct em_gl_group *group;
    CUresult r = em_gl_group_enter(&group);
    if (r)
        return r;
    enum em_gl_status status = em_gl_object_open(group, kind, name, out);
    em_gl_group_unref(group);
    return status ? refused(kind, name, status) : CUDA_SUCCESS;
}

// Hands the object to the core; it is closed on failure.
static CUresult enter(const struct em_graphics_ops *ops, struct em_gl_object *object,
                      struct em_graphics_shape *shape, unsigned flags, CUgraphicsResource *out)
{
    struct resource *resource = dm_calloc(1, sizeof *resource);
    if (!resource) {
        em_gl_object_close(object);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    }
    CUresult r = em_gl_shadow_open(object, shape, em_self.current->device, &resource->shadow);
    if (r) {
        dm_free(resource);
        return r;
    }
    shape->memory = resource->shadow->memory;
    if ((r = em_graphics_register(ops, resource, shape, flags, out))) {
        em_lock();
        close_resource(resource);
        em_unlock();
    }
    return r;
}

CUresult em_gl_register_buffer(unsigned buffer, unsigned flags, CUgraphicsResource *out)
{
    struct em_gl_object *object;
    CUresult r = em_graphics_check_flags(EM_GRAPHICS_BUFFER, flags);
    if (r)
        return r;
    if (!buffer)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "buffer 0 is OpenGL's name for none");
    if ((r = open_object(EM_GL_BUFFER, buffer, &object)))
        return r;
    struct em_graphics_shape shape = {.kind = EM_GRAPHICS_BUFFER, .size_B = object->size_B};
    return enter(&opengl, object, &shape, flags, out);
}

// "target must match the type of the object, and must be one of GL_TEXTURE_2D,
// GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY, or
// GL_RENDERBUFFER." The card takes the target's word for what a texture is
// (levels/wrong-target-3D-of-2D).
static CUresult check_target(unsigned target, unsigned flags)
{
    switch (target) {
    case GL_TEXTURE_2D:
    case GL_TEXTURE_RECTANGLE:
    case GL_TEXTURE_CUBE_MAP:
    case GL_RENDERBUFFER:
        return CUDA_SUCCESS;
    case GL_TEXTURE_3D:
    case GL_TEXTURE_2D_ARRAY:
        return flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER
                   ? em_mistake(G10, CUDA_ERROR_INVALID_VALUE,
                                "CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER: 3D textures and 2D "
                                "arrays are not gathered from")
                   : CUDA_SUCCESS;
    default:
        return em_mistake(G11, CUDA_ERROR_INVALID_VALUE,
                          "target %#x: only GL_TEXTURE_2D, _RECTANGLE, _CUBE_MAP, _3D, _2D_ARRAY "
                          "and GL_RENDERBUFFER can be registered",
                          target);
    }
}

// What CUDA shows of an image that is registered for a target. A texture with more than one level,
// or with a base level, shows the whole chain from there on, be it there or not.
static struct em_graphics_shape shape_of(const struct em_gl_image *image, unsigned target)
{
    struct em_graphics_shape s = {
        .kind = EM_GRAPHICS_IMAGE,
        .width = image->width,
        .height = image->height,
        .depth = target == GL_TEXTURE_3D ? image->depth : 0,
        .layers = target == GL_TEXTURE_2D_ARRAY   ? image->depth
                  : target == GL_TEXTURE_CUBE_MAP ? 6
                                                  : 0,
        .cube = target == GL_TEXTURE_CUBE_MAP,
        .levels = 1,
        .first_level = image->base,
        .format = image->transfer.array_format,
        .channels = image->transfer.channels,
        .element_B = image->transfer.element_B,
        .layout = DM_LAYOUT_LLVMPIPE, // linear rows, as OpenGL takes and gives them
    };
    if (image->levels > 1 || image->base)
        s.levels = dm_layout_levels_most(s.width, s.height, s.depth);
    return s;
}

CUresult em_gl_register_image(unsigned image, unsigned target, unsigned flags,
                              CUgraphicsResource *out)
{
    struct em_gl_object *object;
    CUresult r = em_graphics_check_flags(EM_GRAPHICS_IMAGE, flags);
    if (r || (r = check_target(target, flags)))
        return r;
    if (!image)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "image 0 is OpenGL's name for none");
    if ((r = open_object(target == GL_RENDERBUFFER ? EM_GL_RENDERBUFFER : EM_GL_TEXTURE, image,
                         &object)))
        return r;
    if (!object->image.shown) {
        r = em_mistake(G11, CUDA_ERROR_INVALID_VALUE,
                       "%s %u has the internal format %#x: CUDA has arrays for formats of 1 to 4 "
                       "like channels of 8, 16 or 32 bits",
                       em_gl_kind_text(object->kind), image, object->image.format.number);
        em_gl_object_close(object);
        return r;
    }
    struct em_graphics_shape shape = shape_of(&object->image, target);
    return enter(&opengl, object, &shape, flags, out);
}

// ---- EGLImages

// The program orders CUDA's work and others' itself; any thread may work with it.
static const struct em_graphics_ops egl_image = {
    .api = "EGL",
    .check = check,
    .text = text,
    .acquire = acquire,
    .make_resident = make_resident,
    .written = written,
    .discard = discard,
    .release = release,
    .copied = copied,
    .close = close_resource,
};

// Silicon (gl-graphics eglimage/format-*): one channel of eight bits, two normalised ones of
// sixteen, four of any kind. `*color` gets the frame's CUeglColorFormat.
static CUresult check_egl_format(const struct em_gl_image *image, unsigned *color)
{
    enum { COLOR_ABGR = 0x0e, COLOR_RG = 0x11, COLOR_Y = 0x52 };
    const struct gl_transfer *t = &image->transfer;
    bool unorm = image->format.kind == GL_KIND_UNORM,
         srgb = em_gl_format_is_srgb(image->format.number);
    if (!image->shown || srgb || image->format.base == GL_BASE_RGB || (t->channels < 4 && !unorm))
        return em_mistake(G11, CUDA_ERROR_INVALID_VALUE, "an EGLImage of internal format %#x",
                          image->format.number);
    if ((t->channels == 1 && t->element_B != 1) || (t->channels == 2 && t->element_B != 4))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "an EGLImage of internal format %#x",
                       image->format.number);
    *color = t->channels == 1 ? COLOR_Y : t->channels == 2 ? COLOR_RG : COLOR_ABGR;
    return CUDA_SUCCESS;
}

CUresult em_gl_register_egl_image(void *image, unsigned flags, CUgraphicsResource *out)
{
    struct em_gl_group *group;
    struct em_gl_object *object;
    if (flags > CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD)
        return em_mistake(G10, CUDA_ERROR_INVALID_VALUE,
                          "flags %#x of an EGLImage: NONE, READ_ONLY or WRITE_DISCARD", flags);
    if (!image)
        return em_fail(CUDA_ERROR_UNKNOWN, "the EGLImage is EGL_NO_IMAGE");
    if (!em_gl_group_enter_egl(&group))
        return em_mistake(G12, CUDA_ERROR_UNKNOWN,
                          "no OpenGL context of EGL is current in this thread, so that the "
                          "EGLImage's display is not known");
    enum em_gl_status status = em_gl_egl_image_open(group, image, &object);
    em_gl_group_unref(group);
    if (status)
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLImage %p: %s", image, em_gl_status_text(status));
    struct em_graphics_shape shape = shape_of(&object->image, GL_TEXTURE_2D);
    shape.persistent = true;
    CUresult r = check_egl_format(&object->image, &shape.egl_format);
    if (r) {
        em_gl_object_close(object);
        return r;
    }
    flags |= CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST |
             CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER; // as its arrays show
    return enter(&egl_image, object, &shape, flags, out);
}

CUresult em_gl_egl_frame(CUgraphicsResource resource, unsigned index, unsigned level,
                         struct em_gl_frame *out)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    em_lock();
    struct resource *is = em_graphics_owner(resource, &egl_image);
    bool known = em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resource) != NULL;
    if (is) {
        const struct em_gl_image *image = &is->shadow->object->image;
        *out = (struct em_gl_frame){.width = image->width,
                                    .height = image->height,
                                    .channels = image->transfer.channels,
                                    .array_format = image->transfer.array_format};
        r = check_egl_format(image, &out->color_format);
    }
    em_unlock();
    if (is)
        return r ? r : em_graphics_array(resource, index, level, &out->array);
    if (known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the resource is no EGLImage");
    return em_graphics_array(resource, index, level,
                             &out->array); // says what the handle is instead
}

// ---- devices

// One software renderer stands behind all contexts: it is device 0, whether all devices are asked
// for or those of this frame or the next.
CUresult em_gl_devices(unsigned list, unsigned room, CUdevice *devices, unsigned *count)
{
    enum { LIST_ALL = 1, LIST_NEXT_FRAME = 3 };
    CUresult r = em_gl_need_context();
    if (r)
        return r;
    *count = 0;
    if (list < LIST_ALL || list > LIST_NEXT_FRAME)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "deviceList %u is no CUGLDeviceList", list);
    if (room) {
        devices[0] = 0;
        *count = 1;
    }
    return CUDA_SUCCESS;
}
