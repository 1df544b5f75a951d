// SPDX-License-Identifier: MIT
// Submissions that the Vulkan layer holds, on a simulated driver with two queues, sparse binding
// and presents, which lavapipe lacks or tests cannot use without a window.
#include "fake_queues.h"

static VkDevice device;

static VkSemaphore semaphore(bool ours)
{
    VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                          .handleTypes =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = &export,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                  .pNext = ours ? &type : NULL};
    VkSemaphore s;
    EXPECT_EQ(CALL(device, CreateSemaphore)(device, &info, NULL, &s), VK_SUCCESS);
    return s;
}

static void set(VkSemaphore s, uint64_t value)
{
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s, .value = value};
    EXPECT_EQ(CALL(device, SignalSemaphore)(device, &info), VK_SUCCESS);
}

static void idle(void)
{
    EXPECT_EQ(CALL(device, DeviceWaitIdle)(device), VK_SUCCESS);
}

// Submits a wait for `s`, whose array is overwritten afterwards.
static void hold(VkQueue queue, VkSemaphore s, uint64_t value, VkSemaphore signal)
{
    VkPipelineStageFlags stage = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = 1,
                                            .pWaitSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = 1,
                         .pWaitSemaphores = &s,
                         .pWaitDstStageMask = &stage,
                         .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                         .pSignalSemaphores = &signal};
    EXPECT_EQ(CALL(device, QueueSubmit)(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    memset(&info, 0xff, sizeof info);
    memset(&values, 0xff, sizeof values);
    s = signal = VK_NULL_HANDLE;
    value = 0;
}

static int number(VkSemaphore s)
{
    return (int)(uintptr_t)s;
}

// Everything of a submission is copied, and the layer's semaphores leave their arrays together with
// their stages and values.
static void check_submit(void)
{
    VkSemaphore gate = semaphore(true), a = semaphore(false), b = semaphore(false);
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
    VkSemaphore gate = semaphore(true), a = semaphore(false);
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

// A queue that waits for a semaphore of the driver gets its submission after the one that signals
// it, and other submissions at once.
static void check_two_queues(void)
{
    VkSemaphore gate = semaphore(true), link = semaphore(false);
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
}

static void check_acquire(void)
{
    VkSemaphore ours = semaphore(true);
    uint32_t index = 0;
    EXPECT_EQ(CALL(device, AcquireNextImageKHR)(device, (VkSwapchainKHR)(uintptr_t)77, 0, ours,
                                                VK_NULL_HANDLE, &index),
              VK_SUCCESS);
    EXPECT_EQ(index, 3);
    expect_log("acquire fence\n");
    hold(QUEUE(queue_a), ours, 1, VK_NULL_HANDLE); // signalled
    expect_log("A submit\n");
}

// What goes wrong later is reported by the next calls.
static void check_lost(void)
{
    VkSemaphore gate = semaphore(true);
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &gate};
    hold(QUEUE(queue_a), gate, 1, VK_NULL_HANDLE);
    fail_after(1, VK_ERROR_DEVICE_LOST);
    set(gate, 1);
    EXPECT_EQ(CALL(device, DeviceWaitIdle)(device), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, QueueWaitIdle)(QUEUE(queue_a)), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, QueueSubmit)(QUEUE(queue_a), 1, &info, VK_NULL_HANDLE),
              VK_ERROR_DEVICE_LOST);
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
    EXPECT(!layer_get_device(device, "vkWaitSemaphores"));   // the driver has no timelines
    check_submit();
    check_sparse_and_present();
    check_two_queues();
    check_acquire();
    check_lost();
    CALL(device, DestroyDevice)(device, NULL);
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("the driver gets held submissions complete and in order");
    return 0;
}
