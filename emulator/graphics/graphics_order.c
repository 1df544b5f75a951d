// SPDX-License-Identifier: MIT
// The stream commands of mapping and unmapping.
#include "graphics_order.h"

#include "lock.h"
#include "order.h"
#include "order_signal.h"
#include "stream.h"

static bool order_map_ready(struct em_command *command)
{
    struct em_graphics_command *c = (struct em_graphics_command *)command;
    struct em_graphics *g = c->graphics;
    return g->released + 1 >= c->sequence && (!g->ops->ready || g->ops->ready(g->owner, c->fence));
}

// For the ordering checker: both use all bytes of the resource, because graphics may have changed
// them, or may do so.
static void use_all(struct em_command *command, const struct em_graphics_window *w)
{
    if (w)
        em_order_access(command, w->address, w->memory->size_B, EM_ORDER_WRITE);
}

static CUresult order_map_run(struct em_command *command)
{
    struct em_graphics_command *c = (struct em_graphics_command *)command;
    em_lock();
    if (__builtin_expect(em_order_on, 0)) {
        em_order_acquire_outside(command);
        use_all(command, c->graphics->window);
    }
    // Another thread may have unmapped the resource in another stream already.
    CUresult r = c->graphics->released < c->sequence
                     ? em_graphics_acquire(c->graphics, c->sequence, c->fence, c->flags)
                     : CUDA_SUCCESS;
    em_unlock();
    return r;
}

// Mappings are released in their order, even if threads unmap in streams of their own.
static bool order_unmap_ready(struct em_command *command)
{
    const struct em_graphics_command *c = (const struct em_graphics_command *)command;
    return c->graphics->released + 1 >= c->sequence;
}

static CUresult order_unmap_run(struct em_command *command)
{
    struct em_graphics_command *c = (struct em_graphics_command *)command;
    em_lock();
    if (__builtin_expect(em_order_on, 0)) {
        em_order_acquire_outside(command); // mappings end in their order, in any streams
        use_all(command, c->window);
        em_order_release_outside(command);
    }
    CUresult r = em_graphics_release(c->graphics, c->sequence, true);
    em_unlock();
    return r;
}

static void order_map_finish(struct em_command *command)
{
    struct em_graphics_command *c = (struct em_graphics_command *)command;
    if (c->graphics->acquired < c->sequence) // it never ran, because the context has failed
        c->graphics->acquired = c->sequence;
    em_object_unref(&c->graphics->object);
}

static void order_unmap_finish(struct em_command *command)
{
    struct em_graphics_command *c = (struct em_graphics_command *)command;
    // Has an effect only if the command never ran: graphics work may be waiting for the release.
    em_graphics_release(c->graphics, c->sequence, false);
    em_graphics_window_unref(c->window);
    em_object_unref(&c->graphics->object);
}

static const struct em_command_ops order_map_ops = {.name = "graphics map",
                                                    .ready = order_map_ready,
                                                    .run = order_map_run,
                                                    .finish = order_map_finish,
                                                    .once = true};
static const struct em_command_ops order_unmap_ops = {.name = "graphics unmap",
                                                      .ready = order_unmap_ready,
                                                      .run = order_unmap_run,
                                                      .finish = order_unmap_finish,
                                                      .once = true};

void em_graphics_prepare(struct em_graphics_command *c, enum em_graphics_direction direction)
{
    em_assert_locked();
    const struct em_graphics *g = c->graphics;
    c->command =
        (struct em_command){.ops = direction == EM_GRAPHICS_MAP ? &order_map_ops : &order_unmap_ops,
                            .size_B = sizeof *c,
                            .condition = &em_graphics_returned};
    c->sequence = g->sequence;
    c->fence = g->fence;
    c->flags = g->flags;
    c->window = NULL;
}

CUresult em_graphics_submit(struct em_graphics_command *c, struct em_stream *stream)
{
    em_assert_unlocked();
    struct em_graphics_command own = *c;
    bool wait = !c->graphics->ops->held_back && c->command.ops == &order_unmap_ops;
    c->graphics = NULL;
    return em_submit(stream, &own.command, wait ? EM_SUBMIT_SYNC : EM_SUBMIT_ASYNC);
}
