// SPDX-License-Identifier: MIT
// Mapping and unmapping lists of graphics resources: the checks, and the commands that keep
// graphics and CUDA work in order.
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "graphics_resource.h"
#include "lock.h"
#include "quirk.h"
#include "stream.h"

// ---- commands ----

struct graphics_command {
    struct em_command command;
    struct em_graphics *graphics; // a reference
    uint64_t sequence, fence;
    unsigned flags;
    struct em_graphics_window
        *window; // of an unmap: a reference, since work before it in the stream uses its addresses
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
    // Another thread's unmap, in another stream, may have been quicker.
    CUresult r = c->graphics->released < c->sequence
                     ? em_graphics_take(c->graphics, c->sequence, c->fence, c->flags)
                     : CUDA_SUCCESS;
    em_unlock();
    return r;
}

// Mappings are given back in their order, also where threads unmap in streams of their own.
static bool unmap_ready(struct em_command *command)
{
    const struct graphics_command *c = (const struct graphics_command *)command;
    return c->graphics->released + 1 >= c->sequence;
}

static CUresult unmap_run(struct em_command *command)
{
    struct graphics_command *c = (struct graphics_command *)command;
    em_lock();
    CUresult r = em_graphics_give_back(c->graphics, c->sequence, true);
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
    em_graphics_give_back(
        c->graphics, c->sequence,
        false); // where it did not run: graphics work that waits for it must go on
    em_graphics_window_unref(c->window);
    em_object_unref(&c->graphics->object);
}

static const struct em_command_ops map_ops = {
    .name = "graphics map", .ready = map_ready, .run = map_run, .finish = map_finish};
static const struct em_command_ops unmap_ops = {
    .name = "graphics unmap", .ready = unmap_ready, .run = unmap_run, .finish = unmap_finish};

// ---- map ----

static CUresult already_mapped(const struct em_graphics *g)
{
    char text[160];
    return em_mistake(G01, CUDA_ERROR_ALREADY_MAPPED,
                      g->stuck ? "%s was left half unmapped by an unmap that failed"
                               : "%s is mapped already",
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
                      "resources[%u] is %s once more", i, em_graphics_text(g, text, sizeof text));
}

// ---- lists ----

// The resources of a call, a command for each. The program's own list is read once: another thread
// may write to it.
struct batch {
    unsigned count;
    struct graphics_command *commands;
    struct graphics_command few[4];
};

// Precondition: em_lock held.
static void drop(struct batch *b)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->commands[i].graphics)
            em_object_unref(&b->commands[i].graphics->object);
    if (b->commands != b->few)
        dm_free(b->commands);
}

// "count must be greater than zero": the driver refuses 0 and NULL before it looks for a context.
static CUresult check_count(unsigned count, const CUgraphicsResource *resources)
{
    return count && resources ? CUDA_SUCCESS
                              : em_fail(CUDA_ERROR_INVALID_VALUE, "a list of %u graphics resources",
                                        resources ? count : 0);
}

// Finds a resource that can be mapped. Precondition: em_lock held.
static CUresult find_mappable(CUgraphicsResource resource, struct em_graphics **out)
{
    char text[160];
    CUresult r = em_graphics_get(resource, out);
    if (!r && (*out)->shape.standing)
        r = em_fail(CUDA_ERROR_UNKNOWN, "%s is not mapped: CUDA has it as long as it is registered",
                    em_graphics_text(*out, text, sizeof text));
    return r;
}

CUresult em_graphics_check_list(unsigned count, const CUgraphicsResource *resources)
{
    struct em_graphics *g;
    CUresult r = check_count(count, resources);
    em_lock();
    for (unsigned i = 0; i < count && !r; i++)
        r = find_mappable(resources[i], &g);
    em_unlock();
    return r;
}

// Finds the resources of a list and takes a reference to each. Precondition: em_lock held.
static CUresult collect(struct batch *b, unsigned count, const CUgraphicsResource *resources)
{
    b->count = 0;
    b->commands = b->few;
    CUresult r = check_count(count, resources);
    if (r)
        return r;
    if (count > sizeof b->few / sizeof *b->few &&
        !(b->commands = dm_alloc((size_t)count * sizeof *b->commands)))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for a list of %u graphics resources", count);
    for (unsigned i = 0; i < count; i++) {
        struct em_graphics *g;
        r = find_mappable(resources[i], &g);
        if (r) {
            drop(b);
            return r;
        }
        em_object_ref(&g->object);
        b->commands[b->count++] = (struct graphics_command){.graphics = g};
    }
    return CUDA_SUCCESS;
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

// Looks at the whole list before anything changes: all are mapped or none is. Precondition: em_lock
// held.
static CUresult look_at_states(const struct batch *b, bool want_mapped)
{
    for (unsigned i = 0; i < b->count; i++) {
        struct em_graphics *g = b->commands[i].graphics;
        if (!em_object_peek(EM_GRAPHICS, g->object.handle)) // another thread was quicker
            return em_fail(CUDA_ERROR_INVALID_HANDLE, "resources[%u] has been unregistered", i);
        if (g->mapped != want_mapped)
            return want_mapped ? not_mapped(g) : already_mapped(g);
    }
    return CUDA_SUCCESS;
}

// None comes twice, and none is stuck that is to be mapped. Silicon finds that out last. `*first`:
// where the first one is that does, else the list's length. Precondition: em_lock held.
static CUresult look_closer(const struct batch *b, CUresult driver_code, unsigned *first)
{
    static uint64_t marks;
    marks++;
    for (*first = 0; *first < b->count; ++*first) {
        struct em_graphics *g = b->commands[*first].graphics;
        if (g->mark == marks)
            return duplicate(g, *first, driver_code);
        if (g->stuck)
            return already_mapped(g);
        g->mark = marks;
    }
    return CUDA_SUCCESS;
}
// Completes graphics work, or asks about the calling thread, once for each backend in the list.
// Precondition: em_lock NOT held.
static CUresult ask_backends(const struct batch *b, bool flush)
{
    const struct em_graphics_ops *done[8] = {NULL};
    for (unsigned i = 0, n = 0; i < b->count; i++) {
        const struct em_graphics_ops *ops = b->commands[i].graphics->ops;
        CUresult (*ask)(void) = flush ? ops->flush : ops->present;
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

// Makes the command for what its resource is now. Precondition: em_lock held.
static void prepare(struct graphics_command *c, const struct em_command_ops *ops)
{
    struct em_graphics *g = c->graphics;
    c->command =
        (struct em_command){.ops = ops, .size_B = sizeof *c, .condition = &em_graphics_returned};
    c->sequence = g->sequence;
    c->fence = g->fence;
    c->flags = g->flags;
    c->window = NULL;
}

// The scheduler owns the command's references from then on. Precondition: em_lock not held.
static CUresult submit(struct graphics_command *c, struct em_stream *stream)
{
    struct graphics_command own = *c;
    int how = c->graphics->ops->held_back || c->command.ops == &map_ops ? EM_SUBMIT_ASYNC
                                                                        : EM_SUBMIT_SYNC;
    c->graphics = NULL;
    return em_submit(stream, &own.command, how);
}

// ---- map ----

// What the graphics side has done to an object that is about to be mapped. Precondition: em_lock
// NOT held.
static CUresult check_health(struct em_graphics *g)
{
    char text[160];
    switch (g->ops->check ? g->ops->check(g->owner) : EM_GRAPHICS_FINE) {
    case EM_GRAPHICS_FINE:
        return CUDA_SUCCESS;
    case EM_GRAPHICS_RESIZED:
        if (g->shape.kind == EM_GRAPHICS_BUFFER)
            return em_mistake(
                G14, CUDA_SUCCESS, "%s has other bytes now than the %llu that were registered",
                em_graphics_text(g, text, sizeof text), (unsigned long long)g->shape.size_B);
        return em_mistake(G14, CUDA_SUCCESS,
                          "%s is another image now than the one of %ux%u that was registered",
                          em_graphics_text(g, text, sizeof text), g->shape.width,
                          g->shape.height ? g->shape.height : 1);
    case EM_GRAPHICS_DELETED: // silicon maps it all the same (x_graphics map-after-gldelete)
        return em_mistake(G13, CUDA_SUCCESS, "%s was deleted and is mapped",
                          em_graphics_text(g, text, sizeof text));
    case EM_GRAPHICS_LOST:
        break;
    }
    return em_mistake(G13, CUDA_ERROR_UNKNOWN, "%s cannot be reached any more",
                      em_graphics_text(g, text, sizeof text));
}

// Whether an object had yet to be given back, by an unmap in another thread or where it was used
// without being mapped: by now it has been. Precondition: em_lock held, which is released
// meanwhile.
static bool wait_for(struct em_graphics *g)
{
    if (g->ops->held_back || g->mapped || (g->released == g->sequence && !g->releasing))
        return false;
    if (g->loose)
        em_graphics_settle_one(g);
    else
        em_wait_progress();
    return true;
}

// Maps all or none. Precondition: em_lock held.
static CUresult begin_all(struct batch *b)
{
    CUresult r = CUDA_SUCCESS;
    unsigned i;
    for (i = 0; !r && i < b->count; i++) {
        r = em_graphics_begin(b->commands[i].graphics);
        prepare(&b->commands[i], &map_ops);
    }
    while (r && i-- > 1) { // the last one has undone itself
        struct em_graphics *g = b->commands[i - 1].graphics;
        em_graphics_end(g);
        em_graphics_give_back(g, g->sequence, false);
    }
    return r;
}

CUresult em_graphics_map(unsigned count, const CUgraphicsResource *resources,
                         struct em_stream *stream)
{
    struct batch b;
    unsigned twice;
    em_lock();
    CUresult r = collect(&b, count, resources);
    em_unlock();
    if (r)
        return r;
    r = check_context(&b, stream);
    em_lock();
    if (!r)
        r = look_at_states(&b, false);
    em_unlock();
    for (unsigned i = 0; !r && i < b.count; i++)
        r = check_health(b.commands[i].graphics);
    if (!r)
        r = ask_backends(&b, true);
    em_lock();
    for (unsigned i = 0; !r && i < b.count;)
        i = wait_for(b.commands[i].graphics) ? 0 : i + 1;
    if (!r && !(r = look_at_states(&b, false)) && // the lock was free in between
        !(r = look_closer(&b, CUDA_ERROR_ALREADY_MAPPED, &twice)))
        r = begin_all(&b);
    em_unlock();
    for (unsigned i = 0; !r && i < b.count; i++)
        if (b.commands[i].graphics->ops->held_back)
            r = submit(&b.commands[i], stream);
    em_lock();
    drop(&b);
    em_unlock();
    return r;
}

// ---- unmap ----

// Ends the mappings of a list: from here on they are not mapped. Those from number `stuck_from` on
// silicon leaves between mapped and unmapped. Precondition: em_lock held.
static void end_all(struct batch *b, unsigned stuck_from)
{
    for (unsigned i = 0; i < b->count; i++) {
        struct graphics_command *c = &b->commands[i];
        if (!c->graphics->mapped) // the list has it twice
            continue;
        prepare(c, &unmap_ops);
        c->window = c->graphics->window;
        c->window->references++;
        c->graphics->stuck = i >= stuck_from;
        em_graphics_end(c->graphics);
    }
}

CUresult em_graphics_unmap(unsigned count, const CUgraphicsResource *resources,
                           struct em_stream *stream)
{
    struct batch b;
    em_lock();
    CUresult r = collect(&b, count, resources);
    em_unlock();
    if (r)
        return r;
    r = check_context(&b, stream);
    em_lock();
    if (!r)
        r = look_at_states(&b, true);
    em_unlock();
    CUresult backends = r ? CUDA_SUCCESS : ask_backends(&b, false);
    unsigned stuck_from = 0;
    em_lock();
    bool go_on = !r && !(r = look_at_states(&b, true)); // the lock was free in between
    // Silicon: a thread without the graphics context is told so, but pointers and arrays end
    // (recorded: ctx/setflags-without-gl).
    if (go_on && backends) {
        r = backends;
        go_on = em_quirk(GRAPHICS_UNMAP_THREAD);
    } else if (go_on) {
        // The driver finds a duplicate when it comes to it: what is before it in the list is
        // unmapped (x_graphics unmap-duplicate).
        r = look_closer(&b, CUDA_ERROR_NOT_MAPPED, &stuck_from);
        go_on = !r || em_quirk(GRAPHICS_DUPLICATES);
    }
    if (go_on)
        end_all(&b, stuck_from);
    em_unlock();
    for (unsigned i = 0; go_on && i < b.count; i++) {
        CUresult one = b.commands[i].window ? submit(&b.commands[i], stream) : CUDA_SUCCESS;
        r = r ? r : one;
    }
    em_lock();
    drop(&b);
    em_unlock();
    return r;
}
