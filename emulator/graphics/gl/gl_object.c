// SPDX-License-Identifier: MIT
// GL objects: opens and closes them, and moves the bytes of buffers. Images are gl_image.c's.
#include "gl_object.h"

#include "alloc.h"
#include "gl_guest.h"
#include "gl_image.h"
#include "lock.h"

struct call {
    struct em_gl_object *object;
    uint64_t offset, size, whole_B;
    void *memory;
    enum em_gl_status status;
};

// ---- buffers

// The vertex array that holds the buffer keeps it alive.
uint64_t em_gl_buffer_select(const struct gl_functions *gl, const struct em_gl_object *o)
{
    int64_t size = 0;
    gl->BindVertexArray(o->holder);
    gl->GetBufferParameteri64v(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
    return size > 0 ? (uint64_t)size : 0;
}

static enum em_gl_status object_hold_buffer(const struct gl_functions *gl, struct em_gl_object *o)
{
    if (!gl->IsBuffer(o->name))
        return EM_GL_MISSING;
    gl->GenVertexArrays(1, &o->holder);
    gl->BindVertexArray(o->holder);
    gl->BindBuffer(GL_ELEMENT_ARRAY_BUFFER, o->name);
    return em_gl_buffer_select(gl, o) ? EM_GL_OK : EM_GL_NO_STORAGE;
}

static enum em_gl_status object_open_buffer(const struct gl_functions *gl, struct em_gl_object *o)
{
    const enum em_gl_status status = object_hold_buffer(gl, o);
    if (!status)
        o->size_B = em_gl_buffer_select(gl, o);
    return status;
}

static void object_run_size(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    (void)group;
    c->size = em_gl_buffer_select(gl, c->object);
    c->status = EM_GL_OK;
}

void em_gl_object_run(struct em_gl_object **object, em_gl_work *work, void *call)
{
    em_assert_unlocked();
    struct em_gl_object *o = *object;
    *object = o->twin;
    const bool done = o->twin && em_gl_guest_run(o->group, work, call);
    *object = o;
    if (done)
        return;
    em_gl_group_run(o->group, work, call);
}

enum em_gl_status em_gl_buffer_size(struct em_gl_object *object, uint64_t *size_B)
{
    struct call c = {.object = object, .status = EM_GL_GONE};
    em_gl_object_run(&c.object, object_run_size, &c);
    *size_B = c.size;
    return c.status;
}

// "GL_DYNAMIC_STORAGE_BIT: the contents of the data store may be updated after creation through
// calls to glBufferSubData. If this bit is not set, the buffer content may not be directly updated
// by the client. … Regardless of the presence of this bit, buffers may always be updated with
// server-side calls such as glCopyBufferSubData".
static bool object_takes_bytes(const struct gl_functions *gl)
{
    gl_int immutable = 0, flags = 0;
    gl->GetBufferParameteriv(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_IMMUTABLE_STORAGE,
                             &immutable); // an error before OpenGL 4.4
    if (immutable)
        gl->GetBufferParameteriv(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_STORAGE_FLAGS, &flags);
    em_gl_failed(gl);
    return !immutable || (flags & GL_DYNAMIC_STORAGE_BIT);
}

void em_gl_buffer_put(const struct gl_functions *gl, intptr_t offset, intptr_t size,
                      const void *from)
{
    gl_uint scratch;
    if (object_takes_bytes(gl)) {
        gl->BufferSubData(GL_ELEMENT_ARRAY_BUFFER, offset, size, from);
        return;
    }
    gl->GenBuffers(1, &scratch);
    gl->BindBuffer(GL_COPY_READ_BUFFER, scratch);
    gl->BufferData(GL_COPY_READ_BUFFER, size, from, GL_STREAM_COPY);
    gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_ELEMENT_ARRAY_BUFFER, 0, offset, size);
    gl->DeleteBuffers(1,
                      &scratch); // its name is one of the program's buffer names
}

// "An INVALID_OPERATION error is generated if any part of the specified buffer range is mapped …
// unless it was mapped with MAP_PERSISTENT_BIT set". The driver asks, because a context may have no
// error checks.
static bool object_is_mapped(const struct gl_functions *gl)
{
    gl_int mapped = 0, flags = 0;
    gl->GetBufferParameteriv(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_MAPPED, &mapped);
    if (mapped)
        gl->GetBufferParameteriv(GL_ELEMENT_ARRAY_BUFFER, GL_BUFFER_ACCESS_FLAGS, &flags);
    return mapped && !(flags & GL_MAP_PERSISTENT_BIT);
}

static void object_run_buffer(const struct gl_functions *gl, struct call *c, bool write)
{
    uint64_t have = em_gl_buffer_select(gl, c->object);
    if (object_is_mapped(gl)) {
        c->status = EM_GL_REFUSED;
        return;
    }
    c->status = have == c->object->size_B ? EM_GL_OK : EM_GL_RESIZED;
    if (c->whole_B && have != c->whole_B) {
        c->status = EM_GL_RESIZED;
        return;
    }
    uint64_t rest = c->offset < have ? have - c->offset : 0, size = c->size < rest ? c->size : rest;
    em_gl_failed(gl);
    if (size && write)
        em_gl_buffer_put(gl, (intptr_t)c->offset, (intptr_t)size, c->memory);
    else if (size)
        gl->GetBufferSubData(GL_ELEMENT_ARRAY_BUFFER, (intptr_t)c->offset, (intptr_t)size,
                             c->memory);
    if (em_gl_failed(gl))
        c->status = EM_GL_REFUSED;
    if (write)
        gl->Finish();
}

static void object_run_buffer_read(struct em_gl_group *group, const struct gl_functions *gl,
                                   void *arg)
{
    (void)group;
    object_run_buffer(gl, arg, false);
}

static void object_run_buffer_write(struct em_gl_group *group, const struct gl_functions *gl,
                                    void *arg)
{
    (void)group;
    object_run_buffer(gl, arg, true);
}

enum em_gl_status em_gl_buffer_read(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                    void *to)
{
    struct call c = {
        .object = object, .offset = offset, .size = size, .memory = to, .status = EM_GL_GONE};
    em_gl_object_run(&c.object, object_run_buffer_read, &c);
    return c.status;
}

enum em_gl_status em_gl_buffer_write(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                     const void *from, uint64_t whole_B)
{
    struct call c = {.object = object,
                     .offset = offset,
                     .size = size,
                     .whole_B = whole_B,
                     .memory = (void *)(uintptr_t)from,
                     .status = EM_GL_GONE};
    em_gl_object_run(&c.object, object_run_buffer_write, &c);
    return c.status;
}

// ---- opening and closing

static void object_drop(const struct gl_functions *gl, struct em_gl_object *o)
{
    if (o->kind == EM_GL_BUFFER && o->holder) {
        gl->BindVertexArray(0);
        gl->DeleteVertexArrays(1, &o->holder);
    } else if (o->kind != EM_GL_BUFFER) {
        em_gl_image_drop(gl, o);
    }
    if (o->mark)
        gl->DeleteFramebuffers(1, &o->mark);
    em_gl_failed(gl);
}

static void object_run_open(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    em_gl_failed(gl);
    c->status = o->kind == EM_GL_BUFFER ? object_open_buffer(gl, o) : em_gl_image_open(gl, o);
    o->silent = em_gl_group_is_silent(group);
    if (c->status)
        object_drop(gl, o);
}

static void object_run_hold(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    (void)group;
    em_gl_failed(gl);
    if (o->kind == EM_GL_BUFFER)
        c->status = object_hold_buffer(gl, o);
    else
        c->status = gl->IsTexture(o->name) && em_gl_texture_hold(gl, o) ? EM_GL_OK : EM_GL_REFUSED;
    if (em_gl_failed(gl))
        c->status = EM_GL_REFUSED;
    if (c->status)
        object_drop(gl, o);
}

// Has the guest hold the object too, if that is possible. Precondition: the program has just named
// the object.
static void object_add_twin(struct em_gl_object *o)
{
    if (!o->holder || (o->kind != EM_GL_BUFFER && o->kind != EM_GL_TEXTURE))
        return;
    struct em_gl_object *twin = dm_alloc(sizeof *twin);
    if (!twin)
        return;
    *twin = *o;
    twin->holder = twin->mark = 0;
    twin->pool = NULL;
    twin->pools = em_gl_guest_unit_pools(o->group);
    struct call c = {.object = twin, .status = EM_GL_GONE};
    if (em_gl_guest_run(o->group, object_run_hold, &c) && !c.status)
        o->twin = twin;
    else
        dm_free(twin);
}

static void object_run_close_twin(struct em_gl_group *group, const struct gl_functions *gl,
                                  void *arg)
{
    (void)group;
    if (gl)
        object_drop(gl, arg);
    dm_free(arg);
}

// If `gl` is NULL, the display is closed, and OpenGL's half of the object has ended with it.
static void object_run_close(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct em_gl_object *o = arg;
    if (gl && o->twin)
        em_gl_guest_post(group, &o->twin->closing, object_run_close_twin, o->twin);
    else
        dm_free(o->twin);
    if (gl)
        object_drop(gl, o);
    em_gl_group_unref(group);
    dm_free(o);
}

static enum em_gl_status object_open_object(const struct em_gl_object *initial,
                                            struct em_gl_object **out)
{
    struct em_gl_object *o = dm_calloc(1, sizeof *o);
    if (!o)
        return EM_GL_NO_MEMORY;
    *o = *initial;
    o->pools = em_gl_group_unit_pools(o->group);
    struct call c = {.object = o, .status = EM_GL_GONE};
    em_gl_group_run(o->group, object_run_open, &c);
    if (c.status) {
        dm_free(o);
        return c.status;
    }
    em_gl_group_ref(o->group);
    object_add_twin(o);
    *out = o;
    return EM_GL_OK;
}

enum em_gl_status em_gl_object_open(struct em_gl_group *group, enum em_gl_kind kind, unsigned name,
                                    struct em_gl_object **out)
{
    return object_open_object(&(struct em_gl_object){.group = group, .kind = kind, .name = name},
                              out);
}

enum em_gl_status em_gl_egl_image_open(struct em_gl_group *group, void *egl_image,
                                       struct em_gl_object **out)
{
    return object_open_object(
        &(struct em_gl_object){.group = group, .kind = EM_GL_EGL_IMAGE, .egl_image = egl_image},
        out);
}

void em_gl_object_close(struct em_gl_object *object)
{
    if (object)
        em_gl_group_post(object->group, &object->closing, object_run_close, object);
}

enum em_gl_status em_gl_object_status(struct em_gl_object *object)
{
    if (em_gl_group_is_gone(object->group))
        return EM_GL_GONE;
    const struct gl_functions *gl =
        object->kind == EM_GL_EGL_IMAGE ? NULL : em_gl_group_here(object->group);
    if (!gl)
        return EM_GL_OK;
    gl_boolean lives = object->kind == EM_GL_BUFFER    ? gl->IsBuffer(object->name)
                       : object->kind == EM_GL_TEXTURE ? gl->IsTexture(object->name)
                                                       : gl->IsRenderbuffer(object->name);
    return lives ? EM_GL_OK : EM_GL_MISSING;
}

static void object_run_is_named(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    (void)group;
    if (c->object->kind == EM_GL_BUFFER ? em_gl_buffer_is_named(gl, c->object)
                                        : em_gl_image_is_named(gl, c->object))
        c->status = EM_GL_OK;
}

bool em_gl_object_is_named(struct em_gl_object *object)
{
    em_assert_unlocked();
    struct call c = {.object = object, .status = EM_GL_GONE};
    if (object->kind != EM_GL_EGL_IMAGE)
        em_gl_object_run(&c.object, object_run_is_named, &c);
    return !c.status;
}

const char *em_gl_kind_text(enum em_gl_kind kind)
{
    static const char *const texts[] = {"buffer", "texture", "renderbuffer", "EGLImage"};
    return texts[kind];
}

const char *em_gl_status_text(enum em_gl_status status)
{
    static const char *const texts[] = {
        [EM_GL_OK] = "no error",
        [EM_GL_MISSING] =
            "it does not exist in the current context or in a context that shares objects with it",
        [EM_GL_NO_STORAGE] = "it has no storage",
        [EM_GL_MULTISAMPLE] = "it is multisampled",
        [EM_GL_REFORMATTED] = "its format has changed since it was registered",
        [EM_GL_RESIZED] = "its size has changed since it was registered",
        [EM_GL_REFUSED] = "OpenGL rejects reads and writes of its bytes (is it mapped?)",
        [EM_GL_GONE] = "its display was closed, or the driver's context cannot be made current",
        [EM_GL_NO_MEMORY] = "out of host memory",
    };
    return texts[status];
}
