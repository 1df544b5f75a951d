// SPDX-License-Identifier: MIT
// A context of the driver's own in a thread of the program, in place of the program's context for
// the time of one job. This saves the way to the group's thread and back, for which a core may have
// to wake up, and the bytes stay in the caches of this core. Of the program's context no state
// changes: it only is not current for a moment.
#pragma once
#include "gl_context.h"

// The program's context in this thread, and its surfaces.
struct em_gl_host {
    void *display, *context, *draw, *read;
};

// Whether a context on an EGL display may take the place of this thread's context. Fills in `host`
// then. Returns false if
// - the thread has no context, or one of another display or of GLX;
// - a surface is a window or pixmap: eglMakeCurrent may give new buffers to a window that was
//   resized, in the middle of a picture;
// - the program has destroyed the context or a surface, which ends when it is no longer current;
// - the context has a debug callback, because the callback may be what has called CUDA, and must
//   not call OpenGL; or it is too old to answer (before OpenGL 4.3 and ES 3.2).
bool em_gl_host_find(const struct gl_functions *gl, void *display, struct em_gl_host *host);
// Makes the program's context current again.
void em_gl_host_restore(const struct em_gl_host *host);
