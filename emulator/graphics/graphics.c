// SPDX-License-Identifier: MIT
// The manual's chapter "Graphics Interoperability": registered resources, from registration to the
// end.
#include "graphics.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "condition.h"
#include "config.h"
#include "graphics_resource.h"
#include "journal.h"
#include "lock.h"
#include "quirk.h"
#include "record.h"
#include "stream.h"

// ---- handles ----

struct em_graphics_frame *em_graphics_frame(CUgraphicsResource resource)
{
    em_assert_locked();
    if (em_object_is_again(&em_self.last_graphics, (uint64_t)(uintptr_t)resource))
        return NULL;
    return (struct em_graphics_frame *)em_object_peek(EM_EGL_FRAME, (uint64_t)(uintptr_t)resource);
}

CUresult em_graphics_get(CUgraphicsResource handle, struct em_graphics **out)
{
    em_assert_locked();
    struct em_object *g = em_object_again(&em_self.last_graphics, (uint64_t)(uintptr_t)handle);
    if (!g)
        g = em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)handle);
    *out = (struct em_graphics *)g;
    if (g)
        return CUDA_SUCCESS;
    // NULL comes from bindings that lose the out-parameter of registration.
    if (!handle)
        return em_mistake(G15, CUDA_ERROR_INVALID_HANDLE, "the CUgraphicsResource is NULL");
    if (em_graphics_frame(handle))
        return em_fail(CUDA_ERROR_UNKNOWN, "the resource is a frame of an EGLStream; use "
                                           "cuGraphicsResourceGetMappedEglFrame");
    return em_object_get(EM_GRAPHICS, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

const char *em_graphics_text(const struct em_graphics *g, char *out, size_t size)
{
    char object[64];
    if (g->ops->text)
        snprintf(out, size, "CUgraphicsResource #%u (%s of %s)", g->object.number,
                 g->ops->text(g->owner, object, sizeof object), g->ops->api);
    else
        snprintf(out, size, "CUgraphicsResource #%u of %s", g->object.number, g->ops->api);
    return out;
}

void *em_graphics_owner(CUgraphicsResource resource, const struct em_graphics_ops *ops)
{
    em_assert_locked();
    struct em_graphics *g =
        (struct em_graphics *)em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resource);
    return g && g->ops == ops ? g->owner : NULL;
}

// ---- registration ----

CUresult em_graphics_check_flags(enum em_graphics_kind kind, unsigned flags)
{
    em_assert_unlocked();
    const unsigned image_flags =
        CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
        CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
    if (kind == EM_GRAPHICS_IMAGE && (flags & ~image_flags))
        return em_mistake(G10, CUDA_ERROR_INVALID_VALUE,
                          "flags (%#x) of an image contain a bit that is not a "
                          "CU_GRAPHICS_REGISTER_FLAGS_*",
                          flags);
    if (kind == EM_GRAPHICS_BUFFER && flags > CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD)
        return em_mistake(G10, CUDA_ERROR_INVALID_VALUE,
                          "flags (%#x) of a buffer must be NONE, READ_ONLY or WRITE_DISCARD",
                          flags);
    return CUDA_SUCCESS;
}

static void graphics_report_begin(struct em_graphics *g)
{
    const struct em_graphics_shape *s = &g->shape;
    char text[160];
    if (!em_config()->report)
        return;
    em_graphics_text(g, text, sizeof text);
    if (s->kind == EM_GRAPHICS_BUFFER)
        g->journal = em_journal_begin(EM_JOURNAL_GRAPHICS, "%s: %llu bytes, flags %#x", text,
                                      (unsigned long long)s->size_B, g->register_flags);
    else
        g->journal = em_journal_begin(
            EM_JOURNAL_GRAPHICS,
            "%s: %ux%ux%u, %u layers, %u levels, %u channels of format %#x, flags %#x", text,
            s->width, s->height, s->depth, s->layers, s->levels, s->channels, (unsigned)s->format,
            g->register_flags);
    em_journal_note(g->journal, "; never mapped");
}

static void graphics_report_use(const struct em_graphics *g)
{
    uint64_t to_cuda_B, to_graphics_B;
    if (!g->journal)
        return;
    if (!g->ops->copied) {
        em_journal_note(g->journal, "; mapped %llu times, nothing copied",
                        (unsigned long long)g->released);
        return;
    }
    g->ops->copied(g->owner, &to_cuda_B, &to_graphics_B);
    em_journal_note(g->journal, "; mapped %llu times, %llu bytes fetched, %llu given back",
                    (unsigned long long)g->released, (unsigned long long)to_cuda_B,
                    (unsigned long long)to_graphics_B);
}

struct em_condition em_graphics_returned;

CUresult em_graphics_release(struct em_graphics *g, uint64_t sequence, bool write_back)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    // Earlier mappings too: a context that failed has dropped their commands.
    while (g->released < sequence) {
        g->released++;
        g->releasing++;
        CUresult one =
            g->ops->release ? g->ops->release(g->owner, g->released, write_back) : CUDA_SUCCESS;
        g->releasing--;
        r = r ? r : one;
    }
    em_condition_notify(&em_graphics_returned);
    graphics_report_use(g);
    return r;
}

static void graphics_free(struct em_graphics *g)
{
    em_graphics_memory_unref(g->memory);
    dm_free(g->layer);
    dm_free(g->spare);
    dm_free(g->array);
    dm_free(g);
}

static void set_mapped(struct em_graphics *g, bool mapped)
{
    g->mapped = mapped;
    if (em_unlikely(em_recording))
        em_record_mapped(g->object.handle, mapped);
}

static void graphics_finish(struct em_object *object)
{
    struct em_graphics *g = (struct em_graphics *)object;
    if (g->implicit) { // the end of its context has written the bytes back
        em_graphics_end_implicit(g);
        em_graphics_release(g, g->sequence, false);
    }
    em_graphics_view_end(g);
    if (g->mapped) { // its context ends
        set_mapped(g, false);
        em_graphics_unlink(g);
        if (g->ops->unmapped)
            g->ops->unmapped(g->owner);
        em_graphics_release(g, g->sequence, g->ops->held_back);
    }
    em_journal_end(g->journal);
    if (g->ops->close)
        g->ops->close(g->owner);
    graphics_free(g);
}

// Precondition: em_lock held.
CUresult em_graphics_acquire(struct em_graphics *g, uint64_t sequence, uint64_t fence,
                             unsigned flags)
{
    em_assert_locked();
    CUresult r = g->ops->acquire ? g->ops->acquire(g->owner, fence, flags) : CUDA_SUCCESS;
    g->acquired = sequence;
    if (!r)
        em_graphics_view_acquired(g, sequence);
    return r;
}

void em_graphics_end(struct em_graphics *g)
{
    em_assert_locked();
    set_mapped(g, false);
    em_graphics_unlink(g);
    if (!em_quirk(GRAPHICS_LENIENT))
        em_graphics_view_end(g);
    if (g->ops->unmapped)
        g->ops->unmapped(g->owner);
}

// Precondition: em_lock held.
CUresult em_graphics_begin(struct em_graphics *g)
{
    em_assert_locked();
    CUresult r = em_graphics_view_begin(g);
    if (r)
        return r;
    set_mapped(g, true);
    g->sequence++;
    g->flags = g->map_flags;
    em_graphics_link(g);
    g->fence = g->ops->mapped ? g->ops->mapped(g->owner) : 0;
    if (g->ops->held_back)
        return CUDA_SUCCESS;
    r = em_graphics_acquire(g, g->sequence, g->fence, g->flags);
    if (r) {
        em_graphics_end(g);
        g->released = g->sequence;
        em_condition_notify(&em_graphics_returned);
    }
    return r;
}

CUresult em_graphics_layout(const struct em_graphics_shape *s, struct dm_layout *out)
{
    struct dm_layout_desc d = {
        .kind = s->layout,
        .element_B = s->element_B,
        .width_px = s->width,
        .height_px = s->height,
        .depth = s->depth,
        .layers = s->layers,
        .levels = s->levels,
        .cube = s->cube,
    };
    if (dm_layout_init(out, &d))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "CUDA does not support an image of %ux%ux%u with %u layers and %u levels",
                       s->width, s->height, s->depth, s->layers, s->levels);
    return CUDA_SUCCESS;
}

static CUresult graphics_plan_image(struct em_graphics *g)
{
    const struct em_graphics_shape *s = &g->shape;
    CUresult r = em_graphics_layout(s, &g->layout);
    if (r)
        return r;
    g->array = dm_calloc((size_t)(s->layers ? s->layers : 1) * s->levels, sizeof *g->array);
    g->layer = s->layers ? dm_calloc(s->layers, sizeof *g->layer) : NULL;
    if (!g->array || (s->layers && !g->layer))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while registering a graphics resource");
    return CUDA_SUCCESS;
}

// A resource that could not be registered does nothing to its owner when it ends.
static const struct em_graphics_ops failed = {.api = "no graphics API"};

CUresult em_graphics_register(const struct em_graphics_ops *ops, void *owner,
                              const struct em_graphics_shape *shape, unsigned flags,
                              CUgraphicsResource *out)
{
    em_assert_unlocked();
    CUresult r = em_graphics_check_flags(shape->kind, flags);
    // Gathering is for two-dimensional images and cubes.
    if (!r && (flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER) &&
        (shape->depth || (shape->layers && !shape->cube)))
        r = em_mistake(G10, CUDA_ERROR_INVALID_VALUE,
                       "flags contain CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER, which an image "
                       "with %s does not support",
                       shape->depth ? "slices" : "layers");
    if (r)
        return r;
    struct em_graphics *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while registering a graphics resource");
    g->ops = ops;
    g->owner = owner;
    g->shape = *shape;
    g->register_flags = flags;
    g->map_flags = flags & (CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY |
                            CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD);
    // For the driver both flags together mean no flag (recorded: tests/silicon random_graphics).
    if (g->map_flags & (g->map_flags - 1))
        g->map_flags = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE;
    em_lock();
    uint64_t size_B;
    if (shape->kind == EM_GRAPHICS_IMAGE) {
        r = graphics_plan_image(g);
        size_B = g->layout.total_B;
    } else {
        r = em_graphics_capacity(shape, &size_B);
    }
    if (!r)
        r = em_graphics_memory_new(em_self.current->device, shape, size_B, &g->memory);
    if (r)
        goto fail;
    r = em_object_start(&g->object, EM_GRAPHICS, em_self.current, graphics_finish);
    if (r)
        goto fail;
    if (shape->persistent)
        r = em_graphics_begin(g);
    if (r) {
        g->ops = &failed;
        g->shape.persistent = false;
        em_object_retire(&g->object);
        em_unlock();
        return r;
    }
    graphics_report_begin(g);
    *out = (CUgraphicsResource)(uintptr_t)g->object.handle;
    em_unlock();
    return CUDA_SUCCESS;
fail:
    graphics_free(g);
    em_unlock();
    return r;
}

// A resource that can be unregistered. Precondition: em_lock held.
static CUresult graphics_get_unmapped(CUgraphicsResource resource, struct em_graphics **out)
{
    em_assert_locked();
    char text[160];
    CUresult r = em_graphics_get(resource, out);
    const struct em_graphics *g = *out;
    if (!r && g->mapped && !g->shape.persistent)
        r = em_mistake(G13, CUDA_ERROR_ALREADY_MAPPED, "%s is unregistered while it is mapped",
                       em_graphics_text(g, text, sizeof text));
    if (!r && g->half_unmapped)
        r = em_mistake(G13, CUDA_ERROR_ALREADY_MAPPED,
                       "%s was left half unmapped by an unmap that failed",
                       em_graphics_text(g, text, sizeof text));
    return r;
}

CUresult em_graphics_unregister(CUgraphicsResource resource)
{
    struct em_graphics *g = NULL;
    em_lock();
    if (em_graphics_frame(resource)) {
        // The driver does nothing: the frame ends with the consumer's connection.
        em_unlock();
        return CUDA_SUCCESS;
    }
    CUresult r = graphics_get_unmapped(resource, &g);
    const struct em_graphics_ops *ops = r ? NULL : g->ops;
    em_unlock();
    if (!r && ops->present)
        r = ops->present();
    if (r)
        return r;
    em_lock();
    while (!(r = graphics_get_unmapped(resource, &g)) &&
           (g->implicit || g->shape.persistent)) { // em_lock was released
        bool persistent = g->shape.persistent;
        em_object_ref(&g->object);
        em_graphics_write_back(g);
        em_object_unref(&g->object);
        if (persistent)
            break;
    }
    if (!r)
        r = graphics_get_unmapped(resource, &g);
    if (!r) {
        em_graphics_view_end(g);
        em_object_retire(&g->object);
    }
    em_unlock();
    return r;
}

CUresult em_graphics_set_flags(CUgraphicsResource resource, unsigned flags)
{
    struct em_graphics *g;
    char text[160];
    em_lock();
    bool stream_frame = em_graphics_frame(resource);
    CUresult r = stream_frame ? CUDA_SUCCESS : em_graphics_get(resource, &g);
    // "If flags is not one of the above values then CUDA_ERROR_INVALID_VALUE is returned". The
    // driver looks at that first.
    if (!r && flags > CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)
        r = em_mistake(G08, CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) are not a CU_GRAPHICS_MAP_RESOURCE_FLAGS_* value", flags);
    // "If resource is presently mapped for access by CUDA then CUDA_ERROR_ALREADY_MAPPED is
    // returned."
    if (!r && !stream_frame && g->mapped && !g->shape.persistent)
        r = em_mistake(G08, CUDA_ERROR_ALREADY_MAPPED,
                       "flags of %s cannot change while it is mapped",
                       em_graphics_text(g, text, sizeof text));
    if (!r && !stream_frame)
        g->map_flags = flags;
    em_unlock();
    return r;
}
