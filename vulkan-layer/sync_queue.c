// SPDX-License-Identifier: MIT
// The lists of the queues, and the threads that work them off.
#include "sync_queue.h"

#include <signal.h>

#include "clock.h"
#include "sync_report.h"

void vl_item_free(struct vl_item *item)
{
    vl_batch_finish(&item->batch);
    vl_payload_drop(item->fence_payload);
    dm_free(item);
}

static bool stopping(const struct vl_sync *sync)
{
    return __atomic_load_n(&sync->stopping, __ATOMIC_SEQ_CST);
}

// ---- waiting

// Waits for a payload, and reports a long wait once. Returns false if the device ends.
static bool use_wait(struct vl_queue *q, struct vl_use *use)
{
    struct dm_semaphore *s = &use->payload->semaphore;
    uint64_t limit_ns = vl_long_wait_ns(), deadline_ns = limit_ns ? dm_now_ns() + limit_ns : 0;
    while (!use->acquired && !stopping(q->sync)) {
        use->acquired = dm_semaphore_acquire(s, use->value);
        if (use->acquired)
            break;
        if (dm_semaphore_wait_unless(s, use->value, deadline_ns, &q->sync->stopping) ==
            -ETIMEDOUT) {
            vl_report_long_wait(q->handle, use);
            deadline_ns = 0;
        }
    }
    return use->acquired;
}

static bool item_waits(struct vl_queue *q, struct vl_item *item)
{
    for (uint32_t i = 0; i < item->batch.wait_count; i++) {
        struct vl_use *use = &item->batch.waits[i];
        if (use->acquired)
            continue;
        dm_mutex_lock(&vl_sync_lock);
        q->waits_for = use->payload; // vkDestroyDevice wakes it
        dm_mutex_unlock(&vl_sync_lock);
        bool good = use_wait(q, use);
        dm_mutex_lock(&vl_sync_lock);
        q->waits_for = NULL;
        dm_mutex_unlock(&vl_sync_lock);
        if (!good)
            return false;
    }
    return true;
}

// Ends the waits that can end now. Returns true if those were all.
static bool item_acquire(struct vl_item *item)
{
    for (uint32_t i = 0; i < item->batch.wait_count; i++) {
        struct vl_use *use = &item->batch.waits[i];
        if (!use->acquired)
            use->acquired = dm_semaphore_acquire(&use->payload->semaphore, use->value);
        if (!use->acquired)
            return false;
    }
    return true;
}

// ---- passing on

static bool item_signals(const struct vl_item *item)
{
    return item->batch.signal_count || item->fence_payload;
}

static VkResult wait_done(struct vl_queue *q)
{
    struct vl_device *d = q->sync->device;
    VkResult r = d->WaitForFences(d->handle, 1, &q->done, VK_TRUE, UINT64_MAX);
    return r ? r : d->ResetFences(d->handle, 1, &q->done);
}

// Passes parts of a batch on. The fence is a submission of its own if the driver also signals
// semaphores, because Mesa sets the value of an emulated timeline after it has submitted the work:
// a thread of the program that sees the fence could still read the old value.
static VkResult forward(struct vl_queue *q, struct vl_batch *b, unsigned parts, VkFence fence)
{
    struct vl_device *d = q->sync->device;
    if (!fence || !(parts & VL_SIGNALS) || !b->drivers_signals)
        return vl_batch_forward(b, d, q->handle, parts, fence);
    VkResult r = vl_batch_forward(b, d, q->handle, parts, VK_NULL_HANDLE);
    return r < 0 ? r : d->QueueSubmit(q->handle, 0, NULL, fence);
}

// Passes an item on that signals payloads, and signals them. See the picture in the header.
static VkResult item_complete(struct vl_queue *q, struct vl_item *item)
{
    struct vl_batch *b = &item->batch;
    unsigned first = b->signal_count ? VL_WORK : VL_WORK | VL_SIGNALS;
    VkResult r = forward(q, b, first, q->done);
    if (r >= 0)
        r = wait_done(q);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < b->signal_count; i++)
        dm_semaphore_signal(&b->signals[i].payload->semaphore, b->signals[i].value);
    if (b->signal_count && (b->drivers_signals || item->fence)) {
        bool again = item->fence_payload;
        r = forward(q, b, VL_SIGNALS, again ? q->done : item->fence);
        if (r >= 0 && again)
            r = wait_done(q);
    }
    if (r >= 0 && item->fence_payload)
        dm_semaphore_signal(&item->fence_payload->semaphore, 1);
    return r;
}

static VkResult item_pass_on(struct vl_queue *q, struct vl_item *item)
{
    return item_signals(item) ? item_complete(q, item)
                              : forward(q, &item->batch, VL_WORK | VL_SIGNALS, item->fence);
}

// Returns whether another queue still holds an earlier item that signals a semaphore of the driver
// for which this one waits: the driver must get the signal first.
static bool must_wait_for_other_queue(const struct vl_queue *own, const struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_batch *b = &item->batch;
    for (const struct vl_queue *q = own->sync->queues; q && b->drivers_waits; q = q->next)
        for (const struct vl_item *other = q == own ? NULL : q->first;
             other && other->number < item->number; other = other->next)
            for (uint32_t i = 0; i < b->drivers_waits; i++)
                if (vl_batch_signals(&other->batch, vl_batch_wait(b, i)))
                    return true;
    return false;
}

// Precondition: vl_sync_lock held.
static void item_remove(struct vl_queue *q, struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    q->first = item->next;
    if (item->fence)
        DM_TABLE_REMOVE(q->sync->by_fence, item);
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

static void *queue_main(void *argument)
{
    struct vl_queue *q = argument;
    struct vl_sync *sync = q->sync;
    dm_mutex_lock(&vl_sync_lock);
    for (;;) {
        while (!q->first && !stopping(sync))
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
        struct vl_item *item = q->first;
        while (!stopping(sync) && must_wait_for_other_queue(q, item))
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
        if (stopping(sync))
            break;
        bool lost = sync->lost;
        dm_mutex_unlock(&vl_sync_lock);
        VkResult r = VK_SUCCESS;
        if (!lost && item_waits(q, item))
            r = item_pass_on(q, item);
        dm_mutex_lock(&vl_sync_lock);
        if (stopping(sync))
            break; // vl_queues_finish frees the item
        if (is_lasting(item, r) && !sync->lost)
            __atomic_store_n(&sync->lost, r, __ATOMIC_RELAXED);
        item_remove(q, item);
        pthread_cond_broadcast(&sync->changed);
        dm_mutex_unlock(&vl_sync_lock);
        vl_item_free(item);
        dm_mutex_lock(&vl_sync_lock);
    }
    dm_mutex_unlock(&vl_sync_lock);
    return NULL;
}

// ---- submissions

// Precondition: vl_sync_lock held, which is released while the driver is called.
static VkResult pass_on_now(struct vl_queue *q, struct vl_item **items)
{
    dm_assert_locked(&vl_sync_lock);
    VkResult r = VK_SUCCESS;
    while (*items && r >= 0 && !q->first && !item_signals(*items) &&
           !must_wait_for_other_queue(q, *items) && item_acquire(*items)) {
        struct vl_item *item = *items;
        *items = item->next;
        dm_mutex_unlock(&vl_sync_lock);
        r = item_pass_on(q, item);
        vl_item_free(item);
        dm_mutex_lock(&vl_sync_lock);
    }
    return r;
}

// Adds items to the list. Precondition: vl_sync_lock held.
static VkResult append(struct vl_queue *q, struct vl_item *items)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_item *last = items;
    while (last->next)
        last = last->next;
    if (last->fence && DM_TABLE_ADD(q->sync->by_fence, fence, last))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (q->first)
        q->last->next = items;
    else
        q->first = items;
    q->last = last;
    pthread_cond_broadcast(&q->sync->changed);
    return VK_SUCCESS;
}

VkResult vl_queue_submit(struct vl_queue *q, struct vl_item *items, VkFence fence)
{
    struct vl_sync *sync = q->sync;
    dm_mutex_lock(&vl_sync_lock);
    for (struct vl_item *item = items; item; item = item->next) {
        vl_batch_resolve(&item->batch, sync);
        item->number = ++sync->items;
        if (item->next || !fence)
            continue;
        item->fence_payload = vl_fence_for_signal(sync, fence);
        item->fence = item->fence_payload ? VK_NULL_HANDLE : fence;
    }
    VkResult r = pass_on_now(q, &items);
    if (items && r >= 0) {
        r = append(q, items);
        items = r ? items : NULL;
    }
    dm_mutex_unlock(&vl_sync_lock);
    for (struct vl_item *next; items; items = next) {
        next = items->next;
        vl_item_free(items);
    }
    return r;
}

bool vl_queues_hold(const struct vl_sync *sync)
{
    dm_assert_locked(&vl_sync_lock);
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        if (q->first)
            return true;
    return false;
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

struct vl_queue *vl_queue_of(struct vl_sync *sync, VkQueue handle)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_queue *q = sync->queues;
    while (q && q->handle != handle)
        q = q->next;
    dm_mutex_unlock(&vl_sync_lock);
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
    for (struct vl_queue *q = sync->queues; q; q = q->next)
        if (q->waits_for)
            dm_semaphore_wake(&q->waits_for->semaphore);
    pthread_cond_broadcast(&sync->changed);
    dm_mutex_unlock(&vl_sync_lock);
    for (struct vl_queue *q = sync->queues; q; q = q->next)
        pthread_join(q->thread, NULL);
    for (struct vl_queue *q = sync->queues, *next; q; q = next) {
        next = q->next;
        while (q->first) {
            struct vl_item *item = q->first;
            dm_mutex_lock(&vl_sync_lock);
            item_remove(q, item);
            dm_mutex_unlock(&vl_sync_lock);
            vl_item_free(item);
        }
        d->DestroyFence(d->handle, q->done, NULL);
        dm_free(q);
    }
    sync->queues = NULL;
}
