// SPDX-License-Identifier: MIT
// For tests of large copies of mapped objects, which OpenGL makes itself: straight between the
// object and the program's memory. The program replaces eglGetProcAddress, so that it sees which
// memory the driver gives to OpenGL.
#pragma once
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

#include "context.h"

enum {
    WIDTH = 512,
    HEIGHT = 300,
    ROW_B = WIDTH * 4,
    SIZE = ROW_B * HEIGHT,
    BUFFER_B = 3 << 20,
    MOST_B = BUFFER_B,
    NAP_US = 100000,
    PATIENCE_US = 20000000,
};

// ---- the OpenGL in between

static const void *_Atomic given;            // the memory of the last transfer
static _Atomic(pthread_t) transfer_thread;   // in which it was
static _Atomic(EGLContext) transfer_context; // the context that was current there
static atomic_int rounding, traps;           // the floating-point state there
static atomic_int transfers;
static atomic_bool holds, inside, released; // the next transfer waits inside until it is released

static bool await(const atomic_bool *flag)
{
    enum { LOOK_US = 100 };
    for (int us = 0; !*flag && us < PATIENCE_US; us += LOOK_US)
        usleep(LOOK_US);
    return *flag;
}

static void note(const void *memory)
{
    given = memory;
    transfer_thread = pthread_self();
    transfer_context = eglGetCurrentContext();
    rounding = fegetround();
#ifdef __GLIBC__
    traps = fegetexcept();
#endif
    transfers++;
    if (!atomic_exchange(&holds, false))
        return;
    inside = true;
    await(&released);
}

// X(name, parameters, arguments, the one that is the memory)
#define SEEN(X)                                                                                    \
    X(GetTexImage, (GLenum a, GLint b, GLenum c, GLenum d, void *e), (a, b, c, d, e), e)           \
    X(GetTextureSubImage,                                                                          \
      (GLuint a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, GLsizei k, void *l),                                                              \
      (a, b, c, d, e, f, g, h, i, j, k, l), l)                                                     \
    X(ReadPixels, (GLint a, GLint b, GLsizei c, GLsizei d, GLenum e, GLenum f, void *g),           \
      (a, b, c, d, e, f, g), g)                                                                    \
    X(TexSubImage2D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLsizei e, GLsizei f, GLenum g, GLenum h,              \
       const void *i),                                                                             \
      (a, b, c, d, e, f, g, h, i), i)                                                              \
    X(TexSubImage3D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, const void *k),                                                                   \
      (a, b, c, d, e, f, g, h, i, j, k), k)                                                        \
    X(GetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d), d)            \
    X(BufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, const void *d), (a, b, c, d), d)

#define X(name, parameters, arguments, memory)                                                     \
    static void(*next_##name) parameters;                                                          \
    static void my_##name parameters                                                               \
    {                                                                                              \
        note(memory);                                                                              \
        next_##name arguments;                                                                     \
    }
SEEN(X)
#undef X

typedef __eglMustCastToProperFunctionPointerType function;

__attribute__((visibility("default"))) function EGLAPIENTRY eglGetProcAddress(const char *name)
{
    static function (*next)(const char *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "eglGetProcAddress");
    function f = next(name);
#define X(which, parameters, arguments, memory)                                                    \
    if (!strcmp(name, "gl" #which)) {                                                              \
        *(function *)&next_##which = f;                                                            \
        return f ? (function)my_##which : f;                                                       \
    }
    SEEN(X)
#undef X
    return f;
}

static inline bool is_inside(const void *p, const void *memory, size_t size_B)
{
    return (uintptr_t)p - (uintptr_t)memory < size_B;
}

// ---- objects

static uint8_t want[MOST_B], got[MOST_B];

static inline GLuint new_texture(unsigned seed)
{
    GLuint t = gl_texture_2d(GL_RGBA8, 1, WIDTH, HEIGHT);
    pattern(want, SIZE, seed);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, want);
    return t;
}

static inline void expect_in_texture(GLuint t)
{
    memset(got, 0, SIZE);
    glBindTexture(GL_TEXTURE_2D, t);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE));
}

static inline void unmap(CUgraphicsResource r)
{
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}
