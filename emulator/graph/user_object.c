// SPDX-License-Identifier: MIT
// The references of user objects, and the thread that calls their destructors.
#include "user_object.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

#include "alloc.h"
#include "call.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"
#include "own_thread.h"
#include "thread_exit.h"

struct user_object {
    struct em_object object; // type EM_USER_OBJECT, in no context
    uint64_t references;     // of the program and of graphs
    void *data;
    CUhostFn destroy;
    struct user_object *next_dead;
};

struct em_held_object {
    struct user_object *object;
    uint64_t count;
    struct em_held_object *next;
};

// ---- destructors ----

static struct {
    bool started;
    pthread_cond_t wake;
    uint64_t alive; // user objects whose destructor is still to come; the thread stays for them
    struct user_object *first, **last;
} dead = {.wake = PTHREAD_COND_INITIALIZER, .last = &dead.first};

static void call_destructor(void *argument)
{
    const struct user_object *o = argument;
    o->destroy(o->data);
}

// Waits for the next destructor. Returns false if the thread ends, because there was no user object
// for a while.
static bool wait_for_dead(void)
{
    em_assert_locked();
    while (!dead.first) {
        const struct timespec end = em_own_thread_idle_end();
        if (dead.alive)
            em_lock_wait(&dead.wake);
        else if (em_lock_wait_until(&dead.wake, &end) && !dead.alive && !dead.first)
            return false;
    }
    return true;
}

static void *destructor_main(void *unused)
{
    (void)unused;
    em_lock();
    while (wait_for_dead()) {
        struct user_object *o = dead.first;
        dead.first = o->next_dead;
        if (!dead.first)
            dead.last = &dead.first;
        em_unlock();
        // "The destructor … CUDA API calls … are not allowed".
        em_self.in_host_function = true;
        const bool outer = em_program_begin();
        if (dm_call_ends_thread(call_destructor, o, NULL))
            em_explain(CUDA_SUCCESS, "the destructor of a user object called pthread_exit, which "
                                     "would end a thread of the driver; return from it instead");
        em_program_end(outer);
        em_self.in_host_function = false;
        dm_free(o);
        em_lock();
    }
    dead.started = false;
    em_unlock();
    return NULL;
}

static void finish_object(struct em_object *object)
{
    struct user_object *o = (struct user_object *)object;
    em_assert_locked();
    dead.alive--;
    o->next_dead = NULL;
    *dead.last = o;
    dead.last = &o->next_dead;
    pthread_cond_signal(&dead.wake);
}

static void drop(struct user_object *o, uint64_t count)
{
    em_assert_locked();
    o->references -= count;
    if (!o->references)
        em_object_retire(&o->object);
}

// ---- references of the program ----

CUresult em_user_object_create(void *data, CUhostFn destroy, unsigned references, CUuserObject *out)
{
    em_assert_unlocked();
    struct user_object *o = dm_calloc(1, sizeof *o);
    if (!o)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a user object");
    o->references = references;
    o->data = data;
    o->destroy = destroy;
    em_lock();
    dead.started = dead.started || em_own_thread("cardless object", NULL, destructor_main, NULL);
    CUresult r = dead.started
                     ? em_object_start(&o->object, EM_USER_OBJECT, NULL, finish_object)
                     : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "cannot start the thread for destructors");
    if (!r) {
        dead.alive++;
        *out = (CUuserObject)(uintptr_t)o->object.handle;
    }
    em_unlock();
    if (r)
        dm_free(o);
    return r;
}

static CUresult find(CUuserObject handle, unsigned count, struct user_object **out)
{
    em_assert_locked();
    CUresult r = em_object_get(EM_USER_OBJECT, handle, CUDA_ERROR_INVALID_VALUE, out);
    // "count: … must be nonzero and not larger than INT_MAX".
    if (!r && (!count || count > INT_MAX))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "count (%u) must be 1 to INT_MAX", count);
    return r;
}

static CUresult check_enough(const struct user_object *o, uint64_t count)
{
    if (count > o->references)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "count (%llu) exceeds the references of CUuserObject #%u (%llu)",
                       (unsigned long long)count, o->object.number,
                       (unsigned long long)o->references);
    return CUDA_SUCCESS;
}

CUresult em_user_object_retain(CUuserObject handle, unsigned count)
{
    em_assert_unlocked();
    struct user_object *o;
    em_lock();
    CUresult r = find(handle, count, &o);
    if (!r)
        o->references += count;
    em_unlock();
    return r;
}

CUresult em_user_object_release(CUuserObject handle, unsigned count)
{
    em_assert_unlocked();
    struct user_object *o;
    em_lock();
    CUresult r = find(handle, count, &o);
    if (!r)
        r = check_enough(o, count);
    if (!r)
        drop(o, count);
    em_unlock();
    return r;
}

// ---- references of graphs ----

static struct em_held_object *held_by(const struct em_graph *g, const struct user_object *o)
{
    struct em_held_object *h = g->held;
    while (h && h->object != o)
        h = h->next;
    return h;
}

static CUresult hold(struct em_held_object **list, struct user_object *o, uint64_t count)
{
    struct em_held_object *h = dm_alloc(sizeof *h);
    if (!h)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a user object");
    *h = (struct em_held_object){o, count, *list};
    *list = h;
    return CUDA_SUCCESS;
}

CUresult em_graph_retain_object(CUgraph graph, CUuserObject handle, unsigned count, int move)
{
    em_assert_unlocked();
    struct user_object *o;
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_get(graph, &g);
    if (!r)
        r = find(handle, count, &o);
    if (!r && move)
        r = check_enough(o, count);
    if (!r) {
        struct em_held_object *h = held_by(g, o);
        if (h)
            h->count += count;
        else
            r = hold(&g->held, o, count);
    }
    if (!r && !move)
        o->references += count;
    em_unlock();
    return r;
}

CUresult em_graph_release_object(CUgraph graph, CUuserObject handle, unsigned count)
{
    em_assert_unlocked();
    struct user_object *o;
    struct em_graph *g;
    em_lock();
    CUresult r = em_graph_get(graph, &g);
    if (!r)
        r = find(handle, count, &o);
    if (!r) {
        struct em_held_object *h = held_by(g, o), **place = &g->held;
        if (!h || h->count < count)
            r = em_fail(CUDA_ERROR_INVALID_VALUE,
                        "count (%u) exceeds the references that the graph has (%llu)", count,
                        (unsigned long long)(h ? h->count : 0));
        if (!r)
            h->count -= count;
        if (!r && !h->count) {
            while (*place != h)
                place = &(*place)->next;
            *place = h->next;
            dm_free(h);
        }
        if (!r)
            drop(o, count);
    }
    em_unlock();
    return r;
}

CUresult em_user_objects_copy(const struct em_held_object *from, struct em_held_object **to)
{
    em_assert_locked();
    for (; from; from = from->next) {
        CUresult r = hold(to, from->object, 1);
        if (r)
            return r;
        from->object->references++;
    }
    return CUDA_SUCCESS;
}

CUresult em_user_objects_of_graph(struct em_graph *g, struct em_held_object **to)
{
    em_assert_locked();
    CUresult r = em_user_objects_copy(g->held, to);
    for (struct em_graph_node *n = g->first; n && !r; n = n->next) {
        struct em_graph *inner;
        for (unsigned i = 0; !r && (inner = em_node_graph(n, i)); i++)
            r = em_user_objects_of_graph(inner, to);
    }
    return r;
}

void em_user_objects_move(struct em_held_object **from, struct em_held_object **to)
{
    em_assert_locked();
    struct em_held_object **end = to;
    while (*end)
        end = &(*end)->next;
    *end = *from;
    *from = NULL;
}

void em_user_objects_release_all(struct em_held_object **list)
{
    em_assert_locked();
    for (struct em_held_object *h = *list, *next; h; h = next) {
        next = h->next;
        drop(h->object, h->count);
        dm_free(h);
    }
    *list = NULL;
}
