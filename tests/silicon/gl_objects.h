// SPDX-License-Identifier: MIT
// Random OpenGL objects for recorded programs: an EGL context, buffers and textures with random
// bytes, and the bytes that CUDA sees.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include "draw.h"
#include "record.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <cudaGL.h>

enum { MOST_BYTES = 1 << 20 };

static EGLDisplay display;
static EGLConfig config;
static EGLContext gl_first;
static CUcontext cu_first;
static unsigned char bytes[MOST_BYTES];

static EGLContext gl_context(EGLContext share)
{
    static const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
                                        EGL_NONE};
    return eglCreateContext(display, config, share, attributes);
}

static void gl_use(EGLContext context)
{
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        SAY(" no-make-current");
}

// Makes an OpenGL context current on the first device that supports one, and CUDA's primary
// context.
static inline void start(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    PFNEGLQUERYDEVICESEXTPROC query_devices =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    EGLDeviceEXT devices[16];
    EGLint count = 0, configs = 0;
    if (platform_display && query_devices)
        query_devices(16, devices, &count);
    for (EGLint i = 0; i < count && !gl_first; i++) {
        display = platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (display && eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_API) &&
            eglChooseConfig(display, wanted, &config, 1, &configs) && configs)
            gl_first = gl_context(EGL_NO_CONTEXT);
    }
    if (!gl_first) {
        fprintf(stderr, "no OpenGL context\n");
        _exit(9);
    }
    gl_use(gl_first);
    cu_first = record_context();
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
}

static unsigned hash(const unsigned char *p, size_t size)
{
    unsigned h = 2166136261u;
    while (size--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static unsigned char *noise(size_t size)
{
    uint64_t x = draw() | 1;
    for (size_t i = 0; i < size; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (unsigned char)(x >> 56) &
                   0x3b; // keeps half and float values from being NaN or denormal
        bytes[i] |= 0x20;
    }
    return bytes;
}

static int extent(int size, int level)
{
    return size >> level ? size >> level : 1;
}

// ---- formats that can be registered, and the transfer format that keeps their bytes

struct format {
    const char *name;
    GLenum internal, outer, type;
    int texel_B;
};

static const struct format formats[] = {
    {"R8", GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1},
    {"RG8", GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2},
    {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"SRGB8_ALPHA8", GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"R16", GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2},
    {"RG16", GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 4},
    {"RGBA16", GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8},
    {"R16F", GL_R16F, GL_RED, GL_HALF_FLOAT, 2},
    {"RG16F", GL_RG16F, GL_RG, GL_HALF_FLOAT, 4},
    {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8},
    {"R32F", GL_R32F, GL_RED, GL_FLOAT, 4},
    {"RG32F", GL_RG32F, GL_RG, GL_FLOAT, 8},
    {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, 16},
    {"R8UI", GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1},
    {"RG8UI", GL_RG8UI, GL_RG_INTEGER, GL_UNSIGNED_BYTE, 2},
    {"RGBA8UI", GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4},
    {"R8I", GL_R8I, GL_RED_INTEGER, GL_BYTE, 1},
    {"RG8I", GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2},
    {"RGBA8I", GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4},
    {"R16UI", GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2},
    {"RG16I", GL_RG16I, GL_RG_INTEGER, GL_SHORT, 4},
    {"RGBA16UI", GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8},
    {"R32I", GL_R32I, GL_RED_INTEGER, GL_INT, 4},
    {"RG32UI", GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8},
    {"RGBA32UI", GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {"RGB8", GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
    {"RGB10_A2", GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4},
    {"RGBA8_SNORM", GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4},
    {"DEPTH32F", GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT, 4},
};
enum { FIRST_ODD_FORMAT = 25 }; // later rows cannot be registered, or change their bytes

// ---- objects

enum { BUFFER, TEXTURE };

struct object {
    int kind;
    GLuint name;
    bool deleted;
    size_t size; // of a buffer
    GLenum target;
    const struct format *format;
    int width, height, depth, levels; // depth also counts layers and faces
};

static const GLenum targets[] = {GL_TEXTURE_2D,       GL_TEXTURE_2D,       GL_TEXTURE_3D,
                                 GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_RECTANGLE};
__attribute__((unused)) static const char *target_name(GLenum target)
{
    switch (target) {
    case GL_TEXTURE_2D:
        return "2D";
    case GL_TEXTURE_3D:
        return "3D";
    case GL_TEXTURE_2D_ARRAY:
        return "2DARRAY";
    case GL_TEXTURE_CUBE_MAP:
        return "CUBE";
    case GL_TEXTURE_RECTANGLE:
        return "RECT";
    default:
        return "other";
    }
}

__attribute__((unused)) static bool is_deep(const struct object *o)
{
    return o->target == GL_TEXTURE_3D || o->target == GL_TEXTURE_2D_ARRAY;
}

static int depth_at(const struct object *o, int level)
{
    return o->target == GL_TEXTURE_3D ? extent(o->depth, level) : o->depth;
}

static size_t level_B(const struct object *o, int level)
{
    return (size_t)extent(o->width, level) * (size_t)extent(o->height, level) *
           (size_t)depth_at(o, level) * (size_t)o->format->texel_B;
}

static void upload(const struct object *o, int level, bool define)
{
    int w = extent(o->width, level), h = extent(o->height, level), d = depth_at(o, level);
    const struct format *f = o->format;
    size_t face_B = (size_t)w * (size_t)h * (size_t)f->texel_B;
    noise(level_B(o, level));
    if (is_deep(o)) {
        if (define)
            glTexImage3D(o->target, level, (GLint)f->internal, w, h, d, 0, f->outer, f->type,
                         bytes);
        else
            glTexSubImage3D(o->target, level, 0, 0, 0, w, h, d, f->outer, f->type, bytes);
        return;
    }
    for (int face = 0; face < d; face++) {
        GLenum target = o->target == GL_TEXTURE_CUBE_MAP
                            ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face
                            : o->target;
        if (define)
            glTexImage2D(target, level, (GLint)f->internal, w, h, 0, f->outer, f->type,
                         bytes + (size_t)face * face_B);
        else
            glTexSubImage2D(target, level, 0, 0, w, h, f->outer, f->type,
                            bytes + (size_t)face * face_B);
    }
}

__attribute__((unused)) static unsigned download(const struct object *o, int level)
{
    size_t size = level_B(o, level), face_B = size / (size_t)depth_at(o, level);
    memset(bytes, 0, size);
    if (o->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < 6; face++)
            glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, o->format->outer,
                          o->format->type, bytes + (size_t)face * face_B);
    else
        glGetTexImage(o->target, level, o->format->outer, o->format->type, bytes);
    return hash(bytes, size);
}

__attribute__((unused)) static struct object make_buffer(void)
{
    static const size_t sizes[] = {1, 100, 256, 4096, 65536, 300001};
    static const GLbitfield storage[] = {0, GL_DYNAMIC_STORAGE_BIT, GL_DYNAMIC_STORAGE_BIT, 0};
    struct object o = {.kind = BUFFER, .size = PICK(sizes)};
    GLbitfield how = PICK(storage);
    bool immutable = chance(30);
    noise(o.size);
    glGenBuffers(1, &o.name);
    glBindBuffer(GL_ARRAY_BUFFER, o.name);
    if (immutable)
        glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)o.size, bytes, how | GL_DYNAMIC_STORAGE_BIT);
    else
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)o.size, bytes, GL_DYNAMIC_DRAW);
    return o;
}

__attribute__((unused)) static struct object make_texture(const struct format *format)
{
    struct object o = {.kind = TEXTURE, .target = PICK(targets), .format = format};
    bool small = chance(70);
    o.width = 1 + (int)(draw() % (small ? 20 : 90));
    o.height = 1 + (int)(draw() % (small ? 20 : 60));
    o.depth = is_deep(&o) ? 1 + (int)(draw() % 7) : o.target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
    if (o.target == GL_TEXTURE_CUBE_MAP)
        o.height = o.width;
    int most = 1;
    while ((o.width | o.height | (o.target == GL_TEXTURE_3D ? o.depth : 1)) >> most)
        most++;
    o.levels =
        o.target == GL_TEXTURE_RECTANGLE || chance(40) ? 1 : 1 + (int)(draw() % (unsigned)most);
    bool immutable = chance(60);
    if (!immutable && o.levels > 1)
        o.levels = most;
    glGenTextures(1, &o.name);
    glBindTexture(o.target, o.name);
    if (immutable && is_deep(&o))
        glTexStorage3D(o.target, o.levels, o.format->internal, o.width, o.height, o.depth);
    else if (immutable)
        glTexStorage2D(o.target, o.levels, o.format->internal, o.width, o.height);
    for (int level = 0; level < o.levels; level++)
        upload(&o, level, !immutable);
    return o;
}

__attribute__((unused)) static void drop(struct object *o)
{
    if (o->deleted)
        return;
    if (o->kind == BUFFER)
        glDeleteBuffers(1, &o->name);
    else
        glDeleteTextures(1, &o->name);
    o->deleted = true;
}

// ---- the bytes that CUDA sees

__attribute__((unused)) static void say_desc(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUresult r = cuArray3DGetDescriptor(&d, a);
    if (r)
        SAY("[%s]", record_brief(r));
    else
        SAY("[%zux%zux%zu f%d c%u %x]", d.Width, d.Height, d.Depth, (int)d.Format, d.NumChannels,
            d.Flags);
}

static size_t element_B(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->NumChannels *
           (d->Format == CU_AD_FORMAT_UNSIGNED_INT8 || d->Format == CU_AD_FORMAT_SIGNED_INT8 ? 1u
            : d->Format == CU_AD_FORMAT_UNSIGNED_INT16 || d->Format == CU_AD_FORMAT_SIGNED_INT16 ||
                    d->Format == CU_AD_FORMAT_HALF
                ? 2u
                : 4u);
}

// Reads a whole array, or writes one box.
__attribute__((unused)) static void read_array(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (cuArray3DGetDescriptor(&d, a))
        return;
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = a,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = bytes};
    c.WidthInBytes = d.Width * element_B(&d);
    c.Height = d.Height ? d.Height : 1;
    c.Depth = d.Depth ? d.Depth : 1;
    c.dstPitch = c.WidthInBytes;
    c.dstHeight = c.Height;
    if (c.WidthInBytes * c.Height * c.Depth > MOST_BYTES) {
        SAY(" large");
        return;
    }
    CUresult r = cuMemcpy3D(&c);
    if (r)
        SAY(" read=%s", record_brief(r));
    else
        SAY(" %08x", hash(bytes, c.WidthInBytes * c.Height * c.Depth));
}

__attribute__((unused)) static void write_array(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    uint64_t dice[6];
    for (int i = 0; i < 6; i++)
        dice[i] = draw();
    if (cuArray3DGetDescriptor(&d, a))
        return;
    size_t h = d.Height ? d.Height : 1, depth = d.Depth ? d.Depth : 1, texel_B = element_B(&d);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = bytes,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a};
    size_t x = dice[0] % d.Width;
    c.dstY = dice[1] % h;
    c.dstZ = dice[2] % depth;
    c.dstXInBytes = x * texel_B;
    c.WidthInBytes = (1 + dice[3] % (d.Width - x)) * texel_B;
    c.Height = 1 + dice[4] % (h - c.dstY);
    c.Depth = 1 + dice[5] % (depth - c.dstZ);
    c.srcPitch = c.WidthInBytes;
    c.srcHeight = c.Height;
    if (c.WidthInBytes * c.Height * c.Depth > MOST_BYTES)
        return;
    noise(c.WidthInBytes * c.Height * c.Depth);
    SAY(" %s", record_brief(cuMemcpy3D(&c)));
}
