// SPDX-License-Identifier: MIT
// Lets each allocation of the Vulkan layer fail once, on a simulated driver. A call should then
// return VK_ERROR_OUT_OF_HOST_MEMORY and change nothing, so the same call succeeds afterwards. The
// layer's objects are linked into this program, so that it can reach their allocator.
#include "fake_program.h"

#include <fcntl.h>

#include "alloc.h"

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance, const char *);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice, const char *);

static VkInstance instance;
static unsigned failures;

// Runs `call` with the n-th allocation failing, for all n, and `check` after each failure. Both see
// the state of before.
static void each_allocation(VkResult (*call)(void), void (*check)(void))
{
    for (uint64_t n = 1;; n++) {
        dm_alloc_fail_after(n);
        VkResult r = call();
        bool failed = dm_alloc_failed();
        if (r == VK_SUCCESS && !failed)
            return;
        // Not all memory is needed: tables that cannot shrink stay large.
        if (r && r != VK_ERROR_TOO_MANY_OBJECTS) // no number is left for a descriptor
            EXPECT_EQ(r, VK_ERROR_OUT_OF_HOST_MEMORY);
        EXPECT(failed);
        failures += r != VK_SUCCESS;
        if (r)
            check();
        else
            return;
    }
}

// ---- devices and objects

static VkResult create_device_now(void)
{
    const char *const names[] = {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                                 VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME};
    VkLayerDeviceLink next = {.pfnNextGetInstanceProcAddr = get_instance_proc,
                              .pfnNextGetDeviceProcAddr = get_device_proc};
    VkLayerDeviceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                    .function = VK_LAYER_LINK_INFO,
                                    .u.pLayerInfo = &next};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &link,
                               .enabledExtensionCount = 2,
                               .ppEnabledExtensionNames = names};
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)layer_get(instance, "vkCreateDevice");
    device = VK_NULL_HANDLE;
    return create((VkPhysicalDevice)instance, &info, NULL, &device);
}

static void nothing(void)
{
}

static VkSemaphore created;
static VkSemaphoreType created_type;
static VkFence created_fence;

static VkResult create_semaphore_now(void)
{
    VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                          .handleTypes =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = &export,
                                      .semaphoreType = created_type};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return CALL(device, CreateSemaphore)(device, &info, NULL, &created);
}

static void no_semaphore(void)
{
    EXPECT(created == VK_NULL_HANDLE);
}

static VkResult create_fence_now(void)
{
    VkExportFenceCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                      .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = &export};
    return CALL(device, CreateFence)(device, &info, NULL, &created_fence);
}

// ---- import and export

static int shared_fd;
static VkSemaphore importer;

static VkResult import_now(void)
{
    return import_semaphore(importer, shared_fd, true);
}

static void fd_is_ours(void)
{
    EXPECT(fcntl(shared_fd, F_GETFD) >= 0);
}

static VkResult export_now(void)
{
    VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                    .semaphore = created,
                                    .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    return CALL(device, GetSemaphoreFdKHR)(device, &info, &shared_fd);
}

static void check_objects(void)
{
    for (int type = 0; type < 2; type++) {
        created_type = type ? TIMELINE : BINARY;
        each_allocation(create_semaphore_now, no_semaphore);
    }
    each_allocation(create_fence_now, nothing);
    created = semaphore_of(BINARY, true);
    each_allocation(export_now, nothing);
    importer = semaphore_of(BINARY, false);
    each_allocation(import_now, fd_is_ours);
    EXPECT(fcntl(shared_fd, F_GETFD) < 0); // the layer has it
}

// ---- submissions

static VkSemaphore flag, imported, gate;
static uint64_t gate_value;
static VkFence fence;
static bool is_2;

// Waits for a binary semaphore that is signalled, for a temporary payload that is, and for the
// gate, which may be shut. The fence is the driver's.
static VkResult submit_now(void)
{
    VkSemaphore list[] = {flag, imported, gate};
    uint64_t values[] = {0, 0, gate_value};
    VkPipelineStageFlags stages[] = {1, 1, 1};
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .waitSemaphoreValueCount = 3,
                                              .pWaitSemaphoreValues = values};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .waitSemaphoreCount = 3,
                         .pWaitSemaphores = list,
                         .pWaitDstStageMask = stages};
    VkSemaphoreSubmitInfo waits[3];
    for (int i = 0; i < 3; i++)
        waits[i] = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                           .semaphore = list[i],
                                           .value = values[i]};
    VkSubmitInfo2 info_2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                            .waitSemaphoreInfoCount = 3,
                            .pWaitSemaphoreInfos = waits};
    return is_2 ? CALL(device, QueueSubmit2KHR)(QUEUE(queue_a), 1, &info_2, fence)
                : CALL(device, QueueSubmit)(QUEUE(queue_a), 1, &info, fence);
}

static void not_submitted(void)
{
    EXPECT_EQ(CALL(device, GetFenceStatus)(device, fence), VK_NOT_READY);
    expect_log("");
}

// `held`: the gate is shut when the batch is submitted.
static void check_submissions(bool held)
{
    flag = semaphore_of(BINARY, true);
    imported = semaphore_of(BINARY, true);
    gate = semaphore_of(TIMELINE, true);
    fence = fence_of(false);
    VkSemaphore source = semaphore_of(BINARY, true);
    EXPECT_EQ(import_semaphore(imported, semaphore_fd(source), true), VK_SUCCESS);
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, flag);
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, source);
    idle();
    clear_log();
    gate_value = held;
    each_allocation(submit_now, not_submitted);
    if (held)
        set(gate, 1);
    idle();
    expect_log(is_2 ? "A submit2 fence\n" : "A submit fence\n");
    EXPECT_EQ(CALL(device, GetFenceStatus)(device, fence), VK_SUCCESS);
}

// The first submission with payloads creates the state of the queue.
static VkResult first_submission(void)
{
    return submit(QUEUE(queue_b), VK_NULL_HANDLE, 0, created, VK_NULL_HANDLE);
}

static VkResult wait_now(void)
{
    uint64_t value = 0;
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &gate,
                                .pValues = &value};
    return CALL(device, WaitSemaphores)(device, &info, 0);
}

static VkResult wait_for_fence_now(void)
{
    return CALL(device, WaitForFences)(device, 1, &fence, VK_TRUE, 0);
}

static VkResult reset_fence_now(void)
{
    return CALL(device, ResetFences)(device, 1, &fence);
}

static const VkSwapchainKHR chain = (VkSwapchainKHR)(uintptr_t)77;

static VkResult present_now(void)
{
    uint32_t index = 2;
    VkResult result = VK_INCOMPLETE;
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &flag,
                             .swapchainCount = 1,
                             .pSwapchains = &chain,
                             .pImageIndices = &index,
                             .pResults = &result};
    VkResult r = CALL(device, QueuePresentKHR)(QUEUE(queue_a), &info);
    EXPECT_EQ(result, r);
    return r;
}

// Labels have no result: they may be lost, but begin and end stay pairs.
static VkResult labels_now(void)
{
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                  .pLabelName = "frame"};
    CALL(device, QueueBeginDebugUtilsLabelEXT)(QUEUE(queue_a), &label);
    CALL(device, QueueEndDebugUtilsLabelEXT)(QUEUE(queue_a));
    return dm_alloc_countdown() ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void check_labels(void)
{
    gate_value++;
    hold(QUEUE(queue_a), gate, gate_value, VK_NULL_HANDLE);
    each_allocation(labels_now, nothing);
    set(gate, gate_value);
    idle();
    expect_log("A submit\nA begin frame\nA end \n");
}

int main(void)
{
    layer_get = vkGetInstanceProcAddr;
    layer_get_device = vkGetDeviceProcAddr;
    instance = make_instance(get_instance_proc);
    each_allocation(create_device_now, nothing);
    check_objects();
    each_allocation(first_submission, nothing);
    idle();
    clear_log();
    for (int i = 0; i < 4; i++) {
        is_2 = i & 1;
        check_submissions(i & 2);
    }
    each_allocation(wait_now, nothing);
    each_allocation(wait_for_fence_now, nothing);
    each_allocation(reset_fence_now, nothing);
    EXPECT_EQ(CALL(device, GetFenceStatus)(device, fence), VK_NOT_READY);
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, flag);
    idle();
    clear_log();
    each_allocation(present_now, nothing);
    idle();
    expect_log("A present image2\n");
    check_labels();
    CALL(device, DestroyDevice)(device, NULL);
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    printf("%u failed allocations, and nothing is lost\n", failures);
    return 0;
}
