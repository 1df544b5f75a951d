// SPDX-License-Identifier: MIT
// EGL and GLX, found in the calling process: which context is current in a thread, and contexts of
// our own that share objects with it.
#pragma once
#include "gl_api.h"

enum gl_system { GL_SYSTEM_NONE, GL_SYSTEM_EGL, GL_SYSTEM_GLX };

// What is current in a thread.
struct em_gl_current {
    enum gl_system system;
    void *display, *context;
};

// A context of our own.
struct em_gl_own {
    enum gl_system system;
    void *display, *context;
    void *config;      // of EGL; or GLX
    void *surface;     // EGLSurface where the context needs one
    uintptr_t pbuffer; // GLX drawable likewise
    bool silent; // OpenGL does not look for errors in it (GL_KHR_no_error), since the context that
                 // it shares with does not
};

// The OpenGL context that is current in this thread; system is GL_SYSTEM_NONE where there is none,
// or no OpenGL in the process.
struct em_gl_current em_gl_window_current(void);
// Waits until all that the context which is current in this thread was told to do is done; nothing
// where there is none.
void em_gl_window_finish(void);
// A function of OpenGL, good for every context of that system; NULL: there is none.
void *em_gl_window_function(enum gl_system system, const char *name);
// Whether GL_VERSION, without what OpenGL ES puts before it, is this version or later.
bool em_gl_window_is(const unsigned char *version, int major, int minor);
// Whether this is an OpenGL context that can be worked with: 3.2 or ES 3.0 and later. `version`
// (may be NULL) gets what it says itself.
bool em_gl_window_is_usable(const struct em_gl_current *current, const char **version);

// Makes a context that shares objects with `current` and makes it current in the calling thread,
// which should have none. NULL, or why not.
const char *em_gl_window_open(const struct em_gl_current *current, struct em_gl_own *own);
// Makes it current in the calling thread again, where another one was.
void em_gl_window_use(const struct em_gl_own *own);
// Ends it; called in the same thread.
void em_gl_window_close(struct em_gl_own *own);
// Calls `gone` when the program is about to close the connection that a GLX context needs. False:
// it will not be told.
bool em_gl_window_watch(const struct em_gl_current *current, void (*gone)(void *display));
// Whether a number can be the handle of an EGLImage of this display. Mesa follows whatever number
// it is given.
bool em_gl_window_image_is_likely(void *display, void *image);
