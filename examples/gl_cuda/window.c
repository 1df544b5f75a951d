// SPDX-License-Identifier: MIT
// EGL and OpenGL for the examples.
#include "window.h"

#include <stdio.h>
#include <stdlib.h>

static void die(const char *why)
{
    fprintf(stderr, "gl_cuda: %s\n", why);
    exit(1);
}

static EGLDisplay open_display(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    PFNEGLQUERYDEVICESEXTPROC query_devices =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (platform_display && query_devices && query_devices(16, devices, &count))
        for (EGLint i = 0; i < count; i++) {
            EGLDisplay display = platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
            if (display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL))
                return display;
        }
    EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    return eglInitialize(display, NULL, NULL) ? display : EGL_NO_DISPLAY;
}

void window_open(struct window *window, const struct window *share)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3,
                                     EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    window->display = share ? share->display : open_display();
    if (window->display == EGL_NO_DISPLAY)
        die("no EGL display");
    if (!eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(window->display, wanted, &config, 1, &count) || !count)
        die("EGL has no OpenGL");
    window->context =
        eglCreateContext(window->display, config, share ? share->context : EGL_NO_CONTEXT, version);
    if (!window->context ||
        !eglMakeCurrent(window->display, EGL_NO_SURFACE, EGL_NO_SURFACE, window->context))
        die("no context of OpenGL 3.3");
}

void window_close(struct window *window)
{
    eglMakeCurrent(window->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(window->display, window->context);
}

void window_check(const char *what)
{
    GLenum error = glGetError();
    if (error == GL_NO_ERROR)
        return;
    fprintf(stderr, "gl_cuda: %s: OpenGL error %#x\n", what, error);
    exit(1);
}

// ---- textures and buffers

GLuint texture_create(uint32_t size)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, (GLsizei)size, (GLsizei)size, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTexture(GL_TEXTURE_2D, 0);
    return texture;
}

GLuint pixel_buffer_create(uint32_t size)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)size * size * 4, NULL, GL_STREAM_DRAW);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return buffer;
}

void texture_unpack(GLuint texture, GLuint pixel_buffer, uint32_t size)
{
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixel_buffer);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, (GLsizei)size, (GLsizei)size, GL_RGBA, GL_UNSIGNED_BYTE,
                    NULL);
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

// ---- drawing

static GLuint compile(GLenum kind, const char *text)
{
    GLint good = 0;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good)
        die("a shader does not compile");
    return shader;
}

void painter_open(struct painter *painter, uint32_t size)
{
    static const char vertex[] = "#version 330 core\n"
                                 "out vec2 at;\n"
                                 "void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1); "
                                 "gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0); }\n";
    static const char fragment[] = "#version 330 core\n"
                                   "in vec2 at;\n"
                                   "out vec4 colour;\n"
                                   "uniform sampler2D picture;\n"
                                   "void main() { colour = texelFetch(picture, ivec2(at * "
                                   "vec2(textureSize(picture, 0))), 0); }\n";
    painter->size = size;
    painter->program = glCreateProgram();
    glAttachShader(painter->program, compile(GL_VERTEX_SHADER, vertex));
    glAttachShader(painter->program, compile(GL_FRAGMENT_SHADER, fragment));
    glLinkProgram(painter->program);
    glGenVertexArrays(1, &painter->vertices);
    glGenTextures(1, &painter->image);
    glBindTexture(GL_TEXTURE_2D, painter->image);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, (GLsizei)size * 2, (GLsizei)size, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    glBindTexture(GL_TEXTURE_2D, 0);
    glGenFramebuffers(1, &painter->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, painter->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, painter->image, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        die("the framebuffer is not complete");
    window_check("the painter");
}

void painter_draw(struct painter *painter, GLuint left, GLuint right, uint8_t *pixels)
{
    GLsizei size = (GLsizei)painter->size;
    const GLuint textures[] = {left, right};
    glBindFramebuffer(GL_FRAMEBUFFER, painter->framebuffer);
    glUseProgram(painter->program);
    glBindVertexArray(painter->vertices);
    for (int i = 0; i < 2; i++) {
        glViewport(i * size, 0, size, size);
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glReadPixels(0, 0, size * 2, size, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    window_check("drawing");
}

void painter_close(struct painter *painter)
{
    glDeleteFramebuffers(1, &painter->framebuffer);
    glDeleteTextures(1, &painter->image);
    glDeleteVertexArrays(1, &painter->vertices);
    glDeleteProgram(painter->program);
}
