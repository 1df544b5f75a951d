// SPDX-License-Identifier: MIT
// Maps and unmaps lists of graphics resources: checks the list, and changes all of it or nothing.
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "graphics_order.h"
#include "lock.h"
#include "quirk.h"
#include "stream.h"

// ---- states ----

static CUresult already_mapped(const struct em_graphics *g)
{
    char text[160];
    return em_mistake(G01, CUDA_ERROR_ALREADY_MAPPED,
                      g->half_unmapped
                          ? "%s is half unmapped, because an earlier unmap failed at it"
                          : "%s is already mapped",
                      em_graphics_text(g, text, sizeof text));
}

static CUresult not_mapped(const struct em_graphics *g)
{
    char text[160];
    return em_mistake(G03, CUDA_ERROR_NOT_MAPPED, "%s is not mapped",
                      em_graphics_text(g, text, sizeof text));
}

// "If resources includes any duplicate entries then CUDA_ERROR_INVALID_HANDLE is returned."
static CUresult duplicate(const struct em_graphics *g, unsigned i, CUresult driver_code)
{
    char text[160];
    return em_mistake(G02, em_quirk(GRAPHICS_DUPLICATES) ? driver_code : CUDA_ERROR_INVALID_HANDLE,
                      "resources[%u] is a duplicate: %s is already in the list", i,
                      em_graphics_text(g, text, sizeof text));
}

// ---- lists ----

// The resources of a call, with a command for each. The program's own list is read only once,
// because another thread may write to it.
struct batch {
    unsigned count;
    struct em_graphics_command *commands;
    struct em_graphics_command few[4];
};

// Drops the references that no command has taken over. Precondition: em_lock held.
static void drop(struct batch *b)
{
    em_assert_locked();
    for (unsigned i = 0; i < b->count; i++)
        if (b->commands[i].graphics)
            em_object_unref(&b->commands[i].graphics->object);
    if (b->commands != b->few)
        dm_free(b->commands);
    b->count = 0;
    b->commands = b->few;
}

// The same, which needs the lock only if there are such references. Precondition: em_lock not held.
static void drop_rest(struct batch *b)
{
    em_assert_unlocked();
    bool rest = b->commands != b->few;
    for (unsigned i = 0; i < b->count; i++)
        rest = rest || b->commands[i].graphics;
    if (!rest)
        return;
    em_lock();
    drop(b);
    em_unlock();
}

static bool is_held_back(const struct batch *b)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->commands[i].graphics->ops->held_back)
            return true;
    return false;
}

// "count must be greater than zero": the driver refuses 0 and NULL before it looks for a context.
static CUresult check_count(unsigned count, const CUgraphicsResource *resources)
{
    return count && resources
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, resources ? "count is 0" : "resources is NULL");
}

// Finds a resource that can be mapped. Precondition: em_lock held.
static CUresult find_mappable(CUgraphicsResource resource, struct em_graphics **out)
{
    em_assert_locked();
    char text[160];
    CUresult r = em_graphics_get(resource, out);
    if (!r && (*out)->shape.persistent)
        r = em_fail(CUDA_ERROR_UNKNOWN, "%s cannot be mapped, because it is always mapped",
                    em_graphics_text(*out, text, sizeof text));
    return r;
}

CUresult em_graphics_check_list(unsigned count, const CUgraphicsResource *resources)
{
    struct em_graphics *g;
    CUresult r = check_count(count, resources);
    if (!r && count == 1 &&
        em_object_is_again(&em_self.last_graphics, (uint64_t)(uintptr_t)*resources))
        return CUDA_SUCCESS;
    em_lock();
    for (unsigned i = 0; i < count && !r; i++)
        r = find_mappable(resources[i], &g);
    em_unlock();
    return r;
}

// Finds the resources of a list and takes a reference to each. Precondition: em_lock held.
static CUresult collect(struct batch *b, unsigned count, const CUgraphicsResource *resources)
{
    em_assert_locked();
    b->count = 0;
    b->commands = b->few;
    CUresult r = check_count(count, resources);
    if (r)
        return r;
    if (count > sizeof b->few / sizeof *b->few)
        b->commands = dm_alloc((size_t)count * sizeof *b->commands);
    if (!b->commands) {
        b->commands = b->few;
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for a list of %u graphics resources", count);
    }
    for (unsigned i = 0; i < count; i++) {
        struct em_graphics *g;
        r = find_mappable(resources[i], &g);
        if (r) {
            drop(b);
            break;
        }
        em_object_ref(&g->object);
        em_object_note(&em_self.last_graphics, &g->object);
        b->commands[b->count++] = (struct em_graphics_command){.graphics = g};
    }
    return r;
}

// A resource is mapped and unmapped in streams of the context that registered it, whichever context
// is current (recorded: tests/silicon random_graphics, contexts).
static CUresult check_context(const struct batch *b, const struct em_stream *stream)
{
    for (unsigned i = 0; i < b->count; i++) {
        const struct em_graphics *g = b->commands[i].graphics;
        char text[160];
        if (g->object.context != stream->object.context)
            return em_fail(CUDA_ERROR_INVALID_HANDLE,
                           "%s was registered in a context other than the stream's",
                           em_graphics_text(g, text, sizeof text));
    }
    return CUDA_SUCCESS;
}

// Checks the mapped state of the whole list before any of it changes. Precondition: em_lock held.
static CUresult check_states(const struct batch *b, bool want_mapped)
{
    em_assert_locked();
    for (unsigned i = 0; i < b->count; i++) {
        struct em_graphics *g = b->commands[i].graphics;
        if (!em_object_peek(EM_GRAPHICS, g->object.handle)) // by another thread
            return em_fail(CUDA_ERROR_INVALID_HANDLE, "resources[%u] has been unregistered", i);
        if (g->mapped != want_mapped)
            return want_mapped ? not_mapped(g) : already_mapped(g);
    }
    return CUDA_SUCCESS;
}

// Collects the resources of a list and checks that they can be mapped (or unmapped) in the stream.
// The caller must drop the batch, also on failure.
static CUresult start(struct batch *b, unsigned count, const CUgraphicsResource *resources,
                      const struct em_stream *stream, bool want_mapped)
{
    em_lock();
    CUresult r = collect(b, count, resources);
    if (!r)
        r = check_context(b, stream);
    if (!r)
        r = check_states(b, want_mapped);
    em_unlock();
    return r;
}

// Rejects duplicates and half-unmapped entries. The driver performs this check last. `*first` is
// the index of the first such entry, or the list's length. Precondition: em_lock held.
static CUresult check_entries(const struct batch *b, CUresult driver_code, unsigned *first)
{
    em_assert_locked();
    static uint64_t marks;
    marks++;
    for (*first = 0; *first < b->count; ++*first) {
        struct em_graphics *g = b->commands[*first].graphics;
        if (g->mark == marks)
            return duplicate(g, *first, driver_code);
        if (g->half_unmapped)
            return already_mapped(g);
        g->mark = marks;
    }
    return CUDA_SUCCESS;
}

// Calls ops->flush or ops->present once for each backend in the list. Precondition: em_lock not
// held.
static CUresult call_backends(const struct batch *b, bool flush)
{
    em_assert_unlocked();
    const struct em_graphics_ops *done[8] = {NULL};
    for (unsigned i = 0, n = 0; i < b->count; i++) {
        const struct em_graphics_ops *ops = b->commands[i].graphics->ops;
        CUresult (*call)(void) = flush ? ops->flush : ops->present;
        bool before = !call;
        for (unsigned j = 0; j < n; j++)
            before = before || done[j] == ops;
        if (before)
            continue;
        if (n < sizeof done / sizeof *done)
            done[n++] = ops;
        CUresult r = call();
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

// ---- map ----

// Reports changes that graphics has made to an object since it was registered. Precondition:
// em_lock not held.
static CUresult check_status(struct em_graphics *g)
{
    em_assert_unlocked();
    char text[160];
    switch (g->ops->check ? g->ops->check(g->owner) : EM_GRAPHICS_OK) {
    case EM_GRAPHICS_OK:
        return CUDA_SUCCESS;
    case EM_GRAPHICS_RESIZED:
        if (g->shape.kind == EM_GRAPHICS_BUFFER)
            return em_mistake(
                G14, CUDA_SUCCESS, "%s no longer has the %llu bytes that it had at registration",
                em_graphics_text(g, text, sizeof text), (unsigned long long)g->shape.size_B);
        return em_mistake(G14, CUDA_SUCCESS,
                          "%s is no longer the image of %ux%u that was registered",
                          em_graphics_text(g, text, sizeof text), g->shape.width,
                          g->shape.height ? g->shape.height : 1);
    case EM_GRAPHICS_DELETED: // the driver maps it nevertheless (x_graphics map-after-gldelete)
        return em_mistake(G13, CUDA_SUCCESS, "%s is mapped after the program has deleted it",
                          em_graphics_text(g, text, sizeof text));
    case EM_GRAPHICS_LOST:
        break;
    }
    return em_mistake(G13, CUDA_ERROR_UNKNOWN, "%s is lost: its display is closed",
                      em_graphics_text(g, text, sizeof text));
}

// Waits until the last mapping of a resource has been released, by an unmap in another thread or
// after implicit acquisition. Returns false if it had been already. Precondition: em_lock held,
// which is released meanwhile.
static bool wait_for_release(struct em_graphics *g)
{
    em_assert_locked();
    if (g->ops->held_back || g->mapped || (g->released == g->sequence && !g->releasing))
        return false;
    if (g->implicit)
        em_graphics_write_back(g);
    else
        em_wait_progress();
    return true;
}

// Maps all resources of a list. If one fails, the others are not mapped either. Precondition:
// em_lock held.
static CUresult begin_all(struct batch *b)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    unsigned i;
    for (i = 0; !r && i < b->count; i++) {
        r = em_graphics_begin(b->commands[i].graphics);
        em_graphics_prepare(&b->commands[i], EM_GRAPHICS_MAP);
    }
    while (r && i-- > 1) { // the one that failed is unmapped already
        struct em_graphics *g = b->commands[i - 1].graphics;
        em_graphics_end(g);
        em_graphics_release(g, g->sequence, false);
    }
    return r;
}

CUresult em_graphics_map(unsigned count, const CUgraphicsResource *resources,
                         struct em_stream *stream)
{
    struct batch b;
    unsigned twice;
    CUresult r = start(&b, count, resources, stream, false);
    for (unsigned i = 0; !r && i < b.count; i++)
        r = check_status(b.commands[i].graphics);
    if (!r)
        r = call_backends(&b, true);
    em_lock();
    for (unsigned i = 0; !r && i < b.count;)
        i = wait_for_release(b.commands[i].graphics) ? 0 : i + 1;
    em_wait_over();
    if (!r) // em_lock was released
        r = check_states(&b, false);
    if (!r)
        r = check_entries(&b, CUDA_ERROR_ALREADY_MAPPED, &twice);
    if (!r)
        r = begin_all(&b);
    if (r || !is_held_back(&b))
        drop(&b);
    em_unlock();
    for (unsigned i = 0; !r && i < b.count; i++)
        if (b.commands[i].graphics->ops->held_back)
            r = em_graphics_submit(&b.commands[i], stream);
    drop_rest(&b);
    return r;
}

// ---- unmap ----

// Ends the mappings of a list. The driver leaves the entries from index `first_bad` on half
// unmapped. Precondition: em_lock held.
static void end_all(struct batch *b, unsigned first_bad)
{
    em_assert_locked();
    for (unsigned i = 0; i < b->count; i++) {
        struct em_graphics_command *c = &b->commands[i];
        if (!c->graphics->mapped) // a duplicate
            continue;
        em_graphics_prepare(c, EM_GRAPHICS_UNMAP);
        c->window = c->graphics->window;
        c->window->references++;
        c->graphics->half_unmapped = i >= first_bad;
        em_graphics_end(c->graphics);
    }
}

// Ends mappings without a command, if there is nothing to write back and nobody would notice the
// command in the stream. Returns whether all have ended. Precondition: em_lock held.
static bool release_clean(struct batch *b, const struct em_stream *stream)
{
    em_assert_locked();
    bool all = true;
    for (unsigned i = 0; i < b->count; i++) {
        struct em_graphics_command *c = &b->commands[i];
        struct em_graphics *g = c->graphics;
        const bool clean = c->window && g->released + 1 >= c->sequence && g->ops->is_clean &&
                           em_stream_runs_in_place(stream) && g->ops->is_clean(g->owner);
        all = all && (clean || !c->window);
        if (!clean)
            continue;
        em_graphics_release(g, c->sequence, true);
        em_graphics_window_unref(c->window);
        c->window = NULL;
    }
    return all;
}

CUresult em_graphics_unmap(unsigned count, const CUgraphicsResource *resources,
                           struct em_stream *stream)
{
    struct batch b;
    CUresult r = start(&b, count, resources, stream, true);
    CUresult backends = r ? CUDA_SUCCESS : call_backends(&b, false);
    unsigned first_bad = 0;
    em_lock();
    bool go_on = !r && !(r = check_states(&b, true)); // em_lock was released
    // In a thread without the graphics context the driver's call fails, but pointers and arrays end
    // nevertheless (recorded: ctx/setflags-without-gl).
    if (go_on && backends) {
        r = backends;
        go_on = em_quirk(GRAPHICS_UNMAP_THREAD);
    } else if (go_on) {
        // The driver finds a duplicate when it reaches it, after it has unmapped the entries before
        // (recorded: x_graphics unmap-duplicate).
        r = check_entries(&b, CUDA_ERROR_NOT_MAPPED, &first_bad);
        go_on = !r || em_quirk(GRAPHICS_DUPLICATES);
    }
    if (go_on)
        end_all(&b, first_bad);
    if (go_on && release_clean(&b, stream))
        drop(&b);
    em_unlock();
    for (unsigned i = 0; go_on && i < b.count; i++) {
        CUresult one =
            b.commands[i].window ? em_graphics_submit(&b.commands[i], stream) : CUDA_SUCCESS;
        r = r ? r : one;
    }
    drop_rest(&b);
    return r;
}
