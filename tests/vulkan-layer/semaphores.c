// SPDX-License-Identifier: MIT
// External semaphores of the Vulkan layer: what it offers, import and export, and the host's side.
#include "../vulkan_sync.h"

// ---- what is offered

static bool offered(const char *name)
{
    VkExtensionProperties list[512];
    uint32_t count = 512;
    VK(vkEnumerateDeviceExtensionProperties(vk.physical, NULL, &count, list));
    unsigned found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += !strcmp(list[i].extensionName, name);
    EXPECT(found < 2);
    return found;
}

static VkExternalSemaphoreFeatureFlags features_of(VkSemaphoreType type, unsigned handle_type)
{
    VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = type};
    VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &kind,
        .handleType = handle_type};
    VkExternalSemaphoreProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vkGetPhysicalDeviceExternalSemaphoreProperties(vk.physical, &info, &out);
    if (handle_type == OPAQUE_FD) {
        EXPECT_EQ(out.compatibleHandleTypes, OPAQUE_FD);
        EXPECT_EQ(out.exportFromImportedHandleTypes, OPAQUE_FD);
    }
    return out.externalSemaphoreFeatures;
}

TEST(offers)
{
    vks_open();
    EXPECT(offered(VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME));
    EXPECT(offered(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME));
    EXPECT(offered(VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME));
    EXPECT(offered(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)); // the driver's own
    EXPECT_EQ(features_of(VK_SEMAPHORE_TYPE_BINARY, OPAQUE_FD), 3);
    EXPECT_EQ(features_of(VK_SEMAPHORE_TYPE_TIMELINE, OPAQUE_FD), 3);
    EXPECT_EQ(
        features_of(VK_SEMAPHORE_TYPE_BINARY, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT),
        0);
    // The list does not fit: the loader and programs ask like this.
    VkExtensionProperties one;
    uint32_t count = 1;
    EXPECT_EQ(vkEnumerateDeviceExtensionProperties(vk.physical, NULL, &count, &one), VK_INCOMPLETE);
    EXPECT_EQ(count, 1);
    vk_close();
}

static bool is_layers(const char *function)
{
    Dl_info info;
    void *f = (void *)vkGetDeviceProcAddr(vk.device, function);
    return f && dladdr(f, &info) && strstr(info.dli_fname, "VkLayer_cardless");
}

// A device without the extensions calls the driver directly.
TEST(costs_nothing)
{
    vk_need_layer();
    vk_open();
    EXPECT(!vkGetDeviceProcAddr(vk.device, "vkGetSemaphoreFdKHR"));
    EXPECT(!vkGetDeviceProcAddr(vk.device, "vkImportFenceFdKHR"));
    EXPECT(!is_layers("vkQueueSubmit"));
    EXPECT(!is_layers("vkWaitForFences"));
    EXPECT(is_layers("vkAllocateMemory"));
    vk_close();
    vk.physical = VK_NULL_HANDLE;
    vks_open();
    EXPECT(is_layers("vkQueueSubmit"));
    EXPECT(is_layers("vkGetSemaphoreFdKHR"));
    vk_close();
}

// ---- the host's side, import and export

TEST(host_side)
{
    vks_open();
    VkSemaphore a = vks_timeline(5), b = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE),
                c = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE);
    EXPECT_EQ(vks_value(a), 5);
    EXPECT_EQ(vks_import(b, vks_fd(a), false), VK_SUCCESS);
    EXPECT_EQ(vks_value(b), 5);
    vks_signal(b, UINT64_C(1) << 40);
    EXPECT_EQ(vks_value(a), UINT64_C(1) << 40);
    EXPECT_EQ(vks_wait(a, 6, 0), VK_SUCCESS);
    EXPECT_EQ(vks_wait(a, UINT64_MAX, 0), VK_TIMEOUT);
    EXPECT_EQ(vks_wait(a, UINT64_MAX, 1000000), VK_TIMEOUT);
    // Several, of the layer and of the driver.
    VkSemaphore list[] = {a, c};
    uint64_t values[] = {UINT64_MAX, 1};
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .flags = VK_SEMAPHORE_WAIT_ANY_BIT,
                                .semaphoreCount = 2,
                                .pSemaphores = list,
                                .pValues = values};
    EXPECT_EQ(vkWaitSemaphores(vk.device, &wait, 1000000), VK_TIMEOUT);
    vks_signal(c, 1);
    EXPECT_EQ(vkWaitSemaphores(vk.device, &wait, SECONDS_5), VK_SUCCESS);
    wait.flags = 0;
    EXPECT_EQ(vkWaitSemaphores(vk.device, &wait, 1000000), VK_TIMEOUT);
    vks_signal(a, UINT64_MAX);
    EXPECT_EQ(vkWaitSemaphores(vk.device, &wait, SECONDS_5), VK_SUCCESS);
    vkDestroySemaphore(vk.device, a, NULL);
    EXPECT_EQ(vks_value(b), UINT64_MAX); // the payload lives on
    vkDestroySemaphore(vk.device, b, NULL);
    vkDestroySemaphore(vk.device, c, NULL);
    vk_close();
}

TEST(descriptors)
{
    vks_open();
    VkSemaphore line = vks_timeline(0), flag = vks_binary();
    int fd = vks_fd(line), other = memfd_create("x", MFD_CLOEXEC);
    EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    // Of another kind, not a semaphore, and no descriptor: they stay the program's.
    EXPECT_EQ(vks_import(flag, fd, false), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT(is_open(fd));
    EXPECT_EQ(vks_import(flag, other, false), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT(is_open(other));
    EXPECT_EQ(vks_import(flag, -1, false), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    // A valid one is the layer's.
    EXPECT_EQ(vks_import(line, fd, false), VK_SUCCESS);
    EXPECT(!is_open(fd));
    // Not exportable.
    VkSemaphore own = vks_drivers(VK_SEMAPHORE_TYPE_BINARY);
    VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                   .semaphore = own,
                                   .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int none = -1;
    EXPECT(vks.get_semaphore(vk.device, &get, &none) < 0);
    close(other);
    vkDestroySemaphore(vk.device, own, NULL);
    vkDestroySemaphore(vk.device, line, NULL);
    vkDestroySemaphore(vk.device, flag, NULL);
    vk_close();
}

// Returns whether a submission that waits for the semaphore completes, which takes its signal away.
static bool take(VkSemaphore s)
{
    VkFence f = vks_fence(false, false);
    vks_submit((struct vks_batch){.wait = s, .fence = f});
    VkResult r = vkWaitForFences(vk.device, 1, &f, VK_TRUE, SECONDS_5);
    if (!r)
        vkDestroyFence(vk.device, f, NULL);
    return r == VK_SUCCESS;
}

TEST(temporary_imports)
{
    vks_open();
    VkSemaphore a = vks_binary(), b = vks_binary(), mine = vks_drivers(VK_SEMAPHORE_TYPE_BINARY);
    // The wait acts on the imported payload, and restores the semaphore's own.
    EXPECT_EQ(vks_import(b, vks_fd(a), true), VK_SUCCESS);
    vks_submit((struct vks_batch){.signal = a});
    EXPECT(take(b));
    vks_submit((struct vks_batch){.signal = b});
    EXPECT(take(b));
    // The same with a semaphore of the driver.
    EXPECT_EQ(vks_import(mine, vks_fd(a), true), VK_SUCCESS);
    vks_submit((struct vks_batch){.signal = mine});
    EXPECT(take(mine));
    vks_submit((struct vks_batch){.signal = mine});
    EXPECT(take(mine));
    // A permanent import lasts.
    EXPECT_EQ(vks_import(b, vks_fd(a), false), VK_SUCCESS);
    for (int i = 0; i < 3; i++) {
        vks_submit((struct vks_batch){.signal = a});
        EXPECT(take(b));
        vks_submit((struct vks_batch){.signal = b});
        EXPECT(take(a));
    }
    // An export does not change the payload.
    vks_submit((struct vks_batch){.signal = a});
    VK(vkQueueWaitIdle(vk.queue));
    close(vks_fd(a));
    EXPECT(take(a));
    vkDestroySemaphore(vk.device, a, NULL);
    vkDestroySemaphore(vk.device, b, NULL);
    vkDestroySemaphore(vk.device, mine, NULL);
    vk_close();
}

TESTS(CASE(offers), CASE(costs_nothing), CASE(host_side), CASE(descriptors),
      CASE(temporary_imports))
