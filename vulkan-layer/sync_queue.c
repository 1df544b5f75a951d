// SPDX-License-Identifier: MIT
// The lists of the queues, and the threads that work them off.
#include "sync_queue.h"

#include <signal.h>

static bool stopping(const struct vl_sync *sync)
{
    return __atomic_load_n(&sync->stopping, __ATOMIC_SEQ_CST);
}

// ---- the list and its thread

// Returns whether another queue still holds an earlier item that must come first: a present to the
// same swapchain, or the signal of a binary semaphore of the driver for which this one waits. Of
// timelines it may get the wait first. They do not hold other queues, because the earlier item may
// itself depend on what this one does.
static bool must_wait_for_other_queue(const struct vl_queue *own, const struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_batch *b = &item->batch;
    uint32_t swapchains = b->kind == VL_BATCH_PRESENT ? b->info.present.swapchainCount : 0;
    for (const struct vl_queue *q = own->sync->queues; q && (b->drivers_waits || swapchains);
         q = q->next)
        for (const struct vl_item *other = q == own ? NULL : q->first;
             other && other->number < item->number; other = other->next) {
            for (uint32_t i = 0; i < b->drivers_waits; i++)
                if (vl_batch_signals(&other->batch, vl_batch_wait(b, i)) &&
                    !vl_semaphore_is_timeline(own->sync, vl_batch_wait(b, i)))
                    return true;
            for (uint32_t i = 0; i < swapchains; i++)
                if (vl_batch_presents(&other->batch, b->info.present.pSwapchains[i]))
                    return true;
        }
    return false;
}

// From now on, the driver may be asked for the fence of an item. Precondition: vl_sync_lock held.
static void release_fence(struct vl_sync *sync, struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    if (item->fence)
        DM_TABLE_REMOVE(sync->by_fence, item);
    pthread_cond_broadcast(&sync->changed);
}

bool vl_fence_is_held(struct vl_sync *sync, VkFence handle)
{
    dm_assert_locked(&vl_sync_lock);
    return DM_TABLE_FIND(sync->by_fence, &handle);
}

// Returns whether later calls have to report the result of a held item. A present that finds its
// surface out of date or lost says nothing about the device, and the next present finds it, too.
static bool is_lasting(const struct vl_item *item, VkResult r)
{
    return r < 0 && (item->batch.kind != VL_BATCH_PRESENT || r == VK_ERROR_DEVICE_LOST);
}

// Returns whether a submission with this error has had no effect. "If the presentation request is
// rejected" because of its surface, its waits are executed.
static bool is_undone(const struct vl_item *item, VkResult r)
{
    return item->batch.kind != VL_BATCH_PRESENT || r == VK_ERROR_OUT_OF_HOST_MEMORY ||
           r == VK_ERROR_OUT_OF_DEVICE_MEMORY || r == VK_ERROR_DEVICE_LOST;
}

// Precondition: vl_sync_lock held, which is released while the driver is called.
static void end_labels(const struct vl_queue *q, struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    while (item->label_ends && !q->sync->over) {
        item->label_ends--;
        dm_mutex_unlock(&vl_sync_lock);
        q->sync->device->QueueEndDebugUtilsLabelEXT(q->handle);
        dm_mutex_lock(&vl_sync_lock);
    }
}

bool vl_queue_end_label(struct vl_queue *q)
{
    dm_mutex_lock(&vl_sync_lock);
    bool held = q->first;
    if (held)
        q->last->label_ends++;
    dm_mutex_unlock(&vl_sync_lock);
    return held;
}

// Passes the first item of the list on, or drops it if the device is lost. Precondition:
// vl_sync_lock held, which is released meanwhile.
static void queue_step(struct vl_queue *q, struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_sync *sync = q->sync;
    dm_mutex_unlock(&vl_sync_lock);
    VkResult r = VK_ERROR_DEVICE_LOST;
    if (!vl_sync_lost(sync) && vl_item_wait(q, item)) {
        vl_present_begin(sync, item);
        r = vl_item_pass_on(q, item);
    }
    dm_mutex_lock(&vl_sync_lock);
    end_labels(q, item);
    if (stopping(sync))
        return; // vl_queues_finish frees the item
    if (is_lasting(item, r)) {
        vl_sync_lose(sync, r);
        dm_mutex_unlock(&vl_sync_lock);
        vl_item_abandon(q, item);
        dm_mutex_lock(&vl_sync_lock);
    }
    q->first = item->next;
    release_fence(sync, item);
    vl_item_free(item);
}

static void *queue_main(void *argument)
{
    struct vl_queue *q = argument;
    struct vl_sync *sync = q->sync;
    dm_mutex_lock(&vl_sync_lock);
    while (!stopping(sync)) {
        if (!q->first || (!sync->lost && must_wait_for_other_queue(q, q->first)))
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
        else
            queue_step(q, q->first);
    }
    dm_mutex_unlock(&vl_sync_lock);
    return NULL;
}

// ---- submissions

// Replaces the semaphores and the fence that have payloads. Returns VK_ERROR_OUT_OF_HOST_MEMORY
// before anything has changed. Precondition: vl_sync_lock held.
static VkResult items_resolve(struct vl_sync *sync, struct vl_item *items, VkFence fence)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_item *last = items;
    while (last->next)
        last = last->next;
    last->fence_payload = fence ? vl_fence_for_signal(sync, fence) : NULL;
    last->fence = last->fence_payload ? VK_NULL_HANDLE : fence;
    if (last->fence && DM_TABLE_ADD(sync->by_fence, fence, last)) {
        last->fence = VK_NULL_HANDLE;
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (struct vl_item *item = items; item; item = item->next) {
        vl_batch_resolve(&item->batch, sync);
        item->number = ++sync->items;
        if (item->batch.wait_count || vl_item_signals(item))
            __atomic_fetch_add(&sync->device->with_semaphores, 1, __ATOMIC_RELAXED);
    }
    return VK_SUCCESS;
}

// Passes on what nothing holds back, until the driver refuses an item. Precondition: vl_sync_lock
// held, which is released while the driver is called.
static VkResult pass_on_now(struct vl_queue *q, struct vl_item **items)
{
    dm_assert_locked(&vl_sync_lock);
    for (bool is_first = true; *items; is_first = false) {
        struct vl_item *item = *items;
        if (q->first || vl_item_signals(item) || must_wait_for_other_queue(q, item) ||
            !vl_item_acquire(item))
            return VK_SUCCESS;
        dm_mutex_unlock(&vl_sync_lock);
        VkResult r = vl_item_pass_on(q, item);
        dm_mutex_lock(&vl_sync_lock);
        // The driver has the batches before, so the call cannot fail as if nothing had happened.
        bool half = r < 0 && (!is_first || item->signals_passed);
        if (half)
            vl_sync_lose(q->sync, r);
        if (r < 0 && (half || is_undone(item, r)))
            return half ? VK_ERROR_DEVICE_LOST : r;
        *items = item->next;
        release_fence(q->sync, item);
        vl_item_free(item);
        if (r)
            return r;
    }
    return VK_SUCCESS;
}

VkResult vl_queue_submit(struct vl_queue *q, struct vl_item *items, VkFence fence)
{
    struct vl_sync *sync = q->sync;
    dm_mutex_lock(&vl_sync_lock);
    VkResult r = items_resolve(sync, items, fence);
    if (!r)
        r = pass_on_now(q, &items);
    if (r >= 0 && items) {
        *(q->first ? &q->last->next : &q->first) = items;
        for (; items; items = items->next) {
            vl_batch_detach(&items->batch);
            q->last = items;
        }
        pthread_cond_broadcast(&sync->changed);
    }
    for (struct vl_item *next; items; items = next) {
        next = items->next;
        vl_item_undo(sync, items);
        release_fence(sync, items);
        vl_item_free(items);
    }
    dm_mutex_unlock(&vl_sync_lock);
    return r;
}

bool vl_queue_holds(const struct vl_sync *sync, VkQueue handle)
{
    dm_assert_locked(&vl_sync_lock);
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        if (q->first && (!handle || q->handle == handle))
            return true;
    return false;
}

// Precondition: vl_sync_lock held.
static bool signal_is_held(const struct vl_sync *sync, VkSemaphore semaphore)
{
    dm_assert_locked(&vl_sync_lock);
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        for (const struct vl_item *item = q->first; item; item = item->next)
            if (vl_batch_signals(&item->batch, semaphore))
                return true;
    return false;
}

VkResult vl_await_passed_on(struct vl_sync *sync, VkSemaphore semaphore, VkFence fence)
{
    dm_mutex_lock(&vl_sync_lock);
    while (!sync->lost && ((semaphore && signal_is_held(sync, semaphore)) ||
                           (fence && vl_fence_is_held(sync, fence))))
        dm_mutex_wait(&vl_sync_lock, &sync->changed);
    dm_mutex_unlock(&vl_sync_lock);
    return vl_sync_lost(sync);
}

void vl_queue_drain(struct vl_sync *sync, VkQueue handle)
{
    dm_mutex_lock(&vl_sync_lock);
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        while (q->first && (!handle || q->handle == handle))
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
    dm_mutex_unlock(&vl_sync_lock);
}

// ---- the life of a queue

static int start_thread(struct vl_queue *q)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // the program's handlers run in its own threads
    int e = pthread_create(&q->thread, NULL, queue_main, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!e)
        pthread_setname_np(q->thread, "cardless-vulkan");
    return e;
}

static struct vl_queue *queue_create(struct vl_sync *sync, VkQueue handle)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct vl_device *d = sync->device;
    struct vl_queue *q = dm_calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->handle = handle;
    q->sync = sync;
    if (d->CreateFence(d->handle, &info, NULL, &q->done)) {
        dm_free(q);
        return NULL;
    }
    if (start_thread(q)) {
        d->DestroyFence(d->handle, q->done, NULL);
        dm_free(q);
        return NULL;
    }
    return q;
}

struct vl_queue *vl_queue_if_any(struct vl_sync *sync, VkQueue handle)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_queue *q = sync->queues;
    while (q && q->handle != handle)
        q = q->next;
    dm_mutex_unlock(&vl_sync_lock);
    return q;
}

struct vl_queue *vl_queue_of(struct vl_sync *sync, VkQueue handle)
{
    struct vl_queue *q = vl_queue_if_any(sync, handle);
    if (q)
        return q;
    q = queue_create(sync, handle);
    if (!q)
        return NULL;
    // The program must not use the queue in two threads at once, so nobody adds it meanwhile.
    dm_mutex_lock(&vl_sync_lock);
    q->next = sync->queues;
    sync->queues = q;
    dm_mutex_unlock(&vl_sync_lock);
    return q;
}

void vl_queues_finish(struct vl_sync *sync)
{
    struct vl_device *d = sync->device;
    dm_mutex_lock(&vl_sync_lock);
    __atomic_store_n(&sync->stopping, true, __ATOMIC_SEQ_CST);
    vl_wake_all(sync);
    dm_mutex_unlock(&vl_sync_lock);
    for (struct vl_queue *q = sync->queues; q; q = q->next)
        pthread_join(q->thread, NULL);
    for (struct vl_queue *q = sync->queues, *next; q; q = next) {
        next = q->next;
        while (q->first) {
            struct vl_item *item = q->first;
            dm_mutex_lock(&vl_sync_lock);
            q->first = item->next;
            release_fence(sync, item);
            dm_mutex_unlock(&vl_sync_lock);
            vl_item_free(item);
        }
        // If the device was lost, the driver may still use the fence. Then it is not destroyed.
        if (!q->done_is_used || !d->WaitForFences(d->handle, 1, &q->done, VK_TRUE, 0))
            d->DestroyFence(d->handle, q->done, NULL);
        dm_free(q);
    }
    sync->queues = NULL;
}
