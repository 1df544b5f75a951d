// SPDX-License-Identifier: MIT
// A simulated driver with two queues, which notes each call as a line of text. Its fences are
// signalled at once.
#include "fake_driver.h"

#include "fake_extensions.h"

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *infos, VkFence fence)
{
    pthread_mutex_lock(&fake_lock);
    note("%s submit", ((struct queue *)queue)->name);
    for (uint32_t i = 0; i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *values =
            vl_find(infos[i].pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        const VkProtectedSubmitInfo *protected =
            vl_find(infos[i].pNext, VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO);
        note_list("w", infos[i].pWaitSemaphores, infos[i].waitSemaphoreCount);
        for (uint32_t k = 0; values && k < values->waitSemaphoreValueCount; k++)
            note(" =%d", (int)values->pWaitSemaphoreValues[k]);
        for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; k++)
            note(" @%d", (int)infos[i].pWaitDstStageMask[k]);
        note_list("s", infos[i].pSignalSemaphores, infos[i].signalSemaphoreCount);
        if (protected && protected->protectedSubmit)
            note(" protected");
    }
    VkResult r = end_submission(fence);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count,
                                                  const VkBindSparseInfo *infos, VkFence fence)
{
    pthread_mutex_lock(&fake_lock);
    note("%s sparse", ((struct queue *)queue)->name);
    for (uint32_t i = 0; i < count; i++) {
        note_list("w", infos[i].pWaitSemaphores, infos[i].waitSemaphoreCount);
        for (uint32_t k = 0; k < infos[i].bufferBindCount; k++)
            for (uint32_t n = 0; n < infos[i].pBufferBinds[k].bindCount; n++)
                note(" bind%d", (int)infos[i].pBufferBinds[k].pBinds[n].size);
        note_list("s", infos[i].pSignalSemaphores, infos[i].signalSemaphoreCount);
    }
    VkResult r = end_submission(fence);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count,
                                                      const VkFence *fences, VkBool32 all,
                                                      uint64_t timeout)
{
    (void)device, (void)all;
    pthread_mutex_lock(&fake_lock);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned k = 0; k < SIGNALLED_MOST; k++)
            found += signalled[k] == (uintptr_t)fences[i];
    pthread_mutex_unlock(&fake_lock);
    return found >= count ? VK_SUCCESS : time_out(timeout);
}

// Nothing ever signals the driver's timelines.
static VKAPI_ATTR VkResult VKAPI_CALL wait_for_semaphores(VkDevice device,
                                                          const VkSemaphoreWaitInfo *info,
                                                          uint64_t timeout)
{
    (void)device, (void)info;
    return time_out(timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL semaphore_value(VkDevice device, VkSemaphore semaphore,
                                                      uint64_t *value)
{
    (void)device, (void)semaphore;
    *value = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice device, VkFence fence)
{
    return wait_for_fences(device, 1, &fence, VK_TRUE, 0) ? VK_NOT_READY : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count,
                                                   const VkFence *fences)
{
    (void)device;
    pthread_mutex_lock(&fake_lock);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned k = 0; k < SIGNALLED_MOST; k++)
            if (signalled[k] == (uintptr_t)fences[i])
                signalled[k] = 0;
    pthread_mutex_unlock(&fake_lock);
    return VK_SUCCESS;
}

static uintptr_t new_handle(void)
{
    static uintptr_t handles = 100; // guarded by fake_lock
    pthread_mutex_lock(&fake_lock);
    uintptr_t h = ++handles;
    pthread_mutex_unlock(&fake_lock);
    return h;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_fence(VkDevice device, const VkFenceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkFence *out)
{
    (void)device, (void)allocator;
    EXPECT(!vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO));
    *out = (VkFence)new_handle();
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice device, VkFence fence,
                                                const VkAllocationCallbacks *allocator)
{
    (void)device, (void)fence, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSemaphore *out)
{
    (void)device, (void)allocator;
    EXPECT(!vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO));
    *out = (VkSemaphore)new_handle();
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *allocator)
{
    (void)device, (void)semaphore, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore(VkDevice device,
                                                       const VkSemaphoreSignalInfo *info)
{
    (void)device, (void)info;
    EXPECT(false); // the layer's semaphores never get here
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    (void)queue;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    (void)device;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *out)
{
    (void)info, (void)allocator;
    *out = (VkInstance)&fake_instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    (void)instance, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    (void)physical, (void)allocator;
    EXPECT_EQ(info->enabledExtensionCount, 0); // the driver does not know the layer's extension
    *out = (VkDevice)&fake_device;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *allocator)
{
    (void)device, (void)allocator;
}

static VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice physical,
                                                    VkPhysicalDeviceMemoryProperties *out)
{
    (void)physical;
    memset(out, 0, sizeof *out);
}

static VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice physical, const char *layer,
                                                 uint32_t *count, VkExtensionProperties *out)
{
    (void)physical, (void)layer, (void)out;
    *count = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    const struct function list[] = {
        F(DestroyDevice, destroy_device),       F(QueueSubmit, queue_submit),
        F(QueueBindSparse, bind_sparse),        F(WaitForFences, wait_for_fences),
        F(ResetFences, reset_fences),           F(CreateFence, create_fence),
        F(DestroyFence, destroy_fence),         F(CreateSemaphore, create_semaphore),
        F(DestroySemaphore, destroy_semaphore), F(SignalSemaphore, signal_semaphore),
        F(QueueWaitIdle, queue_wait_idle),      F(DeviceWaitIdle, device_wait_idle),
        F(WaitSemaphores, wait_for_semaphores), F(GetSemaphoreCounterValue, semaphore_value),
        F(GetFenceStatus, fence_status)};
    (void)device;
    PFN_vkVoidFunction f = find(list, sizeof list / sizeof *list, name);
    return f ? f : extension_proc(name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    const struct function list[] = {
        F(CreateInstance, create_instance), F(DestroyInstance, destroy_instance),
        F(CreateDevice, create_device), F(EnumerateDeviceExtensionProperties, extensions),
        F(GetPhysicalDeviceMemoryProperties, memory_properties)};
    (void)instance;
    return find(list, sizeof list / sizeof *list, name);
}
