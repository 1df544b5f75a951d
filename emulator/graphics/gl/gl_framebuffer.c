// SPDX-License-Identifier: MIT
// Images that a framebuffer of the driver's own holds: renderbuffers and EGLImages. OpenGL reads
// and writes them as pixels of that framebuffer.
#include "gl_image.h"
#include "gl_context.h"

// ---- renderbuffers

static bool framebuffer_is_stencil(const struct em_gl_object *o)
{
    return o->image.format.base == GL_BASE_STENCIL;
}

static unsigned framebuffer_attachment(const struct em_gl_object *o)
{
    return framebuffer_is_stencil(o) ? GL_STENCIL_ATTACHMENT : GL_COLOR_ATTACHMENT0;
}

// Selects the object's attachment as the read buffer of the bound framebuffer.
static void framebuffer_read_from(const struct gl_functions *gl, const struct em_gl_object *o)
{
    gl->ReadBuffer(framebuffer_is_stencil(o) ? GL_NONE : GL_COLOR_ATTACHMENT0);
}

// The storage of a renderbuffer.
struct store {
    gl_int width, height, internal_format, samples;
};

static enum gl_base framebuffer_base(const gl_int bits[4])
{
    if (bits[3])
        return GL_BASE_RGBA;
    if (bits[2])
        return GL_BASE_RGB;
    return bits[1] ? GL_BASE_RG : GL_BASE_R;
}

// Binds the renderbuffer, and returns its present properties.
static struct store framebuffer_bind(const struct gl_functions *gl, const struct em_gl_object *o)
{
    struct store s = {0};
    gl->BindRenderbuffer(GL_RENDERBUFFER, o->name);
    gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &s.width);
    gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &s.height);
    gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_INTERNAL_FORMAT,
                                   &s.internal_format);
    gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &s.samples);
    return s;
}

enum em_gl_status em_gl_renderbuffer_open(const struct gl_functions *gl, struct em_gl_object *o)
{
    enum { RED_SIZE = 0x8d50 }; // then green, blue, alpha, depth, stencil
    struct em_gl_image *image = &o->image;
    if (!gl->IsRenderbuffer(o->name))
        return EM_GL_MISSING;
    struct store s = framebuffer_bind(gl, o);
    *image = (struct em_gl_image){.target = GL_RENDERBUFFER,
                                  .width = (uint32_t)s.width,
                                  .height = (uint32_t)s.height,
                                  .depth = 1,
                                  .levels = 1,
                                  .present = {1}};
    const struct gl_format *sized = em_gl_format((uint32_t)s.internal_format);
    if (sized) {
        image->format = *sized;
    } else {
        gl_int size[4] = {0};
        for (unsigned i = 0; i < 4; i++)
            gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, RED_SIZE + i, &size[i]);
        image->format = (struct gl_format){.number = (uint32_t)s.internal_format,
                                           .kind = size[0] ? GL_KIND_UNORM : GL_KIND_DEPTH};
        image->format.base = framebuffer_base(size);
        for (unsigned i = 0; i < 4; i++)
            image->format.bits[i] = (uint8_t)size[i];
    }
    image->shown = em_gl_format_transfer(&image->format, &image->transfer);
    if (s.width <= 0 || s.height <= 0)
        return EM_GL_NO_STORAGE;
    if (s.samples > 0)
        return EM_GL_MULTISAMPLE;
    em_gl_image_mark(gl, o);
    if (image->shown) { // the framebuffer keeps the renderbuffer alive
        gl->GenFramebuffers(1, &o->holder);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->holder);
        gl->FramebufferRenderbuffer(GL_READ_FRAMEBUFFER, framebuffer_attachment(o), GL_RENDERBUFFER,
                                    o->name);
        framebuffer_read_from(gl, o);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    }
    gl->BindRenderbuffer(GL_RENDERBUFFER, 0);
    return em_gl_failed(gl) ? EM_GL_REFUSED : EM_GL_OK;
}

// As long as the program has not deleted a renderbuffer, its properties are asked for by its name.
// After that they cannot change any more.
enum em_gl_status em_gl_framebuffer_look(const struct gl_functions *gl,
                                         const struct em_gl_object *o, struct em_gl_extent *now)
{
    const struct em_gl_image *image = &o->image;
    *now = (struct em_gl_extent){image->width, image->height, 1};
    if (o->kind != EM_GL_RENDERBUFFER || !gl->IsRenderbuffer(o->name))
        return EM_GL_OK;
    struct store s = framebuffer_bind(gl, o);
    gl->BindRenderbuffer(GL_RENDERBUFFER, 0);
    if ((unsigned)s.internal_format != image->format.number || s.samples > 0)
        return EM_GL_REFORMATTED;
    *now = (struct em_gl_extent){(uint32_t)s.width, (uint32_t)s.height, 1};
    return now->width == image->width && now->height == image->height ? EM_GL_OK : EM_GL_RESIZED;
}

// Makes a texture like the object, in a framebuffer that is bound for reading. It is deleted soon,
// because its name is one of the program's texture names.
static void framebuffer_make_scratch(const struct gl_functions *gl, const struct em_gl_object *o,
                                     gl_uint *texture, gl_uint *framebuffer)
{
    const struct em_gl_image *image = &o->image;
    gl->GenTextures(1, texture);
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(GL_TEXTURE_2D, *texture);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl->TexImage2D(GL_TEXTURE_2D, 0, (gl_int)image->format.number, (gl_sizei)image->width,
                   (gl_sizei)image->height, 0, image->transfer.format, image->transfer.type, NULL);
    gl->GenFramebuffers(1, framebuffer);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, *framebuffer);
    gl->FramebufferTexture2D(GL_READ_FRAMEBUFFER, framebuffer_attachment(o), GL_TEXTURE_2D,
                             *texture, 0);
    framebuffer_read_from(gl, o);
}

// OpenGL has no call that writes into a renderbuffer, but copies between framebuffers do. Between
// equal formats they copy the bytes.
void em_gl_framebuffer_write(const struct gl_functions *gl, const struct em_gl_object *o,
                             const struct em_gl_box *b, const void *from)
{
    const gl_enum buffers[] = {framebuffer_is_stencil(o) ? GL_NONE : GL_COLOR_ATTACHMENT0};
    gl_int x0 = (gl_int)b->x, y0 = (gl_int)b->y, x1 = x0 + (gl_int)b->width,
           y1 = y0 + (gl_int)b->height;
    gl_uint texture, framebuffer;
    framebuffer_make_scratch(gl, o, &texture, &framebuffer);
    gl->TexSubImage2D(GL_TEXTURE_2D, 0, x0, y0, (gl_sizei)b->width, (gl_sizei)b->height,
                      o->image.transfer.format, o->image.transfer.type, from);
    gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, o->holder);
    gl->DrawBuffers(1, buffers);
    gl->BlitFramebuffer(x0, y0, x1, y1, x0, y0, x1, y1,
                        framebuffer_is_stencil(o) ? GL_STENCIL_BUFFER_BIT : GL_COLOR_BUFFER_BIT,
                        GL_NEAREST);
    gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    gl->BindTexture(GL_TEXTURE_2D, 0);
    gl->DeleteFramebuffers(1, &framebuffer);
    gl->DeleteTextures(1, &texture);
}

// ---- EGLImages

// Makes a texture that shows the image. A framebuffer holds it, and its name is deleted at once.
enum em_gl_status em_gl_egl_image_show(const struct gl_functions *gl, struct em_gl_object *o)
{
    void (*show)(gl_enum, void *) = (void (*)(gl_enum, void *))em_gl_context_function(
        GL_SYSTEM_EGL, "EGLImageTargetTexture2DOES");
    struct em_gl_image *image = &o->image;
    gl_uint texture;
    if (!show)
        return EM_GL_REFUSED;
    if (!em_gl_group_image_is_likely(o->group, o->egl_image))
        return EM_GL_MISSING;
    gl->GenTextures(1, &texture);
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(GL_TEXTURE_2D, texture);
    show(GL_TEXTURE_2D, o->egl_image);
    enum em_gl_status status = em_gl_failed(gl) ? EM_GL_MISSING : EM_GL_OK;
    image->target = GL_TEXTURE_2D;
    struct em_gl_extent e =
        status ? (struct em_gl_extent){0} : em_gl_texture_extent(gl, GL_TEXTURE_2D, 0);
    if (!status && !e.width)
        status = EM_GL_NO_STORAGE;
    if (!status) {
        *image = (struct em_gl_image){.target = GL_TEXTURE_2D,
                                      .width = e.width,
                                      .height = e.height,
                                      .depth = 1,
                                      .levels = 1,
                                      .present = {1}};
        em_gl_texture_format(gl, GL_TEXTURE_2D, 0, image);
        gl->GenFramebuffers(1, &o->holder);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->holder);
        gl->FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture,
                                 0);
        gl->ReadBuffer(GL_COLOR_ATTACHMENT0);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
        status = em_gl_failed(gl) ? EM_GL_REFUSED : EM_GL_OK;
    }
    gl->BindTexture(GL_TEXTURE_2D, 0);
    gl->DeleteTextures(1, &texture);
    return status;
}
