// SPDX-License-Identifier: MIT
// The thread of a share group: makes its context, runs its jobs, and ends.
#include "gl_group_thread.h"

#include <time.h>

#include "alloc.h"
#include "clock.h"
#include "gl_exit.h"
#include "gl_guest.h"
#include "lock.h"
#include "pkey.h"

enum { IDLE_SECONDS = 10, TURNS = 8 };

static const char *group_open_context(struct em_gl_group *g)
{
    const char *why = em_gl_context_open(&g->sharer, &g->own);
    if (why)
        return why;
    bool all = true;
#define X(result, name, arguments)                                                                 \
    all &= (g->gl.name = (result(*) arguments)em_gl_context_function(g->own.system, #name)) != NULL;
    GL_FUNCTIONS(X)
#undef X
    g->gl.GetPointerv =
        (void (*)(gl_enum, void **))em_gl_context_function(g->own.system, "GetPointerv");
    if (all && em_gl_version_is_at_least(g->gl.GetString(GL_VERSION), 4, 5)) {
        g->gl.BindTextureUnit =
            (void (*)(gl_uint, gl_uint))em_gl_context_function(g->own.system, "BindTextureUnit");
        *(void **)&g->gl.GetTextureSubImage =
            em_gl_context_function(g->own.system, "GetTextureSubImage");
    }
    if (g->own.silent && !g->gl.BindTextureUnit) {
        em_gl_context_close(&g->own);
        return "it has GL_KHR_no_error, which needs OpenGL 4.5";
    }
    if (all) {
        em_gl_unit_pools_init(&g->unit_pools, &g->own, &g->gl);
        em_gl_unit_pool_prepare(&g->gl);
        g->sentinel = g->gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        g->gl.Finish();
    }
    if (!all || !g->sentinel) {
        em_gl_context_close(&g->own);
        return "the current OpenGL lacks functions of version 3.2";
    }
    if (em_gl_guest_open(g))
        return NULL;
    em_gl_guest_close(g);
    em_gl_context_close(&g->own);
    return "EGL does not make the driver's context current again";
}

// Precondition: em_gl_group_mutex held.
static struct em_gl_job *group_take_job(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    struct em_gl_job *job = g->first;
    if (job)
        __atomic_store_n(&g->first, job->next, __ATOMIC_RELAXED);
    return job;
}

// Ends the jobs of a group whose display is closed. A thread that waits for a job sees that the
// group has ended. Precondition: em_gl_group_mutex held, which is released meanwhile.
static void group_drop_jobs(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    for (struct em_gl_job *job = group_take_job(g); job; job = group_take_job(g)) {
        if (!job->posted)
            continue;
        g->references++;
        dm_mutex_unlock(&em_gl_group_mutex);
        job->work(g, NULL, job->arg);
        dm_mutex_lock(&em_gl_group_mutex);
        g->references--;
    }
}

void em_gl_group_spin(struct dm_spin *history, bool (*over)(const void *), const void *of)
{
    dm_assert_locked(&em_gl_group_mutex);
    const uint64_t begin = dm_now_ns(), budget = dm_spin_budget(history, begin);
    uint64_t now = begin;
    if (!budget || !em_have_cores())
        return;
    dm_mutex_unlock(&em_gl_group_mutex);
    // The group's thread may still be spinning, and is about to see this thread's job.
    bool spins = dm_spin_begin();
    for (int i = 0; i < TURNS && !spins; i++) {
        dm_spin_pause();
        spins = dm_spin_begin();
    }
    for (; spins && !over(of) && now - begin < budget; now = dm_now_ns())
        dm_spin_pause();
    if (spins) {
        dm_spin_end();
        dm_spin_spent(history, now - begin);
    }
    dm_mutex_lock(&em_gl_group_mutex);
}

static bool group_has_job(const void *group)
{
    const struct em_gl_group *g = group;
    return __atomic_load_n(&g->first, __ATOMIC_RELAXED) ||
           __atomic_load_n(&g->leave, __ATOMIC_RELAXED);
}

// Waits for a job. Returns false if the thread must end. Precondition: em_gl_group_mutex held.
static bool group_await_job(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    if (!group_has_job(g))
        em_gl_group_spin(&g->spin, group_has_job, g);
    while ((!g->first || g->busy) && !g->leave) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
        bool late = dm_mutex_wait_until(&em_gl_group_mutex, &g->wake, &until) != 0;
        if (late && !g->references && !g->first)
            return false;
        if (late && g->guest_jobs && !g->busy)
            em_gl_guest_do_jobs(g);
    }
    dm_spin_wait_over(&g->spin, dm_now_ns());
    return !g->leave;
}

void *em_gl_group_main(void *arg)
{
    struct em_gl_group *g = arg;
    dm_pkey_enter(); // jobs copy between OpenGL and device memory
    dm_mutex_lock(&em_gl_group_mutex);
    const char *why = "the process is about to exit";
    if (em_gl_exit_enter()) {
        dm_mutex_unlock(&em_gl_group_mutex);
        why = group_open_context(g);
        dm_mutex_lock(&em_gl_group_mutex);
        em_gl_exit_leave();
    }
    g->why_not = why;
    g->ready = true;
    pthread_cond_broadcast(&g->done);
    while (!why && group_await_job(g)) {
        struct em_gl_job *job = group_take_job(g);
        bool posted = job->posted; // then `work` may free the job
        bool inside = em_gl_exit_enter();
        g->busy = true;
        dm_mutex_unlock(&em_gl_group_mutex);
        bool may = inside && em_gl_unit_pool_use(&g->unit_pools, NULL);
        if (may)
            job->work(g, &g->gl, job->arg);
        else if (posted)
            job->work(g, NULL, job->arg);
        if (may) // so that the own context stays current
            em_gl_unit_pool_use(&g->unit_pools, NULL);
        if (inside)
            em_gl_exit_leave();
        dm_mutex_lock(&em_gl_group_mutex);
        g->busy = false;
        if (!posted) {
            job->called = may;
            __atomic_store_n(&job->done, true, __ATOMIC_RELAXED);
            // A thread that wakes while the mutex is taken would have to sleep again.
            dm_mutex_unlock(&em_gl_group_mutex);
            pthread_cond_broadcast(&g->done);
            dm_mutex_lock(&em_gl_group_mutex);
        }
    }
    em_gl_group_unlist(g);
    group_drop_jobs(g);
    if (!why && em_gl_exit_enter()) {
        dm_mutex_unlock(&em_gl_group_mutex);
        em_gl_guest_close(g);
        em_gl_unit_pools_finish(&g->unit_pools);
        em_gl_context_close(&g->own);
        dm_mutex_lock(&em_gl_group_mutex);
        em_gl_exit_leave();
    }
    __atomic_store_n(&g->ended, true, __ATOMIC_RELAXED);
    group_drop_jobs(g);
    pthread_cond_broadcast(&g->done);
    bool last = !g->references;
    dm_mutex_unlock(&em_gl_group_mutex);
    if (last)
        dm_free(g);
    return NULL;
}

// Precondition: em_gl_group_mutex held.
void em_gl_group_add_job(struct em_gl_group *g, struct em_gl_job *job)
{
    dm_assert_locked(&em_gl_group_mutex);
    job->next = NULL;
    if (g->first)
        g->last->next = job;
    else
        __atomic_store_n(&g->first, job, __ATOMIC_RELAXED);
    g->last = job;
}
