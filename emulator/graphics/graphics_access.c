// SPDX-License-Identifier: MIT
// What is noticed of the use of a mapped graphics resource by commands, and what its graphics API
// is told of it.
#include "box.h"
#include "config.h"
#include "error.h"
#include "graphics_resource.h"
#include "lock.h"
#include "pkey.h"

static const uint8_t scrambled = 0xa5;

// "CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD: CUDA kernels … will write over the entire
// contents, so none of the data previously stored in the resource will be preserved": what was
// there is made unusable before CUDA sees it.
static void scramble(struct em_graphics *g)
{
    struct dm_surface bytes = {.base = (void *)(uintptr_t)g->memory->address,
                               .pitch_B = g->memory->size_B,
                               .slice_B = g->memory->size_B};
    uint32_t keys = dm_pkey_enter();
    dm_box_fill(&bytes, (struct dm_position){0}, (struct dm_box_extent){g->memory->size_B, 1, 1},
                &scrambled, sizeof scrambled);
    dm_pkey_leave(keys);
}

static bool discards(const struct em_graphics *g)
{
    return (g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD) &&
           !(g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY);
}

static void look_for_misuse(struct em_graphics *g, const struct em_graphics_part *part,
                            enum em_touch touch)
{
    char text[160];
    uint64_t first = g->shape.kind == EM_GRAPHICS_BUFFER ? part->offset_B : 0,
             end = g->shape.kind == EM_GRAPHICS_BUFFER ? first + part->size_B : 1;
    if (touch == EM_TOUCH_READ) {
        bool unwritten = first < g->written_first || end > g->written_end;
        if (!g->said_read && unwritten && discards(g)) {
            g->said_read = true;
            em_mistake(G09, CUDA_SUCCESS,
                       "%s is read before CUDA has written it, in a mapping with "
                       "CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD",
                       em_graphics_text(g, text, sizeof text));
        }
        return;
    }
    if (!g->said_written && (g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)) {
        g->said_written = true;
        em_mistake(G09, CUDA_SUCCESS,
                   "%s is written in a mapping with CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY: "
                   "graphics will not see it",
                   em_graphics_text(g, text, sizeof text));
    }
    bool empty = g->written_first == g->written_end;
    g->written_first = empty || first < g->written_first ? first : g->written_first;
    g->written_end = empty || end > g->written_end ? end : g->written_end;
}

static void end_write(struct em_graphics *g, const struct em_graphics_part *part,
                      enum em_touch touch)
{
    g->writes -= g->writes != 0;
    if (g->ops->touch)
        g->ops->touch(g->owner, part, touch);
}

// What a thread's command needs, which has two ends at most.
struct want {
    struct em_graphics *graphics; // a reference
    struct em_graphics_part part;
    bool whole;
    enum em_touch touch;
};
static __thread struct {
    unsigned count;
    struct want list[2];
} wanted;

static void want(struct em_graphics *g, const struct em_graphics_part *part, enum em_touch touch)
{
    if (wanted.count == sizeof wanted.list / sizeof *wanted.list)
        return;
    struct want *w = &wanted.list[wanted.count++];
    *w = (struct want){.graphics = g, .whole = !part, .touch = touch};
    if (part)
        w->part = *part;
    em_object_ref(&g->object);
}

void em_graphics_touch(struct em_graphics *g, const struct em_graphics_part *part,
                       enum em_touch touch)
{
    if (touch == EM_TOUCH_WRITTEN || touch == EM_TOUCH_UNWRITTEN) {
        end_write(g, part, touch);
        return;
    }
    if (part && touch != EM_TOUCH_READ)
        g->writes++; // end_write follows
    if (!g->mapped && !em_graphics_loosen(g))
        return;
    bool strict = em_config()->personality == EM_MANUAL;
    bool spoil = strict && discards(g) && !g->scrambled;
    if (strict && part)
        look_for_misuse(g, part, touch);
    g->scrambled |= spoil;
    if (spoil && g->ops->discard)
        spoil = g->ops->discard(g->owner);
    else if (spoil && g->ops->touch)
        g->ops->touch(
            g->owner, NULL,
            EM_TOUCH_READ); // a mirror has everything, so that nothing is fetched over what follows
    if (spoil && g->acquired == g->sequence)
        scramble(g);
    else if (spoil)
        g->spoil = g->sequence;
    if (g->ops->touch)
        g->ops->touch(g->owner, part, touch);
    if (g->ops->bring)
        want(g, part, touch);
}

void em_graphics_bring(bool waits)
{
    unsigned count = wanted.count;
    if (!count)
        return;
    wanted.count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct want *w = &wanted.list[i];
        enum em_touch touch = waits && w->touch == EM_TOUCH_WRITE ? EM_TOUCH_WRITE_SOME : w->touch;
        w->graphics->ops->bring(w->graphics->owner, w->whole ? NULL : &w->part, touch);
    }
    em_lock();
    for (unsigned i = 0; i < count; i++)
        em_object_unref(&wanted.list[i].graphics->object);
    em_unlock();
}

void em_graphics_view_acquired(struct em_graphics *g, uint64_t sequence)
{
    if (g->spoil == sequence)
        scramble(g);
}
