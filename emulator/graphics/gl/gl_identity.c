// SPDX-License-Identifier: MIT
// Whether a name still belongs to the object that was opened. A program may delete an object and
// get the same name again for a new one.
#include "gl_image.h"
#include "gl_unit_pool.h"

// ---- framebuffers

// A framebuffer compares objects, not names. "An INVALID_OPERATION error is generated if attachment
// is DEPTH_STENCIL_ATTACHMENT, and different objects are bound to the depth and stencil attachment
// points": a call that fails does not change its result.
//
// Textures are attached only if no texture unit holds them, which is rare: as long as a framebuffer
// of ours has a texture, glTexImage2D in the program's contexts may crash in Mesa. It walks the
// framebuffers of all contexts in the share group and updates those that have the texture,
// without a lock against the context that they belong to.
static void identity_attach(const struct gl_functions *gl, const struct em_gl_object *o,
                            gl_enum point, unsigned name)
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
    identity_attach(gl, o, GL_DEPTH_ATTACHMENT, o->name);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    em_gl_failed(gl);
}

static bool identity_is_attached(const struct gl_functions *gl, const struct em_gl_object *o)
{
    gl_int name = -1;
    if (!o->mark)
        return false;
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->mark);
    identity_attach(gl, o, GL_STENCIL_ATTACHMENT, o->name);
    gl->GetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT,
                                            GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
    identity_attach(gl, o, GL_STENCIL_ATTACHMENT, 0);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    em_gl_failed(gl);
    return name == (gl_int)o->name;
}

// ---- texture units

static gl_int get_compare_func(const struct gl_functions *gl, unsigned target, unsigned unit)
{
    gl_int func = 0;
    gl->ActiveTexture(GL_TEXTURE0 + unit);
    gl->GetTexParameteriv(target, GL_TEXTURE_COMPARE_FUNC, &func);
    return func;
}

static void set_compare_func(const struct gl_functions *gl, unsigned target, unsigned unit,
                             gl_int func)
{
    gl->ActiveTexture(GL_TEXTURE0 + unit);
    gl->TexParameteri(target, GL_TEXTURE_COMPARE_FUNC, func);
}

// Sets a parameter of the texture that a unit holds, and looks whether the texture that has the
// name changes too. The parameter is one that only depth textures use, which CUDA does not show;
// it gets its value back at once.
static bool identity_is_held(const struct gl_functions *gl, const struct em_gl_object *o)
{
    unsigned target = o->image.target;
    em_gl_failed(gl);
    if (!em_gl_unit_pool_use(o->pools, o->pool))
        return false;
    bool same = em_gl_texture_bind_named(gl, o);
    if (same) {
        gl_int own = get_compare_func(gl, target, o->holder);
        gl_int other = own == GL_NEVER ? GL_ALWAYS : GL_NEVER;
        if (get_compare_func(gl, target, 0) == own) {
            set_compare_func(gl, target, o->holder, other);
            same = get_compare_func(gl, target, 0) == other;
            set_compare_func(gl, target, o->holder, own);
        } else {
            same = false;
        }
    }
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(target, 0);
    em_gl_failed(gl);
    return same;
}

bool em_gl_image_is_named(const struct gl_functions *gl, const struct em_gl_object *o)
{
    if (o->kind != EM_GL_TEXTURE)
        return gl->IsRenderbuffer(o->name) && identity_is_attached(gl, o);
    return gl->IsTexture(o->name) &&
           (o->holder ? identity_is_held(gl, o) : identity_is_attached(gl, o));
}

// ---- buffers

// "An INVALID_VALUE error is generated if the same buffer object is bound to both readtarget and
// writetarget and the ranges … overlap." If the objects differ, the first one is a buffer that the
// program has deleted: the byte is copied into it, and then restored. In a context without error
// checks the program makes no errors, such as deleting a registered buffer. A buffer that is mapped
// cannot be read; instead the addresses of both mappings are compared.
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
