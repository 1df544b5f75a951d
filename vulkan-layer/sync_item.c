// SPDX-License-Identifier: MIT
// Items: how one batch of a queue waits for payloads, goes to the driver, and signals payloads.
#include <errno.h>

#include "clock.h"
#include "sync_queue.h"
#include "sync_report.h"

void vl_item_free(struct vl_item *item)
{
    vl_batch_finish(&item->batch);
    vl_payload_drop(item->fence_payload);
    dm_free(item);
}

static bool is_over(const struct vl_sync *sync)
{
    return __atomic_load_n(&sync->over, __ATOMIC_SEQ_CST);
}

// ---- waiting

// Waits for a payload, and reports a long wait once.
static bool use_wait(struct vl_queue *q, struct vl_use *use)
{
    uint64_t limit_ns = vl_long_wait_ns(), deadline_ns = limit_ns ? dm_now_ns() + limit_ns : 0;
    while (!use->acquired && !is_over(q->sync)) {
        use->acquired = dm_semaphore_acquire(&use->payload->semaphore, use->value);
        if (use->acquired)
            break;
        if (vl_sleep(q->sync, use->payload, use->value, deadline_ns) == -ETIMEDOUT) {
            vl_report_long_wait(q->handle, use);
            deadline_ns = 0;
        }
    }
    return use->acquired;
}

bool vl_item_wait(struct vl_queue *q, struct vl_item *item)
{
    for (uint32_t i = 0; i < item->batch.wait_count; i++)
        if (!use_wait(q, &item->batch.waits[i]))
            return false;
    return !is_over(q->sync);
}

bool vl_item_acquire(struct vl_item *item)
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

void vl_item_undo(struct vl_sync *sync, struct vl_item *item)
{
    dm_assert_locked(&vl_sync_lock);
    for (uint32_t i = 0; i < item->batch.wait_count; i++) {
        struct vl_use *use = &item->batch.waits[i];
        if (use->acquired && use->payload->semaphore.kind == DM_SEMAPHORE_BINARY)
            dm_semaphore_signal(&use->payload->semaphore, 1);
        use->acquired = false;
    }
    vl_batch_give_back(&item->batch, sync);
}

// ---- passing on

bool vl_item_signals(const struct vl_item *item)
{
    return item->batch.signal_count || item->fence_payload;
}

// Waits for the work that the driver got with q->done. If the device is lost meanwhile, the work
// may wait in the driver for a signal that the layer has dropped.
static VkResult wait_done(struct vl_queue *q)
{
    struct vl_device *d = q->sync->device;
    VkResult r = VK_TIMEOUT;
    q->done_is_used = true;
    while (r == VK_TIMEOUT) {
        r = d->WaitForFences(d->handle, 1, &q->done, VK_TRUE, VL_SLICE_NS);
        if (r == VK_TIMEOUT && vl_sync_lost(q->sync))
            r = VK_ERROR_DEVICE_LOST;
    }
    if (r)
        return r;
    q->done_is_used = false;
    return d->ResetFences(d->handle, 1, &q->done);
}

// Passes parts of a batch on. The fence is a submission of its own if the driver also signals
// semaphores, because Mesa sets the value of an emulated timeline after it has submitted the work:
// a thread of the program that sees the fence could still read the old value.
static VkResult forward(struct vl_queue *q, struct vl_item *item, unsigned parts, VkFence fence)
{
    struct vl_device *d = q->sync->device;
    bool signals = parts & VL_SIGNALS && item->batch.drivers_signals, two = fence && signals;
    VkResult r = vl_batch_forward(&item->batch, d, q->handle, parts, two ? VK_NULL_HANDLE : fence);
    item->signals_passed |= signals && r >= 0;
    return r < 0 || !two ? r : d->QueueSubmit(q->handle, 0, NULL, fence);
}

// Passes an item on that signals payloads, and signals them.
static VkResult item_complete(struct vl_queue *q, struct vl_item *item)
{
    struct vl_batch *b = &item->batch;
    unsigned first = b->signal_count ? VL_WORK : VL_WORK | VL_SIGNALS;
    VkResult r = forward(q, item, first, q->done);
    if (r >= 0)
        r = wait_done(q);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < b->signal_count; i++)
        dm_semaphore_signal(&b->signals[i].payload->semaphore, b->signals[i].value);
    if (b->signal_count && (b->drivers_signals || item->fence)) {
        bool again = item->fence_payload;
        r = forward(q, item, VL_SIGNALS, again ? q->done : item->fence);
        if (r >= 0 && again)
            r = wait_done(q);
    }
    if (r >= 0 && item->fence_payload)
        dm_semaphore_signal(&item->fence_payload->semaphore, 1);
    return r;
}

VkResult vl_item_pass_on(struct vl_queue *q, struct vl_item *item)
{
    return vl_item_signals(item) ? item_complete(q, item)
                                 : forward(q, item, VL_WORK | VL_SIGNALS, item->fence);
}

void vl_item_abandon(struct vl_queue *q, struct vl_item *item)
{
    if (item->batch.drivers_signals && !item->signals_passed)
        vl_batch_forward(&item->batch, q->sync->device, q->handle, VL_SIGNALS, VK_NULL_HANDLE);
}
