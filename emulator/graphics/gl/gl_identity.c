// SPDX-License-Identifier: MIT
// Whether a name is still that of an object that was opened: programs delete objects and get their
// names again for others.
#include "gl_image.h"

// Framebuffers tell objects apart by what they are. "An INVALID_OPERATION error is generated if
// attachment is DEPTH_STENCIL_ATTACHMENT, and different objects are bound to the depth and stencil
// attachment points": a call that fails leaves its result alone.
static void attach(const struct gl_functions *gl, const struct em_gl_object *o, gl_enum point,
                   unsigned name)
{
    if (o->kind == EM_GL_RENDERBUFFER)
        gl->FramebufferRenderbuffer(GL_READ_FRAMEBUFFER, point, GL_RENDERBUFFER, name);
    else
        gl->FramebufferTexture(GL_READ_FRAMEBUFFER, point, name, 0);
}

void em_gl_image_mark(const struct gl_functions *gl, struct em_gl_object *o)
{
    gl->GenFramebuffers(1, &o->mark);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->mark);
    attach(gl, o, GL_DEPTH_ATTACHMENT, o->name);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    em_gl_failed(gl);
}

bool em_gl_image_is_named(const struct gl_functions *gl, const struct em_gl_object *o)
{
    gl_int name = -1;
    if (!o->mark ||
        !(o->kind == EM_GL_TEXTURE ? gl->IsTexture(o->name) : gl->IsRenderbuffer(o->name)))
        return false;
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->mark);
    attach(gl, o, GL_STENCIL_ATTACHMENT, o->name);
    gl->GetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT,
                                            GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
    attach(gl, o, GL_STENCIL_ATTACHMENT, 0);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    em_gl_failed(gl);
    return name == (gl_int)o->name;
}

// "An INVALID_VALUE error is generated if the same buffer object is bound to both readtarget and
// writetarget and the ranges … overlap." Into another object the byte is copied, and put back: that
// is one which the program has deleted. Where OpenGL looks for no errors the program makes none,
// such as deleting a buffer that is registered. A buffer that is mapped cannot be read: no two are
// at one address.
bool em_gl_buffer_is_named(const struct gl_functions *gl, const struct em_gl_object *o)
{
    char byte = 0;
    int64_t size = 0;
    if (!gl->IsBuffer(o->name) || !em_gl_buffer_select(gl, o))
        return false;
    gl->BindBuffer(GL_COPY_READ_BUFFER, o->name);
    gl->GetBufferParameteri64v(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
    bool same = size > 0 && o->silent;
    if (size > 0 && !o->silent) {
        em_gl_failed(gl);
        gl->GetBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 0, 1, &byte);
        if (gl->GetError() == GL_NO_ERROR) { // not mapped
            gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_ELEMENT_ARRAY_BUFFER, 0, 0, 1);
            gl_enum error = gl->GetError();
            same = error == GL_INVALID_VALUE;
            if (error == GL_NO_ERROR)
                em_gl_buffer_put(gl, 0, 1, &byte);
        } else {
            void *own = NULL, *named = NULL;
            gl->GetBufferPointerv(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_MAP_POINTER, &own);
            gl->GetBufferPointerv(GL_COPY_READ_BUFFER, GL_BUFFER_MAP_POINTER, &named);
            same = own && own == named;
        }
    }
    gl->BindBuffer(GL_COPY_READ_BUFFER, 0);
    em_gl_failed(gl);
    return same;
}
