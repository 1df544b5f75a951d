// SPDX-License-Identifier: MIT
// Share groups: for each group of OpenGL contexts that share objects, a context of the driver's own
// in a thread of its own. The driver does its work on GL objects there, or as a guest in the thread
// that calls (gl_guest.h). Therefore nothing in the program's contexts changes, it does not matter
// which thread calls, and an object lives on after the program has deleted it.
#pragma once
#include <cuda.h>

#include "gl_api.h"

struct em_gl_group;
struct em_gl_unit_pools;

// Returns the group of the context that is current in this thread, with a reference. Makes the
// group if the driver meets it for the first time. Fails if no context is current, and with
// CUDA_ERROR_OPERATING_SYSTEM if the driver cannot work with the context. Precondition: em_lock not
// held.
CUresult em_gl_group_enter(struct em_gl_group **out);
// Returns a group on an EGL display, with a reference: the group of the context that is current in
// this thread, else any existing one. Returns false if there is no such group.
bool em_gl_group_enter_egl(struct em_gl_group **out);
// Whether a number can be the handle of an EGLImage of the group's display.
bool em_gl_group_image_is_likely(struct em_gl_group *group, void *egl_image);
void em_gl_group_ref(struct em_gl_group *group);
// A group without references ends after some seconds. em_lock may be held.
void em_gl_group_unref(struct em_gl_group *group);

typedef void em_gl_work(struct em_gl_group *group, const struct gl_functions *gl, void *arg);

// Runs `work` in the group's thread, where its context is current, and waits for it. Returns false
// if `work` was not called, because the group's display is closed, its context cannot be made
// current or the process is about to exit. Precondition: em_lock not held, because OpenGL may wait
// for the program: its debug callback may call CUDA.
bool em_gl_group_run(struct em_gl_group *group, em_gl_work *work, void *arg);
// Runs `work` later, after all work that was posted or run before. `gl` is NULL if
// em_gl_group_run would return false. The caller keeps `job` alive until then; `work` may free it.
// em_lock may be held.
struct em_gl_job {
    struct em_gl_job *next;
    em_gl_work *work;
    void *arg;
    bool posted, done, called;
};
void em_gl_group_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work,
                      void *arg);

// Whether the group's display is closed.
bool em_gl_group_is_gone(struct em_gl_group *group);
// The functions of the context that is current in this thread, or NULL if it is not in the group.
const struct gl_functions *em_gl_group_here(struct em_gl_group *group);

// ---- for jobs

// Whether the group's context has no error checks (GL_KHR_no_error).
bool em_gl_group_is_silent(const struct em_gl_group *group);

// The texture units that hold the group's textures.
struct em_gl_unit_pools *em_gl_group_unit_pools(struct em_gl_group *group);
