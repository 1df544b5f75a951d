// SPDX-License-Identifier: MIT
// The resources that CUDA has just now, and giving the bytes of some of them back without an unmap:
// those that are never unmapped, those that are used while they are not mapped, and all when their
// context ends.
#include "command.h"
#include "context.h"
#include "graphics_resource.h"
#include "lock.h"
#include "quirk.h"
#include "synchronised.h"

static struct em_graphics *first_mapped; // all resources that are mapped or loose

// `wanted` counts the resources that are never unmapped or are used without being mapped.
static void settle_all(void);
static struct em_sync_listener listener = {.after_copies = true, .synchronised = settle_all};

void em_graphics_count_standing(int change)
{
    __atomic_fetch_add(&listener.wanted, (unsigned)change, __ATOMIC_RELAXED);
}

void em_graphics_link(struct em_graphics *g)
{
    g->previous_mapped = NULL;
    g->next_mapped = first_mapped;
    if (first_mapped)
        first_mapped->previous_mapped = g;
    first_mapped = g;
}

void em_graphics_unlink(struct em_graphics *g)
{
    if (g->previous_mapped)
        g->previous_mapped->next_mapped = g->next_mapped;
    else
        first_mapped = g->next_mapped;
    if (g->next_mapped)
        g->next_mapped->previous_mapped = g->previous_mapped;
}

bool em_graphics_loosen(struct em_graphics *g)
{
    if (g->loose)
        return true;
    // Where graphics work waits for CUDA's there is nothing to fetch: the bytes are one and the
    // same.
    if (g->ops->held_back || !em_quirk(GRAPHICS_LENIENT) || g->released != g->sequence)
        return false;
    g->loose = true;
    em_graphics_link(g);
    em_graphics_count_standing(1);
    g->sequence++;
    g->flags = g->map_flags;
    em_graphics_take(g, g->sequence, g->fence, g->flags);
    return true;
}

void em_graphics_tighten(struct em_graphics *g)
{
    g->loose = false;
    em_graphics_unlink(g);
    em_graphics_count_standing(-1);
}

void em_graphics_settle_one(struct em_graphics *g)
{
    if (g->releasing) {
        while (g->releasing)
            em_wait_progress();
        return;
    }
    if (g->loose) // who uses it from here on makes it so again
        em_graphics_tighten(g);
    em_graphics_give_back(g, g->sequence, true);
    if (g->shape.standing && g->mapped) {
        g->sequence++;
        em_graphics_take(g, g->sequence, g->fence, g->flags);
    }
    em_progress(); // others may wait for it
}

// The next mapped one after `g`, whose reference goes; the first one where that is mapped no more.
// Precondition: em_lock held.
static struct em_graphics *leave_for_next(struct em_graphics *g)
{
    struct em_graphics *next = g->mapped || g->loose ? g->next_mapped : first_mapped;
    em_object_unref(&g->object);
    return next;
}

typedef bool which_fn(const struct em_graphics *g, const struct em_context *context);

static void settle(which_fn *which, const struct em_context *context)
{
    em_lock();
    for (struct em_graphics *g = first_mapped; g;) {
        if (!which(g, context)) {
            g = g->next_mapped;
            continue;
        }
        em_object_ref(&g->object);
        em_graphics_settle_one(g);
        g = leave_for_next(g);
    }
    em_unlock();
}

static bool can_settle(const struct em_graphics *g, const struct em_context *unused)
{
    (void)unused;
    return (g->loose || g->shape.standing) && g->acquired == g->sequence &&
           !g->writes; // else a later wait will
}

static void settle_all(void)
{
    settle(can_settle, NULL);
}

static bool must_leave(const struct em_graphics *g, const struct em_context *context)
{
    return g->object.context == context && !g->ops->held_back && g->released != g->sequence &&
           !g->releasing;
}

static void leave_context(struct em_context *context)
{
    settle(must_leave, context);
}

void em_graphics_start(void)
{
    static const struct em_context_observer observer = {.finish = leave_context};
    em_context_observe(EM_OBSERVER_GRAPHICS, &observer);
    em_sync_listen(&listener);
}

// ---- launches ----

void em_graphics_access_all(struct em_context *context, bool write)
{
    const enum em_access_mode mode = write ? EM_ACCESS_WRITE_SOME : EM_ACCESS_READ;
    em_lock();
    for (struct em_graphics *g = first_mapped; g;) {
        if (g->object.context != context) {
            g = g->next_mapped;
            continue;
        }
        em_object_ref(&g->object);
        if (em_graphics_access_begin(g, NULL, mode)) {
            em_unlock();
            em_graphics_make_resident(g, NULL, mode, true);
            em_lock();
        }
        g = leave_for_next(g);
    }
    em_unlock();
}
