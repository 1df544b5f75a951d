// SPDX-License-Identifier: MIT
// The fuzz target `gl`: objects of OpenGL, and the bytes that the model expects in them.
#include <unistd.h>

#include "gl_model.h"

enum { SKIPPED = 77 }; // the exit code that meson knows

static const struct format formats[] = {
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, 1, CU_AD_FORMAT_UNSIGNED_INT8, true},
    {GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2, 2, CU_AD_FORMAT_UNSIGNED_INT8, false},
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 4, CU_AD_FORMAT_UNSIGNED_INT8, true},
    {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 4, CU_AD_FORMAT_UNSIGNED_INT8, false},
    {GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2, 1, CU_AD_FORMAT_UNSIGNED_INT16, false},
    {GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 4, 2, CU_AD_FORMAT_UNSIGNED_INT16, true},
    {GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8, 4, CU_AD_FORMAT_UNSIGNED_INT16, true},
    {GL_R16F, GL_RED, GL_HALF_FLOAT, 2, 1, CU_AD_FORMAT_HALF, false},
    {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8, 4, CU_AD_FORMAT_HALF, true},
    {GL_R32F, GL_RED, GL_FLOAT, 4, 1, CU_AD_FORMAT_FLOAT, false},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16, 4, CU_AD_FORMAT_FLOAT, true},
    {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1, 1, CU_AD_FORMAT_UNSIGNED_INT8, false},
    {GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4, 4, CU_AD_FORMAT_SIGNED_INT8, true},
    {GL_RG16I, GL_RG_INTEGER, GL_SHORT, 4, 2, CU_AD_FORMAT_SIGNED_INT16, false},
    {GL_R32I, GL_RED_INTEGER, GL_INT, 4, 1, CU_AD_FORMAT_SIGNED_INT32, false},
    {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8, 2, CU_AD_FORMAT_UNSIGNED_INT32, false},
};

static EGLDisplay display;
static EGLContext contexts[CONTEXTS];
static uint8_t bytes[LEVEL_MOST_B];

#define GL_OK()                                                                                    \
    do {                                                                                           \
        const GLenum error_ = glGetError();                                                        \
        FUZZ_CHECK(!error_, "OpenGL reports %#x", error_);                                         \
    } while (0)

// ---- contexts

// Two contexts that share their objects, without surfaces.
void fg_begin(void)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE},
                        attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
                                        EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    if (display)
        return;
    display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (display && eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_API) &&
        eglChooseConfig(display, wanted, &config, 1, &count) && count)
        for (unsigned i = 0; i < CONTEXTS; i++)
            contexts[i] = eglCreateContext(display, config, contexts[0], attributes);
    if (!contexts[CONTEXTS - 1]) {
        fprintf(stderr, "SKIPPED: EGL has no context of OpenGL 4.3 without a screen\n");
        _exit(SKIPPED);
    }
}

void fg_use_context(struct model *m, int context)
{
    m->context = context;
    FUZZ_CHECK(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE,
                              context < 0 ? EGL_NO_CONTEXT : contexts[context]),
               "eglMakeCurrent");
    if (context < 0)
        return;
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
}

// ---- objects

bool fg_is_layered(const struct object *o)
{
    return o->target == GL_TEXTURE_2D_ARRAY || o->target == GL_TEXTURE_CUBE_MAP;
}

static bool is_deep(const struct object *o)
{
    return o->target == GL_TEXTURE_3D || o->target == GL_TEXTURE_2D_ARRAY;
}

static unsigned halved(unsigned size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

static unsigned levels_of(unsigned extent)
{
    unsigned count = 1;
    for (; extent > 1; extent /= 2)
        count++;
    return count;
}

static void set_up_level(struct object *o, unsigned n, unsigned width, unsigned height,
                         unsigned depth)
{
    struct level *l = &o->levels[n];
    l->width = width, l->height = height, l->depth = depth;
    l->size_B = (size_t)width * height * depth * (o->format ? o->format->texel_B : 1);
    l->bytes = calloc(1, l->size_B);
    l->known = calloc(1, l->size_B);
}

// Bytes that are neither NaN nor denormal as floats of any size, from which OpenGL may make others.
static void make_bytes(struct fuzz_input *in, uint8_t *to, size_t size_B)
{
    uint32_t state = (uint32_t)fuzz_take(in, 2) * 2654435761u + 1;
    for (size_t i = 0; i < size_B; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (uint8_t)((state >> 24 & 0x3b) | 0x20);
    }
}

static void set_known(struct level *l, const uint8_t *from)
{
    memcpy(l->bytes, from, l->size_B);
    memset(l->known, 1, l->size_B);
}

static void create_buffer(struct fuzz_input *in, struct object *o)
{
    const unsigned size = 1 + fuzz_below(in, BUFFER_MOST_B);
    const bool immutable = fuzz_chance(in, 3);
    o->count = o->chain = 1;
    set_up_level(o, 0, size, 1, 1);
    make_bytes(in, bytes, size);
    set_known(&o->levels[0], bytes);
    glGenBuffers(1, &o->name);
    glBindBuffer(GL_ARRAY_BUFFER, o->name);
    if (immutable)
        glBufferStorage(GL_ARRAY_BUFFER, size, bytes, GL_DYNAMIC_STORAGE_BIT);
    else
        glBufferData(GL_ARRAY_BUFFER, size, bytes, GL_DYNAMIC_DRAW);
}

static void create_renderbuffer(struct fuzz_input *in, struct object *o)
{
    const unsigned width = 1 + fuzz_below(in, EXTENT_MOST),
                   height = 1 + fuzz_below(in, EXTENT_MOST);
    o->count = o->chain = 1;
    set_up_level(o, 0, width, height, 1); // its bytes are unknown
    glGenRenderbuffers(1, &o->name);
    glBindRenderbuffer(GL_RENDERBUFFER, o->name);
    glRenderbufferStorage(GL_RENDERBUFFER, o->format->internal, (GLsizei)width, (GLsizei)height);
}

// Defines a level of a mutable texture, or writes all of a level.
static void upload(const struct object *o, unsigned n, const uint8_t *from, bool define)
{
    const struct level *l = &o->levels[n];
    const struct format *f = o->format;
    const GLint level = (GLint)n, internal = (GLint)f->internal;
    const GLsizei w = (GLsizei)l->width, h = (GLsizei)l->height, d = (GLsizei)l->depth;
    if (is_deep(o)) {
        if (define)
            glTexImage3D(o->target, level, internal, w, h, d, 0, f->outer, f->type, from);
        else
            glTexSubImage3D(o->target, level, 0, 0, 0, w, h, d, f->outer, f->type, from);
        return;
    }
    for (unsigned face = 0; face < l->depth; face++) {
        const GLenum target =
            o->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : o->target;
        const uint8_t *at = from + face * (l->size_B / l->depth);
        if (define)
            glTexImage2D(target, level, internal, w, h, 0, f->outer, f->type, at);
        else
            glTexSubImage2D(target, level, 0, 0, w, h, f->outer, f->type, at);
    }
}

// A texture with a single level, with all levels, or (with immutable storage) with some. CUDA shows
// all levels of a texture that has more than one (docs/reference/opengl.md; recorded:
// random_images shapes).
static void create_texture(struct fuzz_input *in, struct object *o)
{
    const unsigned width = 1 + fuzz_below(in, EXTENT_MOST);
    const unsigned height =
        o->target == GL_TEXTURE_CUBE_MAP ? width : 1 + fuzz_below(in, EXTENT_MOST);
    const unsigned depth = o->target == GL_TEXTURE_CUBE_MAP ? 6
                           : is_deep(o)                     ? 1 + fuzz_below(in, LAYERS_MOST)
                                                            : 1;
    const bool slices = o->target == GL_TEXTURE_3D, immutable = fuzz_below(in, 2);
    unsigned extent = width > height ? width : height;
    extent = slices && depth > extent ? depth : extent;
    const unsigned whole = levels_of(extent);
    o->count = o->target == GL_TEXTURE_RECTANGLE || fuzz_below(in, 2) ? 1
               : immutable                                            ? 1 + fuzz_below(in, whole)
                                                                      : whole;
    o->chain = o->count > 1 ? whole : 1;
    glGenTextures(1, &o->name);
    glBindTexture(o->target, o->name);
    if (immutable && is_deep(o))
        glTexStorage3D(o->target, (GLsizei)o->count, o->format->internal, (GLsizei)width,
                       (GLsizei)height, (GLsizei)depth);
    else if (immutable)
        glTexStorage2D(o->target, (GLsizei)o->count, o->format->internal, (GLsizei)width,
                       (GLsizei)height);
    for (unsigned n = 0; n < o->count; n++) {
        set_up_level(o, n, halved(width, n), halved(height, n), slices ? halved(depth, n) : depth);
        make_bytes(in, bytes, o->levels[n].size_B);
        set_known(&o->levels[n], bytes);
        upload(o, n, bytes, !immutable);
    }
}

struct object *fg_create(struct fuzz_input *in)
{
    static const GLenum targets[] = {0,
                                     0,
                                     GL_TEXTURE_2D,
                                     GL_TEXTURE_2D,
                                     GL_TEXTURE_3D,
                                     GL_TEXTURE_2D_ARRAY,
                                     GL_TEXTURE_CUBE_MAP,
                                     GL_TEXTURE_RECTANGLE,
                                     GL_RENDERBUFFER};
    struct object *o = calloc(1, sizeof *o);
    o->target = targets[fuzz_below(in, FUZZ_COUNT(targets))];
    if (o->target)
        o->format = &formats[fuzz_below(in, FUZZ_COUNT(formats))];
    if (!o->target)
        create_buffer(in, o);
    else if (o->target == GL_RENDERBUFFER)
        create_renderbuffer(in, o);
    else
        create_texture(in, o);
    glFinish();
    GL_OK();
    return o;
}

// Only of objects with a single level; in Mesa an EGLImage of a texture with more shows zeros.
void fg_make_image(struct object *o)
{
    static const EGLint none[] = {EGL_NONE};
    if (o->image || (o->target != GL_TEXTURE_2D && o->target != GL_RENDERBUFFER) || o->chain > 1)
        return;
    PFNEGLCREATEIMAGEKHRPROC create =
        (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    o->image = create(display, eglGetCurrentContext(),
                      o->target == GL_TEXTURE_2D ? EGL_GL_TEXTURE_2D : EGL_GL_RENDERBUFFER,
                      (EGLClientBuffer)(uintptr_t)o->name, none);
}

void fg_delete(struct object *o)
{
    PFNEGLDESTROYIMAGEKHRPROC destroy =
        (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    if (o->image)
        destroy(display, o->image);
    if (!o->target)
        glDeleteBuffers(1, &o->name);
    else if (o->target == GL_RENDERBUFFER)
        glDeleteRenderbuffers(1, &o->name);
    else
        glDeleteTextures(1, &o->name);
    glFinish();
    GL_OK();
    o->deleted = true;
}

void fg_release(struct object *o)
{
    if (o->references)
        return;
    for (unsigned n = 0; n < o->count; n++)
        free(o->levels[n].bytes), free(o->levels[n].known);
    free(o);
}

void fg_forget(struct object *o)
{
    for (unsigned n = 0; n < o->count; n++)
        memset(o->levels[n].known, 0, o->levels[n].size_B);
}

// ---- bytes

struct box fg_any_box(struct fuzz_input *in, const struct level *l)
{
    struct box b = {.x = fuzz_below(in, l->width),
                    .y = fuzz_below(in, l->height),
                    .z = fuzz_below(in, l->depth)};
    b.width = 1 + fuzz_below(in, l->width - b.x);
    b.height = 1 + fuzz_below(in, l->height - b.y);
    return b;
}

size_t fg_place_of(const struct object *o, const struct level *l, const struct box *b, unsigned row)
{
    return (((size_t)b->z * l->height + b->y + row) * l->width + b->x) *
           (o->format ? o->format->texel_B : 1);
}

// Writes a box through OpenGL.
void fg_write(struct fuzz_input *in, struct object *o)
{
    const unsigned n = fuzz_below(in, o->count);
    struct level *l = &o->levels[n];
    const struct box b = fg_any_box(in, l);
    const struct format *f = o->format;
    const size_t row_B = b.width * (f ? f->texel_B : 1u);
    const GLint x = (GLint)b.x, y = (GLint)b.y, level = (GLint)n;
    const GLsizei w = (GLsizei)b.width, h = (GLsizei)b.height;
    if (o->target == GL_RENDERBUFFER)
        return;
    make_bytes(in, bytes, row_B * b.height);
    if (!o->target) {
        glBindBuffer(GL_ARRAY_BUFFER, o->name);
        glBufferSubData(GL_ARRAY_BUFFER, x, w, bytes);
    } else {
        glBindTexture(o->target, o->name);
        if (is_deep(o))
            glTexSubImage3D(o->target, level, x, y, (GLint)b.z, w, h, 1, f->outer, f->type, bytes);
        else
            glTexSubImage2D(o->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + b.z
                                                             : o->target,
                            level, x, y, w, h, f->outer, f->type, bytes);
    }
    for (unsigned row = 0; row < b.height; row++) {
        const size_t at = fg_place_of(o, l, &b, row);
        memcpy(l->bytes + at, bytes + row * row_B, row_B);
        memset(l->known + at, 1, row_B);
    }
    glFinish();
    GL_OK();
}

// Reads a renderbuffer; some formats of OpenGL cannot be read.
static bool read_renderbuffer(const struct object *o)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, o->name);
    const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete)
        glReadPixels(0, 0, (GLsizei)o->levels[0].width, (GLsizei)o->levels[0].height,
                     o->format->outer, o->format->type, bytes);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    return complete;
}

static bool read_level(const struct object *o, unsigned n)
{
    const struct level *l = &o->levels[n];
    if (o->target == GL_RENDERBUFFER)
        return read_renderbuffer(o);
    if (!o->target) {
        glBindBuffer(GL_ARRAY_BUFFER, o->name);
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)l->size_B, bytes);
        return true;
    }
    glBindTexture(o->target, o->name);
    if (o->target == GL_TEXTURE_CUBE_MAP)
        for (unsigned face = 0; face < 6; face++)
            glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, (GLint)n, o->format->outer,
                          o->format->type, bytes + face * (l->size_B / 6));
    else
        glGetTexImage(o->target, (GLint)n, o->format->outer, o->format->type, bytes);
    return true;
}

// Compares all bytes that OpenGL has.
void fg_check(const struct object *o)
{
    for (unsigned n = 0; n < o->count; n++) {
        const struct level *l = &o->levels[n];
        memset(bytes, 0xee, l->size_B);
        const bool read = read_level(o, n);
        GL_OK();
        for (size_t i = 0; read && i < l->size_B; i++)
            FUZZ_CHECK(!l->known[i] || bytes[i] == l->bytes[i],
                       "target %#x, format %#x, %u x %u x %u, level %u, byte %zu in OpenGL: %#x, "
                       "expected %#x",
                       o->target, o->format ? o->format->internal : 0, l->width, l->height,
                       l->depth, n, i, bytes[i], l->bytes[i]);
    }
}
