// SPDX-License-Identifier: MIT
// The use of mapped graphics resources by commands: reports misuse, and informs the backend of the
// bytes that a command needs and of those that it has written.
#include "box.h"
#include "config.h"
#include "error.h"
#include "graphics_resource.h"
#include "lock.h"
#include "pkey.h"

static const uint8_t poison_byte = 0xa5;

// "CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD: CUDA kernels … will write over the entire
// contents, so none of the data previously stored in the resource will be preserved": the old bytes
// are poisoned before CUDA sees them.
static void poison(struct em_graphics *g)
{
    struct dm_surface bytes = {.base = (void *)(uintptr_t)g->memory->address,
                               .pitch_B = g->memory->size_B,
                               .slice_B = g->memory->size_B};
    uint32_t keys = dm_pkey_enter();
    dm_box_fill(&bytes, (struct dm_position){0}, (struct dm_box_extent){g->memory->size_B, 1, 1},
                &poison_byte, sizeof poison_byte);
    dm_pkey_leave(keys);
}

static bool discards(const struct em_graphics *g)
{
    return (g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD) &&
           !(g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY);
}

// Reports reads before the first write of a WRITE_DISCARD mapping and writes of a READ_ONLY one.
static void check_use(struct em_graphics *g, const struct em_graphics_part *part,
                      enum em_access_mode mode)
{
    char text[160];
    uint64_t first = g->shape.kind == EM_GRAPHICS_BUFFER ? part->offset_B : 0,
             end = g->shape.kind == EM_GRAPHICS_BUFFER ? first + part->size_B : 1;
    if (mode == EM_ACCESS_READ) {
        bool unwritten = first < g->written_first || end > g->written_end;
        if (!g->reported_read && unwritten && discards(g)) {
            g->reported_read = true;
            em_mistake(G09, CUDA_SUCCESS,
                       "%s is read before CUDA has written it, in a mapping with "
                       "CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD",
                       em_graphics_text(g, text, sizeof text));
        }
        return;
    }
    if (!g->reported_write && (g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)) {
        g->reported_write = true;
        em_mistake(G09, CUDA_SUCCESS,
                   "%s is written in a mapping with CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY: "
                   "graphics will not see it",
                   em_graphics_text(g, text, sizeof text));
    }
    bool empty = g->written_first == g->written_end;
    g->written_first = empty || first < g->written_first ? first : g->written_first;
    g->written_end = empty || end > g->written_end ? end : g->written_end;
}

// CUDA writes through `g`. The bytes are not old ones for other mappings of them that discard, even
// if those are used for the first time only later.
static void keep_from_poison(const struct em_graphics *g)
{
    const struct em_graphics_memory *m = g->memory;
    for (struct em_graphics *h = g->object.context->mapped; h; h = h->next_mapped)
        if (h != g && h->memory->physical == m->physical &&
            h->memory->physical_offset == m->physical_offset)
            h->poisoned = true;
}

bool em_graphics_access_begin(struct em_graphics *g, const struct em_graphics_part *part,
                              enum em_access_mode mode)
{
    em_assert_locked();
    if (part && mode != EM_ACCESS_READ)
        g->writes++; // until em_graphics_access_end
    if (!g->mapped && !em_graphics_begin_implicit(g))
        return false;
    bool strict = em_config()->personality == EM_MANUAL;
    bool must_poison = strict && discards(g) && !g->poisoned;
    if (strict && part)
        check_use(g, part, mode);
    if (strict && mode != EM_ACCESS_READ)
        keep_from_poison(g);
    g->poisoned |= must_poison;
    // Nothing may be fetched over the poison.
    if (must_poison && g->ops->discard)
        must_poison = g->ops->discard(g->owner);
    if (must_poison && g->acquired == g->sequence)
        poison(g);
    else if (must_poison)
        g->poison_sequence = g->sequence;
    if (g->ops->access)
        g->ops->access(g->owner, part, mode);
    return g->ops->make_resident;
}

void em_graphics_access_end(struct em_graphics *g, const struct em_graphics_part *part,
                            enum em_access_mode mode, CUresult result)
{
    em_assert_locked();
    if (mode == EM_ACCESS_READ)
        return;
    g->writes--;
    if (part && g->ops->written)
        g->ops->written(g->owner, part, result);
}

void em_graphics_make_resident(struct em_graphics *g, const struct em_graphics_part *part,
                               enum em_access_mode mode, bool may_wait)
{
    em_assert_unlocked();
    // Others may read the bytes before this command overwrites them.
    if (may_wait && mode == EM_ACCESS_WRITE)
        mode = EM_ACCESS_WRITE_SOME;
    g->ops->make_resident(g->owner, part, mode);
}

// Writes that must not reach the graphics object go through CUDA's memory, and so do accesses of
// poisoned bytes.
bool em_graphics_copy_directly(struct em_graphics *g, const struct em_graphics_part *part,
                               enum em_access_mode mode, const struct em_rows *rows)
{
    em_assert_unlocked();
    const bool write = mode != EM_ACCESS_READ;
    if (!g->ops->copy_directly || mode == EM_ACCESS_WRITE_SOME || g->shape.persistent)
        return false;
    em_lock();
    const bool may = g->mapped &&
                     !(write && (g->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)) &&
                     !(em_config()->personality == EM_MANUAL && discards(g));
    em_unlock();
    return may && g->ops->copy_directly(g->owner, part, write, rows);
}

void em_graphics_view_acquired(struct em_graphics *g, uint64_t sequence)
{
    em_assert_locked();
    if (g->poison_sequence == sequence)
        poison(g);
}
