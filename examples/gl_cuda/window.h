// SPDX-License-Identifier: MIT
// OpenGL without a window, and the drawing of the examples. The contexts are on Mesa's software
// renderer if it exists, or on the first display that EGL offers.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdint.h>

struct window {
    EGLDisplay display;
    EGLContext context;
};

// Opens a display and makes a context of OpenGL 3.3 core current. If `share` is not NULL, the new
// context shares that window's objects. Ends the program on failure.
void window_open(struct window *window, const struct window *share);
void window_close(struct window *window);
// Ends the program if OpenGL has reported an error.
void window_check(const char *what);

// Two squares of size x size side by side, each with its own texture, drawn into an image of 2 size
// x size.
struct painter {
    GLuint program, vertices, framebuffer, image;
    uint32_t size;
};
void painter_open(struct painter *painter, uint32_t size);
// Draws, and reads the image back as RGBA in bottom-up rows.
void painter_draw(struct painter *painter, GLuint left, GLuint right, uint8_t *pixels);
void painter_close(struct painter *painter);

GLuint texture_create(uint32_t size);
// Copies a pixel buffer into a texture.
void texture_unpack(GLuint texture, GLuint pixel_buffer, uint32_t size);
GLuint pixel_buffer_create(uint32_t size);
