// SPDX-License-Identifier: MIT
// Share groups: for each group of OpenGL contexts that share objects, one context of the driver's
// own in a thread of its own. All work on GL objects is done there, so that nothing in the
// program's contexts changes, whatever thread asks, and an object lives on that the program has
// deleted.
#pragma once
#include <cuda.h>

#include "gl_api.h"

struct em_gl_group;
struct em_gl_unit_pools;

// The group of the context that is current in this thread; made when it is met for the first time.
// A reference is taken. Fails with the code for no context, and CUDA_ERROR_OPERATING_SYSTEM where
// the context cannot be worked with. Precondition: em_lock NOT held.
CUresult em_gl_group_enter(struct em_gl_group **out);
// A group on an EGL display: that of the context that is current in this thread, else one that is
// there. A reference is taken. False: there is none.
bool em_gl_group_enter_egl(struct em_gl_group **out);
// Whether a number can be the handle of an EGLImage of the group's display.
bool em_gl_group_image_is_likely(struct em_gl_group *group, void *egl_image);
void em_gl_group_ref(struct em_gl_group *group);
// A group without references ends after a while. May be called with em_lock held.
void em_gl_group_unref(struct em_gl_group *group);

typedef void em_gl_work(struct em_gl_group *group, const struct gl_functions *gl, void *arg);

// Runs `work` in the group's thread, its context current, and waits for it. False: the group's
// display is gone or the process about to exit, and `work` was not called. Precondition: em_lock
// NOT held: OpenGL may wait for the program, whose debug callback may call CUDA.
bool em_gl_group_run(struct em_gl_group *group, em_gl_work *work, void *arg);
// Has `work` run later, behind what was posted or run before; `gl` is NULL where the display is
// gone. `job` is the caller's until then, and `work` may free it. May be called with em_lock held.
struct em_gl_job {
    struct em_gl_job *next;
    em_gl_work *work;
    void *arg;
    bool posted, done, called;
};
void em_gl_group_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work,
                      void *arg);

// Whether the group's display is gone.
bool em_gl_group_is_gone(struct em_gl_group *group);
// Functions for the context that is current in this thread, if that belongs to the group; else
// NULL.
const struct gl_functions *em_gl_group_here(struct em_gl_group *group);

// ---- for jobs

// Whether OpenGL looks for no errors in the group's context (GL_KHR_no_error).
bool em_gl_group_is_silent(const struct em_gl_group *group);

// Where the group holds textures.
struct em_gl_unit_pools *em_gl_group_unit_pools(struct em_gl_group *group);
