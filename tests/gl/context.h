// SPDX-License-Identifier: MIT
// OpenGL contexts for tests, without a window: EGL on Mesa's software renderer. A case is skipped
// if EGL is missing.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include "../harness.h"
#include <cudaGL.h>

enum gl_flavour { GL_CORE, GL_COMPATIBILITY, GL_ES };

static EGLDisplay gl_display;

static inline void gl_open_display(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    PFNEGLQUERYDEVICESEXTPROC query_devices =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (!platform_display || !query_devices || !query_devices(16, devices, &count))
        SKIP("SKIPPED: EGL cannot list devices");
    for (EGLint i = 0; i < count; i++) {
        gl_display = platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (gl_display && eglInitialize(gl_display, NULL, NULL))
            return;
    }
    SKIP("SKIPPED: no EGL display on any of %d devices", count);
}

// Creates a context without making it current; with one more attribute if it is not 0.
static inline EGLContext gl_new_context_with(enum gl_flavour flavour, EGLContext share,
                                             EGLint attribute, EGLint value)
{
    EGLint attributes[][9] = {
        [GL_CORE] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE},
        [GL_COMPATIBILITY] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3,
                              EGL_CONTEXT_OPENGL_PROFILE_MASK,
                              EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT, EGL_NONE},
        [GL_ES] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE},
    };
    EGLint *last = attributes[flavour];
    while (*last != EGL_NONE)
        last += 2;
    if (attribute) {
        last[0] = attribute;
        last[1] = value;
        last[2] = EGL_NONE;
    }
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                       flavour == GL_ES ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!gl_display)
        gl_open_display();
    eglBindAPI(flavour == GL_ES ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
    if (!eglChooseConfig(gl_display, wanted, &config, 1, &count) || !count)
        SKIP("SKIPPED: EGL has no configuration for OpenGL%s", flavour == GL_ES ? " ES" : "");
    EGLContext context = eglCreateContext(gl_display, config, share, attributes[flavour]);
    if (!context)
        SKIP("SKIPPED: EGL creates no context (%#x)", (unsigned)eglGetError());
    return context;
}

static inline EGLContext gl_new_context(enum gl_flavour flavour, EGLContext share)
{
    return gl_new_context_with(flavour, share, 0, 0);
}

// Makes a context current in this thread, or releases the current one if it is NULL.
static inline void gl_use(EGLContext context)
{
    if (!eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        SKIP("SKIPPED: a context without a surface cannot be made current (%#x)",
             (unsigned)eglGetError());
}

// Makes a new OpenGL context and a CUDA context current.
static inline EGLContext gl_start(enum gl_flavour flavour)
{
    EGLContext context = gl_new_context(flavour, EGL_NO_CONTEXT);
    gl_use(context);
    test_context();
    return context;
}

// ---- objects

static inline GLuint gl_buffer(size_t size, const void *bytes)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, bytes, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return buffer;
}

// Reads through a mapping, because OpenGL ES has no glGetBufferSubData.
static inline void gl_read_buffer(GLuint buffer, size_t size, void *bytes)
{
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    void *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, GL_MAP_READ_BIT);
    if (mapped)
        memcpy(bytes, mapped, size);
    else
        EXPECT(mapped);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static inline uint8_t gl_buffer_byte(GLuint buffer, size_t at)
{
    static __thread uint8_t bytes[1 << 16];
    gl_read_buffer(buffer, at + 1, bytes);
    return bytes[at];
}

static inline GLuint gl_texture_2d(GLenum format, int levels, int width, int height)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, levels, format, width, height);
    return texture;
}

// Leaves the renderbuffer bound, as gl_texture_2d leaves the texture.
static inline GLuint gl_renderbuffer(GLenum format, int width, int height)
{
    GLuint renderbuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
    return renderbuffer;
}

// Returns a framebuffer, which stays bound, with level 0 of a texture or a renderbuffer attached.
static inline GLuint gl_framebuffer(GLuint texture, GLuint renderbuffer)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    if (texture)
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    else
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                  renderbuffer);
    return framebuffer;
}

static inline void pattern(void *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
}

// ---- CUDA

static inline CUgraphicsResource cu_buffer(GLuint buffer, unsigned flags)
{
    CUgraphicsResource r;
    MUST(cuGraphicsGLRegisterBuffer(&r, buffer, flags));
    return r;
}

static inline CUgraphicsResource cu_image(GLuint image, GLenum target, unsigned flags)
{
    CUgraphicsResource r;
    MUST(cuGraphicsGLRegisterImage(&r, image, target, flags));
    return r;
}

static inline CUdeviceptr cu_map_pointer(CUgraphicsResource r)
{
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedPointer(&p, &size, r));
    return p;
}

static inline CUarray cu_map_array(CUgraphicsResource r, unsigned layer, unsigned level)
{
    CUarray a;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, layer, level));
    return a;
}

static inline void cu_expect_desc(CUarray a, size_t width, size_t height, size_t depth,
                                  CUarray_format format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    EXPECT_OK(cuArray3DGetDescriptor(&d, a));
    EXPECT_EQ(d.Width, width);
    EXPECT_EQ(d.Height, height);
    EXPECT_EQ(d.Depth, depth);
    EXPECT_EQ(d.Format, format);
    EXPECT_EQ(d.NumChannels, channels);
    EXPECT_EQ(d.Flags, flags);
}

static inline void cu_read_array(CUarray a, size_t row_B, size_t rows, void *to)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = a,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = to,
                       .dstPitch = row_B,
                       .WidthInBytes = row_B,
                       .Height = rows};
    EXPECT_OK(cuMemcpy2D(&c));
}

static inline void cu_write_array(CUarray a, size_t x_B, size_t y, size_t row_B, size_t rows,
                                  const void *from)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = row_B,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .dstXInBytes = x_B,
                       .dstY = y,
                       .WidthInBytes = row_B,
                       .Height = rows};
    EXPECT_OK(cuMemcpy2D(&c));
}
