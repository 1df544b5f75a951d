// SPDX-License-Identifier: MIT
// The lists of resources whose bytes CUDA has, and writing some of them back without an unmap:
// persistent ones, those that are implicitly acquired, and all when their context ends.
#include "command.h"
#include "context.h"
#include "graphics_resource.h"
#include "lock.h"
#include "quirk.h"
#include "startup.h"
#include "synchronised.h"

// A resource can be in two lists. Each context has one of its resources that are mapped or
// implicitly acquired, which begins at em_context.mapped. The other one begins here: resources of
// all contexts that are written back when the program synchronises.
static struct em_graphics *first_sync;

// ---- lists ----

static void write_back_synchronised(void);
// Called after each synchronisation if `wanted`, the length of the list above, is not 0.
static struct em_sync_listener write_back_listener = {.after_copies = true,
                                                      .synchronised = write_back_synchronised};

static void sync_list_add(struct em_graphics *g)
{
    g->in_sync_list = true;
    g->previous_sync = NULL;
    g->next_sync = first_sync;
    if (first_sync)
        first_sync->previous_sync = g;
    first_sync = g;
    __atomic_fetch_add(&write_back_listener.wanted, 1, __ATOMIC_RELAXED);
}

static void sync_list_remove(struct em_graphics *g)
{
    g->in_sync_list = false;
    if (g->previous_sync)
        g->previous_sync->next_sync = g->next_sync;
    else
        first_sync = g->next_sync;
    if (g->next_sync)
        g->next_sync->previous_sync = g->previous_sync;
    __atomic_fetch_sub(&write_back_listener.wanted, 1, __ATOMIC_RELAXED);
}

void em_graphics_link(struct em_graphics *g)
{
    em_assert_locked();
    struct em_graphics **first = &g->object.context->mapped;
    g->previous_mapped = NULL;
    g->next_mapped = *first;
    if (*first)
        (*first)->previous_mapped = g;
    *first = g;
    if (g->shape.persistent || g->implicit)
        sync_list_add(g);
}

void em_graphics_unlink(struct em_graphics *g)
{
    em_assert_locked();
    if (g->previous_mapped)
        g->previous_mapped->next_mapped = g->next_mapped;
    else
        g->object.context->mapped = g->next_mapped;
    if (g->next_mapped)
        g->next_mapped->previous_mapped = g->previous_mapped;
    if (g->in_sync_list)
        sync_list_remove(g);
}

// ---- implicit acquisition ----

bool em_graphics_begin_implicit(struct em_graphics *g)
{
    em_assert_locked();
    if (g->implicit)
        return true;
    // If graphics work waits for CUDA's, nothing needs to be fetched: both sides use the same
    // bytes.
    if (g->ops->held_back || !em_quirk(GRAPHICS_LENIENT) || g->released != g->sequence)
        return false;
    g->implicit = true;
    em_graphics_link(g);
    g->sequence++;
    g->flags = g->map_flags;
    em_graphics_acquire(g, g->sequence, g->fence, g->flags);
    return true;
}

void em_graphics_end_implicit(struct em_graphics *g)
{
    em_assert_locked();
    em_graphics_unlink(g);
    g->implicit = false;
}

// ---- writing back ----

void em_graphics_write_back(struct em_graphics *g)
{
    em_assert_locked();
    if (g->releasing) {
        while (g->releasing)
            em_wait_progress();
        em_wait_over();
        return;
    }
    if (g->implicit) // the next access acquires it again
        em_graphics_end_implicit(g);
    em_graphics_release(g, g->sequence, true);
    if (g->shape.persistent && g->mapped) {
        g->sequence++;
        em_graphics_acquire(g, g->sequence, g->fence, g->flags);
    }
    em_progress(); // other threads may wait for the release
}

static void write_back_synchronised(void)
{
    em_lock();
    for (struct em_graphics *g = first_sync, *next; g; g = next) {
        next = g->next_sync;
        if (g->acquired != g->sequence || g->writes) // a later synchronisation will do it
            continue;
        em_object_ref(&g->object);
        em_graphics_write_back(g); // may release em_lock
        next = g->in_sync_list ? g->next_sync : first_sync;
        em_object_unref(&g->object);
    }
    em_unlock();
}

// The walk_* functions visit a context's list, although em_lock may be released in between. They
// hold references to the current resource and to the next one, because the current one may leave
// the list meanwhile.

static struct em_graphics *walk_start(const struct em_context *context)
{
    struct em_graphics *g = context->mapped;
    if (g)
        em_object_ref(&g->object);
    return g;
}

// Takes a reference to the next resource, and returns it for walk_next. Call this before em_lock
// may be released.
static struct em_graphics *walk_reserve(const struct em_graphics *g)
{
    if (g->next_mapped)
        em_object_ref(&g->next_mapped->object);
    return g->next_mapped;
}

// Returns the resource after `g`, or the first one if another thread has removed the reserved one.
// Drops the reference to `g`.
static struct em_graphics *walk_next(struct em_graphics *g, struct em_graphics *reserved)
{
    const struct em_context *context = g->object.context;
    if (reserved && !reserved->mapped && !reserved->implicit) {
        em_object_unref(&reserved->object);
        reserved = walk_start(context);
    }
    em_object_unref(&g->object);
    return reserved;
}

static void write_back_context(struct em_context *context)
{
    em_lock();
    for (struct em_graphics *g = walk_start(context); g;) {
        struct em_graphics *next = walk_reserve(g);
        if (!g->ops->held_back && g->released != g->sequence && !g->releasing)
            em_graphics_write_back(g);
        g = walk_next(g, next);
    }
    em_unlock();
}

DM_STARTUP void em_graphics_start(void)
{
    em_assert_unlocked();
    static const struct em_context_observer observer = {.finish = write_back_context};
    em_context_observe(EM_OBSERVER_GRAPHICS, &observer);
    em_sync_listen(&write_back_listener);
}

// ---- launches ----

void em_graphics_access_all(struct em_context *context, bool write)
{
    em_assert_unlocked();
    const enum em_access_mode mode = write ? EM_ACCESS_WRITE_SOME : EM_ACCESS_READ;
    em_lock();
    for (struct em_graphics *g = walk_start(context); g;) {
        struct em_graphics *next = walk_reserve(g);
        if (em_graphics_access_begin(g, NULL, mode)) {
            em_unlock();
            em_graphics_make_resident(g, NULL, mode, true);
            em_lock();
        }
        g = walk_next(g, next);
    }
    em_unlock();
}
