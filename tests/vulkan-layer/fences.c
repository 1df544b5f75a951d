// SPDX-License-Identifier: MIT
// External fences of the Vulkan layer.
#include "../vulkan_sync.h"

static VkResult wait_for(VkFence f, uint64_t timeout_ns)
{
    return vkWaitForFences(vk.device, 1, &f, VK_TRUE, timeout_ns);
}

TEST(offers)
{
    vks_open();
    VkPhysicalDeviceExternalFenceInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalFenceProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
    vkGetPhysicalDeviceExternalFenceProperties(vk.physical, &info, &out);
    EXPECT_EQ(out.externalFenceFeatures, 3);
    EXPECT_EQ(out.compatibleHandleTypes, OPAQUE_FD);
    EXPECT_EQ(out.exportFromImportedHandleTypes, OPAQUE_FD);
    vk_close();
}

TEST(status)
{
    vks_open();
    VkFence f = vks_fence(true, true), g = vks_fence(true, false);
    EXPECT_EQ(vkGetFenceStatus(vk.device, f), VK_SUCCESS);
    EXPECT_EQ(vkGetFenceStatus(vk.device, g), VK_NOT_READY);
    EXPECT_EQ(wait_for(g, 0), VK_TIMEOUT);
    EXPECT_EQ(wait_for(g, 1000000), VK_TIMEOUT);
    VK(vkResetFences(vk.device, 1, &f));
    EXPECT_EQ(vkGetFenceStatus(vk.device, f), VK_NOT_READY);
    for (int i = 0; i < 3; i++) {
        vks_submit((struct vks_batch){.fence = f});
        EXPECT_EQ(wait_for(f, SECONDS_5), VK_SUCCESS);
        EXPECT_EQ(wait_for(f, SECONDS_5), VK_SUCCESS); // a wait does not reset it
        VK(vkResetFences(vk.device, 1, &f));
    }
    VK(vkQueueSubmit(vk.queue, 0, NULL, f)); // no batch, only the fence
    EXPECT_EQ(wait_for(f, SECONDS_5), VK_SUCCESS);
    VK(vkQueueWaitIdle(vk.queue));
    vkDestroyFence(vk.device, f, NULL);
    vkDestroyFence(vk.device, g, NULL);
    vk_close();
}

TEST(imports)
{
    vks_open();
    VkFence a = vks_fence(true, false), b = vks_fence(true, true), mine = vks_fence(false, true);
    // Temporary: until the next reset.
    EXPECT_EQ(vks_import_fence(b, vks_fence_fd(a), true), VK_SUCCESS);
    EXPECT_EQ(vks_import_fence(mine, vks_fence_fd(a), true), VK_SUCCESS);
    EXPECT_EQ(vkGetFenceStatus(vk.device, b), VK_NOT_READY);
    EXPECT_EQ(vkGetFenceStatus(vk.device, mine), VK_NOT_READY);
    vks_submit((struct vks_batch){.fence = a});
    EXPECT_EQ(wait_for(b, SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(wait_for(mine, SECONDS_5), VK_SUCCESS);
    VkFence both[] = {b, mine};
    VK(vkResetFences(vk.device, 2, both));
    EXPECT_EQ(vkGetFenceStatus(vk.device, a), VK_SUCCESS);
    EXPECT_EQ(vkGetFenceStatus(vk.device, b), VK_NOT_READY);
    EXPECT_EQ(vkGetFenceStatus(vk.device, mine), VK_NOT_READY);
    vks_submit((struct vks_batch){.fence = mine}); // the driver's again
    EXPECT_EQ(wait_for(mine, SECONDS_5), VK_SUCCESS);
    // Permanent: a reset acts on the shared payload.
    EXPECT_EQ(vks_import_fence(b, vks_fence_fd(a), false), VK_SUCCESS);
    EXPECT_EQ(vkGetFenceStatus(vk.device, b), VK_SUCCESS);
    VK(vkResetFences(vk.device, 1, &b));
    EXPECT_EQ(vkGetFenceStatus(vk.device, a), VK_NOT_READY);
    // No fence: the descriptor stays the program's.
    int other = memfd_create("x", MFD_CLOEXEC);
    EXPECT_EQ(vks_import_fence(b, other, false), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT_EQ(close(other), 0);
    VK(vkQueueWaitIdle(vk.queue));
    vkDestroyFence(vk.device, a, NULL);
    vkDestroyFence(vk.device, b, NULL);
    vkDestroyFence(vk.device, mine, NULL);
    vk_close();
}

// Fences of the layer and of the driver in one wait.
TEST(any_and_all)
{
    vks_open();
    VkSemaphore go = vks_timeline(0);
    VkFence list[] = {vks_fence(true, false), vks_fence(false, false), vks_fence(true, false)};
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_FALSE, 1000000), VK_TIMEOUT);
    vks_submit((struct vks_batch){.fence = list[1]});
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_FALSE, SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_TRUE, 1000000), VK_TIMEOUT);
    VK(vkResetFences(vk.device, 3, list));
    vks_submit((struct vks_batch){.fence = list[2]});
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_FALSE, SECONDS_5), VK_SUCCESS);
    vks_submit((struct vks_batch){.wait = go, .wait_value = 1, .fence = list[0]});
    vks_submit((struct vks_batch){.fence = list[1]});
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_TRUE, 10000000), VK_TIMEOUT);
    EXPECT_EQ(vkGetFenceStatus(vk.device, list[1]), VK_NOT_READY); // comes after list[0]
    vks_signal(go, 1);
    EXPECT_EQ(vkWaitForFences(vk.device, 3, list, VK_TRUE, SECONDS_5), VK_SUCCESS);
    VK(vkQueueWaitIdle(vk.queue));
    for (int i = 0; i < 3; i++)
        vkDestroyFence(vk.device, list[i], NULL);
    vkDestroySemaphore(vk.device, go, NULL);
    vk_close();
}

// Whoever sees a fence signalled sees the semaphores of the same submission signalled, too.
TEST(fence_follows_semaphores)
{
    vks_open();
    for (int exportable = 0; exportable < 2; exportable++) {
        VkSemaphore s = vks_timeline(0), drivers = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE);
        VkFence f = vks_fence(exportable, false);
        for (uint64_t i = 1; i <= 100; i++) {
            VkSemaphore signals[] = {drivers, s};
            uint64_t values[] = {i, i};
            VkTimelineSemaphoreSubmitInfo timeline = {
                .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                .signalSemaphoreValueCount = 2,
                .pSignalSemaphoreValues = values};
            VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &timeline,
                                 .signalSemaphoreCount = 2,
                                 .pSignalSemaphores = signals};
            VK(vkQueueSubmit(vk.queue, 1, &info, f));
            EXPECT_EQ(wait_for(f, SECONDS_5), VK_SUCCESS);
            EXPECT_EQ(vks_value(s), i);
            EXPECT_EQ(vks_value(drivers), i);
            VK(vkResetFences(vk.device, 1, &f));
        }
        VK(vkQueueWaitIdle(vk.queue));
        vkDestroyFence(vk.device, f, NULL);
        vkDestroySemaphore(vk.device, s, NULL);
        vkDestroySemaphore(vk.device, drivers, NULL);
    }
    vk_close();
}

TESTS(CASE(offers), CASE(status), CASE(imports), CASE(any_and_all), CASE(fence_follows_semaphores))
