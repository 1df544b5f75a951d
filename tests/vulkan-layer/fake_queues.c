// SPDX-License-Identifier: MIT
// Submissions that the Vulkan layer holds, on a simulated driver with two queues, sparse binding
// and presents, which lavapipe lacks or tests cannot use without a window.
#include "fake_program.h"

// Everything of a submission is copied, and the layer's semaphores leave their arrays together with
// their stages and values.
static void check_submit(void)
{
    VkSemaphore gate = semaphore_of(TIMELINE, true), a = semaphore_of(BINARY, false),
                b = semaphore_of(BINARY, false);
    VkSemaphore waits[] = {a, gate, b}, signals[] = {b};
    VkPipelineStageFlags stages[] = {16, 32, 64};
    uint64_t values[] = {5, 1, 7};
    VkProtectedSubmitInfo protected = {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
                                       .protectedSubmit = VK_TRUE};
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .pNext = &protected,
                                              .waitSemaphoreValueCount = 3,
                                              .pWaitSemaphoreValues = values};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .waitSemaphoreCount = 3,
                         .pWaitSemaphores = waits,
                         .pWaitDstStageMask = stages,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = signals};
    char expected[200];
    EXPECT_EQ(CALL(device, QueueSubmit)(QUEUE(queue_a), 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    memset(waits, 0, sizeof waits);
    memset(stages, 0, sizeof stages);
    memset(values, 0, sizeof values);
    memset(&protected, 0, sizeof protected);
    expect_log("");
    set(gate, 1);
    idle();
    snprintf(expected, sizeof expected, "A submit w%d w%d =5 =7 @16 @64 s%d protected\n", number(a),
             number(b), number(b));
    expect_log(expected);
}

static void check_sparse_and_present(void)
{
    VkSemaphore gate = semaphore_of(TIMELINE, true), a = semaphore_of(BINARY, false);
    VkSparseMemoryBind binds[] = {{.size = 10}, {.size = 20}};
    VkSparseBufferMemoryBindInfo buffer = {.bindCount = 2, .pBinds = binds};
    VkBindSparseInfo sparse = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &a,
                               .bufferBindCount = 1,
                               .pBufferBinds = &buffer};
    uint32_t image = 2;
    uint64_t id = 9;
    VkSwapchainKHR swapchain = (VkSwapchainKHR)(uintptr_t)77;
    VkResult result = VK_INCOMPLETE;
    VkPresentIdKHR ids = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};
    VkPresentInfoKHR shown = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                              .pNext = &ids,
                              .waitSemaphoreCount = 1,
                              .pWaitSemaphores = &a,
                              .swapchainCount = 1,
                              .pSwapchains = &swapchain,
                              .pImageIndices = &image,
                              .pResults = &result};
    char expected[200];
    // If nothing is held, a present is the driver's.
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &shown), VK_SUCCESS);
    snprintf(expected, sizeof expected, "A present w%d image2 id9\n", number(a));
    expect_log(expected);
    hold(QUEUE(queue_a), gate, 1, VK_NULL_HANDLE);
    EXPECT_EQ(CALL(device, QueueBindSparse)(QUEUE(queue_a), 1, &sparse, VK_NULL_HANDLE),
              VK_SUCCESS);
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &shown), VK_SUCCESS);
    EXPECT_EQ(result, VK_SUCCESS);
    memset(binds, 0, sizeof binds);
    image = 0;
    id = 0;
    expect_log("");
    set(gate, 1);
    idle();
    snprintf(expected, sizeof expected,
             "A submit\nA sparse w%d bind10 bind20\nA present w%d image2 id9\n", number(a),
             number(a));
    expect_log(expected);
    // A held present that fails does not lose the device.
    hold(QUEUE(queue_a), gate, 2, VK_NULL_HANDLE);
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &shown), VK_SUCCESS);
    fail_after(2, VK_ERROR_OUT_OF_DATE_KHR);
    set(gate, 2);
    idle();
    fail_after(1, VK_ERROR_OUT_OF_DATE_KHR);
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &shown), VK_ERROR_OUT_OF_DATE_KHR);
    snprintf(expected, sizeof expected,
             "A submit\nA present w%d image0 id0\nA present w%d image0 id0\n", number(a),
             number(a));
    expect_log(expected);
}

// A queue that waits for a binary semaphore of the driver gets its submission after the one that
// signals it, and other submissions at once.
static void check_two_queues(void)
{
    VkSemaphore gate = semaphore_of(TIMELINE, true), link = semaphore_of(BINARY, false),
                line = semaphore_of(TIMELINE, false);
    char expected[200];
    hold(QUEUE(queue_a), gate, 1, link);
    hold(QUEUE(queue_b), gate, 0, VK_NULL_HANDLE); // is satisfied
    expect_log("B submit\n");
    hold(QUEUE(queue_b), link, 0, VK_NULL_HANDLE);
    usleep(10000);
    expect_log("");
    set(gate, 1);
    idle();
    snprintf(expected, sizeof expected, "A submit s%d\nB submit w%d =0 @1\n", number(link),
             number(link));
    expect_log(expected);
    // Of a timeline the driver should get the wait at once, because the signal may depend on it.
    VkSemaphore back = semaphore_of(TIMELINE, true);
    hold(QUEUE(queue_a), gate, 2, line);
    hold(QUEUE(queue_b), line, 1, back);
    idle_queue(QUEUE(queue_b));
    snprintf(expected, sizeof expected, "B submit w%d =1 @1 fence\n", number(line));
    expect_log(expected);
    set(gate, 2);
    idle();
    snprintf(expected, sizeof expected, "A submit s%d\n", number(line));
    expect_log(expected);
}

static void check_acquire(void)
{
    VkSemaphore ours = semaphore_of(TIMELINE, true);
    uint32_t index = 0;
    EXPECT_EQ(CALL(device, AcquireNextImageKHR)(device, (VkSwapchainKHR)(uintptr_t)77, 0, ours,
                                                VK_NULL_HANDLE, &index),
              VK_SUCCESS);
    EXPECT_EQ(index, 3);
    expect_log("acquire fence\n");
    hold(QUEUE(queue_a), ours, 1, VK_NULL_HANDLE); // signalled
    expect_log("A submit\n");
}

int main(int argc, char **argv)
{
    load_layer(argc, argv);
    VkInstance instance = make_instance(get_instance_proc);
    device = make_device(instance, get_instance_proc, get_device_proc,
                         VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    EXPECT(layer_get_device(device, "vkImportSemaphoreFdKHR"));
    EXPECT(!layer_get_device(device, "vkImportFenceFdKHR")); // its extension is not enabled
    EXPECT(!layer_get_device(device, "vkQueueSubmit2"));     // the driver lacks it
    check_submit();
    check_sparse_and_present();
    check_two_queues();
    check_acquire();
    CALL(device, DestroyDevice)(device, NULL);
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("the driver gets held submissions complete and in order");
    return 0;
}
