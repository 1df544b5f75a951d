// SPDX-License-Identifier: MIT
// The driver's own context in each share group, and the thread that it is current in.
#include "gl_group.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "alloc.h"
#include "error.h"
#include "gl_exit.h"
#include "gl_unit_pool.h"
#include "own_thread.h"
#include "pkey.h"

enum { IDLE_SECONDS = 10, GROUPS_ASKED = 64 };

struct em_gl_group {
    struct em_gl_group *next;
    unsigned references;
    struct em_gl_current
        sharer; // the context that it was made from; only its display is used later
    struct em_gl_own own;
    struct gl_functions gl;
    gl_sync sentinel; // an object of this group alone: a context that knows it belongs to the group
    const char *why_not;
    bool ready, ended;              // the thread is up; it has gone
    bool leave;                     // it shall go
    struct em_gl_job *first, *last; // what it shall do
    pthread_cond_t wake, done;
    struct em_gl_unit_pools unit_pools;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct em_gl_group *groups; // guarded by `mutex`, as all members that change

// A child has none of the threads.
static void in_child(void)
{
    pthread_mutex_init(&mutex, NULL);
}

// ---- the thread

static const char *open_context(struct em_gl_group *g)
{
    const char *why = em_gl_window_open(&g->sharer, &g->own);
    if (why)
        return why;
    bool all = true;
#define X(result, name, arguments)                                                                 \
    all &= (g->gl.name = (result(*) arguments)em_gl_window_function(g->own.system, #name)) != NULL;
    GL_FUNCTIONS(X)
#undef X
    if (all && em_gl_window_is(g->gl.GetString(GL_VERSION), 4, 5)) {
        g->gl.BindTextureUnit =
            (void (*)(gl_uint, gl_uint))em_gl_window_function(g->own.system, "BindTextureUnit");
        *(void **)&g->gl.GetTextureSubImage =
            em_gl_window_function(g->own.system, "GetTextureSubImage");
    }
    if (g->own.silent && !g->gl.BindTextureUnit) {
        em_gl_window_close(&g->own);
        return "it has GL_KHR_no_error, and OpenGL is older than 4.5";
    }
    if (all) {
        em_gl_unit_pools_init(&g->unit_pools, &g->own, &g->gl);
        em_gl_unit_pool_prepare(&g->gl);
        g->sentinel = g->gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        g->gl.Finish();
    }
    if (all && g->sentinel)
        return NULL;
    em_gl_window_close(&g->own);
    return "the OpenGL that is there lacks functions of version 3.2";
}

// Precondition: mutex held.
static struct em_gl_job *take_job(struct em_gl_group *g)
{
    struct em_gl_job *job = g->first;
    if (job)
        g->first = job->next;
    return job;
}

// Precondition: mutex held.
static void add_job(struct em_gl_group *g, struct em_gl_job *job)
{
    job->next = NULL;
    if (g->first)
        g->last->next = job;
    else
        g->first = job;
    g->last = job;
    pthread_cond_signal(&g->wake);
}

// The display is gone: who waits for a job sees that the thread has ended. Precondition: mutex
// held, which is released meanwhile.
static void drop_jobs(struct em_gl_group *g)
{
    for (struct em_gl_job *job; (job = take_job(g));) {
        if (!job->posted)
            continue;
        g->references++;
        pthread_mutex_unlock(&mutex);
        job->work(g, NULL, job->arg);
        pthread_mutex_lock(&mutex);
        g->references--;
    }
}

// Waits for a job; false: the thread shall go. Precondition: mutex held.
static bool await_job(struct em_gl_group *g)
{
    while (!g->first && !g->leave) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += IDLE_SECONDS;
        bool late = pthread_cond_timedwait(&g->wake, &mutex, &until) != 0;
        if (late && !g->references && !g->first)
            return false;
    }
    return !g->leave;
}

// Precondition: mutex held.
static void unlist(struct em_gl_group *g)
{
    for (struct em_gl_group **at = &groups; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            return;
        }
}

static void *group_main(void *arg)
{
    struct em_gl_group *g = arg;
    dm_pkey_enter(); // jobs move bytes between GL and device memory
    pthread_mutex_lock(&mutex);
    const char *why = "the process is about to exit";
    if (em_gl_exit_enter()) {
        pthread_mutex_unlock(&mutex);
        why = open_context(g);
        pthread_mutex_lock(&mutex);
        em_gl_exit_leave();
    }
    g->why_not = why;
    g->ready = true;
    pthread_cond_broadcast(&g->done);
    while (!why && await_job(g)) {
        struct em_gl_job *job = take_job(g);
        bool posted = job->posted; // then it may be gone afterwards
        bool may = em_gl_exit_enter();
        pthread_mutex_unlock(&mutex);
        if (may) {
            job->work(g, &g->gl, job->arg);
            em_gl_unit_pool_use(&g->unit_pools, NULL);
            em_gl_exit_leave();
        } else if (posted) {
            job->work(g, NULL, job->arg);
        }
        pthread_mutex_lock(&mutex);
        if (!posted) {
            job->done = true;
            job->called = may;
        }
        pthread_cond_broadcast(&g->done);
    }
    unlist(g);
    drop_jobs(g);
    if (!why && em_gl_exit_enter()) {
        pthread_mutex_unlock(&mutex);
        em_gl_unit_pools_finish(&g->unit_pools);
        em_gl_window_close(&g->own);
        pthread_mutex_lock(&mutex);
        em_gl_exit_leave();
    }
    g->ended = true;
    drop_jobs(g);
    pthread_cond_broadcast(&g->done);
    bool last = !g->references;
    pthread_mutex_unlock(&mutex);
    if (last)
        dm_free(g);
    return NULL;
}

// ---- groups

// Precondition: mutex held.
static void unref(struct em_gl_group *g)
{
    if (!--g->references && g->ended) // else its thread frees it
        dm_free(g);
}

static bool is_good(const struct em_gl_group *g, const struct em_gl_current *current)
{
    return g->ready && !g->why_not && !g->leave && !g->ended &&
           g->sharer.system == current->system && g->sharer.display == current->display;
}

// The group whose sentinel the current context knows, with a reference. Precondition: mutex held,
// which is released while OpenGL is asked: it may wait for a thread of the program.
static struct em_gl_group *find(const struct em_gl_current *current)
{
    gl_boolean (*is_sync)(gl_sync) =
        (gl_boolean(*)(gl_sync))em_gl_window_function(current->system, "IsSync");
    struct em_gl_group *likely[GROUPS_ASKED], *found = NULL;
    unsigned count = 0;
    for (struct em_gl_group *g = groups; g && is_sync && count < GROUPS_ASKED; g = g->next)
        if (is_good(g, current)) {
            g->references++;
            likely[count++] = g;
        }
    pthread_mutex_unlock(&mutex);
    for (unsigned i = 0; i < count && !found; i++)
        found = is_sync(likely[i]->sentinel) ? likely[i] : NULL;
    pthread_mutex_lock(&mutex);
    if (found && !is_good(found, current))
        found = NULL;
    for (unsigned i = 0; i < count; i++)
        if (likely[i] != found)
            unref(likely[i]);
    return found;
}

// A group on the same display that is about to be ready: it may be the one. Precondition: mutex
// held.
static struct em_gl_group *find_coming(const struct em_gl_current *current)
{
    struct em_gl_group *g = groups;
    while (g && (g->ready || g->sharer.system != current->system ||
                 g->sharer.display != current->display))
        g = g->next;
    return g;
}

// A group whose contexts need a connection that is about to be closed. Precondition: mutex held.
static struct em_gl_group *find_on(void *display)
{
    struct em_gl_group *g = groups;
    while (g && !(g->sharer.system == GL_SYSTEM_GLX && g->sharer.display == display && g->ready &&
                  !g->leave))
        g = g->next;
    return g;
}

static void display_gone(void *display)
{
    struct em_gl_group *g;
    pthread_mutex_lock(&mutex);
    while ((g = find_on(display))) {
        g->leave = true;
        g->references++; // until we have seen its end
        pthread_cond_signal(&g->wake);
        while (!g->ended)
            pthread_cond_wait(&g->done, &mutex);
        unref(g);
    }
    pthread_mutex_unlock(&mutex);
}

// Precondition: mutex held, which is released meanwhile.
static CUresult make(const struct em_gl_current *current, struct em_gl_group **out)
{
    static bool watched;
    struct em_gl_group *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a group of OpenGL contexts");
    if (!watched)
        watched = !pthread_atfork(NULL, NULL, in_child);
    g->references = 1;
    g->sharer = *current;
    pthread_cond_init(&g->wake, NULL);
    pthread_cond_init(&g->done, NULL);
    if (!em_own_thread("cardless gl", NULL, group_main, g)) {
        dm_free(g);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no thread for a group of OpenGL contexts");
    }
    g->next = groups;
    groups = g;
    while (!g->ready)
        pthread_cond_wait(&g->done, &mutex);
    if (!g->why_not) {
        em_gl_window_watch(current, display_gone);
        *out = g;
        return CUDA_SUCCESS;
    }
    CUresult r = em_mistake(G12, CUDA_ERROR_OPERATING_SYSTEM,
                            "the current OpenGL context cannot be shared: %s", g->why_not);
    while (!g->ended)
        pthread_cond_wait(&g->done, &mutex);
    unref(g); // other threads may have a reference: they wait for the group, or look whether it is
              // theirs
    return r;
}

CUresult em_gl_group_enter(struct em_gl_group **out)
{
    struct em_gl_current current = em_gl_window_current();
    const char *version;
    if (current.system == GL_SYSTEM_NONE)
        return em_mistake(G12, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                          "no OpenGL context is current in this thread");
    if (!em_gl_window_is_usable(&current, &version))
        return em_mistake(G12, CUDA_ERROR_OPERATING_SYSTEM,
                          "OpenGL %s is too old: 3.2 or ES 3.0 is needed", version);
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    struct em_gl_group *g, *coming;
    while (!(g = find(&current)) &&
           (coming = find_coming(&current))) { // another thread's first call
        coming->references++;
        pthread_cond_wait(&coming->done, &mutex);
        unref(coming);
    }
    if (g)
        *out = g;
    else
        r = make(&current, out);
    pthread_mutex_unlock(&mutex);
    return r;
}

bool em_gl_group_enter_egl(struct em_gl_group **out)
{
    struct em_gl_current current = em_gl_window_current();
    if (current.system == GL_SYSTEM_EGL && em_gl_window_is_usable(&current, NULL))
        return em_gl_group_enter(out) == CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    struct em_gl_group *g = groups;
    while (g && (g->sharer.system != GL_SYSTEM_EGL || !g->ready || g->leave || g->ended))
        g = g->next;
    if (g)
        g->references++;
    pthread_mutex_unlock(&mutex);
    *out = g;
    return g != NULL;
}

bool em_gl_group_image_is_likely(struct em_gl_group *group, void *egl_image)
{
    return em_gl_window_image_is_likely(group->sharer.display, egl_image);
}

void em_gl_group_ref(struct em_gl_group *group)
{
    pthread_mutex_lock(&mutex);
    group->references++;
    pthread_mutex_unlock(&mutex);
}

void em_gl_group_unref(struct em_gl_group *group)
{
    pthread_mutex_lock(&mutex);
    unref(group);
    pthread_mutex_unlock(&mutex);
}

bool em_gl_group_run(struct em_gl_group *group, em_gl_work *work, void *arg)
{
    struct em_gl_job job = {.work = work, .arg = arg};
    pthread_mutex_lock(&mutex);
    if (!group->leave && !group->ended) {
        add_job(group, &job);
        while (!job.done && !group->ended)
            pthread_cond_wait(&group->done, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return job.called;
}

void em_gl_group_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work, void *arg)
{
    *job = (struct em_gl_job){.work = work, .arg = arg, .posted = true};
    pthread_mutex_lock(&mutex);
    bool ended = group->ended;
    if (!ended)
        add_job(group, job);
    pthread_mutex_unlock(&mutex);
    if (ended)
        work(group, NULL, arg);
}

bool em_gl_group_is_gone(struct em_gl_group *group)
{
    pthread_mutex_lock(&mutex);
    bool gone = group->leave || group->ended;
    pthread_mutex_unlock(&mutex);
    return gone;
}

const struct gl_functions *em_gl_group_here(struct em_gl_group *group)
{
    struct em_gl_current current = em_gl_window_current();
    if (current.system != group->sharer.system || current.display != group->sharer.display)
        return NULL;
    return group->gl.IsSync(group->sentinel) ? &group->gl : NULL;
}

bool em_gl_group_is_silent(const struct em_gl_group *group)
{
    return group->own.silent;
}

struct em_gl_unit_pools *em_gl_group_unit_pools(struct em_gl_group *group)
{
    return &group->unit_pools;
}
