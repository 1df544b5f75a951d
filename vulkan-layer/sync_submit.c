// SPDX-License-Identifier: MIT
// The calls that submit work to queues, and those that wait for it.
#include "sync_queue.h"

#include <stdlib.h>
#include <string.h>

static pthread_once_t counts_once = PTHREAD_ONCE_INIT;
static bool counts;

// libcuda.so.1 reads the same setting, and reports unknown values of it.
static void read_counts(void)
{
    const char *value = secure_getenv("CARDLESS_CHECK");
    counts = value && strstr(value, "order");
}

bool vl_counts_submissions(void)
{
    pthread_once(&counts_once, read_counts);
    return counts;
}

static void count_batches(struct vl_device *d, uint32_t count)
{
    if (vl_counts_submissions())
        __atomic_fetch_add(&d->batches, count, __ATOMIC_RELAXED);
}

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
    case VL_BATCH_LABEL_BEGIN:
    case VL_BATCH_LABEL_INSERT:
    case VL_BATCH_EMPTY:
        break;
    }
    return false;
}

// If nothing is held, a call without payloads goes straight to the driver.
static bool call_is_ours(struct vl_sync *sync, const struct call *call)
{
    dm_mutex_lock(&vl_sync_lock);
    bool ours = vl_queue_holds(sync, VK_NULL_HANDLE) ||
                (call->fence && vl_fence_is_ours(sync, call->fence));
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
    case VL_BATCH_LABEL_BEGIN:
    case VL_BATCH_LABEL_INSERT:
        return vl_batch_from_label(b, call->kind, call->infos);
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
    count_batches(d, count);
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
    count_batches(d, count);
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
    count_batches(d, count);
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
    for (uint32_t i = 0; info->pResults && i < info->swapchainCount; i++)
        info->pResults[i] = VK_SUCCESS; // if it is held
    VkResult r = submit(d->sync, queue, &call);
    // The driver has written its results, unless it was not asked.
    bool written = r >= 0;
    for (uint32_t i = 0; info->pResults && i < info->swapchainCount; i++)
        written |= info->pResults[i] < 0;
    for (uint32_t i = 0; info->pResults && i < info->swapchainCount && !written; i++)
        info->pResults[i] = r;
    return r;
}
const PFN_vkQueuePresentKHR vl_hook_QueuePresentKHR = present;

// ---- debug labels

// Adds a label to what a queue holds. Returns false if it holds nothing: then the driver gets the
// label at once. If memory runs out, a label is lost.
static bool label_is_held(struct vl_sync *sync, VkQueue handle, enum vl_batch_kind kind,
                          const VkDebugUtilsLabelEXT *info)
{
    struct vl_queue *q = sync ? vl_queue_if_any(sync, handle) : NULL;
    if (!q)
        return false;
    dm_mutex_lock(&vl_sync_lock);
    bool held = q->first;
    dm_mutex_unlock(&vl_sync_lock);
    const struct call call = {kind, 1, info, VK_NULL_HANDLE};
    if (held && submit(sync, handle, &call) && kind == VL_BATCH_LABEL_BEGIN)
        q->labels_lost++;
    return held;
}

static VKAPI_ATTR void VKAPI_CALL label_begin(VkQueue queue, const VkDebugUtilsLabelEXT *info)
{
    struct vl_device *d = vl_device_of(queue);
    if (!label_is_held(d->sync, queue, VL_BATCH_LABEL_BEGIN, info))
        d->QueueBeginDebugUtilsLabelEXT(queue, info);
}
const PFN_vkQueueBeginDebugUtilsLabelEXT vl_hook_QueueBeginDebugUtilsLabelEXT = label_begin;

static VKAPI_ATTR void VKAPI_CALL label_end(VkQueue queue)
{
    struct vl_device *d = vl_device_of(queue);
    struct vl_queue *q = d->sync ? vl_queue_if_any(d->sync, queue) : NULL;
    // Begin and end must stay pairs. The last label that was begun is the first to end.
    if (q && q->labels_lost)
        q->labels_lost--;
    else if (!q || !vl_queue_end_label(q))
        d->QueueEndDebugUtilsLabelEXT(queue);
}
const PFN_vkQueueEndDebugUtilsLabelEXT vl_hook_QueueEndDebugUtilsLabelEXT = label_end;

static VKAPI_ATTR void VKAPI_CALL label_insert(VkQueue queue, const VkDebugUtilsLabelEXT *info)
{
    struct vl_device *d = vl_device_of(queue);
    if (!label_is_held(d->sync, queue, VL_BATCH_LABEL_INSERT, info))
        d->QueueInsertDebugUtilsLabelEXT(queue, info);
}
const PFN_vkQueueInsertDebugUtilsLabelEXT vl_hook_QueueInsertDebugUtilsLabelEXT = label_insert;

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
