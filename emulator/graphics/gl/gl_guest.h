// SPDX-License-Identifier: MIT
// Jobs in the program's thread, which save the way to the group's thread and back: a core may have
// to wake up for it, and the bytes would have to move to its caches.
//
// The group has a second context for this, the guest. For the time of one job it takes the place of
// the program's context, of which no state changes: it only is not current for a moment. As a
// context that is current nowhere ends with its display (eglTerminate), all work can also be done
// in the group's own context, which is always current in the group's thread.
//
//     program's thread   program's context │ guest │ program's context …
//     group's thread     own context …
//
// The guest holds objects with holders of its own (em_gl_object.guest). EGL only.
#pragma once
#include "gl_group.h"

// Runs `work` in the guest, in this thread, and returns true. Returns false if it was not called,
// because
// - the thread has no context of EGL, or one of another display;
// - a surface is a window or pixmap: eglMakeCurrent may give new buffers to a window that was
//   resized, in the middle of a picture;
// - the program has destroyed the context or a surface, which ends when it is no longer current;
// - the context has a debug callback, because the callback may be what has called CUDA, and must
//   not call OpenGL; or it is too old to answer (before OpenGL 4.3 and ES 3.2);
// - another thread uses the guest, the display is closed, or the guest could not be created.
// Precondition: em_lock not held.
bool em_gl_guest_run(struct em_gl_group *group, em_gl_work *work, void *arg);
// The same in the group's thread, for a job of the group. Waits for the thread that uses the guest.
// The work is not called if the guest has ended with its display.
void em_gl_guest_run_here(struct em_gl_group *group, em_gl_work *work, void *arg);

// The texture units of the guest. Valid after em_gl_guest_run has called a job.
struct em_gl_unit_pools *em_gl_guest_unit_pools(struct em_gl_group *group);
