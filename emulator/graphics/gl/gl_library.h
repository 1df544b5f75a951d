// SPDX-License-Identifier: MIT
// The functions of EGL, GLX and Xlib that the driver uses, found in the process at run time.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// X(result, name, arguments)
#define EGL_FUNCTIONS(X)                                                                           \
    X(void *, eglGetCurrentContext, (void))                                                        \
    X(void *, eglGetCurrentDisplay, (void))                                                        \
    X(void *, eglGetCurrentSurface, (int))                                                         \
    X(void *, eglGetProcAddress, (const char *))                                                   \
    X(const char *, eglQueryString, (void *, int))                                                 \
    X(unsigned, eglBindAPI, (unsigned))                                                            \
    X(unsigned, eglQueryContext, (void *, void *, int, int *))                                     \
    X(unsigned, eglQuerySurface, (void *, void *, int, int *))                                     \
    X(unsigned, eglChooseConfig, (void *, const int *, void **, int, int *))                       \
    X(void *, eglCreateContext, (void *, void *, void *, const int *))                             \
    X(unsigned, eglDestroyContext, (void *, void *))                                               \
    X(void *, eglCreatePbufferSurface, (void *, void *, const int *))                              \
    X(unsigned, eglDestroySurface, (void *, void *))                                               \
    X(unsigned, eglMakeCurrent, (void *, void *, void *, void *))

#define GLX_FUNCTIONS(X)                                                                           \
    X(void *, glXGetCurrentContext, (void))                                                        \
    X(void *, glXGetCurrentDisplay, (void))                                                        \
    X(void *, glXGetProcAddressARB, (const char *))                                                \
    X(int, glXQueryContext, (void *, void *, int, int *))                                          \
    X(void **, glXGetFBConfigs, (void *, int, int *))                                              \
    X(int, glXGetFBConfigAttrib, (void *, void *, int, int *))                                     \
    X(void *, glXCreateNewContext, (void *, void *, int, void *, int))                             \
    X(void, glXDestroyContext, (void *, void *))                                                   \
    X(uintptr_t, glXCreatePbuffer, (void *, void *, const int *))                                  \
    X(void, glXDestroyPbuffer, (void *, uintptr_t))                                                \
    X(int, glXMakeContextCurrent, (void *, uintptr_t, uintptr_t, void *))

#define XLIB_FUNCTIONS(X)                                                                          \
    X(int, XFree, (void *))                                                                        \
    X(int, XQueryExtension, (void *, const char *, int *, int *, int *))                           \
    X(int, XSync, (void *, int))                                                                   \
    X(void *, XSetErrorHandler, (void *))                                                          \
    X(int *, XAddExtension, (void *))                                                              \
    X(void *, XESetCloseDisplay, (void *, int, void *))

#define X(result, name, arguments) result(*name) arguments;
extern struct em_egl {
    EGL_FUNCTIONS(X)
} em_egl;
extern struct em_glx {
    GLX_FUNCTIONS(X)
} em_glx;
extern struct em_xlib {
    XLIB_FUNCTIONS(X)
} em_xlib;
#undef X

// Whether the library is in the process. Only then may the functions above be called.
bool em_gl_have_egl(void);
bool em_gl_have_glx(void);
bool em_gl_have_xlib(void);
