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
static bool host_surface_may_wait(void *display, void *surface)
{
    int largest = -1;
    return !surface || (em_egl.eglQuerySurface(display, surface, EGL_LARGEST_PBUFFER, &largest) &&
                        largest != -1);
}

static bool host_may_be_debugged(const struct gl_functions *gl)
{
    static const char es[] = "OpenGL ES ";
    const unsigned char *version = gl->GetString(GL_VERSION);
    void *callback = NULL;
    if (!gl->GetPointerv || !version)
        return true;
    bool answers = !strncmp((const char *)version, es, sizeof es - 1)
                       ? em_gl_version_is_at_least(version + sizeof es - 1, 3, 2)
                       : em_gl_version_is_at_least(version, 4, 3);
    if (answers)
        gl->GetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &callback);
    return !answers || callback;
}

// Whether the guest may take the place of this thread's context, which `host` gets.
static bool host_find(const struct em_gl_group *g, struct host *host)
{
    const struct em_gl_current current = em_gl_context_current();
    int id;
    if (current.system != GL_SYSTEM_EGL || current.display != g->own.display)
        return false;
    *host = (struct host){.display = current.display,
                          .context = current.context,
                          .draw = em_egl.eglGetCurrentSurface(EGL_DRAW),
                          .read = em_egl.eglGetCurrentSurface(EGL_READ)};
    return em_egl.eglQueryContext(host->display, host->context, EGL_CONFIG_ID, &id) &&
           host_surface_may_wait(host->display, host->draw) &&
           host_surface_may_wait(host->display, host->read) && !host_may_be_debugged(&g->gl);
}

// ---- the guest

// Takes the guest if it is free. `wait`: waits until it is.
static bool guest_take(struct em_gl_group *g, bool wait)
{
    dm_mutex_lock(&em_gl_group_mutex);
    while (wait && g->guest_busy)
        dm_mutex_wait(&em_gl_group_mutex, &g->done);
    const bool taken = g->guest_state == GUEST_READY && !g->guest_busy && !g->leave && !g->ended;
    g->guest_busy |= taken;
    dm_mutex_unlock(&em_gl_group_mutex);
    return taken;
}

// Precondition: the guest is current in no thread, or in this one if it was taken here.
static void guest_give_back(struct em_gl_group *g)
{
    em_gl_unit_pools_leave(&g->guest_pools);
    dm_mutex_lock(&em_gl_group_mutex);
    g->guest_busy = false;
    dm_mutex_unlock(&em_gl_group_mutex);
    pthread_cond_broadcast(&g->done);
}

// A job of the group.
static void guest_create(struct em_gl_group *g, const struct gl_functions *gl, void *unused)
{
    const struct em_gl_current home = {
        .system = g->own.system, .display = g->own.display, .context = g->own.context};
    (void)unused;
    const bool created = !em_gl_context_open(&home, &g->guest);
    if (created) {
        em_gl_unit_pool_prepare(gl);
        em_gl_unit_pools_init(&g->guest_pools, &g->guest, gl);
        g->guest_pools.fixed = true;
        em_gl_unit_pools_leave(&g->guest_pools);
    }
    em_gl_unit_pools_leave(&g->unit_pools); // whatever em_gl_context_open has made current
    em_gl_unit_pool_use(&g->unit_pools, NULL);
    dm_mutex_lock(&em_gl_group_mutex);
    g->guest_state = created ? GUEST_READY : GUEST_REFUSED;
    dm_mutex_unlock(&em_gl_group_mutex);
}

// Two threads may find that there is no guest yet.
static void guest_create_once(struct em_gl_group *g, const struct gl_functions *gl, void *unused)
{
    if (g->guest_state == GUEST_UNKNOWN)
        guest_create(g, gl, unused);
}

bool em_gl_guest_run(struct em_gl_group *group, em_gl_work *work, void *arg)
{
    em_assert_unlocked();
    struct host host;
    if (group->own.system != GL_SYSTEM_EGL || !host_find(group, &host))
        return false;
    dm_mutex_lock(&em_gl_group_mutex);
    const bool unknown = group->guest_state == GUEST_UNKNOWN;
    dm_mutex_unlock(&em_gl_group_mutex);
    if (unknown)
        em_gl_group_run(group, guest_create_once, NULL);
    if (!guest_take(group, false))
        return false;
    const bool inside = em_gl_exit_enter(),
               called = inside && em_gl_unit_pool_use(&group->guest_pools, NULL);
    if (called) {
        const uint32_t rights = dm_pkey_enter(); // jobs copy between OpenGL and device memory
        const struct kn_float_state state = kn_float_enter();
        work(group, &group->gl, arg);
        kn_float_leave(state);
        dm_pkey_leave(rights);
        em_egl.eglMakeCurrent(host.display, host.draw, host.read, host.context);
    }
    if (inside)
        em_gl_exit_leave();
    guest_give_back(group);
    return called;
}

void em_gl_guest_run_here(struct em_gl_group *group, em_gl_work *work, void *arg)
{
    if (!guest_take(group, true))
        return;
    if (em_gl_unit_pool_use(&group->guest_pools, NULL)) {
        work(group, &group->gl, arg);
        em_gl_unit_pools_leave(&group->unit_pools);
        em_gl_unit_pool_use(&group->unit_pools, NULL);
    }
    guest_give_back(group);
}

struct em_gl_unit_pools *em_gl_guest_unit_pools(struct em_gl_group *group)
{
    return &group->guest_pools;
}
