// SPDX-License-Identifier: MIT
// Semaphores and fences with payloads of the layer (OPAQUE_FD) and of the driver (SYNC_FD), on a
// simulated driver. lavapipe has SYNC_FD only in newer versions of Mesa.
#include "fake_program.h"

static VkInstance instance;

static void open_device(const char *first, const char *second)
{
    device = make_device_with(instance, get_instance_proc, get_device_proc, first, second);
}

static void close_device(void)
{
    CALL(device, DestroyDevice)(device, NULL);
    clear_log();
}

static VkResult status(VkFence f)
{
    return CALL(device, GetFenceStatus)(device, f);
}

static void import_sync_fd(VkSemaphore s, VkFence f)
{
    VkImportSemaphoreFdInfoKHR semaphore = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                            .semaphore = s,
                                            .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                            .handleType =
                                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
                                            .fd = -1};
    VkImportFenceFdInfoKHR fence = {.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
                                    .fence = f,
                                    .flags = VK_FENCE_IMPORT_TEMPORARY_BIT,
                                    .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
                                    .fd = -1};
    EXPECT_EQ(s ? CALL(device, ImportSemaphoreFdKHR)(device, &semaphore)
                : CALL(device, ImportFenceFdKHR)(device, &fence),
              VK_SUCCESS);
}

static VkResult export_sync_fd(VkSemaphore s, VkFence f)
{
    VkSemaphoreGetFdInfoKHR semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                         .semaphore = s,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    VkFenceGetFdInfoKHR fence = {.sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
                                 .fence = f,
                                 .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    int fd = 0;
    return s ? CALL(device, GetSemaphoreFdKHR)(device, &semaphore, &fd)
             : CALL(device, GetFenceFdKHR)(device, &fence, &fd);
}

// The driver's payload should count until the fence is reset.
static void check_fence_import(void)
{
    VkFence f = fence_of(true);
    VkFence list[] = {f};
    import_sync_fd(VK_NULL_HANDLE, f);
    EXPECT_EQ(status(f), VK_SUCCESS);
    EXPECT_EQ(CALL(device, WaitForFences)(device, 1, list, VK_TRUE, 0), VK_SUCCESS);
    EXPECT_EQ(CALL(device, ResetFences)(device, 1, list), VK_SUCCESS);
    EXPECT_EQ(status(f), VK_NOT_READY);
    EXPECT_EQ(submit(QUEUE(queue_a), VK_NULL_HANDLE, 0, VK_NULL_HANDLE, f), VK_SUCCESS);
    idle();
    EXPECT_EQ(status(f), VK_SUCCESS);
    // An export is like a reset: the fence's own payload is back.
    import_sync_fd(VK_NULL_HANDLE, f);
    EXPECT_EQ(CALL(device, ResetFences)(device, 1, list), VK_SUCCESS);
    import_sync_fd(VK_NULL_HANDLE, f);
    EXPECT_EQ(export_sync_fd(VK_NULL_HANDLE, f), VK_SUCCESS);
    EXPECT_EQ(status(f), VK_NOT_READY);
    clear_log();
}

// An export of the driver's payload should end it, as a wait does.
static void check_semaphore_export(void)
{
    VkSemaphore s = semaphore_of(BINARY, true);
    char expected[100];
    import_sync_fd(s, VK_NULL_HANDLE);
    hold(QUEUE(queue_a), s, 0, VK_NULL_HANDLE);
    snprintf(expected, sizeof expected, "import semaphore\nA submit w%d =0 @1\n", number(s));
    expect_log(expected);
    import_sync_fd(s, VK_NULL_HANDLE);
    EXPECT_EQ(export_sync_fd(s, VK_NULL_HANDLE), VK_SUCCESS);
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, s);
    idle();
    expect_log("import semaphore\nexport semaphore\nA submit fence\n");
    // The driver does not have the layer's payload, so it cannot export it.
    EXPECT_EQ(export_sync_fd(s, VK_NULL_HANDLE), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    EXPECT_EQ(export_sync_fd(VK_NULL_HANDLE, fence_of(true)), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    expect_log("");
}

static VkSemaphore gate;

static void *open_gate(void *argument)
{
    (void)argument;
    usleep(20000);
    set(gate, 1);
    return NULL;
}

// The driver should be asked for a signal after it has got the submission.
static void check_held_export(bool is_fence)
{
    VkSemaphore s = semaphore_of(BINARY, false);
    VkFence f = fence_of(false);
    pthread_t thread;
    char expected[100];
    gate = semaphore_of(TIMELINE, true);
    EXPECT_EQ(submit(QUEUE(queue_a), gate, 1, is_fence ? VK_NULL_HANDLE : s,
                     is_fence ? f : VK_NULL_HANDLE),
              VK_SUCCESS);
    EXPECT_EQ(pthread_create(&thread, NULL, open_gate, NULL), 0);
    EXPECT_EQ(is_fence ? export_sync_fd(VK_NULL_HANDLE, f) : export_sync_fd(s, VK_NULL_HANDLE),
              VK_SUCCESS);
    if (is_fence)
        snprintf(expected, sizeof expected, "A submit fence\nexport fence\n");
    else
        snprintf(expected, sizeof expected, "A submit s%d\nexport semaphore\n", number(s));
    expect_log(expected);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    idle();
}

// Without the extensions for descriptors, objects can be exportable, and there are no functions to
// export them. The simulated driver checks that it gets neither the names nor the structs.
static void check_without_fd(void)
{
    has_sync_fd = false;
    open_device(VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME, NULL);
    EXPECT(!layer_get_device(device, "vkGetSemaphoreFdKHR"));
    VkSemaphore s = semaphore_of(TIMELINE, true);
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, s);
    idle();
    expect_log("A submit fence\n");
    hold(QUEUE(queue_a), s, 1, VK_NULL_HANDLE);
    expect_log("A submit\n");
    close_device();
    open_device(VK_KHR_EXTERNAL_FENCE_EXTENSION_NAME, NULL);
    EXPECT(!layer_get_device(device, "vkGetFenceFdKHR"));
    VkFence f = fence_of(true);
    EXPECT_EQ(submit(QUEUE(queue_a), VK_NULL_HANDLE, 0, VK_NULL_HANDLE, f), VK_SUCCESS);
    idle();
    EXPECT_EQ(status(f), VK_SUCCESS);
    close_device();
}

int main(int argc, char **argv)
{
    load_layer(argc, argv);
    instance = make_instance(get_instance_proc);
    has_sync_fd = true;
    open_device(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME);
    check_fence_import();
    check_semaphore_export();
    check_held_export(false);
    check_held_export(true);
    close_device();
    check_without_fd();
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("the layer and the driver each know their payloads");
    return 0;
}
