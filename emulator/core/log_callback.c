// SPDX-License-Identifier: MIT
// The callbacks for messages of the log.
#include "log_callback.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "error.h"
#include "lock.h"
#include "log.h"
#include "object.h"
#include "thread_exit.h"

struct callback {
    struct em_object object; // type EM_LOG_CALLBACK, in no context
    CUlogsCallback function;
    void *data;
    // Guarded by callbacks.lock:
    unsigned running; // threads that are in it
    bool ended;       // unregistered, and so not in the list
    bool abandoned;   // the last thread that leaves it drops the list's reference
    struct callback *next;
};

// The callbacks in the order of their registration, and the threads that wait until one is idle.
static struct {
    struct dm_mutex lock;
    struct callback *first;
    pthread_cond_t idle;
} callbacks = {.lock = DM_MUTEX_INITIALIZER(LEAF), .idle = PTHREAD_COND_INITIALIZER};
static unsigned callback_count; // atomic

void em_log_due(CUlogIterator number)
{
    struct em_thread *self = em_thread();
    // Outside a call nothing would deliver it. The messages of a callback's own calls are not
    // passed to callbacks, because that might never end.
    if (__atomic_load_n(&callback_count, __ATOMIC_RELAXED) && self->entry &&
        !self->in_log_callback && self->log_due_count < EM_LOG_DUE_MOST)
        self->log_due[self->log_due_count++] = number;
}

// ---- registration ----

static void finish_callback(struct em_object *object)
{
    dm_free(object);
}

CUresult em_log_register(CUlogsCallback function, void *data, CUlogsCallbackHandle *out)
{
    em_assert_unlocked();
    struct callback *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a callback");
    c->function = function;
    c->data = data;
    em_lock();
    const CUresult r = em_object_start(&c->object, EM_LOG_CALLBACK, NULL, finish_callback);
    if (!r) {
        dm_mutex_lock(&callbacks.lock);
        struct callback **end = &callbacks.first;
        while (*end)
            end = &(*end)->next;
        *end = c;
        __atomic_add_fetch(&callback_count, 1, __ATOMIC_RELAXED);
        dm_mutex_unlock(&callbacks.lock);
    }
    if (!r && out)
        *out = (CUlogsCallbackHandle)(uintptr_t)c->object.handle;
    em_unlock();
    if (r)
        dm_free(c);
    return r;
}

static void drop(struct callback *c)
{
    em_lock();
    em_object_unref(&c->object);
    em_unlock();
}

// Takes a callback out of the list, and waits until no thread is in it. Returns false if it cannot
// wait, because this thread is in a callback itself.
static bool take_out(struct callback *c)
{
    dm_mutex_lock(&callbacks.lock);
    struct callback **at = &callbacks.first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    __atomic_sub_fetch(&callback_count, 1, __ATOMIC_RELAXED);
    c->ended = true;
    c->abandoned = c->running && em_self.in_log_callback;
    while (c->running && !c->abandoned)
        dm_mutex_wait(&callbacks.lock, &callbacks.idle);
    const bool idle = !c->abandoned;
    dm_mutex_unlock(&callbacks.lock);
    return idle;
}

CUresult em_log_unregister(CUlogsCallbackHandle handle)
{
    em_assert_unlocked();
    struct callback *c;
    em_lock();
    const CUresult r = em_object_get(EM_LOG_CALLBACK, handle, CUDA_ERROR_INVALID_VALUE, &c);
    if (!r) {
        em_object_ref(&c->object);
        em_object_retire(&c->object);
    }
    em_unlock();
    if (!r && take_out(c))
        drop(c);
    return r;
}

// ---- delivery ----

struct delivery {
    const struct callback *callback;
    struct em_log_message *message;
};

static void call_function(void *argument)
{
    const struct delivery *d = argument;
    d->callback->function(d->callback->data, d->message->level, d->message->text,
                          d->message->length);
}

// Enters the first callback that was registered after number `last`, or returns NULL.
static struct callback *enter_after(uint32_t last)
{
    dm_mutex_lock(&callbacks.lock);
    struct callback *c = callbacks.first;
    while (c && c->object.number <= last)
        c = c->next;
    if (c)
        c->running++;
    dm_mutex_unlock(&callbacks.lock);
    return c;
}

static void leave(struct callback *c)
{
    dm_mutex_lock(&callbacks.lock);
    c->running--;
    const bool last = c->ended && !c->running, dropped = last && c->abandoned;
    if (last)
        pthread_cond_broadcast(&callbacks.idle);
    dm_mutex_unlock(&callbacks.lock);
    if (dropped)
        drop(c);
}

static void deliver(struct em_thread *self, struct em_log_message *message)
{
    uint32_t last;
    for (struct callback *c = enter_after(0); c; c = enter_after(last)) {
        last = c->object.number;
        self->log_callback = c;
        const bool outer = em_program_begin();
        const bool ends = dm_call_ends_thread(call_function, &(struct delivery){c, message}, NULL);
        em_program_end(outer);
        if (ends)
            em_explain(CUDA_SUCCESS, "a callback for messages called pthread_exit, which would end "
                                     "the call that it belongs to; return from it instead");
        self->log_callback = NULL;
        leave(c);
    }
}

void em_log_deliver(struct em_thread *self)
{
    struct em_log_message message;
    const int saved = errno;
    self->in_log_callback = true;
    for (unsigned i = 0; i < self->log_due_count; i++)
        if (em_log_message(self->log_due[i], &message))
            deliver(self, &message);
    self->log_due_count = 0;
    self->in_log_callback = false;
    errno = saved;
}

// ---- forks ----

void em_log_lock(void)
{
    dm_mutex_lock(&callbacks.lock);
}

void em_log_unlock(void)
{
    dm_mutex_unlock(&callbacks.lock);
}

void em_log_in_child(void)
{
    dm_assert_locked(&callbacks.lock);
    for (struct callback *c = callbacks.first; c; c = c->next)
        c->running = c == em_thread()->log_callback;
    pthread_cond_init(&callbacks.idle, NULL);
}
