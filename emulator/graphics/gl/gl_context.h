// SPDX-License-Identifier: MIT
// EGL and GLX, found in the calling process: the context that is current in a thread, and the
// driver's own contexts, which share objects with it.
#pragma once
#include "gl_api.h"

enum gl_system { GL_SYSTEM_NONE, GL_SYSTEM_EGL, GL_SYSTEM_GLX, GL_SYSTEMS };

// The current context of a thread.
struct em_gl_current {
    enum gl_system system;
    void *display, *context;
};

// One of the driver's own contexts.
struct em_gl_own {
    enum gl_system system;
    void *display, *context;
    void *config;      // of EGL or GLX
    void *surface;     // EGLSurface, if the context needs one
    uintptr_t pbuffer; // GLX drawable, likewise
    // Without error checks (GL_KHR_no_error), like the context that it shares objects with.
    bool silent;
};

// The OpenGL context that is current in this thread. The system is GL_SYSTEM_NONE if there is no
// such context, or no OpenGL in the process.
struct em_gl_current em_gl_context_current(void);
// The same without the display and the context. Each question to EGL costs a system call, because
// the vendor-neutral libEGL looks for forks.
enum gl_system em_gl_context_system(void);
// Calls glFinish on the current context. Returns false if no context is current.
bool em_gl_finish_current(void);
// A function of OpenGL for every context of that system, or NULL.
void *em_gl_context_function(enum gl_system system, const char *name);
// Whether GL_VERSION, without the prefix of OpenGL ES, is this version or later.
bool em_gl_version_is_at_least(const unsigned char *version, int major, int minor);
// Whether the driver can work with the context: OpenGL 3.2 or ES 3.0 and later. `version` (may be
// NULL) gets the context's version string.
bool em_gl_context_is_usable(const struct em_gl_current *current, const char **version);

// Creates a context that shares objects with `current`, and makes it current in this thread, which
// should have no context. Returns NULL, or the reason for the failure.
const char *em_gl_context_open(const struct em_gl_current *current, struct em_gl_own *own);
// Makes the context current in this thread. Returns false if EGL or GLX refuses; the context that
// was current before then stays.
bool em_gl_context_use(const struct em_gl_own *own);
// Whether the display has not been terminated since the context was created. Precondition: the
// context is current in a thread, so that no other one has its handle.
bool em_gl_context_lives(const struct em_gl_own *own);
// Destroys the context, which must not be current in another thread. Afterwards this thread has no
// current context.
void em_gl_context_close(struct em_gl_own *own);
// Has `gone` called when the program is about to close the connection that a GLX context needs.
// Returns false if that is impossible. Calls Xlib: no mutex may be held.
bool em_gl_watch_display(const struct em_gl_current *current, void (*gone)(void *display));
// Whether a number can be the handle of an EGLImage of this display. Mesa itself dereferences any
// number.
bool em_gl_context_knows_image(void *display, void *image);
