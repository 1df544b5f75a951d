// SPDX-License-Identifier: MIT
// A context's life: what begins with it and what ends with it.
#include "context.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context_stack.h"
#include "device.h"
#include "graphics.h"
#include "lock.h"
#include "memory.h"
#include "primary.h"
#include "stream.h"

static struct em_context *alive; // guarded by em_lock
static uint64_t last_id;
static pthread_cond_t ended =
    PTHREAD_COND_INITIALIZER; // with em_lock: a context's `ending` became false

CUresult em_context_error(struct em_context *context)
{
    char text[96], when[64];
    int trouble = __atomic_load_n(&context->error_state, __ATOMIC_ACQUIRE);
    if (trouble == EM_STICKY)
        return em_fail(context->sticky,
                       "an earlier asynchronous operation failed in CUcontext #%u; nothing works "
                       "in it until it is destroyed",
                       context->object.number);
    em_object_text(&context->object, text, sizeof text);
    em_call_text(context->died_call, when, sizeof when);
    return em_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "%s%s was destroyed by %s in %s",
                   context->primary ? "the primary context " : "", text, context->died_by, when);
}

void em_context_set_sticky(struct em_context *context, CUresult code)
{
    int fine = EM_FINE;
    // `sticky` is written first by whoever wins; a reader sees it because `trouble` is stored after
    // it.
    static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&writing);
    if (__atomic_load_n(&context->error_state, __ATOMIC_ACQUIRE) == EM_FINE) {
        context->sticky = code;
        __atomic_compare_exchange_n(&context->error_state, &fine, EM_STICKY, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&writing);
}

static void context_finish(struct em_object *object)
{
    struct em_context *c = (struct em_context *)object;
    dm_free(c->peers);
    dm_free(c);
}

CUresult em_context_new(struct em_device *device, bool primary, struct em_context **out)
{
    struct em_context *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a context");
    CUresult r = em_object_start(&c->object, EM_CONTEXT, NULL, context_finish);
    if (r) {
        dm_free(c);
        return r;
    }
    c->device = device;
    c->primary = primary;
    c->api_version = EM_CONTEXT_API_VERSION;
    c->error_state = EM_DESTROYED;
    *out = c;
    return CUDA_SUCCESS;
}

void em_context_begin(struct em_context *c, unsigned flags)
{
    c->flags = flags;
    c->id = ++last_id;
    c->sticky = CUDA_SUCCESS;
    c->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    for (int i = 0; i < DM_LIMIT_COUNT; i++)
        c->limit[i] = c->device->profile.limit[i].initial;
    c->previous = NULL;
    c->next = alive;
    if (alive)
        alive->previous = c;
    alive = c;
    __atomic_store_n(&c->error_state, EM_FINE, __ATOMIC_RELEASE);
}

static void forget_peer(struct em_context *c, const struct em_context *peer)
{
    for (uint32_t i = 0; i < c->peer_count; i++)
        if (c->peers[i] == peer)
            c->peers[i--] = c->peers[--c->peer_count];
}

void em_context_end(struct em_context *c)
{
    c->ending = true;
    c->died_call = em_call_now();
    c->died_by = em_entry_name();
    // What is in its streams runs to the end while the context is still good; what a careless
    // thread would add meanwhile is refused (`ending`).
    em_unlock();
    em_streams_finish(c);
    em_graphics_leave(c);
    em_lock();
    __atomic_store_n(&c->error_state, EM_DESTROYED, __ATOMIC_RELEASE);
    while (c->streams || c->default_stream) {
        em_unlock();
        em_streams_finish(c);
        em_lock();
    }
    if (c->previous)
        c->previous->next = c->next;
    else
        alive = c->next;
    if (c->next)
        c->next->previous = c->previous;
    c->previous = c->next = NULL;
    for (struct em_context *other = alive; other; other = other->next)
        forget_peer(other, c);
    dm_free(c->peers);
    c->peers = NULL;
    c->peer_count = 0;
    // The newest first: what was made from something else goes before it.
    while (c->objects)
        em_object_retire(c->objects);
    while (c->allocations)
        em_memory_leave(c->allocations);
    c->ending = false;
    pthread_cond_broadcast(&ended);
}

void em_context_wait_end(const struct em_context *c)
{
    while (c->ending)
        em_lock_wait(&ended);
}

CUresult em_context_create(struct em_device *device, unsigned flags, CUcontext *out)
{
    struct em_context *c;
    em_lock();
    CUresult r = em_context_new(device, false, &c);
    if (r)
        goto unlock;
    r = em_stack_push(c);
    if (r) {
        em_object_retire(&c->object);
        goto unlock;
    }
    c->usage = 1;
    em_context_begin(c, flags);
    *out = em_context_handle(c);
unlock:
    em_unlock();
    return r;
}

// Ends a created context and its handle. Precondition: em_lock held, which is released meanwhile.
static void destroy(struct em_context *c)
{
    em_object_ref(&c->object);
    em_object_retire(&c->object); // from here on no other thread finds it
    em_context_end(c);
    // "If ctx is current to the calling thread then ctx will also be popped from the current
    // thread's context stack. If ctx is current to other threads, then ctx will remain current to
    // those threads, and attempting to access ctx from those threads will result in the error
    // CUDA_ERROR_CONTEXT_IS_DESTROYED."
    if (em_self.current == c)
        em_stack_pop();
    em_object_unref(&c->object);
}

CUresult em_context_destroy(CUcontext handle)
{
    struct em_context *c;
    em_lock();
    CUresult r = em_object_get(EM_CONTEXT, handle, CUDA_ERROR_CONTEXT_IS_DESTROYED, &c);
    if (!r && c->primary)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "CUcontext #%u is the primary context of device %d, which "
                    "cuDevicePrimaryCtxRelease ends",
                    c->object.number, c->device->ordinal);
    if (!r)
        destroy(c);
    em_unlock();
    return r;
}

CUresult em_context_attach(CUcontext *out)
{
    em_lock();
    struct em_context *c = em_self.current;
    c->usage++;
    c->attached++;
    em_unlock();
    *out = em_context_handle(c);
    return CUDA_SUCCESS;
}

CUresult em_context_detach(CUcontext handle)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    struct em_context *c = em_self.current;
    // "ctx must be a context handle that was passed back by cuCtxCreate() or cuCtxAttach(), and
    // must be current to the calling thread."
    if (!c || em_context_handle(c) != handle)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not current in this thread");
    else if (c->primary && !c->attached)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "nothing is attached to the primary context of device %d", c->device->ordinal);
    else if (c->error_state == EM_DESTROYED || c->ending)
        r = em_context_error(c);
    if (r)
        goto unlock;
    if (c->attached)
        c->attached--;
    // "Decrements the usage count of the context ctx, and destroys the context if the usage count
    // goes to 0."
    if (!--c->usage) {
        if (!c->primary)
            destroy(c);
        else
            em_primary_end(c);
    }
unlock:
    em_unlock();
    return r;
}

CUresult em_context_get(CUcontext handle, CUresult code, struct em_context **out)
{
    CUresult r = CUDA_SUCCESS;
    em_lock();
    if (!handle) {
        *out = em_self.current;
        r = em_need_current();
    } else {
        r = em_object_get(EM_CONTEXT, handle, code, out);
    }
    if (!r)
        em_object_ref(&(*out)->object);
    em_unlock();
    return r;
}

void em_context_put(struct em_context *context)
{
    em_lock();
    em_object_unref(&context->object);
    em_unlock();
}

bool em_context_has_peer(const struct em_context *c, const struct em_context *peer)
{
    for (uint32_t i = 0; i < c->peer_count; i++)
        if (c->peers[i] == peer)
            return true;
    return c == peer || c->device == peer->device;
}

// Finds the peer of a call on the current context. Precondition: em_lock held.
static CUresult get_peer(CUcontext handle, struct em_context **out)
{
    CUresult r = em_object_get(EM_CONTEXT, handle, CUDA_ERROR_INVALID_CONTEXT, out);
    return r || !(*out)->error_state ? r : em_context_error(*out);
}

CUresult em_context_enable_peer(CUcontext handle)
{
    struct em_context *c = em_self.current, *peer, **more;
    em_lock();
    CUresult r = get_peer(handle, &peer);
    if (r)
        goto unlock;
    // "Returns CUDA_ERROR_PEER_ACCESS_UNSUPPORTED if there is no direct peer access possible
    // between the current context's device and the peer's"
    if (peer->device == c->device)
        r = em_fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                    "both contexts are of device %d, a device is not its own peer",
                    c->device->ordinal);
    else if (em_context_has_peer(c, peer))
        r = em_fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                    "CUcontext #%u may already use memory of CUcontext #%u", c->object.number,
                    peer->object.number);
    else if (!(more = dm_realloc(c->peers, (c->peer_count + 1) * sizeof(struct em_context *))))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a peer");
    else
        (c->peers = more)[c->peer_count++] = peer;
unlock:
    em_unlock();
    return r;
}

CUresult em_context_disable_peer(CUcontext handle)
{
    struct em_context *c = em_self.current, *peer;
    em_lock();
    CUresult r = get_peer(handle, &peer);
    if (!r && (peer->device == c->device || !em_context_has_peer(c, peer)))
        r = em_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                    "CUcontext #%u was not given access to memory of CUcontext #%u",
                    c->object.number, peer->object.number);
    if (!r)
        forget_peer(c, peer);
    em_unlock();
    return r;
}

struct em_context *em_context_with_work(uint64_t up_to)
{
    struct em_context *c = alive;
    while (c && !em_context_is_pending(c, up_to))
        c = c->next;
    return c;
}
