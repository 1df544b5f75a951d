// SPDX-License-Identifier: MIT
// Notes about calls of OpenGL and EGL, of which the trace shows nothing: contexts, objects, and the
// bytes on OpenGL's side.
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <cudaEGL.h>
#include <cudaGL.h>

#include "note.h"

// ---- names ----

struct constant {
    GLenum value;
    const char *name;
};

#define CONSTANT(name)                                                                             \
    {                                                                                              \
        name, #name                                                                                \
    }

static const struct constant constants[] = {
    CONSTANT(EGL_CONTEXT_MAJOR_VERSION),
    CONSTANT(EGL_CONTEXT_MINOR_VERSION),
    CONSTANT(EGL_OPENGL_API),
    CONSTANT(EGL_PLATFORM_SURFACELESS_MESA),
    CONSTANT(EGL_RENDERABLE_TYPE),
    CONSTANT(EGL_SURFACE_TYPE),
    CONSTANT(GL_ARRAY_BUFFER),
    CONSTANT(GL_BYTE),
    CONSTANT(GL_COLOR_ATTACHMENT0),
    CONSTANT(GL_DYNAMIC_DRAW),
    CONSTANT(GL_FLOAT),
    CONSTANT(GL_FRAMEBUFFER),
    CONSTANT(GL_FRAMEBUFFER_COMPLETE),
    CONSTANT(GL_HALF_FLOAT),
    CONSTANT(GL_INT),
    CONSTANT(GL_PACK_ALIGNMENT),
    CONSTANT(GL_R16),
    CONSTANT(GL_R16F),
    CONSTANT(GL_R32F),
    CONSTANT(GL_R32I),
    CONSTANT(GL_R8),
    CONSTANT(GL_R8UI),
    CONSTANT(GL_RED),
    CONSTANT(GL_RED_INTEGER),
    CONSTANT(GL_RENDERBUFFER),
    CONSTANT(GL_RG),
    CONSTANT(GL_RG16),
    CONSTANT(GL_RG16I),
    CONSTANT(GL_RG32UI),
    CONSTANT(GL_RG8),
    CONSTANT(GL_RGBA),
    CONSTANT(GL_RGBA16),
    CONSTANT(GL_RGBA16F),
    CONSTANT(GL_RGBA32F),
    CONSTANT(GL_RGBA8),
    CONSTANT(GL_RGBA8I),
    CONSTANT(GL_RGBA_INTEGER),
    CONSTANT(GL_RG_INTEGER),
    CONSTANT(GL_SHORT),
    CONSTANT(GL_SRGB8_ALPHA8),
    CONSTANT(GL_TEXTURE_1D),
    CONSTANT(GL_TEXTURE_1D_ARRAY),
    CONSTANT(GL_TEXTURE_2D),
    CONSTANT(GL_TEXTURE_2D_ARRAY),
    CONSTANT(GL_TEXTURE_2D_MULTISAMPLE),
    CONSTANT(GL_TEXTURE_3D),
    CONSTANT(GL_TEXTURE_BUFFER),
    CONSTANT(GL_TEXTURE_CUBE_MAP),
    CONSTANT(GL_TEXTURE_CUBE_MAP_ARRAY),
    CONSTANT(GL_TEXTURE_CUBE_MAP_POSITIVE_X),
    CONSTANT(GL_TEXTURE_CUBE_MAP_NEGATIVE_X),
    CONSTANT(GL_TEXTURE_CUBE_MAP_POSITIVE_Y),
    CONSTANT(GL_TEXTURE_CUBE_MAP_NEGATIVE_Y),
    CONSTANT(GL_TEXTURE_CUBE_MAP_POSITIVE_Z),
    CONSTANT(GL_TEXTURE_CUBE_MAP_NEGATIVE_Z),
    CONSTANT(GL_TEXTURE_RECTANGLE),
    CONSTANT(GL_UNPACK_ALIGNMENT),
    CONSTANT(GL_UNSIGNED_BYTE),
    CONSTANT(GL_UNSIGNED_INT),
    CONSTANT(GL_UNSIGNED_SHORT),
};

enum { TEXTS = 4 }; // in one note

static const char *constant_text(GLenum value)
{
    static char texts[TEXTS][16];
    static unsigned last;
    for (unsigned i = 0; i < FUZZ_COUNT(constants); i++) {
        if (constants[i].value == value)
            return constants[i].name;
    }
    char *text = texts[last++ % TEXTS];
    snprintf(text, sizeof texts[0], "%#x", value);
    return text;
}

static const char *handle_text(const char *type, const void *handle, const char *none)
{
    static char texts[TEXTS][64];
    static unsigned last;
    if (!handle)
        return none;
    char *text = texts[last++ % TEXTS];
    snprintf(text, sizeof texts[0], "$%s:%p", type, handle);
    return text;
}

// OpenGL's name of an object: a number of its kind.
static const char *name_text(const char *kind, GLuint name)
{
    return handle_text(kind, (void *)(uintptr_t)name, "0");
}

// ---- contexts ----

static const char *list_text(const EGLint *list)
{
    static char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "(const EGLint[]){");
    for (; *list != EGL_NONE; list += 2)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s, %#x, ",
                                 constant_text((GLenum)list[0]), (unsigned)list[1]);
    snprintf(text + used, sizeof text - used, "EGL_NONE}");
    return text;
}

NOTE_WRAP(EGLDisplay, eglGetPlatformDisplay,
          (EGLenum platform, void *native, const EGLAttrib *attributes),
          (platform, native, attributes),
          note("$EGLDisplay:%p = eglGetPlatformDisplay(%s, EGL_DEFAULT_DISPLAY, NULL);", r,
               constant_text(platform)))
NOTE_WRAP(EGLBoolean, eglInitialize, (EGLDisplay display, EGLint *major, EGLint *minor),
          (display, major, minor),
          note("CALL(eglInitialize($EGLDisplay:%p, NULL, NULL), %u);", display, r))
NOTE_WRAP(EGLBoolean, eglBindAPI, (EGLenum api), (api),
          note("CALL(eglBindAPI(%s), %u);", constant_text(api), r))
NOTE_WRAP(EGLBoolean, eglChooseConfig,
          (EGLDisplay display, const EGLint *wanted, EGLConfig *config, EGLint size, EGLint *count),
          (display, wanted, config, size, count),
          note("CALL(eglChooseConfig($EGLDisplay:%p, %s, &$EGLConfig:%p, 1, &(EGLint){0}), %u);",
               display, list_text(wanted), *config, r))
NOTE_WRAP(EGLContext, eglCreateContext,
          (EGLDisplay display, EGLConfig config, EGLContext shared, const EGLint *attributes),
          (display, config, shared, attributes),
          note("$EGLContext:%p = eglCreateContext($EGLDisplay:%p, $EGLConfig:%p, %s, %s);", r,
               display, config, handle_text("EGLContext", shared, "EGL_NO_CONTEXT"),
               list_text(attributes)))
NOTE_WRAP(EGLBoolean, eglMakeCurrent,
          (EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context),
          (display, draw, read, context),
          note("CALL(eglMakeCurrent($EGLDisplay:%p, EGL_NO_SURFACE, EGL_NO_SURFACE, %s), %u);",
               display, handle_text("EGLContext", context, "EGL_NO_CONTEXT"), r))

// ---- EGLImages ----

static PFNEGLCREATEIMAGEKHRPROC create_image;
static PFNEGLDESTROYIMAGEKHRPROC destroy_image;

// The object is a texture or a renderbuffer of the same number.
static EGLImageKHR image_create(EGLDisplay display, EGLContext context, EGLenum target,
                                EGLClientBuffer object, const EGLint *attributes)
{
    const EGLImageKHR image = create_image(display, context, target, object, attributes);
    const bool texture = target == EGL_GL_TEXTURE_2D;
    note("%s = ((PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress(\"eglCreateImageKHR\"))($EGLDisplay:%p,"
         " $EGLContext:%p, %s, (EGLClientBuffer)(uintptr_t)%s, %s);",
         handle_text("EGLImageKHR", image, "EGLImageKHR unused"), display, context,
         texture ? "EGL_GL_TEXTURE_2D" : "EGL_GL_RENDERBUFFER",
         name_text(texture ? "texture" : "renderbuffer", (GLuint)(uintptr_t)object),
         list_text(attributes));
    if (image)
        note("EXPECT($EGLImageKHR:%p != NULL, 1);", image);
    return image;
}

static EGLBoolean image_destroy(EGLDisplay display, EGLImageKHR image)
{
    const EGLBoolean r = destroy_image(display, image);
    note(
        "CALL(((PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress(\"eglDestroyImageKHR\"))($EGLDisplay:%p"
        ", $EGLImageKHR:%p), %u);",
        display, image, r);
    return r;
}

typedef void (*any_function)(void);
any_function __real_eglGetProcAddress(const char *name);
any_function __wrap_eglGetProcAddress(const char *name);
any_function __wrap_eglGetProcAddress(const char *name)
{
    const any_function f = __real_eglGetProcAddress(name);
    if (!strcmp(name, "eglCreateImageKHR")) {
        create_image = (PFNEGLCREATEIMAGEKHRPROC)f;
        return (any_function)image_create;
    }
    if (!strcmp(name, "eglDestroyImageKHR")) {
        destroy_image = (PFNEGLDESTROYIMAGEKHRPROC)f;
        return (any_function)image_destroy;
    }
    return f;
}

// ---- objects ----

// A function without a result, whose note is written before or after the call.
#define VOID_WRAP(name, parameters, arguments, before, after)                                      \
    void __real_##name parameters;                                                                 \
    void __wrap_##name parameters;                                                                 \
    void __wrap_##name parameters                                                                  \
    {                                                                                              \
        before;                                                                                    \
        __real_##name arguments;                                                                   \
        after;                                                                                     \
    }

#define KIND_WRAP(Kind, kind)                                                                      \
    VOID_WRAP(glGen##Kind##s, (GLsizei n, GLuint * name), (n, name), ,                             \
              note("glGen" #Kind "s(1, &%s);", name_text(kind, *name)))                            \
    VOID_WRAP(glDelete##Kind##s, (GLsizei n, const GLuint *name), (n, name), ,                     \
              note("glDelete" #Kind "s(1, &%s);", name_text(kind, *name)))                         \
    VOID_WRAP(glBind##Kind, (GLenum target, GLuint name), (target, name), ,                        \
              note("glBind" #Kind "(%s, %s);", constant_text(target), name_text(kind, name)))
KIND_WRAP(Buffer, "buffer")
KIND_WRAP(Texture, "texture")
KIND_WRAP(Renderbuffer, "renderbuffer")
KIND_WRAP(Framebuffer, "framebuffer")

VOID_WRAP(glFinish, (void), (), , note("glFinish();"))
VOID_WRAP(glPixelStorei, (GLenum name, GLint value), (name, value), ,
          note("glPixelStorei(%s, %d);", constant_text(name), value))
NOTE_WRAP(GLenum, glGetError, (void), (), note("CALL(glGetError(), %#x);", r))
VOID_WRAP(glRenderbufferStorage, (GLenum target, GLenum internal, GLsizei w, GLsizei h),
          (target, internal, w, h), ,
          note("glRenderbufferStorage(GL_RENDERBUFFER, %s, %d, %d);", constant_text(internal), w,
               h))
VOID_WRAP(glFramebufferRenderbuffer, (GLenum target, GLenum attachment, GLenum kind, GLuint name),
          (target, attachment, kind, name), ,
          note("glFramebufferRenderbuffer(GL_FRAMEBUFFER, %s, GL_RENDERBUFFER, %s);",
               constant_text(attachment), name_text("renderbuffer", name)))
NOTE_WRAP(GLenum, glCheckFramebufferStatus, (GLenum target), (target),
          note("CALL(glCheckFramebufferStatus(GL_FRAMEBUFFER), %#x);", r))
VOID_WRAP(glTexStorage2D, (GLenum target, GLsizei n, GLenum internal, GLsizei w, GLsizei h),
          (target, n, internal, w, h), ,
          note("glTexStorage2D(%s, %d, %s, %d, %d);", constant_text(target), n,
               constant_text(internal), w, h))
VOID_WRAP(glTexStorage3D,
          (GLenum target, GLsizei n, GLenum internal, GLsizei w, GLsizei h, GLsizei d),
          (target, n, internal, w, h, d), ,
          note("glTexStorage3D(%s, %d, %s, %d, %d, %d);", constant_text(target), n,
               constant_text(internal), w, h, d))

// ---- bytes ----

static size_t texel_B(GLenum format, GLenum type)
{
    const bool one = format == GL_RED || format == GL_RED_INTEGER,
               two = format == GL_RG || format == GL_RG_INTEGER;
    const bool byte = type == GL_BYTE || type == GL_UNSIGNED_BYTE,
               wide = type == GL_INT || type == GL_UNSIGNED_INT || type == GL_FLOAT;
    const size_t channels = one ? 1 : two ? 2 : 4, each_B = byte ? 1 : wide ? 4 : 2;
    return channels * each_B;
}

static size_t box_B(GLsizei w, GLsizei h, GLsizei d, GLenum format, GLenum type)
{
    return (size_t)w * (size_t)h * (size_t)d * texel_B(format, type);
}

VOID_WRAP(glBufferData, (GLenum target, GLsizeiptr size, const void *data, GLenum usage),
          (target, size, data, usage), note_bytes("bytes", data, (size_t)size),
          note("glBufferData(GL_ARRAY_BUFFER, %td, @%p, %s);", size, data, constant_text(usage)))
VOID_WRAP(glBufferStorage, (GLenum target, GLsizeiptr size, const void *data, GLbitfield flags),
          (target, size, data, flags), note_bytes("bytes", data, (size_t)size),
          note("glBufferStorage(GL_ARRAY_BUFFER, %td, @%p, %#x);", size, data, flags))
VOID_WRAP(glBufferSubData, (GLenum target, GLintptr at, GLsizeiptr size, const void *data),
          (target, at, size, data), note_bytes("bytes", data, (size_t)size),
          note("glBufferSubData(GL_ARRAY_BUFFER, %td, %td, @%p);", at, size, data))
VOID_WRAP(glGetBufferSubData, (GLenum target, GLintptr at, GLsizeiptr size, void *data),
          (target, at, size, data),
          note("glGetBufferSubData(GL_ARRAY_BUFFER, %td, %td, @%p);", at, size, data),
          note_bytes("got", data, (size_t)size))

VOID_WRAP(glTexImage2D,
          (GLenum target, GLint level, GLint internal, GLsizei w, GLsizei h, GLint border,
           GLenum format, GLenum type, const void *data),
          (target, level, internal, w, h, border, format, type, data),
          note_bytes("bytes", data, box_B(w, h, 1, format, type)),
          note("glTexImage2D(%s, %d, %s, %d, %d, 0, %s, %s, @%p);", constant_text(target), level,
               constant_text((GLenum)internal), w, h, constant_text(format), constant_text(type),
               data))
VOID_WRAP(glTexImage3D,
          (GLenum target, GLint level, GLint internal, GLsizei w, GLsizei h, GLsizei d,
           GLint border, GLenum format, GLenum type, const void *data),
          (target, level, internal, w, h, d, border, format, type, data),
          note_bytes("bytes", data, box_B(w, h, d, format, type)),
          note("glTexImage3D(%s, %d, %s, %d, %d, %d, 0, %s, %s, @%p);", constant_text(target),
               level, constant_text((GLenum)internal), w, h, d, constant_text(format),
               constant_text(type), data))
VOID_WRAP(glTexSubImage2D,
          (GLenum target, GLint level, GLint x, GLint y, GLsizei w, GLsizei h, GLenum format,
           GLenum type, const void *data),
          (target, level, x, y, w, h, format, type, data),
          note_bytes("bytes", data, box_B(w, h, 1, format, type)),
          note("glTexSubImage2D(%s, %d, %d, %d, %d, %d, %s, %s, @%p);", constant_text(target),
               level, x, y, w, h, constant_text(format), constant_text(type), data))
VOID_WRAP(glTexSubImage3D,
          (GLenum target, GLint level, GLint x, GLint y, GLint z, GLsizei w, GLsizei h, GLsizei d,
           GLenum format, GLenum type, const void *data),
          (target, level, x, y, z, w, h, d, format, type, data),
          note_bytes("bytes", data, box_B(w, h, d, format, type)),
          note("glTexSubImage3D(%s, %d, %d, %d, %d, %d, %d, %d, %s, %s, @%p);",
               constant_text(target), level, x, y, z, w, h, d, constant_text(format),
               constant_text(type), data))
VOID_WRAP(glReadPixels,
          (GLint x, GLint y, GLsizei w, GLsizei h, GLenum format, GLenum type, void *data),
          (x, y, w, h, format, type, data),
          note("glReadPixels(%d, %d, %d, %d, %s, %s, @%p);", x, y, w, h, constant_text(format),
               constant_text(type), data),
          note_bytes("got", data, box_B(w, h, 1, format, type)))

static size_t level_B(GLenum target, GLint level, GLenum format, GLenum type)
{
    GLint width = 0, height = 0, depth = 0;
    glGetTexLevelParameteriv(target, level, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(target, level, GL_TEXTURE_HEIGHT, &height);
    glGetTexLevelParameteriv(target, level, GL_TEXTURE_DEPTH, &depth);
    return box_B(width, height, depth, format, type);
}

VOID_WRAP(glGetTexImage, (GLenum target, GLint level, GLenum format, GLenum type, void *data),
          (target, level, format, type, data),
          note("glGetTexImage(%s, %d, %s, %s, @%p);", constant_text(target), level,
               constant_text(format), constant_text(type), data),
          if (note_is_on()) note_bytes("got", data, level_B(target, level, format, type)))

// ---- registrations, of which the trace shows numbers ----

enum { LARGE = 1 << 16 }; // no object has so large a name

CUresult __real_cuGraphicsGLRegisterBuffer(CUgraphicsResource *r, GLuint name, unsigned flags);
CUresult __wrap_cuGraphicsGLRegisterBuffer(CUgraphicsResource *r, GLuint name, unsigned flags);
CUresult __wrap_cuGraphicsGLRegisterBuffer(CUgraphicsResource *r, GLuint name, unsigned flags)
{
    if (name < LARGE)
        note("argument buffer %s", name_text("buffer", name));
    return __real_cuGraphicsGLRegisterBuffer(r, name, flags);
}

CUresult __real_cuGraphicsGLRegisterImage(CUgraphicsResource *r, GLuint name, GLenum target,
                                          unsigned flags);
CUresult __wrap_cuGraphicsGLRegisterImage(CUgraphicsResource *r, GLuint name, GLenum target,
                                          unsigned flags);
CUresult __wrap_cuGraphicsGLRegisterImage(CUgraphicsResource *r, GLuint name, GLenum target,
                                          unsigned flags)
{
    note("argument target %s", constant_text(target));
    if (name < LARGE)
        note("argument image %s",
             name_text(target == GL_RENDERBUFFER ? "renderbuffer" : "texture", name));
    return __real_cuGraphicsGLRegisterImage(r, name, target, flags);
}

CUresult __real_cuGraphicsEGLRegisterImage(CUgraphicsResource *r, EGLImageKHR image,
                                           unsigned flags);
CUresult __wrap_cuGraphicsEGLRegisterImage(CUgraphicsResource *r, EGLImageKHR image,
                                           unsigned flags);
CUresult __wrap_cuGraphicsEGLRegisterImage(CUgraphicsResource *r, EGLImageKHR image, unsigned flags)
{
    note("argument image %s", handle_text("EGLImageKHR", image, "NULL"));
    return __real_cuGraphicsEGLRegisterImage(r, image, flags);
}
