// SPDX-License-Identifier: MIT
// Bytes of virtual graphics objects, and the list of commands.
#include "virtual_storage.h"

#include <string.h>

#include "alloc.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "guard.h"
#include "heap.h"
#include "kn_copy.h"
#include "pkey.h"
#include "schedule_log.h"

static struct {
    struct em_virtual_command *first, *last;
    struct em_virtual_command *waiting; // all before it are known not to wait
    uint64_t issued;
} list;

// ---- storage ----

static CUresult plan(struct em_virtual_storage *s)
{
    const struct em_graphics_shape *shape = &s->shape;
    struct dm_layout_desc d = {
        .kind = DM_LAYOUT_BLOCK_LINEAR,
        .element_B = shape->element_B,
        .width_px = shape->width,
        .height_px = shape->height,
        .depth = shape->depth,
        .layers = shape->layers,
        .levels = shape->levels,
        .cube = shape->cube,
    };
    return dm_layout_init(&s->layout, &d)
               ? em_fail(CUDA_ERROR_INVALID_VALUE,
                         "CUDA has no texture of %ux%ux%u with %u layers and %u levels",
                         shape->width, shape->height, shape->depth, shape->layers, shape->levels)
               : CUDA_SUCCESS;
}

// A small block may contain old bytes. A large one is new, and takes host memory only for the pages
// that are used.
static void clear(const struct em_graphics_memory *m)
{
    if (m->size_B > DM_HEAP_SMALL)
        return;
    struct dm_surface all = {
        .base = (void *)(uintptr_t)m->address, .pitch_B = m->size_B, .slice_B = m->size_B};
    uint32_t keys = dm_pkey_enter();
    dm_box_fill(&all, (struct dm_position){0}, (struct dm_box_extent){m->size_B, 1, 1}, "", 1);
    dm_pkey_leave(keys);
}

CUresult em_virtual_storage_new(const struct em_graphics_shape *shape,
                                struct em_virtual_storage **out)
{
    struct em_virtual_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating a virtual graphics object");
    s->references = 1;
    s->shape = *shape;
    s->shape.layout = DM_LAYOUT_BLOCK_LINEAR;
    uint64_t size_B;
    CUresult r;
    if (shape->kind == EM_GRAPHICS_IMAGE) {
        r = plan(s);
        size_B = s->layout.total_B;
    } else {
        r = em_graphics_capacity(shape, &size_B);
    }
    if (!r)
        r = em_graphics_memory_new(&em_devices[0], shape, size_B, &s->memory);
    if (r) {
        dm_free(s);
        return r;
    }
    clear(s->memory);
    s->shape.physical = s->memory->physical;
    s->shape.physical_offset = s->memory->physical_offset;
    *out = s;
    return CUDA_SUCCESS;
}

void em_virtual_storage_ref(struct em_virtual_storage *s)
{
    s->references++;
}

void em_virtual_storage_unref(struct em_virtual_storage *s)
{
    if (!s || --s->references)
        return;
    em_graphics_memory_unref(s->memory);
    dm_free(s);
}

// ---- commands ----

struct dm_surface em_virtual_surface(const struct em_virtual_end *end)
{
    const struct em_virtual_storage *s = end->storage;
    struct dm_surface surface = {.base = (void *)(uintptr_t)s->memory->address};
    if (s->shape.kind == EM_GRAPHICS_IMAGE) {
        surface.layout = &s->layout;
        surface.level = end->level;
    } else {
        surface.pitch_B = surface.slice_B = s->memory->size_B;
    }
    return surface;
}

uint64_t em_virtual_tick(void)
{
    return ++list.issued;
}

uint64_t em_virtual_issued(void)
{
    return list.issued;
}

uint64_t em_virtual_done(void)
{
    return list.first ? list.first->tick - 1 : list.issued;
}

uint64_t em_virtual_issue(struct em_virtual_command *c)
{
    struct em_virtual_end *ends[] = {&c->to, &c->from};
    for (unsigned i = 0; i < 2; i++) {
        if (!ends[i]->storage)
            continue;
        em_virtual_storage_ref(ends[i]->storage);
        ends[i]->after = ends[i]->storage->unmaps;
    }
    c->next = NULL;
    c->tick = em_virtual_tick();
    if (list.last)
        list.last->next = c;
    else
        list.first = c;
    list.last = c;
    if (!list.waiting)
        list.waiting = c;
    em_schedule_log_issued(c->tick, c->repeat_B ? "fill" : c->from.storage ? "copy" : "write");
    return c->tick;
}

bool em_virtual_end_waits(const struct em_virtual_end *end)
{
    return end->storage && end->storage->unmaps_done < end->after;
}

static bool waits(const struct em_virtual_command *c)
{
    return em_virtual_end_waits(&c->to) || em_virtual_end_waits(&c->from);
}

bool em_virtual_can_run(uint64_t tick)
{
    // A command that does not wait never waits again, so each command is passed only once.
    while (list.waiting && list.waiting->tick <= tick && !waits(list.waiting))
        list.waiting = list.waiting->next;
    return !list.waiting || list.waiting->tick > tick;
}

static void fill(const struct em_virtual_command *c)
{
    struct dm_surface to = em_virtual_surface(&c->to);
    dm_box_fill(&to, c->to.at, c->extent, c->bytes, c->repeat_B);
}

static void copy(const struct em_virtual_command *c)
{
    struct dm_surface to = em_virtual_surface(&c->to), from;
    if (c->from.storage)
        from = em_virtual_surface(&c->from);
    else
        from = (struct dm_surface){.base = (void *)(uintptr_t)c->bytes,
                                   .pitch_B = c->extent.width_B,
                                   .slice_B = c->extent.width_B * c->extent.height};
    dm_box_copy(&to, c->to.at, &from, c->from.at, c->extent);
}

static void run_command(void *arg)
{
    const struct em_virtual_command *c = arg;
    if (c->repeat_B)
        fill(c);
    else
        copy(c);
}

static CUresult faulted(const struct em_virtual_command *c, const struct dm_fault *fault)
{
    char text[160];
    dm_fault_text(fault, text, sizeof text);
    return em_fail(CUDA_ERROR_UNKNOWN, "command %llu of the virtual graphics API faulted: %s",
                   (unsigned long long)c->tick, text);
}

CUresult em_virtual_run(uint64_t tick, bool *all)
{
    uint32_t keys = dm_pkey_enter();
    struct em_virtual_command *c;
    CUresult r = CUDA_SUCCESS;
    while ((c = list.first) && c->tick <= tick && !waits(c)) {
        struct dm_fault fault;
        em_schedule_log_drawn(c->tick);
        if (dm_guarded(run_command, c, &fault) && !r)
            r = faulted(c, &fault);
        list.first = c->next;
        if (!list.first)
            list.last = NULL;
        if (list.waiting == c)
            list.waiting = c->next;
        em_virtual_storage_unref(c->to.storage);
        em_virtual_storage_unref(c->from.storage);
        dm_free(c);
    }
    dm_pkey_leave(keys);
    *all = !c || c->tick > tick;
    return r;
}
