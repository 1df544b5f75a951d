// SPDX-License-Identifier: MIT
// The calls that submit work to queues, and those that wait for it.
#include "sync_queue.h"

// A submitting call: `count` batches of one kind.
struct call {
    enum vl_batch_kind kind;
    uint32_t count;
    const void *infos; // VkSubmitInfo, VkSubmitInfo2 …
    VkFence fence;
};

// ---- does the call concern the layer?

static bool list_is_ours(struct vl_sync *sync, const VkSemaphore *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (vl_semaphore_is_ours(sync, list[i]))
            return true;
    return false;
}

static bool infos_are_ours(struct vl_sync *sync, const VkSemaphoreSubmitInfo *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (vl_semaphore_is_ours(sync, list[i].semaphore))
            return true;
    return false;
}

static bool batch_is_ours(struct vl_sync *sync, const struct call *call, uint32_t i)
{
    const VkSubmitInfo *submit = call->infos;
    const VkSubmitInfo2 *submit_2 = call->infos;
    const VkBindSparseInfo *sparse = call->infos;
    const VkPresentInfoKHR *present = call->infos;
    switch (call->kind) {
    case VL_BATCH_SUBMIT:
        return list_is_ours(sync, submit[i].pWaitSemaphores, submit[i].waitSemaphoreCount) ||
               list_is_ours(sync, submit[i].pSignalSemaphores, submit[i].signalSemaphoreCount);
    case VL_BATCH_SUBMIT_2:
        return infos_are_ours(sync, submit_2[i].pWaitSemaphoreInfos,
                              submit_2[i].waitSemaphoreInfoCount) ||
               infos_are_ours(sync, submit_2[i].pSignalSemaphoreInfos,
                              submit_2[i].signalSemaphoreInfoCount);
    case VL_BATCH_SPARSE:
        return list_is_ours(sync, sparse[i].pWaitSemaphores, sparse[i].waitSemaphoreCount) ||
               list_is_ours(sync, sparse[i].pSignalSemaphores, sparse[i].signalSemaphoreCount);
    case VL_BATCH_PRESENT:
        return list_is_ours(sync, present[i].pWaitSemaphores, present[i].waitSemaphoreCount);
    case VL_BATCH_EMPTY:
        break;
    }
    return false;
}

// If nothing is held, a call without payloads goes straight to the driver.
static bool call_is_ours(struct vl_sync *sync, const struct call *call)
{
    dm_mutex_lock(&vl_sync_lock);
    bool ours = vl_queues_hold(sync) || (call->fence && vl_fence_is_ours(sync, call->fence));
    for (uint32_t i = 0; i < call->count && !ours; i++)
        ours = batch_is_ours(sync, call, i);
    dm_mutex_unlock(&vl_sync_lock);
    return ours;
}

// ---- submitting

static bool batch_copy(struct vl_batch *b, const struct call *call, uint32_t i)
{
    switch (call->kind) {
    case VL_BATCH_SUBMIT:
        return vl_batch_from_submit(b, (const VkSubmitInfo *)call->infos + i);
    case VL_BATCH_SUBMIT_2:
        return vl_batch_from_submit_2(b, (const VkSubmitInfo2 *)call->infos + i);
    case VL_BATCH_SPARSE:
        return vl_batch_from_sparse(b, (const VkBindSparseInfo *)call->infos + i);
    case VL_BATCH_PRESENT:
        return vl_batch_from_present(b, (const VkPresentInfoKHR *)call->infos + i);
    case VL_BATCH_EMPTY:
        break;
    }
    return true;
}

static void items_free(struct vl_item *items)
{
    for (struct vl_item *next; items; items = next) {
        next = items->next;
        vl_item_free(items);
    }
}

// Makes an item of each batch. A call without batches becomes one item if it has a fence.
static VkResult items_create(const struct call *call, struct vl_item **out)
{
    struct vl_item *first = NULL, **end = &first;
    for (uint32_t i = 0; i < call->count || (i == 0 && call->fence); i++) {
        struct vl_item *item = dm_calloc(1, sizeof *item);
        if (!item || (i < call->count && !batch_copy(&item->batch, call, i))) {
            dm_free(item);
            items_free(first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        *end = item;
        end = &item->next;
    }
    *out = first;
    return VK_SUCCESS;
}

static VkResult submit(struct vl_sync *sync, VkQueue handle, const struct call *call)
{
    VkResult r = vl_sync_lost(sync);
    if (r)
        return r;
    struct vl_queue *queue = vl_queue_of(sync, handle);
    if (!queue)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct vl_item *items;
    r = items_create(call, &items);
    return r ? r : vl_queue_submit(queue, items, call->fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *infos, VkFence fence)
{
    struct vl_device *d = vl_device_of(queue);
    const struct call call = {VL_BATCH_SUBMIT, count, infos, fence};
    if (d->sync && call_is_ours(d->sync, &call))
        return submit(d->sync, queue, &call);
    return d->QueueSubmit(queue, count, infos, fence);
}
const PFN_vkQueueSubmit vl_hook_QueueSubmit = queue_submit;

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit_2(VkQueue queue, uint32_t count,
                                                     const VkSubmitInfo2 *infos, VkFence fence)
{
    struct vl_device *d = vl_device_of(queue);
    const struct call call = {VL_BATCH_SUBMIT_2, count, infos, fence};
    if (d->sync && call_is_ours(d->sync, &call))
        return submit(d->sync, queue, &call);
    return (d->QueueSubmit2 ? d->QueueSubmit2 : d->QueueSubmit2KHR)(queue, count, infos, fence);
}
const PFN_vkQueueSubmit2 vl_hook_QueueSubmit2 = queue_submit_2;
const PFN_vkQueueSubmit2KHR vl_hook_QueueSubmit2KHR = queue_submit_2;

static VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count,
                                                  const VkBindSparseInfo *infos, VkFence fence)
{
    struct vl_device *d = vl_device_of(queue);
    const struct call call = {VL_BATCH_SPARSE, count, infos, fence};
    if (d->sync && call_is_ours(d->sync, &call))
        return submit(d->sync, queue, &call);
    return d->QueueBindSparse(queue, count, infos, fence);
}
const PFN_vkQueueBindSparse vl_hook_QueueBindSparse = bind_sparse;

// A present that has to wait reports success. The next one reports a surface that is out of date.
static VKAPI_ATTR VkResult VKAPI_CALL present(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct vl_device *d = vl_device_of(queue);
    const struct call call = {VL_BATCH_PRESENT, 1, info, VK_NULL_HANDLE};
    if (!d->sync || !call_is_ours(d->sync, &call))
        return d->QueuePresentKHR(queue, info);
    VkResult r = submit(d->sync, queue, &call);
    for (uint32_t i = 0; info->pResults && i < info->swapchainCount; i++)
        info->pResults[i] = r;
    return r;
}
const PFN_vkQueuePresentKHR vl_hook_QueuePresentKHR = present;

// ---- waiting

// Waits until everything that a queue, or all queues, held has gone to the driver.
static VkResult drain(struct vl_sync *sync, VkQueue queue)
{
    if (!sync)
        return VK_SUCCESS;
    vl_queue_drain(sync, queue);
    return vl_sync_lost(sync);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    struct vl_device *d = vl_device_of(queue);
    VkResult r = drain(d->sync, queue);
    return r ? r : d->QueueWaitIdle(queue);
}
const PFN_vkQueueWaitIdle vl_hook_QueueWaitIdle = queue_wait_idle;

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = drain(d->sync, VK_NULL_HANDLE);
    return r ? r : d->DeviceWaitIdle(device);
}
const PFN_vkDeviceWaitIdle vl_hook_DeviceWaitIdle = device_wait_idle;

// ---- images of swapchains

// The payloads that an acquired image signals, with references.
struct acquired {
    struct vl_payload *semaphore, *fence;
};

static struct acquired acquire_find(struct vl_sync *sync, VkSemaphore semaphore, VkFence fence)
{
    struct acquired a = {NULL, NULL};
    if (!sync)
        return a;
    dm_mutex_lock(&vl_sync_lock);
    if (semaphore)
        a.semaphore = vl_semaphore_for_signal(sync, semaphore);
    if (fence)
        a.fence = vl_fence_for_signal(sync, fence);
    dm_mutex_unlock(&vl_sync_lock);
    return a;
}

// Waits for the image and signals the payloads. `fence` is the driver's that the image signals.
static VkResult acquire_complete(struct vl_device *d, struct acquired *a, VkFence fence, VkResult r)
{
    VkResult waited = r >= 0 && r != VK_TIMEOUT && r != VK_NOT_READY
                          ? d->WaitForFences(d->handle, 1, &fence, VK_TRUE, UINT64_MAX)
                          : VK_TIMEOUT;
    if (!waited && a->semaphore)
        dm_semaphore_signal(&a->semaphore->semaphore, 1);
    if (!waited && a->fence)
        dm_semaphore_signal(&a->fence->semaphore, 1);
    vl_payload_drop(a->semaphore);
    vl_payload_drop(a->fence);
    return waited < 0 ? waited : r;
}

// Chooses the fence that the driver signals: the program's if it is the driver's, or a new one.
static VkResult acquire_fence(struct vl_device *d, const struct acquired *a, VkFence programs,
                              VkFence *out)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    *out = programs;
    return programs && !a->fence ? VK_SUCCESS : d->CreateFence(d->handle, &info, NULL, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_2(VkDevice device,
                                                const VkAcquireNextImageInfoKHR *info,
                                                uint32_t *index)
{
    struct vl_device *d = vl_device_of(device);
    struct acquired a = acquire_find(d->sync, info->semaphore, info->fence);
    if (!a.semaphore && !a.fence)
        return d->AcquireNextImage2KHR(device, info, index);
    VkAcquireNextImageInfoKHR drivers = *info;
    VkResult r = acquire_fence(d, &a, info->fence, &drivers.fence);
    bool own = !r && drivers.fence != info->fence;
    if (a.semaphore)
        drivers.semaphore = VK_NULL_HANDLE;
    if (!r)
        r = d->AcquireNextImage2KHR(device, &drivers, index);
    r = acquire_complete(d, &a, drivers.fence, r);
    if (own)
        d->DestroyFence(device, drivers.fence, NULL);
    return r;
}
const PFN_vkAcquireNextImage2KHR vl_hook_AcquireNextImage2KHR = acquire_2;

static VKAPI_ATTR VkResult VKAPI_CALL acquire(VkDevice device, VkSwapchainKHR swapchain,
                                              uint64_t timeout, VkSemaphore semaphore,
                                              VkFence fence, uint32_t *index)
{
    struct vl_device *d = vl_device_of(device);
    struct acquired a = acquire_find(d->sync, semaphore, fence);
    if (!a.semaphore && !a.fence)
        return d->AcquireNextImageKHR(device, swapchain, timeout, semaphore, fence, index);
    VkFence drivers;
    VkResult r = acquire_fence(d, &a, fence, &drivers);
    bool own = !r && drivers != fence;
    if (!r)
        r = d->AcquireNextImageKHR(device, swapchain, timeout,
                                   a.semaphore ? VK_NULL_HANDLE : semaphore, drivers, index);
    r = acquire_complete(d, &a, drivers, r);
    if (own)
        d->DestroyFence(device, drivers, NULL);
    return r;
}
const PFN_vkAcquireNextImageKHR vl_hook_AcquireNextImageKHR = acquire;
