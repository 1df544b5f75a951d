// SPDX-License-Identifier: MIT
// The guest context of a share group, and the threads that may have it for a moment.
#include "gl_guest.h"

#include <string.h>

#include "gl_exit.h"
#include "gl_group_thread.h"
#include "gl_library.h"
#include "kn_float.h"
#include "lock.h"
#include "pkey.h"
#include "thread.h"

// Numbers of the EGL and GL registries.
enum {
    EGL_CONFIG_ID = 0x3028,
    EGL_LARGEST_PBUFFER = 0x3058,
    EGL_DRAW = 0x3059,
    EGL_READ = 0x305a,
    GL_DEBUG_CALLBACK_FUNCTION = 0x8244,
};

// ---- the program's context

struct host {
    void *display, *context, *draw, *read;
};

// "Querying EGL_LARGEST_PBUFFER for a non-pbuffer surface is not an error, but value is not
// modified". The question fails if the program has destroyed the surface.
static bool host_surface_is_plain(void *display, void *surface)
{
    int largest = -1;
    return !surface || (em_egl.eglQuerySurface(display, surface, EGL_LARGEST_PBUFFER, &largest) &&
                        largest != -1);
}

// Whether the current context says if it has a debug callback.
static bool host_answers(const struct gl_functions *gl)
{
    static const char es[] = "OpenGL ES ";
    const unsigned char *version = gl->GetString(GL_VERSION);
    if (!gl->GetPointerv || !version)
        return false;
    if (strncmp((const char *)version, es, sizeof es - 1))
        return em_gl_version_is_at_least(version, 4, 3);
    return em_gl_version_is_at_least(version + sizeof es - 1, 3, 2);
}

void em_gl_guest_look(const struct em_gl_group *group, const void *context)
{
    struct em_thread *self = em_thread();
    void *callback = NULL;
    if (self->gl_host != context)
        self->gl_host_answers = host_answers(&group->gl);
    self->gl_host = context;
    if (self->gl_host_answers)
        group->gl.GetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &callback);
    self->gl_host_may = self->gl_host_answers && !callback;
}

// Whether the guest may take the place of this thread's context, which `host` gets. OpenGL is asked
// only if the thread has not looked at the context, because questions are errors between glBegin
// and glEnd.
static bool host_find(const struct em_gl_group *g, struct host *host)
{
    const struct em_gl_current current = em_gl_context_current();
    int id;
    if (current.system != GL_SYSTEM_EGL || current.display != g->own.display)
        return false;
    if (em_self.gl_host != current.context)
        em_gl_guest_look(g, current.context);
    if (!em_self.gl_host_may)
        return false;
    // A context that has ended stays so, and EGL's debug callback hears of it only once.
    em_self.gl_host_may =
        em_egl.eglQueryContext(current.display, current.context, EGL_CONFIG_ID, &id);
    if (!em_self.gl_host_may)
        return false;
    *host = (struct host){.display = current.display,
                          .context = current.context,
                          .draw = em_egl.eglGetCurrentSurface(EGL_DRAW),
                          .read = em_egl.eglGetCurrentSurface(EGL_READ)};
    return host_surface_is_plain(host->display, host->draw) &&
           host_surface_is_plain(host->display, host->read);
}

// Makes the program's context current again; without surfaces if they have ended meanwhile. If the
// context has ended, or another thread has it, this thread is left without one.
static void host_restore(const struct host *host)
{
    if (em_egl.eglMakeCurrent(host->display, host->draw, host->read, host->context) ||
        em_egl.eglMakeCurrent(host->display, NULL, NULL, host->context))
        return;
    em_egl.eglMakeCurrent(host->display, NULL, NULL, NULL);
    em_self.gl_call = 0;
}

// ---- the guest

bool em_gl_guest_open(struct em_gl_group *g)
{
    const struct em_gl_current own = {
        .system = g->own.system, .display = g->own.display, .context = g->own.context};
    if (own.system != GL_SYSTEM_EGL)
        return true;
    g->has_guest = !em_gl_context_open(&own, &g->guest);
    if (g->has_guest) {
        em_gl_unit_pool_prepare(&g->gl);
        em_gl_unit_pools_init(&g->guest_pools, &g->guest, &g->gl);
        g->guest_pools.fixed = true;
        em_gl_unit_pools_leave(&g->guest_pools);
    }
    return em_gl_context_use(&g->own);
}

// Makes the guest current in this thread. Precondition: `busy` set by this thread.
static bool guest_enter(struct em_gl_group *g)
{
    // After eglTerminate the handle may be another context's.
    if (g->has_guest && !em_gl_context_lives(&g->own)) {
        dm_mutex_lock(&em_gl_group_mutex);
        g->has_guest = false;
        dm_mutex_unlock(&em_gl_group_mutex);
    }
    return g->has_guest && em_gl_unit_pool_use(&g->guest_pools, NULL);
}

// Precondition: the guest is current in this thread, or `gl` is NULL.
static void guest_do_posted(struct em_gl_group *g, const struct gl_functions *gl)
{
    dm_mutex_lock(&em_gl_group_mutex);
    struct em_gl_job *job = g->guest_jobs;
    g->guest_jobs = NULL;
    dm_mutex_unlock(&em_gl_group_mutex);
    while (job) {
        struct em_gl_job *next = job->next;
        job->work(g, gl, job->arg);
        job = next;
    }
}

bool em_gl_guest_run(struct em_gl_group *group, em_gl_work *work, void *arg)
{
    em_assert_unlocked();
    struct host host;
    dm_mutex_lock(&em_gl_group_mutex);
    const bool taken = group->has_guest && !group->busy && !group->leave && !group->ended;
    group->busy |= taken;
    dm_mutex_unlock(&em_gl_group_mutex);
    if (!taken)
        return false;
    const bool inside = em_gl_exit_enter(),
               called = inside && host_find(group, &host) && guest_enter(group);
    if (called) {
        const uint32_t rights = dm_pkey_enter(); // jobs copy between OpenGL and device memory
        const struct kn_float_state state = kn_float_enter();
        guest_do_posted(group, &group->gl);
        work(group, &group->gl, arg);
        kn_float_leave(state);
        dm_pkey_leave(rights);
        host_restore(&host);
        em_gl_unit_pools_leave(&group->guest_pools);
    }
    if (inside)
        em_gl_exit_leave();
    dm_mutex_lock(&em_gl_group_mutex);
    group->busy = false;
    const bool wake = group->first != NULL;
    dm_mutex_unlock(&em_gl_group_mutex);
    if (wake)
        pthread_cond_signal(&group->wake);
    return called;
}

void em_gl_guest_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work, void *arg)
{
    dm_mutex_lock(&em_gl_group_mutex);
    *job = (struct em_gl_job){.next = group->guest_jobs, .work = work, .arg = arg};
    group->guest_jobs = job;
    dm_mutex_unlock(&em_gl_group_mutex);
}

void em_gl_guest_do_jobs(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    g->busy = true;
    dm_mutex_unlock(&em_gl_group_mutex);
    const bool inside = em_gl_exit_enter(), entered = inside && guest_enter(g);
    if (entered || !g->has_guest)
        guest_do_posted(g, entered ? &g->gl : NULL);
    if (entered) {
        em_gl_unit_pools_leave(&g->guest_pools);
        em_gl_unit_pools_leave(&g->unit_pools);
        em_gl_unit_pool_use(&g->unit_pools, NULL);
    }
    if (inside)
        em_gl_exit_leave();
    dm_mutex_lock(&em_gl_group_mutex);
    g->busy = false;
}

void em_gl_guest_close(struct em_gl_group *g)
{
    guest_do_posted(g, NULL);
    if (g->has_guest && em_gl_context_lives(&g->own))
        em_gl_context_close(&g->guest);
}

struct em_gl_unit_pools *em_gl_guest_unit_pools(struct em_gl_group *group)
{
    return &group->guest_pools;
}
