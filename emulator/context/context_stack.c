// SPDX-License-Identifier: MIT
// Keeps a stack of contexts for each thread, and frees it when the thread ends.
#include "context_stack.h"

#include <pthread.h>

#include "alloc.h"
#include "call.h"
#include "lock.h"
#include "startup.h"

struct em_context_stack {
    uint32_t count, capacity;
    struct em_context *items[];
};

static pthread_key_t key; // has a value in threads that have a stack
static bool have_key;

static void thread_ends(void *value)
{
    struct em_context_stack *stack = value;
    em_work_begin(&em_thread_end);
    em_lock();
    while (stack->count)
        em_object_unref(&stack->items[--stack->count]->base.object);
    em_unlock();
    em_self.stack = NULL;
    em_self.current = NULL;
    dm_free(stack);
    em_work_end(&em_thread_end);
}

DM_STARTUP CUresult em_context_threads_start(void)
{
    em_assert_unlocked();
    if (!have_key && pthread_key_create(&key, thread_ends))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of thread-specific keys: the process uses all of PTHREAD_KEYS_MAX");
    have_key = true;
    return CUDA_SUCCESS;
}

CUresult em_stack_push(struct em_context *context)
{
    em_assert_locked();
    struct em_context_stack *s = em_self.stack;
    if (!s || s->count == s->capacity) {
        uint32_t capacity = s ? s->capacity * 2 : 8;
        struct em_context_stack *more = dm_realloc(s, sizeof *s + capacity * sizeof s->items[0]);
        if (!more)
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                           "out of host memory for a stack of %u contexts", capacity);
        if (!s)
            more->count = 0;
        more->capacity = capacity;
        em_self.stack = s = more;
        // This can fail only the first time, if the host is out of memory. The stack then leaks
        // when the thread ends.
        pthread_setspecific(key, s);
    }
    em_object_ref(&context->base.object);
    s->items[s->count++] = em_self.current = context;
    return CUDA_SUCCESS;
}

void em_stack_pop(void)
{
    em_assert_locked();
    struct em_context_stack *s = em_self.stack;
    struct em_context *top = s->items[--s->count];
    em_self.current = s->count ? s->items[s->count - 1] : NULL;
    em_object_unref(&top->base.object);
}

// ---- shared calls: they return false if they have done nothing ----

static bool push_shared(struct em_context *context)
{
    struct em_thread *self = em_thread();
    struct em_context_stack *s = self->stack;
    if (!s || s->count == s->capacity)
        return false;
    em_object_ref_shared(&context->base.object);
    s->items[s->count++] = self->current = context;
    return true;
}

static bool pop_shared(void)
{
    struct em_thread *self = em_thread();
    struct em_context_stack *s = self->stack;
    if (!self->current || !em_object_unref_shared(&self->current->base.object))
        return false;
    s->count--;
    self->current = s->count ? s->items[s->count - 1] : NULL;
    return true;
}

static bool replace_shared(struct em_context *context)
{
    struct em_thread *self = em_thread();
    if (context == self->current)
        return true;
    if (!em_object_unref_shared(&self->current->base.object))
        return false;
    em_object_ref_shared(&context->base.object);
    self->stack->items[self->stack->count - 1] = self->current = context;
    return true;
}

static bool set_current_shared(CUcontext handle)
{
    struct em_object *o = em_object_peek(EM_CONTEXT, (uint64_t)(uintptr_t)handle);
    struct em_context *c = (struct em_context *)o;
    if (!handle)
        return !em_self.current || pop_shared();
    if (!c)
        return false;
    return em_self.current ? replace_shared(c) : push_shared(c);
}

// ---- calls ----

// Finds the context that a call wants to make current. The code of an invalid handle depends on
// whether the number was ever the handle of a context.
static CUresult get(CUcontext handle, struct em_context **out)
{
    CUresult code = em_handle_like(EM_CONTEXT, (uint64_t)(uintptr_t)handle)
                        ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                        : CUDA_ERROR_INVALID_CONTEXT;
    return em_object_get(EM_CONTEXT, handle, code, out);
}

CUresult em_context_push(CUcontext handle)
{
    em_assert_unlocked();
    struct em_context *c;
    struct em_share *share = em_share_or_lock();
    if (em_unlikely(share)) {
        c = (struct em_context *)em_object_peek(EM_CONTEXT, (uint64_t)(uintptr_t)handle);
        bool done = c && push_shared(c);
        em_share_leave(share);
        if (done)
            return CUDA_SUCCESS;
        em_lock();
    }
    CUresult r = get(handle, &c);
    if (!r)
        r = em_stack_push(c);
    em_unlock();
    return r;
}

CUresult em_context_pop(CUcontext *out)
{
    em_assert_unlocked();
    CUresult r = em_need_current();
    if (r)
        return r;
    CUcontext top = em_context_handle(em_self.current); // the stack has a reference to it
    struct em_share *share = em_share_or_lock();
    bool done = share && pop_shared();
    if (em_unlikely(share))
        em_share_leave(share);
    if (!done) {
        if (share)
            em_lock();
        em_stack_pop();
        em_unlock();
    }
    if (out)
        *out = top;
    return CUDA_SUCCESS;
}

CUresult em_context_set_current(CUcontext handle)
{
    em_assert_unlocked();
    struct em_context *c;
    CUresult r = CUDA_SUCCESS;
    struct em_share *share = em_share_or_lock();
    if (em_unlikely(share)) {
        bool done = set_current_shared(handle);
        em_share_leave(share);
        if (done)
            return CUDA_SUCCESS;
        em_lock();
    }
    // "If ctx is NULL, the top of the CPU thread's context stack is popped"
    if (!handle) {
        if (em_self.current)
            em_stack_pop();
        goto unlock;
    }
    r = get(handle, &c);
    if (r || c == em_self.current)
        goto unlock;
    if (!em_self.current) {
        r = em_stack_push(c);
        goto unlock;
    }
    // "If there exists a context current to the calling CPU thread, it is replaced"
    struct em_context *old = em_self.current;
    struct em_context_stack *s = em_self.stack;
    em_object_ref(&c->base.object);
    s->items[s->count - 1] = em_self.current = c;
    em_object_unref(&old->base.object);
unlock:
    em_unlock();
    return r;
}
