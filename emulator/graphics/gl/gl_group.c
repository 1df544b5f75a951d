// SPDX-License-Identifier: MIT
// The list of share groups: finds the group of a context, or makes it.
#include "gl_group_thread.h"

#include "alloc.h"
#include "clock.h"
#include "error.h"
#include "gl_guest.h"
#include "lock.h"
#include "own_thread.h"
#include "thread.h"

enum { GROUPS_ASKED = 64 };

struct dm_mutex em_gl_group_mutex = DM_MUTEX_INITIALIZER(GL_GROUP);
static struct em_gl_group *groups; // guarded by em_gl_group_mutex

// A child process does not have the threads.
static void group_in_child(void)
{
    em_gl_group_mutex = (struct dm_mutex)DM_MUTEX_INITIALIZER(GL_GROUP);
}

// ---- the list

// Precondition: em_gl_group_mutex held.
void em_gl_group_unlist(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    for (struct em_gl_group **at = &groups; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            return;
        }
}

// Precondition: em_gl_group_mutex held.
static void group_unref(struct em_gl_group *g)
{
    dm_assert_locked(&em_gl_group_mutex);
    if (!--g->references && g->ended) // else its thread frees it
        dm_free(g);
}

static bool group_is_usable(const struct em_gl_group *g, const struct em_gl_current *current)
{
    return g->ready && !g->why_not && !g->leave && !g->ended &&
           g->sharer.system == current->system && g->sharer.display == current->display;
}

// Returns the group whose sentinel the current context knows, with a reference. Precondition:
// em_gl_group_mutex held, which is released while OpenGL is called, because OpenGL may wait for a
// thread of the program.
static struct em_gl_group *group_find(const struct em_gl_current *current)
{
    dm_assert_locked(&em_gl_group_mutex);
    gl_boolean (*is_sync)(gl_sync) =
        (gl_boolean(*)(gl_sync))em_gl_context_function(current->system, "IsSync");
    struct em_gl_group *likely[GROUPS_ASKED], *found = NULL;
    unsigned count = 0;
    for (struct em_gl_group *g = groups; g && is_sync && count < GROUPS_ASKED; g = g->next)
        if (group_is_usable(g, current)) {
            g->references++;
            likely[count++] = g;
        }
    dm_mutex_unlock(&em_gl_group_mutex);
    for (unsigned i = 0; i < count && !found; i++)
        found = is_sync(likely[i]->sentinel) ? likely[i] : NULL;
    dm_mutex_lock(&em_gl_group_mutex);
    if (found && !group_is_usable(found, current))
        found = NULL;
    for (unsigned i = 0; i < count; i++)
        if (likely[i] != found)
            group_unref(likely[i]);
    return found;
}

// Returns a group on the same display whose thread is starting, because it may turn out to be the
// wanted one. Precondition: em_gl_group_mutex held.
static struct em_gl_group *group_find_starting(const struct em_gl_current *current)
{
    dm_assert_locked(&em_gl_group_mutex);
    struct em_gl_group *g = groups;
    while (g && (g->ready || g->sharer.system != current->system ||
                 g->sharer.display != current->display))
        g = g->next;
    return g;
}

// Returns a group whose contexts need this connection. Precondition: em_gl_group_mutex held.
static struct em_gl_group *group_find_on(void *display)
{
    dm_assert_locked(&em_gl_group_mutex);
    struct em_gl_group *g = groups;
    while (g && !(g->sharer.system == GL_SYSTEM_GLX && g->sharer.display == display && g->ready &&
                  !g->leave))
        g = g->next;
    return g;
}

static void group_close_display(void *display)
{
    dm_mutex_lock(&em_gl_group_mutex);
    for (struct em_gl_group *g = group_find_on(display); g; g = group_find_on(display)) {
        __atomic_store_n(&g->leave, true, __ATOMIC_RELAXED);
        g->references++; // until we have seen its end
        pthread_cond_signal(&g->wake);
        while (!g->ended)
            dm_mutex_wait(&em_gl_group_mutex, &g->done);
        group_unref(g);
    }
    dm_mutex_unlock(&em_gl_group_mutex);
}

// Precondition: em_gl_group_mutex held, which is released meanwhile.
static CUresult group_make(const struct em_gl_current *current, struct em_gl_group **out)
{
    dm_assert_locked(&em_gl_group_mutex);
    static bool watched;
    struct em_gl_group *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a share group of OpenGL");
    if (!watched)
        watched = !pthread_atfork(NULL, NULL, group_in_child);
    g->references = 1;
    g->sharer = *current;
    pthread_cond_init(&g->wake, NULL);
    pthread_cond_init(&g->done, NULL);
    if (!em_own_thread("cardless gl", NULL, em_gl_group_main, g)) {
        dm_free(g);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "cannot start a thread for a share group of OpenGL");
    }
    g->next = groups;
    groups = g;
    while (!g->ready)
        dm_mutex_wait(&em_gl_group_mutex, &g->done);
    if (!g->why_not) {
        dm_mutex_unlock(&em_gl_group_mutex); // Xlib locks the display
        em_gl_watch_display(current, group_close_display);
        dm_mutex_lock(&em_gl_group_mutex);
        *out = g;
        return CUDA_SUCCESS;
    }
    CUresult r = em_mistake(G12, CUDA_ERROR_OPERATING_SYSTEM,
                            "the current OpenGL context cannot be shared: %s", g->why_not);
    while (!g->ended)
        dm_mutex_wait(&em_gl_group_mutex, &g->done);
    group_unref(g); // other threads that look for their group may have a reference too
    return r;
}

CUresult em_gl_group_enter(struct em_gl_group **out)
{
    em_assert_unlocked();
    em_cancel_off(); // waits for the group's thread
    struct em_gl_current current = em_gl_context_current();
    const char *version;
    if (current.system == GL_SYSTEM_NONE)
        return em_mistake(G12, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                          "no OpenGL context is current in this thread");
    if (!em_gl_context_is_usable(&current, &version))
        return em_mistake(G12, CUDA_ERROR_OPERATING_SYSTEM,
                          "OpenGL %s is too old; CUDA needs 3.2 or ES 3.0", version);
    CUresult r = CUDA_SUCCESS;
    dm_mutex_lock(&em_gl_group_mutex);
    struct em_gl_group *g = group_find(&current), *starting = group_find_starting(&current);
    while (!g && starting) { // another thread's first call
        starting->references++;
        dm_mutex_wait(&em_gl_group_mutex, &starting->done);
        group_unref(starting);
        g = group_find(&current);
        starting = group_find_starting(&current);
    }
    if (g)
        *out = g;
    else
        r = group_make(&current, out);
    dm_mutex_unlock(&em_gl_group_mutex);
    if (!r && current.system == GL_SYSTEM_EGL)
        em_gl_guest_look(*out, current.context);
    return r;
}

bool em_gl_group_enter_egl(struct em_gl_group **out)
{
    struct em_gl_current current = em_gl_context_current();
    if (current.system == GL_SYSTEM_EGL && em_gl_context_is_usable(&current, NULL))
        return em_gl_group_enter(out) == CUDA_SUCCESS;
    dm_mutex_lock(&em_gl_group_mutex);
    struct em_gl_group *g = groups;
    while (g && (g->sharer.system != GL_SYSTEM_EGL || !g->ready || g->leave || g->ended))
        g = g->next;
    if (g)
        g->references++;
    dm_mutex_unlock(&em_gl_group_mutex);
    *out = g;
    return g != NULL;
}

bool em_gl_group_image_is_likely(struct em_gl_group *group, void *egl_image)
{
    return em_gl_context_knows_image(group->sharer.display, egl_image);
}

void em_gl_group_ref(struct em_gl_group *group)
{
    dm_mutex_lock(&em_gl_group_mutex);
    group->references++;
    dm_mutex_unlock(&em_gl_group_mutex);
}

void em_gl_group_unref(struct em_gl_group *group)
{
    dm_mutex_lock(&em_gl_group_mutex);
    group_unref(group);
    dm_mutex_unlock(&em_gl_group_mutex);
}

static bool group_has_done(const void *job)
{
    return __atomic_load_n(&((const struct em_gl_job *)job)->done, __ATOMIC_RELAXED);
}

bool em_gl_group_run(struct em_gl_group *group, em_gl_work *work, void *arg)
{
    em_assert_unlocked();
    struct em_gl_job job = {.work = work, .arg = arg};
    dm_mutex_lock(&em_gl_group_mutex);
    if (!group->leave && !group->ended) {
        em_gl_group_add_job(group, &job);
        // A thread that wakes while the mutex is taken would have to sleep again.
        dm_mutex_unlock(&em_gl_group_mutex);
        pthread_cond_signal(&group->wake);
        dm_mutex_lock(&em_gl_group_mutex);
        em_gl_group_spin(&em_self.spin, group_has_done, &job);
        while (!job.done && !group->ended)
            dm_mutex_wait(&em_gl_group_mutex, &group->done);
        dm_spin_wait_over(&em_self.spin, dm_now_ns());
    }
    dm_mutex_unlock(&em_gl_group_mutex);
    return job.called;
}

void em_gl_group_post(struct em_gl_group *group, struct em_gl_job *job, em_gl_work *work, void *arg)
{
    *job = (struct em_gl_job){.work = work, .arg = arg, .posted = true};
    dm_mutex_lock(&em_gl_group_mutex);
    bool ended = group->ended;
    if (!ended) {
        em_gl_group_add_job(group, job);
        pthread_cond_signal(&group->wake); // afterwards the job may end the group
    }
    dm_mutex_unlock(&em_gl_group_mutex);
    if (ended)
        work(group, NULL, arg);
}

bool em_gl_group_is_gone(struct em_gl_group *group)
{
    return __atomic_load_n(&group->leave, __ATOMIC_RELAXED) ||
           __atomic_load_n(&group->ended, __ATOMIC_RELAXED);
}

const struct gl_functions *em_gl_group_here(struct em_gl_group *group)
{
    // "Returns FALSE if sync is not the name of a sync object": contexts of other displays answer
    // so too.
    const enum gl_system system = em_gl_context_system();
    if (system != group->sharer.system || !group->gl.IsSync(group->sentinel))
        return NULL;
    if (system == GL_SYSTEM_EGL)
        em_gl_guest_look(group, em_self.gl_context);
    return &group->gl;
}

bool em_gl_group_is_silent(const struct em_gl_group *group)
{
    return group->own.silent;
}

struct em_gl_unit_pools *em_gl_group_unit_pools(struct em_gl_group *group)
{
    return &group->unit_pools;
}
