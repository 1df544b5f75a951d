// SPDX-License-Identifier: MIT
// Registers OpenGL objects, and implements the backend that the core calls.
#include "gl_resource.h"

#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "gl_backend.h"
#include "gl_old.h"
#include "gl_context.h"
#include "graphics.h"
#include "lock.h"

// ---- the backend

static CUresult resource_flush(void)
{
    return em_gl_finish_current() ? CUDA_SUCCESS : em_gl_need_context();
}

enum em_graphics_status em_gl_resource_check(void *owner)
{
    switch (em_gl_object_status(((struct em_gl_resource *)owner)->shadow->object)) {
    case EM_GL_GONE:
        return EM_GRAPHICS_LOST;
    case EM_GL_MISSING:
        return EM_GRAPHICS_DELETED;
    default:
        return EM_GRAPHICS_OK; // a changed size is found when bytes are copied: to ask each time
                               // would cost more than all the rest
    }
}

const char *em_gl_resource_text(void *owner, char *out, size_t capacity)
{
    const struct em_gl_object *o = ((struct em_gl_resource *)owner)->shadow->object;
    if (o->kind == EM_GL_EGL_IMAGE)
        snprintf(out, capacity, "EGLImage %p", o->egl_image);
    else
        snprintf(out, capacity, "%s %u", em_gl_kind_text(o->kind), o->name);
    return out;
}

CUresult em_gl_resource_acquire(void *owner, uint64_t sequence, unsigned flags)
{
    struct em_gl_resource *r = owner;
    (void)sequence;
    if (!r->mapped)
        em_gl_shadow_map(r->shadow, !(flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    r->mapped = true;
    return CUDA_SUCCESS;
}

// Clips a part to the object. Returns false if nothing is left.
static bool resource_box_of(const struct em_gl_shadow *m, const struct em_graphics_part *part,
                            struct em_gl_box *out)
{
    if (!m->size_B) {
        *out =
            (struct em_gl_box){part->x, part->width, part->y, part->z, part->height, part->depth};
        return part->width && part->height && part->depth;
    }
    uint64_t rest_B = part->offset_B < m->size_B ? m->size_B - part->offset_B : 0;
    *out = (struct em_gl_box){.x = part->offset_B,
                              .width = part->size_B < rest_B ? part->size_B : rest_B,
                              .height = 1,
                              .depth = 1};
    return out->width;
}

void em_gl_resource_written(void *owner, const struct em_graphics_part *part, CUresult result)
{
    struct em_gl_shadow *m = ((struct em_gl_resource *)owner)->shadow;
    struct em_gl_box box;
    if (resource_box_of(m, part, &box))
        em_gl_shadow_end_write(m, owner, m->size_B ? 0 : part->level, &box, !result);
}

void em_gl_resource_make_resident(void *owner, const struct em_graphics_part *part,
                                  enum em_access_mode mode)
{
    struct em_gl_resource *r = owner;
    struct em_gl_shadow *m = r->shadow;
    struct em_gl_box box;
    if (part && !resource_box_of(m, part, &box))
        return;
    em_lock();
    em_gl_shadow_wait(m);
    if (r->mapped)
        em_gl_shadow_make_resident(m, r, part && !m->size_B ? part->level : 0, part ? &box : NULL,
                                   mode);
    em_unlock();
}

bool em_gl_resource_copy_directly(void *owner, const struct em_graphics_part *part, bool write,
                                  const struct em_rows *rows)
{
    struct em_gl_resource *r = owner;
    struct em_gl_shadow *m = r->shadow;
    struct em_gl_box box;
    if (!resource_box_of(m, part, &box))
        return false;
    em_lock();
    em_gl_shadow_wait(m);
    bool copied =
        r->mapped && em_gl_shadow_copy_directly(m, m->size_B ? 0 : part->level, &box, write, rows);
    em_unlock();
    return copied;
}

bool em_gl_resource_discard(void *owner)
{
    return em_gl_shadow_discard(((struct em_gl_resource *)owner)->shadow);
}

CUresult em_gl_resource_release(void *owner, uint64_t sequence, bool write_back)
{
    (void)sequence;
    struct em_gl_resource *r = owner;
    const struct em_gl_object *o = r->shadow->object;
    bool mapped = r->mapped;
    r->mapped = false;
    if (!mapped || em_gl_shadow_unmap(r->shadow, r, write_back))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_UNKNOWN, "OpenGL %s %u rejected the bytes that CUDA has written",
                   em_gl_kind_text(o->kind), o->name);
}

bool em_gl_resource_is_clean(void *owner)
{
    return em_gl_shadow_is_clean(((struct em_gl_resource *)owner)->shadow);
}

void em_gl_resource_copied(void *owner, uint64_t *to_cuda_B, uint64_t *to_graphics_B)
{
    const struct em_gl_shadow *m = ((struct em_gl_resource *)owner)->shadow;
    *to_cuda_B = m->to_cuda_B;
    *to_graphics_B = m->to_graphics_B;
}

void em_gl_resource_close(void *owner)
{
    struct em_gl_resource *r = owner;
    if (r->mapped)
        em_gl_shadow_unmap(r->shadow, r, false);
    em_gl_old_forget(r->old);
    em_gl_shadow_unref(r->shadow);
    dm_free(r);
}

static const struct em_graphics_ops opengl = {
    .api = "OpenGL",
    .flush = resource_flush,
    .present = em_gl_need_context,
    EM_GL_RESOURCE_OPS,
};

struct em_gl_old **em_gl_resource_old(CUgraphicsResource resource)
{
    struct em_gl_resource *r = em_graphics_owner(resource, &opengl);
    return r ? &r->old : NULL;
}

// ---- registration

CUresult em_gl_need_context(void)
{
    return em_gl_context_system() != GL_SYSTEM_NONE
               ? CUDA_SUCCESS
               : em_mistake(G12, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                            "no OpenGL context is current in this thread");
}

static CUresult resource_refused(enum em_gl_kind kind, unsigned name, enum em_gl_status status)
{
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    if (status == EM_GL_MISSING || status == EM_GL_GONE)
        code = CUDA_ERROR_INVALID_HANDLE;
    else if (status == EM_GL_NO_MEMORY ||
             (status == EM_GL_NO_STORAGE &&
              kind == EM_GL_BUFFER)) // recorded: x_graphics buffer/size-0
        code = CUDA_ERROR_OUT_OF_MEMORY;
    else if (status == EM_GL_REFUSED)
        code = CUDA_ERROR_UNKNOWN;
    if (status == EM_GL_MULTISAMPLE || status == EM_GL_NO_STORAGE)
        return em_mistake(G11, code, "OpenGL %s %u: %s", em_gl_kind_text(kind), name,
                          em_gl_status_text(status));
    return em_fail(code, "OpenGL %s %u: %s", em_gl_kind_text(kind), name,
                   em_gl_status_text(status));
}

static CUresult resource_open_object(enum em_gl_kind kind, unsigned name, struct em_gl_object **out)
{
    struct em_gl_group *group;
    CUresult r = em_gl_group_enter(&group);
    if (r)
        return r;
    enum em_gl_status status = em_gl_object_open(group, kind, name, out);
    em_gl_group_unref(group);
    return status ? resource_refused(kind, name, status) : CUDA_SUCCESS;
}

// Registers the object with the core. Closes it on failure.
CUresult em_gl_resource_enter(const struct em_graphics_ops *ops, struct em_gl_object *object,
                              struct em_graphics_shape *shape, unsigned flags,
                              CUgraphicsResource *out)
{
    struct em_gl_resource *resource = dm_calloc(1, sizeof *resource);
    if (!resource) {
        em_gl_object_close(object);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while registering a graphics resource");
    }
    CUresult r = em_gl_shadow_open(object, shape, em_self.current->device, &resource->shadow);
    if (r) {
        dm_free(resource);
        return r;
    }
    shape->memory = resource->shadow->memory;
    r = em_graphics_register(ops, resource, shape, flags, out);
    if (r) {
        em_lock();
        em_gl_resource_close(resource);
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
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "buffer is 0, which is not the name of an OpenGL buffer");
    r = resource_open_object(EM_GL_BUFFER, buffer, &object);
    if (r)
        return r;
    struct em_graphics_shape shape = {.kind = EM_GRAPHICS_BUFFER, .size_B = object->size_B};
    return em_gl_resource_enter(&opengl, object, &shape, flags, out);
}

// "target must match the type of the object, and must be one of GL_TEXTURE_2D,
// GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY, or
// GL_RENDERBUFFER." The card believes the target, whatever the texture is (recorded:
// levels/wrong-target-3D-of-2D).
static CUresult resource_check_target(unsigned target, unsigned flags)
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
                                "flags contain CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER, which 3D "
                                "textures and 2D arrays do not support")
                   : CUDA_SUCCESS;
    default:
        return em_mistake(G11, CUDA_ERROR_INVALID_VALUE,
                          "target (%#x) must be GL_TEXTURE_2D, _RECTANGLE, _CUBE_MAP, _3D, "
                          "_2D_ARRAY or GL_RENDERBUFFER",
                          target);
    }
}

// How CUDA shows an image that is registered for a target. A texture with more than one level, or
// with a base level, shows the whole chain from there on, whether OpenGL has all of it or not.
struct em_graphics_shape em_gl_resource_shape_of(const struct em_gl_image *image, unsigned target)
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
    if (!r)
        r = resource_check_target(target, flags);
    if (r)
        return r;
    if (!image)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "image is 0, which is not the name of an OpenGL texture or renderbuffer");
    r = resource_open_object(target == GL_RENDERBUFFER ? EM_GL_RENDERBUFFER : EM_GL_TEXTURE, image,
                             &object);
    if (r)
        return r;
    if (!object->image.shown) {
        r = em_mistake(
            G11, CUDA_ERROR_INVALID_VALUE,
            "%s %u has the internal format %#x; CUDA supports only formats of 1 to 4 "
            "channels, all of the same kind and of 8, 16 or 32 bits, and none that is signed "
            "normalized",
            em_gl_kind_text(object->kind), image, object->image.format.number);
        em_gl_object_close(object);
        return r;
    }
    struct em_graphics_shape shape = em_gl_resource_shape_of(&object->image, target);
    return em_gl_resource_enter(&opengl, object, &shape, flags, out);
}

// ---- devices

// One software renderer renders for all contexts: device 0, for all devices as well as for those of
// this frame and the next.
CUresult em_gl_devices(unsigned list, unsigned capacity, CUdevice *devices, unsigned *count)
{
    enum { LIST_ALL = 1, LIST_NEXT_FRAME = 3 };
    CUresult r = em_gl_need_context();
    if (r)
        return r;
    *count = 0;
    if (list < LIST_ALL || list > LIST_NEXT_FRAME)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "deviceList %u is not a CUGLDeviceList", list);
    if (capacity) {
        devices[0] = 0;
        *count = 1;
    }
    return CUDA_SUCCESS;
}
