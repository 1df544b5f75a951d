// SPDX-License-Identifier: MIT
// The manual's chapter "Graphics Interoperability": registration, and the state machine of mapping.
#include "graphics.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "graphics_resource.h"
#include "lock.h"
#include "quirk.h"
#include "stream.h"

static struct em_graphics *first_mapped; // all mapped resources
static uint64_t marks;
unsigned em_graphics_standing;

// ---- handles ----

CUresult em_graphics_get(CUgraphicsResource handle, struct em_graphics **out)
{
    // A binding that loses the out-parameter of registration shows up here.
    if (!handle)
        return em_mistake(G15, CUDA_ERROR_INVALID_HANDLE, "the CUgraphicsResource is NULL");
    return em_object_get(EM_GRAPHICS, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

const char *em_graphics_text(const struct em_graphics *g, char *out, size_t room)
{
    char object[64];
    if (g->ops->text)
        snprintf(out, room, "CUgraphicsResource #%u (%s of %s)", g->object.number, g->ops->text(g->owner, object, sizeof object), g->ops->api);
    else
        snprintf(out, room, "CUgraphicsResource #%u of %s", g->object.number, g->ops->api);
    return out;
}

void *em_graphics_owner(CUgraphicsResource resource, const struct em_graphics_ops *ops)
{
    struct em_graphics *g = (struct em_graphics *)em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resource);
    return g && g->ops == ops ? g->owner : NULL;
}

// ---- registration ----

CUresult em_graphics_check_flags(enum em_graphics_kind kind, unsigned flags)
{
    const unsigned image_flags = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
                                 CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
    if (kind == EM_GRAPHICS_IMAGE && (flags & ~image_flags))
        return em_mistake(G10, CUDA_ERROR_INVALID_VALUE, "flags %#x of an image have bits other than CU_GRAPHICS_REGISTER_FLAGS_*", flags);
    if (kind == EM_GRAPHICS_BUFFER && flags > CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD)
        return em_mistake(G10, CUDA_ERROR_INVALID_VALUE, "flags %#x of a buffer: NONE, READ_ONLY or WRITE_DISCARD", flags);
    return CUDA_SUCCESS;
}

static void link_mapped(struct em_graphics *g)
{
    g->previous_mapped = NULL;
    g->next_mapped = first_mapped;
    if (first_mapped)
        first_mapped->previous_mapped = g;
    first_mapped = g;
}

static void unlink_mapped(struct em_graphics *g)
{
    if (g->previous_mapped)
        g->previous_mapped->next_mapped = g->next_mapped;
    else
        first_mapped = g->next_mapped;
    if (g->next_mapped)
        g->next_mapped->previous_mapped = g->previous_mapped;
}

// Gives the bytes of a mapping back; once for each. Precondition: em_lock held.
static CUresult give_back(struct em_graphics *g, uint64_t sequence, unsigned flags, bool keep)
{
    if (g->released >= sequence)
        return CUDA_SUCCESS;
    g->released = sequence;
    keep = keep && !(flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY);
    return g->ops->release ? g->ops->release(g->owner, sequence, keep) : CUDA_SUCCESS;
}

static void free_graphics(struct em_graphics *g)
{
    em_graphics_memory_unref(g->memory);
    dm_free(g->layer);
    dm_free(g->array);
    dm_free(g);
}

static void graphics_finish(struct em_object *object)
{
    struct em_graphics *g = (struct em_graphics *)object;
    em_graphics_view_end(g);
    if (g->mapped) { // its context ends
        g->mapped = false;
        unlink_mapped(g);
        if (g->ops->unmapped)
            g->ops->unmapped(g->owner);
        give_back(g, g->sequence, g->flags, true);
    }
    if (g->shape.standing)
        __atomic_fetch_sub(&em_graphics_standing, 1, __ATOMIC_RELAXED);
    if (g->ops->close)
        g->ops->close(g->owner);
    free_graphics(g);
}

// Precondition: em_lock held.
static CUresult take(struct em_graphics *g, uint64_t sequence, uint64_t fence, unsigned flags)
{
    CUresult r = g->ops->acquire ? g->ops->acquire(g->owner, fence, flags) : CUDA_SUCCESS;
    g->acquired = sequence;
    if (!r && g->mapped && g->sequence == sequence)
        em_graphics_view_acquired(g);
    return r;
}

static void end_mapping(struct em_graphics *g)
{
    g->mapped = false;
    unlink_mapped(g);
    if (!em_quirk(GRAPHICS_LENIENT))
        em_graphics_view_end(g);
    if (g->ops->unmapped)
        g->ops->unmapped(g->owner);
}

// Precondition: em_lock held.
static CUresult begin_mapping(struct em_graphics *g)
{
    CUresult r = em_graphics_view_begin(g);
    if (r)
        return r;
    g->mapped = true;
    g->sequence++;
    g->flags = g->map_flags;
    link_mapped(g);
    g->fence = g->ops->mapped ? g->ops->mapped(g->owner) : 0;
    if (g->ops->held_back)
        return CUDA_SUCCESS;
    if ((r = take(g, g->sequence, g->fence, g->flags))) {
        end_mapping(g);
        g->released = g->sequence;
    }
    return r;
}

static CUresult plan_image(struct em_graphics *g)
{
    const struct em_graphics_shape *s = &g->shape;
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
    if (dm_layout_init(&g->layout, &d))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "an image of %ux%ux%u, %u layers and %u levels is none that CUDA has", s->width, s->height, s->depth,
                       s->layers, s->levels);
    g->array = dm_calloc((size_t)(s->layers ? s->layers : 1) * s->levels, sizeof *g->array);
    g->layer = s->layers ? dm_calloc(s->layers, sizeof *g->layer) : NULL;
    if (!g->array || (s->layers && !g->layer))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    return CUDA_SUCCESS;
}

// A resource that could not be registered does nothing to its owner when it ends.
static const struct em_graphics_ops failed = {.api = "no graphics API"};

CUresult em_graphics_register(const struct em_graphics_ops *ops, void *owner, const struct em_graphics_shape *shape, unsigned flags,
                              struct em_graphics_bytes *bytes, CUgraphicsResource *out)
{
    CUresult r = em_graphics_check_flags(shape->kind, flags);
    // Gathering is for two-dimensional images and cubes.
    if (!r && (flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER) && (shape->depth || (shape->layers && !shape->cube)))
        r = em_mistake(G10, CUDA_ERROR_INVALID_VALUE, "CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER of an image with %s",
                       shape->depth ? "slices" : "layers");
    if (r)
        return r;
    struct em_graphics *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    g->ops = ops;
    g->owner = owner;
    g->shape = *shape;
    g->register_flags = flags;
    g->map_flags = flags & (CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY | CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD);
    em_lock();
    if (shape->kind == EM_GRAPHICS_IMAGE && (r = plan_image(g)))
        goto fail;
    if ((r = em_graphics_memory_new(em_self.current->device, shape, shape->kind == EM_GRAPHICS_IMAGE ? g->layout.total_B : em_graphics_reach_B(shape),
                                    &g->memory)))
        goto fail;
    if ((r = em_object_start(&g->object, EM_GRAPHICS, em_self.current, graphics_finish)))
        goto fail;
    if (shape->standing && (r = begin_mapping(g))) {
        g->ops = &failed;
        g->shape.standing = false;
        em_object_retire(&g->object);
        em_unlock();
        return r;
    }
    if (shape->standing)
        __atomic_fetch_add(&em_graphics_standing, 1, __ATOMIC_RELAXED);
    if (bytes)
        *bytes = (struct em_graphics_bytes){.address = g->memory->address, .layout = shape->kind == EM_GRAPHICS_IMAGE ? &g->layout : NULL};
    *out = (CUgraphicsResource)(uintptr_t)g->object.handle;
    em_unlock();
    return CUDA_SUCCESS;
fail:
    free_graphics(g);
    em_unlock();
    return r;
}

CUresult em_graphics_unregister(CUgraphicsResource resource)
{
    struct em_graphics *g;
    char text[160];
    em_lock();
    CUresult r = em_graphics_get(resource, &g);
    if (!r && g->mapped && !g->shape.standing)
        r = em_mistake(G13, CUDA_ERROR_ALREADY_MAPPED, "%s is unregistered while it is mapped", em_graphics_text(g, text, sizeof text));
    const struct em_graphics_ops *ops = r ? NULL : g->ops;
    em_unlock();
    if (r || (ops->present && (r = ops->present())))
        return r;
    em_lock();
    if (!(r = em_graphics_get(resource, &g))) { // the lock was free in between
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
    CUresult r = em_graphics_get(resource, &g);
    // "If flags is not one of the above values then CUDA_ERROR_INVALID_VALUE is returned"; silicon looks at that first.
    if (!r && flags > CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)
        r = em_mistake(G08, CUDA_ERROR_INVALID_VALUE, "flags %#x are no CU_GRAPHICS_MAP_RESOURCE_FLAGS_* value", flags);
    // "If resource is presently mapped for access by CUDA then CUDA_ERROR_ALREADY_MAPPED is returned."
    if (!r && g->mapped && !g->shape.standing)
        r = em_mistake(G08, CUDA_ERROR_ALREADY_MAPPED, "flags of %s, which is mapped", em_graphics_text(g, text, sizeof text));
    if (!r)
        g->map_flags = flags;
    em_unlock();
    return r;
}

// ---- commands ----

struct graphics_command {
    struct em_command command;
    struct em_graphics *graphics; // a reference
    uint64_t sequence, fence;
    unsigned flags;
    struct em_graphics_window *window; // of an unmap: a reference, since work before it in the stream uses its addresses
};

static bool map_ready(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    struct em_graphics *g = c->graphics;
    return g->released + 1 >= c->sequence && (!g->ops->ready || g->ops->ready(g->owner, c->fence));
}

static CUresult map_run(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    em_lock();
    CUresult r = take(c->graphics, c->sequence, c->fence, c->flags);
    em_unlock();
    return r;
}

static CUresult unmap_run(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    em_lock();
    CUresult r = give_back(c->graphics, c->sequence, c->flags, true);
    em_unlock();
    return r;
}

static void map_finish(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    if (c->graphics->acquired < c->sequence) // the context has failed, and nothing runs any more
        c->graphics->acquired = c->sequence;
    em_object_unref(&c->graphics->object);
}

static void unmap_finish(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    give_back(c->graphics, c->sequence, c->flags, false); // where it did not run: graphics work that waits for it must go on
    em_graphics_window_unref(c->window);
    em_object_unref(&c->graphics->object);
}

static const struct em_command_ops map_ops = {.name = "graphics map", .ready = map_ready, .run = map_run, .finish = map_finish};
static const struct em_command_ops unmap_ops = {.name = "graphics unmap", .run = unmap_run, .finish = unmap_finish};

// ---- map ----

static CUresult already_mapped(const struct em_graphics *g)
{
    char text[160];
    return em_mistake(G01, CUDA_ERROR_ALREADY_MAPPED, "%s is mapped already", em_graphics_text(g, text, sizeof text));
}

static CUresult not_mapped(const struct em_graphics *g)
{
    char text[160];
    return em_mistake(G03, CUDA_ERROR_NOT_MAPPED, "%s is not mapped", em_graphics_text(g, text, sizeof text));
}

// "If resources includes any duplicate entries then CUDA_ERROR_INVALID_HANDLE is returned."
static CUresult duplicate(const struct em_graphics *g, unsigned i, CUresult driver_code)
{
    char text[160];
    return em_mistake(G02, em_quirk(GRAPHICS_DUPLICATES) ? driver_code : CUDA_ERROR_INVALID_HANDLE, "resources[%u] is %s once more", i,
                      em_graphics_text(g, text, sizeof text));
}

// Looks at the whole list before anything changes: every entry is a resource, none comes twice, all are mapped or none is. `first_duplicate` is where
// the list is wrong by a duplicate alone, else `count`. Precondition: em_lock held.
static CUresult look_at(unsigned count, const CUgraphicsResource *resources, bool want_mapped, unsigned *first_duplicate)
{
    struct em_graphics *g;
    char text[160];
    CUresult r = CUDA_SUCCESS;
    *first_duplicate = count;
    for (unsigned i = 0; i < count; i++) {
        if ((r = em_graphics_get(resources[i], &g)))
            return r;
        // Silicon: a resource is mapped and unmapped in the context that registered it (recorded: ctx/other-cuda-ctx).
        if (g->object.context != em_self.current)
            return em_fail(CUDA_ERROR_INVALID_HANDLE, "%s was registered in a context other than the current one",
                           em_graphics_text(g, text, sizeof text));
        if (g->shape.standing)
            return em_fail(CUDA_ERROR_UNKNOWN, "%s is not mapped: CUDA has it as long as it is registered", em_graphics_text(g, text, sizeof text));
    }
    marks++;
    for (unsigned i = 0; i < count; i++) {
        g = (struct em_graphics *)em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resources[i]);
        if (g->mapped != want_mapped) {
            *first_duplicate = count;
            return want_mapped ? not_mapped(g) : already_mapped(g);
        }
        if (g->mark == marks && *first_duplicate == count)
            *first_duplicate = i;
        g->mark = marks;
    }
    if (*first_duplicate < count) {
        em_graphics_get(resources[*first_duplicate], &g);
        r = duplicate(g, *first_duplicate, want_mapped ? CUDA_ERROR_NOT_MAPPED : CUDA_ERROR_ALREADY_MAPPED);
    }
    return r;
}

static struct em_graphics *at(const CUgraphicsResource *resources, unsigned i)
{
    return (struct em_graphics *)em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resources[i]);
}

// What the graphics side has done to an object that is about to be mapped. Precondition: em_lock held.
static CUresult check_health(struct em_graphics *g)
{
    char text[160];
    switch (g->ops->check ? g->ops->check(g->owner) : EM_GRAPHICS_FINE) {
    case EM_GRAPHICS_FINE:
        return CUDA_SUCCESS;
    case EM_GRAPHICS_RESIZED:
        if (g->shape.kind == EM_GRAPHICS_BUFFER)
            return em_mistake(G14, CUDA_SUCCESS, "%s has other bytes now than the %llu that were registered", em_graphics_text(g, text, sizeof text),
                              (unsigned long long)g->shape.size_B);
        return em_mistake(G14, CUDA_SUCCESS, "%s is another image now than the one of %ux%u that was registered",
                          em_graphics_text(g, text, sizeof text), g->shape.width, g->shape.height);
    case EM_GRAPHICS_DELETED: // silicon maps it all the same (x_graphics map-after-gldelete)
        return em_mistake(G13, CUDA_SUCCESS, "%s was deleted and is mapped", em_graphics_text(g, text, sizeof text));
    case EM_GRAPHICS_LOST:
        break;
    }
    return em_mistake(G13, CUDA_ERROR_UNKNOWN, "%s cannot be reached any more", em_graphics_text(g, text, sizeof text));
}

// Completes graphics work, or asks about the calling thread, once for each backend in the list. Precondition: em_lock NOT held.
static CUresult ask_backends(unsigned count, const CUgraphicsResource *resources, bool flush)
{
    const struct em_graphics_ops *done[8] = {NULL};
    for (unsigned i = 0, n = 0; i < count; i++) {
        em_lock();
        struct em_graphics *g = at(resources, i);
        const struct em_graphics_ops *ops = g ? g->ops : NULL;
        em_unlock();
        CUresult (*ask)(void) = !ops ? NULL : flush ? ops->flush : ops->present;
        bool before = !ask;
        for (unsigned j = 0; j < n; j++)
            before = before || done[j] == ops;
        if (before)
            continue;
        if (n < sizeof done / sizeof *done)
            done[n++] = ops;
        CUresult r = ask();
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

static CUresult submit(const struct em_command_ops *ops, struct em_stream *stream, struct em_graphics *g, struct em_graphics_window *window, int how)
{
    struct graphics_command c = {
        .command = {.ops = ops, .size_B = sizeof c}, .graphics = g, .sequence = g->sequence, .fence = g->fence, .flags = g->flags, .window = window};
    return em_submit(stream, &c.command, how);
}

// The stream of a mapping belongs to the resources' context (recorded: ctx/other-stream-ctx).
static CUresult get_stream(CUstream handle, struct em_stream **out)
{
    CUresult r = em_stream_get(handle, out);
    if (!r && (*out)->object.context != em_self.current) {
        em_stream_put(*out);
        r = em_fail(CUDA_ERROR_INVALID_HANDLE, "the stream belongs to a context other than the current one");
    }
    return r;
}

// "count must be greater than zero": silicon refuses 0 and NULL before it looks for a context.
static CUresult check_list(unsigned count, const CUgraphicsResource *resources)
{
    return !count || !resources ? em_fail(CUDA_ERROR_INVALID_VALUE, "a list of %u graphics resources", resources ? count : 0) : CUDA_SUCCESS;
}

CUresult em_graphics_map(unsigned count, const CUgraphicsResource *resources, CUstream handle)
{
    struct em_stream *stream;
    unsigned i, twice;
    CUresult r = check_list(count, resources);
    if (r)
        return r;
    em_lock();
    r = look_at(count, resources, false, &twice);
    for (i = 0; !r && i < count; i++)
        r = check_health(at(resources, i));
    em_unlock();
    if (r || (r = get_stream(handle, &stream)))
        return r;
    if ((r = ask_backends(count, resources, true)))
        goto put;
    em_lock();
    for (i = 0; i < count; i++) // an unmap in another thread has yet to give the object back
        for (struct em_graphics *g = at(resources, i); g && !g->ops->held_back && !g->mapped && g->released < g->sequence; g = at(resources, i))
            em_wait_progress();
    r = look_at(count, resources, false, &twice); // the lock was free in between
    for (i = 0; !r && i < count; i++)
        r = begin_mapping(at(resources, i));
    if (r) {
        while (i-- > 1) { // the last one has undone itself
            struct em_graphics *g = at(resources, i - 1);
            end_mapping(g);
            give_back(g, g->sequence, g->flags, false);
        }
        em_unlock();
        goto put;
    }
    em_unlock();
    for (i = 0; !r && i < count; i++) {
        em_lock();
        struct em_graphics *g = at(resources, i);
        bool wanted = g && g->ops->held_back && g->mapped;
        if (wanted)
            em_object_ref(&g->object);
        em_unlock();
        if (wanted)
            r = submit(&map_ops, stream, g, NULL, EM_SUBMIT_ASYNC);
    }
put:
    em_stream_put(stream);
    return r;
}

// ---- unmap ----

// Unmaps one resource of the list that another thread has not unmapped meanwhile. Precondition: em_lock NOT held.
static CUresult unmap_one(CUgraphicsResource resource, struct em_stream *stream)
{
    em_lock();
    struct em_graphics *g = (struct em_graphics *)em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)resource);
    if (!g || !g->mapped) {
        em_unlock();
        return CUDA_SUCCESS;
    }
    struct em_graphics_window *window = g->window;
    window->references++;
    em_object_ref(&g->object);
    int how = g->ops->held_back ? EM_SUBMIT_ASYNC : EM_SUBMIT_SYNC;
    end_mapping(g);
    em_unlock();
    return submit(&unmap_ops, stream, g, window, how);
}

CUresult em_graphics_unmap(unsigned count, const CUgraphicsResource *resources, CUstream handle)
{
    struct em_stream *stream;
    unsigned twice = count;
    CUresult r = check_list(count, resources);
    if (r)
        return r;
    em_lock();
    r = look_at(count, resources, true, &twice);
    em_unlock();
    // The driver finds a duplicate when it comes to it: what is before it in the list is unmapped (x_graphics unmap-duplicate).
    bool part = r && twice < count && em_quirk(GRAPHICS_DUPLICATES);
    CUresult result = r;
    // Silicon: a thread without the graphics context is told so, but the resource is unmapped (recorded: ctx/setflags-without-gl).
    if (!r && (result = ask_backends(count, resources, false)) && !em_quirk(GRAPHICS_UNMAP_THREAD))
        return result;
    if ((r && !part) || (r = get_stream(handle, &stream)))
        return r;
    for (unsigned i = 0; i < (part ? twice : count); i++) {
        r = unmap_one(resources[i], stream);
        result = result ? result : r;
    }
    em_stream_put(stream);
    return result;
}

// ---- standing resources ----

void em_graphics_settle_all(void)
{
    em_lock();
    for (struct em_graphics *g = first_mapped; g; g = g->next_mapped)
        if (g->shape.standing && g->acquired == g->sequence) {
            give_back(g, g->sequence, g->flags, true);
            g->sequence++;
            take(g, g->sequence, g->fence, g->flags);
        }
    em_unlock();
}

// ---- launches ----

void em_graphics_touch_all(struct em_context *context, bool write)
{
    for (struct em_graphics *g = first_mapped; g; g = g->next_mapped)
        if (g->object.context == context)
            em_graphics_touch(g, NULL, write);
}
