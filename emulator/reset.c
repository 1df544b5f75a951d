// SPDX-License-Identifier: MIT
// Counts and ends everything that a program has left.
#include "reset.h"

#include <stdio.h>

#include "call.h"
#include "context.h"
#include "context_stack.h"
#include "device.h"
#include "exec.h"
#include "external_memory.h"
#include "external_semaphore.h"
#include "graph_node.h"
#include "inject.h"
#include "library.h"
#include "lock.h"
#include "log.h"
#include "memory.h"
#include "memory_device.h"
#include "notification.h"
#include "object.h"
#include "physical_object.h"
#include "pool.h"
#include "primary.h"
#include "user_object.h"
#include "virtual_graphics.h"
#include "virtual_memory.h"
#include "virtual_semaphore.h"

// ---- counts of the rest ----

// The types of objects that a program ends itself, those that own others before these.
static const enum em_type ended_by_program[] = {
    EM_EXTERNAL_MEMORY,
    EM_EXTERNAL_SEMAPHORE,
    EM_MIPMAP,
    EM_ARRAY,
    EM_GRAPHICS,
    EM_PHYSICAL,
    EM_STREAM,
    EM_EVENT,
    EM_TEXTURE,
    EM_SURFACE,
    EM_GRAPH_EXEC,
    EM_GRAPH,
    EM_USER_OBJECT,
    EM_LOG_CALLBACK,
    EM_ASYNC_CALLBACK,
    EM_MODULE,
    EM_LIBRARY,
    EM_LINK,
    EM_VIRTUAL_BUFFER,
    EM_VIRTUAL_TEXTURE,
    EM_VIRTUAL_SEMAPHORE,
};

// A place for one sentence. The first one counts.
struct sentence {
    char *text;
    size_t capacity;
    unsigned count;
};

static bool is_first(struct sentence *s, unsigned count)
{
    bool first = !s->count && s->capacity;
    s->count += count;
    return first;
}

static void count_objects(struct sentence *s, enum em_type type)
{
    char about[160];
    uint32_t position = 0;
    unsigned count = (unsigned)em_object_count(type);
    if (count && is_first(s, count))
        snprintf(s->text, s->capacity, "%s is still alive",
                 em_object_text(em_object_next(type, &position), about, sizeof about));
}

CUresult em_left(unsigned *count, char *text, size_t capacity)
{
    em_assert_unlocked();
    char about[160];
    uint64_t base = 0, size;
    struct sentence s = {text, capacity, 0};
    if (capacity)
        *text = 0;
    em_lock();
    for (size_t i = 0; i < sizeof ended_by_program / sizeof *ended_by_program; i++)
        count_objects(&s, ended_by_program[i]);
    struct em_allocation *a = em_memory_overlapping(0, UINT64_MAX);
    if (a && is_first(&s, 1))
        snprintf(text, capacity, "%s is not freed", em_memory_text(a->base, about, sizeof about));
    if (em_reservation_next(&em_space, &base, &size) && is_first(&s, 1))
        snprintf(text, capacity, "the reservation of %llu bytes at %#llx is not freed",
                 (unsigned long long)size, (unsigned long long)base);
    em_unlock();
    *count = s.count;
    return CUDA_SUCCESS;
}

// ---- the end ----

static void end_contexts(void)
{
    for (;;) {
        em_lock();
        struct em_context *c = em_context_next(NULL);
        struct em_device *device = c ? c->device : NULL;
        bool primary = c && c->base.primary;
        CUcontext handle = em_context_handle(c);
        em_unlock();
        if (!c || (primary ? em_primary_reset(device) : em_context_destroy(handle)))
            break;
    }
    em_lock();
    for (int i = 0; i < em_device_count; i++) {
        struct em_context *c = em_devices[i].primary;
        em_devices[i].primary_flags = 0;
        if (c)
            c->usage = 0;
    }
    while (em_self.current)
        em_stack_pop();
    em_unlock();
}

// Mappings and memory of pools belong to no context, but freeing them takes one. Returns whether
// there were any.
static bool end_memory(void)
{
    CUcontext context;
    em_lock();
    bool any = em_memory_overlapping(0, UINT64_MAX);
    em_unlock();
    if (!any || em_primary_retain(&em_devices[0], &context) || em_context_set_current(context))
        return false;
    for (;;) {
        em_lock();
        struct em_allocation *a = em_memory_overlapping(0, UINT64_MAX);
        bool mapped = a && a->kind == EM_MEMORY_VIRTUAL;
        uint64_t base = a ? a->base : 0, size = a ? a->size : 0;
        em_unlock();
        if (!a || (mapped ? em_virtual_unmap(base, size) : em_memory_free(base)))
            break;
    }
    end_contexts();
    return true;
}

static void end_reservations(void)
{
    for (;;) {
        uint64_t base = 0, size;
        em_lock();
        bool any = em_reservation_next(&em_space, &base, &size);
        em_unlock();
        if (!any || em_virtual_free(base, size))
            return;
    }
}

static void *pointer(uint64_t handle)
{
    return (void *)(uintptr_t)handle;
}

static CUresult end_exec(uint64_t handle)
{
    return em_graph_exec_destroy(pointer(handle));
}

static CUresult end_graph(uint64_t handle)
{
    struct em_graph *graph;
    em_lock();
    bool embedded = !em_graph_get(pointer(handle), &graph) && graph->parent;
    em_unlock();
    return embedded ? CUDA_ERROR_NOT_SUPPORTED // it ends with the graph that it is in
                    : em_graph_destroy(pointer(handle));
}

static CUresult end_user_object(uint64_t handle)
{
    return em_user_object_release(pointer(handle), 1); // called again while it is alive
}

static CUresult end_library(uint64_t handle)
{
    return em_library_unload(pointer(handle));
}

static CUresult end_pool(uint64_t handle)
{
    // A default pool cannot be destroyed; it only gives its memory back.
    struct em_pool *pool;
    em_lock();
    bool standard = !em_pool_get(pointer(handle), &pool) && pool->standard;
    bool empty = standard && !pool->reserved_B;
    em_unlock();
    if (!standard)
        return em_pool_destroy(pointer(handle));
    if (!empty)
        em_pool_trim_to(pointer(handle), 0);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult end_physical(uint64_t handle)
{
    struct em_physical_object *object;
    em_lock();
    CUresult r = em_object_get(EM_PHYSICAL, handle, CUDA_ERROR_INVALID_VALUE, &object);
    bool released = !r && !object->handles;
    em_unlock();
    return released ? CUDA_ERROR_NOT_SUPPORTED     // it ends with its last mapping
                    : em_physical_release(handle); // called again while it is alive
}

static CUresult end_log_callback(uint64_t handle)
{
    return em_log_unregister(pointer(handle));
}

static CUresult end_async_callback(uint64_t handle)
{
    return em_notification_end(pointer(handle));
}

static CUresult end_buffer(uint64_t handle)
{
    return em_virtual_destroy(EM_VIRTUAL_BUFFER_OBJECT, handle);
}

static CUresult end_texture(uint64_t handle)
{
    return em_virtual_destroy(EM_VIRTUAL_TEXTURE_OBJECT, handle);
}

static CUresult end_semaphore(uint64_t handle)
{
    return em_virtual_semaphore_destroy(pointer(handle));
}

static CUresult (*const ends[EM_TYPE_COUNT])(uint64_t handle) = {
    [EM_LIBRARY] = end_library,
    [EM_GRAPH_EXEC] = end_exec,
    [EM_GRAPH] = end_graph,
    [EM_USER_OBJECT] = end_user_object,
    [EM_LOG_CALLBACK] = end_log_callback,
    [EM_ASYNC_CALLBACK] = end_async_callback,
    [EM_POOL] = end_pool,
    [EM_PHYSICAL] = end_physical,
    [EM_VIRTUAL_SEMAPHORE] = end_semaphore,
    [EM_VIRTUAL_BUFFER] = end_buffer,
    [EM_VIRTUAL_TEXTURE] = end_texture,
};

// Goes once through the objects that belong to no context, the newest first, because it may have
// been created from an older one. Returns whether it has ended any.
static bool end_each_object(void)
{
    bool any = false;
    for (uint32_t passed = 0;;) {
        em_lock();
        struct em_object *object = em_object_without_context(passed);
        uint64_t handle = object ? object->handle : 0;
        enum em_type type = object ? object->type : EM_NO_TYPE;
        em_unlock();
        if (!object)
            return any;
        if (ends[type] && !ends[type](handle))
            any = true;
        else
            passed++;
    }
}

CUresult em_reset(void)
{
    em_assert_unlocked();
    char text[256] = "";
    unsigned count = 0;
    // Nothing can be ended on a device that is lost.
    if (__atomic_load_n(&em_aborts, __ATOMIC_RELAXED) & EM_ABORT_LEAKS &&
        !em_inject_failed(EM_INJECT_DEVICE))
        em_left(&count, text, sizeof text);
    if (count)
        em_abort_now("%u left: %s", count, text);
    em_inject_reset();
    em_contexts_keep(true); // kept memory and files are for the next input
    unsigned aborts = __atomic_exchange_n(&em_aborts, 0, __ATOMIC_RELAXED); // not for calls below
    end_contexts();
    em_devices_recover();
    while (end_each_object()) // one that belongs to another ends with that
        ;
    if (end_memory()) // which pools can give back now
        end_each_object();
    end_reservations();
    em_contexts_keep(false);
    em_files_drop_unused();
    CUresult r = em_virtual_finish(); // commands hold the storage of objects that are destroyed
    __atomic_store_n(&em_aborts, aborts, __ATOMIC_RELAXED);
    return r;
}
