// SPDX-License-Identifier: MIT
// Swapchains: images that are acquired with semaphores and fences of the layer, and calls that the
// program makes while a present is held. "Host access to swapchain must be externally synchronized"
// with vkQueuePresentKHR, but the program believes that its present has returned.
#include <time.h>

#include "clock.h"
#include "sync_queue.h"

// ---- swapchains in use

// A call of the program that is in the driver.
struct vl_swapchain_use {
    VkSwapchainKHR swapchain;
    struct vl_swapchain_use *next;
};

// Precondition: vl_sync_lock held.
static bool is_used(const struct vl_sync *sync, const struct vl_batch *b)
{
    dm_assert_locked(&vl_sync_lock);
    for (const struct vl_swapchain_use *u = sync->swapchain_uses; u; u = u->next)
        if (vl_batch_presents(b, u->swapchain))
            return true;
    return false;
}

void vl_present_begin(struct vl_sync *sync, struct vl_item *item)
{
    if (item->batch.kind != VL_BATCH_PRESENT)
        return;
    dm_mutex_lock(&vl_sync_lock);
    item->presents = true; // no use begins any more
    while (is_used(sync, &item->batch))
        dm_mutex_wait(&vl_sync_lock, &sync->changed);
    dm_mutex_unlock(&vl_sync_lock);
}

enum held { NOT_HELD, HELD, IN_DRIVER };

// Returns whether any present to the swapchain is held. Precondition: vl_sync_lock held.
static enum held present_held(const struct vl_sync *sync, VkSwapchainKHR swapchain)
{
    dm_assert_locked(&vl_sync_lock);
    enum held held = NOT_HELD;
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        for (const struct vl_item *item = q->first; item; item = item->next) {
            if (!vl_batch_presents(&item->batch, swapchain))
                continue;
            if (item->presents)
                return IN_DRIVER;
            held = HELD;
        }
    return held;
}

// Begins a call in the driver, after a present that the driver is getting. Returns false if no
// present is held: then nothing was begun, and nothing is needed.
static bool use_begin(struct vl_sync *sync, struct vl_swapchain_use *use)
{
    dm_mutex_lock(&vl_sync_lock);
    enum held held = present_held(sync, use->swapchain);
    while (held == IN_DRIVER) {
        dm_mutex_wait(&vl_sync_lock, &sync->changed);
        held = present_held(sync, use->swapchain);
    }
    if (held) {
        use->next = sync->swapchain_uses;
        sync->swapchain_uses = use;
    }
    dm_mutex_unlock(&vl_sync_lock);
    return held;
}

static void use_end(struct vl_sync *sync, struct vl_swapchain_use *use)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_swapchain_use **link = &sync->swapchain_uses;
    while (*link != use)
        link = &(*link)->next;
    *link = use->next;
    pthread_cond_broadcast(&sync->changed);
    dm_mutex_unlock(&vl_sync_lock);
}

// Waits until the driver has got all presents to the swapchain that are held. Returns false at the
// deadline of dm_now_ns (0: never).
static bool await_presents(struct vl_sync *sync, VkSwapchainKHR swapchain, uint64_t deadline_ns)
{
    const struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                                   (long)(deadline_ns % DM_NS_PER_S)};
    int timed_out = 0;
    dm_mutex_lock(&vl_sync_lock);
    while (present_held(sync, swapchain) && !timed_out) {
        if (deadline_ns)
            timed_out = dm_mutex_wait_until(&vl_sync_lock, &sync->changed, &until);
        else
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
    }
    bool done = !present_held(sync, swapchain);
    dm_mutex_unlock(&vl_sync_lock);
    return done;
}

// ---- calls with a swapchain

static VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice device,
                                                       const VkSwapchainCreateInfoKHR *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSwapchainKHR *out)
{
    struct vl_device *d = vl_device_of(device);
    if (d->sync && info->oldSwapchain)
        await_presents(d->sync, info->oldSwapchain, 0);
    return d->CreateSwapchainKHR(device, info, allocator, out);
}
const PFN_vkCreateSwapchainKHR vl_hook_CreateSwapchainKHR = create_swapchain;

static VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice device, VkSwapchainKHR swapchain,
                                                    const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    if (d->sync && swapchain)
        await_presents(d->sync, swapchain, 0);
    d->DestroySwapchainKHR(device, swapchain, allocator);
}
const PFN_vkDestroySwapchainKHR vl_hook_DestroySwapchainKHR = destroy_swapchain;

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_present(VkDevice device, VkSwapchainKHR swapchain,
                                                       uint64_t id, uint64_t timeout)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync)
        return d->WaitForPresentKHR(device, swapchain, id, timeout);
    uint64_t deadline_ns = vl_deadline(timeout);
    if (!await_presents(d->sync, swapchain, deadline_ns))
        return VK_TIMEOUT;
    VkResult lost = vl_sync_lost(d->sync);
    return lost ? lost : d->WaitForPresentKHR(device, swapchain, id, vl_remaining(deadline_ns));
}
const PFN_vkWaitForPresentKHR vl_hook_WaitForPresentKHR = wait_for_present;

// ---- images

// Asks the driver for an image with the function that the program has called.
static VkResult drivers_acquire(struct vl_device *d, const VkAcquireNextImageInfoKHR *info,
                                uint64_t timeout_ns, bool is_2, uint32_t *index)
{
    VkAcquireNextImageInfoKHR i = *info;
    i.timeout = timeout_ns;
    return is_2 ? d->AcquireNextImage2KHR(d->handle, &i, index)
                : d->AcquireNextImageKHR(d->handle, i.swapchain, i.timeout, i.semaphore, i.fence,
                                         index);
}

// The same while presents to the swapchain may be held. The driver may need one of them to have an
// image, so it gets them in between.
static VkResult acquire_image(struct vl_device *d, const VkAcquireNextImageInfoKHR *info, bool is_2,
                              uint32_t *index)
{
    enum { SLICE_NS = 1000000 };
    if (!d->sync)
        return drivers_acquire(d, info, info->timeout, is_2, index);
    struct vl_swapchain_use use = {.swapchain = info->swapchain};
    uint64_t deadline_ns = vl_deadline(info->timeout);
    while (use_begin(d->sync, &use)) {
        uint64_t left = vl_remaining(deadline_ns), slice = left < SLICE_NS ? left : SLICE_NS;
        VkResult r = drivers_acquire(d, info, slice, is_2, index);
        use_end(d->sync, &use);
        if (r != VK_TIMEOUT && r != VK_NOT_READY)
            return r;
        if (left == slice)
            return info->timeout ? VK_TIMEOUT : VK_NOT_READY;
    }
    return drivers_acquire(d, info, vl_remaining(deadline_ns), is_2, index);
}

// Returns whether any held item waits for a semaphore of the driver. Precondition: vl_sync_lock
// held.
static bool semaphore_awaited(const struct vl_sync *sync, VkSemaphore semaphore)
{
    dm_assert_locked(&vl_sync_lock);
    for (const struct vl_queue *q = sync->queues; q; q = q->next)
        for (const struct vl_item *item = q->first; item; item = item->next)
            for (uint32_t i = 0; i < item->batch.drivers_waits; i++)
                if (vl_batch_wait(&item->batch, i) == semaphore)
                    return true;
    return false;
}

// Waits until the driver has got all items that wait for a semaphore which an image is about to
// signal: "it must not have any uncompleted signal or wait operations pending", but the program
// believes that its present has reached the driver. Returns false at the deadline.
static bool await_waiters(struct vl_sync *sync, VkSemaphore semaphore, uint64_t deadline_ns)
{
    const struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                                   (long)(deadline_ns % DM_NS_PER_S)};
    int timed_out = 0;
    dm_mutex_lock(&vl_sync_lock);
    bool awaited = semaphore_awaited(sync, semaphore);
    while (awaited && !timed_out) {
        if (deadline_ns)
            timed_out = dm_mutex_wait_until(&vl_sync_lock, &sync->changed, &until);
        else
            dm_mutex_wait(&vl_sync_lock, &sync->changed);
        awaited = semaphore_awaited(sync, semaphore);
    }
    dm_mutex_unlock(&vl_sync_lock);
    return !awaited;
}

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

static VkResult acquire(struct vl_device *d, const VkAcquireNextImageInfoKHR *info, bool is_2,
                        uint32_t *index)
{
    struct acquired a = acquire_find(d->sync, info->semaphore, info->fence);
    if (d->sync && info->semaphore && !a.semaphore &&
        !await_waiters(d->sync, info->semaphore, vl_deadline(info->timeout))) {
        vl_payload_drop(a.fence);
        return info->timeout ? VK_TIMEOUT : VK_NOT_READY;
    }
    if (!a.semaphore && !a.fence)
        return acquire_image(d, info, is_2, index);
    VkAcquireNextImageInfoKHR drivers = *info;
    VkResult r = acquire_fence(d, &a, info->fence, &drivers.fence);
    bool own = !r && drivers.fence != info->fence;
    if (a.semaphore)
        drivers.semaphore = VK_NULL_HANDLE;
    if (!r)
        r = acquire_image(d, &drivers, is_2, index);
    r = acquire_complete(d, &a, drivers.fence, r);
    if (own)
        d->DestroyFence(d->handle, drivers.fence, NULL);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_2(VkDevice device,
                                                const VkAcquireNextImageInfoKHR *info,
                                                uint32_t *index)
{
    return acquire(vl_device_of(device), info, true, index);
}
const PFN_vkAcquireNextImage2KHR vl_hook_AcquireNextImage2KHR = acquire_2;

static VKAPI_ATTR VkResult VKAPI_CALL acquire_1(VkDevice device, VkSwapchainKHR swapchain,
                                                uint64_t timeout, VkSemaphore semaphore,
                                                VkFence fence, uint32_t *index)
{
    const VkAcquireNextImageInfoKHR info = {
        .swapchain = swapchain, .timeout = timeout, .semaphore = semaphore, .fence = fence};
    return acquire(vl_device_of(device), &info, false, index);
}
const PFN_vkAcquireNextImageKHR vl_hook_AcquireNextImageKHR = acquire_1;
