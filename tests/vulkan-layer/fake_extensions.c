// SPDX-License-Identifier: MIT
// Functions of extensions of the simulated driver: swapchains, debug labels, vkQueueSubmit2, and
// SYNC_FD.
#include "fake_extensions.h"

// ---- swapchains: "host access to swapchain must be externally synchronized"

static bool swapchain_is_used;
unsigned images = 1000;

static void swapchain_begin(void)
{
    pthread_mutex_lock(&fake_lock);
    EXPECT(!swapchain_is_used);
    swapchain_is_used = true;
    pthread_mutex_unlock(&fake_lock);
}

static void swapchain_end(void)
{
    pthread_mutex_lock(&fake_lock);
    swapchain_is_used = false;
    pthread_mutex_unlock(&fake_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL present(VkQueue queue, const VkPresentInfoKHR *info)
{
    swapchain_begin();
    usleep(2000); // so that a call at the same time is noticed
    pthread_mutex_lock(&fake_lock);
    note("%s present", ((struct queue *)queue)->name);
    note_list("w", info->pWaitSemaphores, info->waitSemaphoreCount);
    const VkPresentIdKHR *id = vl_find(info->pNext, VK_STRUCTURE_TYPE_PRESENT_ID_KHR);
    const VkPresentRegionsKHR *regions =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR);
    VkResult r = VK_SUCCESS;
    for (uint32_t i = 0; i < info->swapchainCount; i++) {
        note(" image%d", (int)info->pImageIndices[i]);
        if (id)
            note(" id%d", (int)id->pPresentIds[i]);
        for (uint32_t k = 0; regions && k < regions->pRegions[i].rectangleCount; k++)
            note(" %ux%u", regions->pRegions[i].pRectangles[k].extent.width,
                 regions->pRegions[i].pRectangles[k].extent.height);
        // Only the second swapchain does not fit its surface any more.
        if (info->pResults)
            info->pResults[i] = i == 1 ? VK_SUBOPTIMAL_KHR : VK_SUCCESS;
        if (i == 1)
            r = VK_SUBOPTIMAL_KHR;
    }
    images++;
    VkResult end = end_submission(VK_NULL_HANDLE);
    pthread_mutex_unlock(&fake_lock);
    swapchain_end();
    return end ? end : r;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire(VkDevice device, VkSwapchainKHR swapchain,
                                              uint64_t timeout, VkSemaphore semaphore,
                                              VkFence fence, uint32_t *index)
{
    (void)device, (void)swapchain;
    swapchain_begin();
    VkResult r = timeout ? VK_TIMEOUT : VK_NOT_READY;
    pthread_mutex_lock(&fake_lock);
    if (images) {
        images--;
        *index = 3;
        note("acquire%s", semaphore ? " semaphore" : "");
        r = end_submission(fence);
    }
    pthread_mutex_unlock(&fake_lock);
    if (r == VK_TIMEOUT)
        time_out(timeout);
    swapchain_end();
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_2(VkDevice device,
                                                const VkAcquireNextImageInfoKHR *info,
                                                uint32_t *index)
{
    return acquire(device, info->swapchain, info->timeout, info->semaphore, info->fence, index);
}

static void note_swapchain(const char *text)
{
    swapchain_begin();
    pthread_mutex_lock(&fake_lock);
    note("%s\n", text);
    pthread_mutex_unlock(&fake_lock);
    swapchain_end();
}

static VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice device,
                                                       const VkSwapchainCreateInfoKHR *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSwapchainKHR *out)
{
    (void)device, (void)info, (void)allocator;
    note_swapchain("create swapchain");
    *out = (VkSwapchainKHR)(uintptr_t)78;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice device, VkSwapchainKHR swapchain,
                                                    const VkAllocationCallbacks *allocator)
{
    (void)device, (void)swapchain, (void)allocator;
    note_swapchain("destroy swapchain");
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_present(VkDevice device, VkSwapchainKHR swapchain,
                                                       uint64_t id, uint64_t timeout)
{
    (void)device, (void)swapchain, (void)id, (void)timeout;
    note_swapchain("wait for present");
    return VK_SUCCESS;
}

// ---- debug labels

static void note_label(VkQueue queue, const char *kind, const char *name)
{
    pthread_mutex_lock(&fake_lock);
    note("%s %s %s\n", ((struct queue *)queue)->name, kind, name);
    pthread_mutex_unlock(&fake_lock);
}

static VKAPI_ATTR void VKAPI_CALL label_begin(VkQueue queue, const VkDebugUtilsLabelEXT *info)
{
    note_label(queue, "begin", info->pLabelName);
}

static VKAPI_ATTR void VKAPI_CALL label_end(VkQueue queue)
{
    note_label(queue, "end", "");
}

static VKAPI_ATTR void VKAPI_CALL label_insert(VkQueue queue, const VkDebugUtilsLabelEXT *info)
{
    note_label(queue, "insert", info->pLabelName);
}

// ---- vkQueueSubmit2

static void note_chain(const void *chain)
{
    const VkProtectedSubmitInfo *s = vl_find(chain, VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO);
    if (s)
        note(" protected%d", (int)s->protectedSubmit);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit_2(VkQueue queue, uint32_t count,
                                                     const VkSubmitInfo2 *infos, VkFence fence)
{
    pthread_mutex_lock(&fake_lock);
    note("%s submit2", ((struct queue *)queue)->name);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < infos[i].waitSemaphoreInfoCount; k++) {
            note(" w%d", (int)(uintptr_t)infos[i].pWaitSemaphoreInfos[k].semaphore);
            note_chain(infos[i].pWaitSemaphoreInfos[k].pNext);
        }
        for (uint32_t k = 0; k < infos[i].commandBufferInfoCount; k++) {
            note(" commands%d", (int)(uintptr_t)infos[i].pCommandBufferInfos[k].commandBuffer);
            note_chain(infos[i].pCommandBufferInfos[k].pNext);
        }
        for (uint32_t k = 0; k < infos[i].signalSemaphoreInfoCount; k++) {
            note(" s%d", (int)(uintptr_t)infos[i].pSignalSemaphoreInfos[k].semaphore);
            note_chain(infos[i].pSignalSemaphoreInfos[k].pNext);
        }
    }
    VkResult r = end_submission(fence);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

// ---- SYNC_FD

// A payload that comes as SYNC_FD is signalled.
static VKAPI_ATTR VkResult VKAPI_CALL import_fence_fd(VkDevice device,
                                                      const VkImportFenceFdInfoKHR *info)
{
    (void)device;
    pthread_mutex_lock(&fake_lock);
    note("import fence\n");
    signalled[signalled_count++ % SIGNALLED_MOST] = (uintptr_t)info->fence;
    pthread_mutex_unlock(&fake_lock);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL import_semaphore_fd(VkDevice device,
                                                          const VkImportSemaphoreFdInfoKHR *info)
{
    (void)device, (void)info;
    pthread_mutex_lock(&fake_lock);
    note("import semaphore\n");
    pthread_mutex_unlock(&fake_lock);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fence_fd(VkDevice device, const VkFenceGetFdInfoKHR *info,
                                                   int *fd)
{
    (void)device, (void)info;
    pthread_mutex_lock(&fake_lock);
    note("export fence\n");
    pthread_mutex_unlock(&fake_lock);
    *fd = -1; // "the special value -1": signalled
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_semaphore_fd(VkDevice device,
                                                       const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    (void)device, (void)info;
    pthread_mutex_lock(&fake_lock);
    note("export semaphore\n");
    pthread_mutex_unlock(&fake_lock);
    *fd = -1;
    return VK_SUCCESS;
}

PFN_vkVoidFunction extension_proc(const char *name)
{
    const struct function always[] = {F(QueuePresentKHR, present),
                                      F(AcquireNextImageKHR, acquire),
                                      F(AcquireNextImage2KHR, acquire_2),
                                      F(CreateSwapchainKHR, create_swapchain),
                                      F(DestroySwapchainKHR, destroy_swapchain),
                                      F(WaitForPresentKHR, wait_for_present),
                                      F(QueueBeginDebugUtilsLabelEXT, label_begin),
                                      F(QueueEndDebugUtilsLabelEXT, label_end),
                                      F(QueueInsertDebugUtilsLabelEXT, label_insert),
                                      F(QueueSubmit2KHR, queue_submit_2)};
    const struct function sync_fd[] = {
        F(ImportFenceFdKHR, import_fence_fd), F(ImportSemaphoreFdKHR, import_semaphore_fd),
        F(GetFenceFdKHR, get_fence_fd), F(GetSemaphoreFdKHR, get_semaphore_fd)};
    PFN_vkVoidFunction f = find(always, sizeof always / sizeof *always, name);
    return f || !has_sync_fd ? f : find(sync_fd, sizeof sync_fd / sizeof *sync_fd, name);
}
