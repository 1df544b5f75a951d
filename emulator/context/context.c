// SPDX-License-Identifier: MIT
// Creates, begins, ends and destroys contexts, and calls the observers at the end of each.
#include "context.h"

#include <assert.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context_peer.h"
#include "context_stack.h"
#include "device.h"
#include "inject.h"
#include "lock.h"
#include "primary.h"
#include "startup.h"

static struct em_context *alive; // guarded by em_lock
static uint64_t last_id;
// Signalled with em_lock held, after `ending` of a context has become false.
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static const struct em_context_observer *observers[EM_OBSERVER_COUNT]; // guarded by em_lock

DM_STARTUP void em_context_observe(enum em_context_observers who,
                                   const struct em_context_observer *observer)
{
    em_assert_unlocked();
    em_lock();
    observers[who] = observer;
    em_unlock();
}

static void context_finish(struct em_object *object)
{
    struct em_context *c = (struct em_context *)object;
    assert(!c->heaps);
    dm_free(c->default_stream);
    dm_free(c);
}

CUresult em_context_new(struct em_device *device, bool primary, struct em_context **out)
{
    em_assert_locked();
    struct em_context *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating a context");
    CUresult r = em_object_start(&c->base.object, EM_CONTEXT, NULL, context_finish);
    if (r) {
        dm_free(c);
        return r;
    }
    c->device = device;
    c->base.primary = primary;
    c->api_version = EM_CONTEXT_API_VERSION;
    c->base.error_state = EM_DESTROYED;
    *out = c;
    return CUDA_SUCCESS;
}

void em_context_begin(struct em_context *c, unsigned flags)
{
    em_assert_locked();
    c->flags = flags;
    c->id = ++last_id;
    c->cache_config = CU_FUNC_CACHE_PREFER_NONE;
    for (int i = 0; i < DM_LIMIT_COUNT; i++)
        c->limit[i] = c->device->profile.limit[i].initial;
    c->limits_fixed = 0;
    c->previous = NULL;
    c->next = alive;
    if (alive)
        alive->previous = c;
    alive = c;
    em_device_open_book(c->device);
    if (c->device->book)
        __atomic_fetch_add(&c->device->book->contexts, 1, __ATOMIC_RELAXED);
    em_context_base_begin(c);
    for (int i = 0; i < EM_OBSERVER_COUNT; i++) {
        if (observers[i] && observers[i]->begin)
            observers[i]->begin(c);
    }
}

// The three steps of an end, each in the order of enum em_context_observers.

static void finish_all(struct em_context *c)
{
    em_assert_unlocked();
    for (int i = 0; i < EM_OBSERVER_COUNT; i++) {
        if (observers[i] && observers[i]->finish)
            observers[i]->finish(c);
    }
}

static void stop_all(struct em_context *c)
{
    em_assert_locked();
    for (int i = 0; i < EM_OBSERVER_COUNT; i++) {
        if (observers[i] && observers[i]->stop)
            observers[i]->stop(c);
    }
}

static void release_all(struct em_context *c)
{
    em_assert_locked();
    for (int i = 0; i < EM_OBSERVER_COUNT; i++) {
        if (observers[i] && observers[i]->release)
            observers[i]->release(c);
    }
}

static bool keep_when_idle; // under em_lock

void em_contexts_keep(bool keep)
{
    em_assert_unlocked();
    em_lock();
    keep_when_idle = keep;
    em_unlock();
}

static void tell_idle(void)
{
    em_assert_locked();
    for (int i = 0; i < EM_OBSERVER_COUNT; i++) {
        if (observers[i] && observers[i]->idle)
            observers[i]->idle();
    }
}

void em_context_end(struct em_context *c)
{
    em_assert_locked();
    __atomic_store_n(&c->ending, true, __ATOMIC_RELEASE);
    em_context_base_end(c);
    // The work in its streams completes now, while the context is still usable. If another thread
    // tries to add work meanwhile, it fails because of `ending`.
    em_unlock();
    finish_all(c);
    em_lock();
    __atomic_store_n(&c->base.error_state, EM_DESTROYED, __ATOMIC_RELEASE);
    stop_all(c);
    if (c->previous)
        c->previous->next = c->next;
    else
        alive = c->next;
    if (c->next)
        c->next->previous = c->previous;
    c->previous = c->next = NULL;
    if (c->device->book)
        __atomic_fetch_sub(&c->device->book->contexts, 1, __ATOMIC_RELAXED);
    em_context_forget_peers(c);
    // End the newest object first, because it may have been created from an older one.
    while (c->base.objects)
        em_object_end(c->base.objects, EM_END_CONTEXT);
    release_all(c);
    if (!alive && !keep_when_idle)
        tell_idle();
    __atomic_store_n(&c->ending, false, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&ended);
}

void em_context_wait_end(const struct em_context *c)
{
    em_assert_locked();
    while (c->ending)
        em_lock_wait(&ended);
}

// ---- kernels that have failed ----

static int devices_error; // a CUresult; atomic

void em_devices_fail(CUresult error)
{
    int none = CUDA_SUCCESS;
    __atomic_compare_exchange_n(&devices_error, &none, (int)error, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

void em_devices_recover(void)
{
    __atomic_store_n(&devices_error, (int)CUDA_SUCCESS, __ATOMIC_RELAXED);
}

CUresult em_devices_failed(void)
{
    CUresult r = (CUresult)__atomic_load_n(&devices_error, __ATOMIC_RELAXED);
    return r ? em_fail(r, "an earlier kernel has failed, after which a process cannot use the "
                          "device any more; start it again")
             : CUDA_SUCCESS;
}

CUresult em_device_lost(void)
{
    return em_inject_failed(EM_INJECT_DEVICE) ? em_devices_failed() : CUDA_SUCCESS;
}

CUresult em_context_create(struct em_device *device, unsigned flags, CUcontext *out)
{
    em_assert_unlocked();
    struct em_context *c;
    em_lock();
    CUresult r = em_devices_failed();
    if (!r)
        r = em_context_new(device, false, &c);
    if (r)
        goto unlock;
    r = em_stack_push(c);
    if (r) {
        em_object_retire(&c->base.object);
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
    em_assert_locked();
    em_object_ref(&c->base.object);
    em_object_retire(&c->base.object); // no other thread can find it any more
    em_context_end(c);
    // "If ctx is current to the calling thread then ctx will also be popped from the current
    // thread's context stack. If ctx is current to other threads, then ctx will remain current to
    // those threads, and attempting to access ctx from those threads will result in the error
    // CUDA_ERROR_CONTEXT_IS_DESTROYED."
    if (em_self.current == c)
        em_stack_pop();
    em_object_unref(&c->base.object);
}

CUresult em_context_destroy(CUcontext handle)
{
    em_assert_unlocked();
    struct em_context *c;
    em_lock();
    CUresult r = em_object_get(EM_CONTEXT, handle, CUDA_ERROR_CONTEXT_IS_DESTROYED, &c);
    if (!r && c->base.primary)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "CUcontext #%u is the primary context of device %d; call "
                    "cuDevicePrimaryCtxRelease to end it",
                    c->base.object.number, c->device->ordinal);
    if (!r)
        destroy(c);
    em_unlock();
    return r;
}

CUresult em_context_attach(CUcontext *out)
{
    em_assert_unlocked();
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
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    em_lock();
    struct em_context *c = em_self.current;
    // "ctx must be a context handle that was passed back by cuCtxCreate() or cuCtxAttach(), and
    // must be current to the calling thread."
    if (!c || em_context_handle(c) != handle)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "ctx is not current in this thread; make it current with cuCtxSetCurrent");
    else if (c->base.primary && !c->attached)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "ctx is the primary context of device %d, and cuCtxAttach was not called on it",
                    c->device->ordinal);
    else if (c->base.error_state == EM_DESTROYED || c->ending)
        r = em_context_error(c);
    if (r)
        goto unlock;
    if (c->attached)
        c->attached--;
    // "Decrements the usage count of the context ctx, and destroys the context if the usage count
    // goes to 0."
    if (!--c->usage) {
        if (!c->base.primary)
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
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    em_lock();
    if (!handle) {
        *out = em_self.current;
        r = em_need_current();
    } else {
        r = em_object_get(EM_CONTEXT, handle, code, out);
    }
    if (!r)
        em_object_ref(&(*out)->base.object);
    em_unlock();
    return r;
}

void em_context_put(struct em_context *context)
{
    em_assert_unlocked();
    em_lock();
    em_object_unref(&context->base.object);
    em_unlock();
}

struct em_context *em_context_next(const struct em_context *context)
{
    em_assert_locked();
    return context ? context->next : alive;
}
