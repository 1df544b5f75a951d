// SPDX-License-Identifier: MIT
// Jobs in the program's thread, which save the way to the group's thread and back: a core may have
// to wake up for it, and the bytes would have to move to its caches.
//
// The group has a second context for this, the guest. It takes the place of the program's context
// for the time of one job, and does not change its state:
//
//     program's thread   program's context │ guest │ program's context …
//     group's thread     own context …
//
// The group's own context stays current in the group's thread, and can do all that the guest can:
// eglTerminate ends contexts that are not current, such as the guest, but not this one. As each
// context has holders of its own, an object that the guest may use has a twin (em_gl_object.twin).
// Only one job of a group runs at a time, in either context. EGL only.
//
// While the guest is in, another thread of the program could end the program's context or its
// display, or make that context current. The program's thread has no context then.
#pragma once
#include "gl_group.h"

// Runs `work` in the guest, in this thread, and returns true. Returns false if it was not called,
// because
// - the thread has no context of EGL, or one of another display;
// - a surface is a window or pixmap: eglMakeCurrent may give new buffers to a window that was
//   resized, in the middle of a picture;
// - the program has destroyed its context or a surface. Both live on only as long as they are
//   current;
// - the context had a debug callback when a resource was last registered or mapped, because the
//   callback may be calling CUDA, and must not change contexts. Contexts before OpenGL 4.3 and
//   ES 3.2 do not say whether they have one;
// - another job of the group runs, or the display was terminated.
// Precondition: em_lock not held.
bool em_gl_guest_run(struct em_gl_group *group, em_gl_work *work, void *arg);
// Looks whether `context`, which is one of EGL and current in this thread, has a debug callback.
// For calls that ask it other questions too.
void em_gl_guest_look(const struct em_gl_group *group, const void *context);
// Has `work` run in the guest later: before its next job, or when the group has had nothing to do
// for some seconds. `gl` is NULL if the guest has ended. The caller keeps `job` alive until then;
// `work` may free it. For jobs in the group's own context.
void em_gl_guest_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work,
                      void *arg);

// The texture units of the guest.
struct em_gl_unit_pools *em_gl_guest_unit_pools(struct em_gl_group *group);

// ---- for the group's thread

// Creates the guest if the group is one of EGL. Precondition: the group's own context is current.
// Returns false if it cannot be made current again; that there is no guest is no failure.
bool em_gl_guest_open(struct em_gl_group *group);
// Does what em_gl_guest_post has left. Precondition: em_gl_group_mutex held, which is released
// meanwhile, and no job runs.
void em_gl_guest_do_jobs(struct em_gl_group *group);
// Destroys the guest. The group's own context is no longer current afterwards.
void em_gl_guest_close(struct em_gl_group *group);
