// SPDX-License-Identifier: MIT
// The pointer of a mapped buffer, and how accesses of mapped resources are watched.
#include "alloc.h"
#include "device.h"
#include "error.h"
#include "graphics_resource.h"
#include "lock.h"
#include "memory_device.h"

// ---- accesses ----

void em_graphics_watch_begin(struct em_access *access, struct em_graphics *g)
{
    em_assert_locked();
    em_object_ref(&g->object);
    g->window->references++;
    access->watcher = g;
    access->mark = (uint64_t)(uintptr_t)g->window;
}

struct em_graphics_window *em_graphics_watch_window(const struct em_access *access)
{
    return (struct em_graphics_window *)(uintptr_t)access->mark;
}

void em_graphics_watch_end(struct em_access *access, const struct em_graphics_part *part,
                           enum em_access_mode mode, CUresult result)
{
    em_assert_locked();
    struct em_graphics *g = access->watcher;
    struct em_graphics_window *window = em_graphics_watch_window(access);
    // A copy that passed CUDA's memory by has written nothing there.
    bool here = g->window == window && !access->passed_by;
    em_graphics_access_end(g, here ? part : NULL, mode, result);
    em_graphics_window_unref(window);
    em_object_unref(&g->object);
}

// ---- the allocation ----

static void pointer_release(struct em_allocation *a)
{
    struct em_graphics *g = a->owner;
    if (g && g->allocation == a) {
        g->allocation = NULL;
        if (g->memory->shown == g)
            g->memory->shown = NULL;
    }
    dm_free(a);
}

static struct em_graphics_part pointer_part(const struct em_access *access)
{
    return (struct em_graphics_part){.offset_B = access->address -
                                                 em_graphics_watch_window(access)->address,
                                     .size_B = access->size_B};
}

static bool pointer_access_begin(struct em_access *access)
{
    struct em_graphics *g = ((struct em_allocation *)access->owner)->owner;
    em_graphics_watch_begin(access, g);
    struct em_graphics_part part = pointer_part(access);
    return em_graphics_access_begin(g, &part, access->mode);
}

static void pointer_make_resident(struct em_access *access, bool may_wait)
{
    struct em_graphics_part part = pointer_part(access);
    em_graphics_make_resident(access->watcher, &part, access->mode, may_wait);
}

// The part is one range, so the rows must be too.
static bool pointer_copy_directly(struct em_access *access, const struct em_rows *rows)
{
    struct em_graphics_part part = pointer_part(access);
    bool is_span = access->form == EM_FORM_SPAN && rows->pitch_B == access->size_B;
    return is_span && em_graphics_copy_directly(access->watcher, &part, access->mode, rows);
}

static void pointer_access_end(struct em_access *access, CUresult result)
{
    struct em_graphics_part part = pointer_part(access);
    em_graphics_watch_end(access, &part, access->mode, result);
}

static const struct em_watch_ops pointer_watch_ops = {.begin = pointer_access_begin,
                                                      .make_resident = pointer_make_resident,
                                                      .copy_directly = pointer_copy_directly,
                                                      .end = pointer_access_end};

CUresult em_graphics_pointer_begin(struct em_graphics *g)
{
    em_assert_locked();
    struct em_allocation *a = dm_calloc(1, sizeof *a);
    if (!a)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while mapping a graphics resource");
    a->base = g->window->address;
    a->size = g->memory->size_B;
    a->kind = EM_MEMORY_GRAPHICS;
    a->context = g->object.context;
    a->device = g->object.context->device->ordinal;
    a->physical = g->memory->physical;
    a->physical_offset = g->memory->physical_offset;
    a->owner = g;
    a->release = pointer_release;
    a->watch = &pointer_watch_ops;
    CUresult r = em_memory_enter(a);
    if (r) {
        dm_free(a);
        return r;
    }
    g->allocation = a;
    if (a->base == g->memory->address)
        g->memory->shown = g;
    return CUDA_SUCCESS;
}

CUresult em_graphics_pointer(CUgraphicsResource resource, CUdeviceptr *address, size_t *size)
{
    struct em_graphics *g;
    char text[160];
    em_lock();
    CUresult r = em_graphics_get(resource, &g);
    if (!r && !g->mapped)
        r = em_mistake(G05, CUDA_ERROR_NOT_MAPPED, "%s is not mapped, so it has no pointer",
                       em_graphics_text(g, text, sizeof text));
    // "If resource is not a buffer then it cannot be accessed via a pointer and
    // CUDA_ERROR_NOT_MAPPED_AS_POINTER is returned."
    if (!r && g->shape.kind != EM_GRAPHICS_BUFFER)
        r = em_mistake(G04, CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                       "%s is an image; only buffers have a pointer",
                       em_graphics_text(g, text, sizeof text));
    // The driver lets either result be NULL (x_graphics mapped-ptr-nulls).
    if (!r && address)
        *address = g->allocation->base;
    if (!r && size)
        *size = g->shape.size_B;
    em_unlock();
    return r;
}
