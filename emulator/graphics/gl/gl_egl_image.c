// SPDX-License-Identifier: MIT
// Registers EGLImages.
#include "alloc.h"
#include "call.h"
#include "gl_backend.h"
#include "gl_resource.h"
#include "lock.h"

// The program itself orders CUDA's work and other work on an EGLImage. Any thread may use it.
static const struct em_graphics_ops egl_image = {
    .api = "EGL",
    EM_GL_RESOURCE_OPS,
};

// The driver takes one channel of eight bits, two normalised channels of sixteen bits, and four of
// any kind (recorded: gl-graphics eglimage/format-*). `*color` gets the frame's CUeglColorFormat.
static CUresult egl_image_check_format(const struct em_gl_image *image, unsigned *color)
{
    enum { COLOR_ABGR = 0x0e, COLOR_RG = 0x11, COLOR_Y = 0x52 };
    const struct gl_transfer *t = &image->transfer;
    bool unorm = image->format.kind == GL_KIND_UNORM,
         srgb = em_gl_format_is_srgb(image->format.number);
    if (!image->shown || srgb || image->format.base == GL_BASE_RGB || (t->channels < 4 && !unorm))
        return em_mistake(G11, CUDA_ERROR_INVALID_VALUE,
                          "the EGLImage has the internal format %#x, which CUDA does not support",
                          image->format.number);
    if ((t->channels == 1 && t->element_B != 1) || (t->channels == 2 && t->element_B != 4))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the EGLImage has the internal format %#x, which CUDA does not support",
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
                          "flags (%#x) of an EGLImage must be NONE, READ_ONLY or WRITE_DISCARD",
                          flags);
    if (!image)
        return em_fail(CUDA_ERROR_UNKNOWN, "image is EGL_NO_IMAGE");
    if (!em_gl_group_enter_egl(&group))
        return em_mistake(G12, CUDA_ERROR_UNKNOWN,
                          "no OpenGL context of EGL is current in this thread, so the display of "
                          "the EGLImage is unknown");
    enum em_gl_status status = em_gl_egl_image_open(group, image, &object);
    em_gl_group_unref(group);
    if (status)
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLImage %p: %s", image, em_gl_status_text(status));
    struct em_graphics_shape shape = em_gl_resource_shape_of(&object->image, GL_TEXTURE_2D);
    shape.persistent = true;
    CUresult r = egl_image_check_format(&object->image, &shape.egl_format);
    if (r) {
        em_gl_object_close(object);
        return r;
    }
    flags |= CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST |
             CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER; // as its arrays show
    return em_gl_resource_enter(&egl_image, object, &shape, flags, out);
}

CUresult em_gl_egl_frame(CUgraphicsResource resource, unsigned index, unsigned level,
                         struct em_gl_frame *out)
{
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    em_lock();
    struct em_gl_resource *r_image = em_graphics_owner(resource, &egl_image);
    bool known = em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resource) != NULL;
    if (r_image) {
        const struct em_gl_image *image = &r_image->shadow->object->image;
        *out = (struct em_gl_frame){.width = image->width,
                                    .height = image->height,
                                    .channels = image->transfer.channels,
                                    .array_format = image->transfer.array_format};
        r = egl_image_check_format(image, &out->color_format);
    }
    em_unlock();
    if (r_image)
        return r ? r : em_graphics_array(resource, index, level, &out->array);
    if (known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the resource is not an EGLImage");
    return em_graphics_array(resource, index, level,
                             &out->array); // reports the handle's true type
}
