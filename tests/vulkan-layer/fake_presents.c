// SPDX-License-Identifier: MIT
// Swapchains, debug labels and pNext chains while the layer holds submissions, on a simulated
// driver. It checks that no two threads use a swapchain at once.
#include "fake_extensions.h"
#include "fake_program.h"

static VkSemaphore gate;
static uint64_t gate_value;
static const VkSwapchainKHR chain = (VkSwapchainKHR)(uintptr_t)77;

static void *open_gate(void *argument)
{
    (void)argument;
    usleep(20000); // the result is the same if the call comes later
    set(gate, gate_value);
    return NULL;
}

static VkResult present_to(VkQueue queue, const VkSwapchainKHR *list, uint32_t count,
                           const void *next, VkResult *results)
{
    uint32_t indices[] = {2, 4};
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .pNext = next,
                             .swapchainCount = count,
                             .pSwapchains = list,
                             .pImageIndices = indices,
                             .pResults = results};
    VkResult r = CALL(device, QueuePresentKHR)(queue, &info);
    memset(indices, 0xff, sizeof indices);
    return r;
}

// Holds a present in queue A that a thread lets go.
static pthread_t hold_present(void)
{
    pthread_t thread;
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(present_to(QUEUE(queue_a), &chain, 1, NULL, NULL), VK_SUCCESS);
    EXPECT_EQ(pthread_create(&thread, NULL, open_gate, NULL), 0);
    return thread;
}

// The driver should get the calls in the order of the program.
static void check_order(void)
{
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .oldSwapchain = chain};
    VkSwapchainKHR new;
    pthread_t thread = hold_present();
    CALL(device, DestroySwapchainKHR)(device, chain, NULL);
    expect_log("A submit\nA present image2\ndestroy swapchain\n");
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    thread = hold_present();
    EXPECT_EQ(CALL(device, CreateSwapchainKHR)(device, &info, NULL, &new), VK_SUCCESS);
    expect_log("A submit\nA present image2\ncreate swapchain\n");
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    thread = hold_present();
    EXPECT_EQ(CALL(device, WaitForPresentKHR)(device, chain, 1, UINT64_MAX), VK_SUCCESS);
    expect_log("A submit\nA present image2\nwait for present\n");
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    // Another queue presents to the same swapchain.
    thread = hold_present();
    EXPECT_EQ(present_to(QUEUE(queue_b), &chain, 1, NULL, NULL), VK_SUCCESS);
    idle();
    expect_log("A submit\nA present image2\nB present image2\n");
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    // Nobody opens the gate.
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(present_to(QUEUE(queue_a), &chain, 1, NULL, NULL), VK_SUCCESS);
    EXPECT_EQ(CALL(device, WaitForPresentKHR)(device, chain, 1, 1000000), VK_TIMEOUT);
    set(gate, gate_value);
    idle();
    expect_log("A submit\nA present image2\n");
}

static VkResult acquire_with(bool is_2, uint64_t timeout, uint32_t *index)
{
    VkAcquireNextImageInfoKHR info = {.sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR,
                                      .swapchain = chain,
                                      .timeout = timeout,
                                      .deviceMask = 1};
    return is_2 ? CALL(device, AcquireNextImage2KHR)(device, &info, index)
                : CALL(device, AcquireNextImageKHR)(device, chain, timeout, VK_NULL_HANDLE,
                                                    VK_NULL_HANDLE, index);
}

// An image that is free can be acquired while a present is held. If there is no such image, the
// held present should bring one.
static void check_acquire(bool is_2)
{
    uint32_t index = 0;
    pthread_t thread;
    images = 1;
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(present_to(QUEUE(queue_a), &chain, 1, NULL, NULL), VK_SUCCESS);
    EXPECT_EQ(acquire_with(is_2, UINT64_MAX, &index), VK_SUCCESS);
    EXPECT_EQ(index, 3);
    expect_log("acquire\n");
    EXPECT_EQ(pthread_create(&thread, NULL, open_gate, NULL), 0);
    EXPECT_EQ(acquire_with(is_2, UINT64_MAX, &index), VK_SUCCESS);
    expect_log("A submit\nA present image2\nacquire\n");
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT_EQ(images, 0);
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(present_to(QUEUE(queue_a), &chain, 1, NULL, NULL), VK_SUCCESS);
    EXPECT_EQ(acquire_with(is_2, 0, &index), VK_NOT_READY);
    EXPECT_EQ(acquire_with(is_2, 3000000, &index), VK_TIMEOUT);
    set(gate, gate_value);
    idle();
    expect_log("A submit\nA present image2\n");
    images = 1000;
}

// An image is not acquired with a semaphore for which a held present still waits, because the
// driver would get its second signal before the wait for the first one.
static void check_acquire_awaited(void)
{
    VkSemaphore ready = semaphore_of(BINARY, false);
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &ready,
                             .swapchainCount = 1,
                             .pSwapchains = &chain,
                             .pImageIndices = &(uint32_t){2}};
    uint32_t index = 0;
    pthread_t thread;
    char expected[80];
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &info), VK_SUCCESS);
    for (uint64_t timeout = 0; timeout <= 3000000; timeout += 3000000)
        EXPECT_EQ(CALL(device, AcquireNextImageKHR)(device, chain, timeout, ready, VK_NULL_HANDLE,
                                                    &index),
                  timeout ? VK_TIMEOUT : VK_NOT_READY);
    EXPECT_EQ(pthread_create(&thread, NULL, open_gate, NULL), 0);
    EXPECT_EQ(
        CALL(device, AcquireNextImageKHR)(device, chain, UINT64_MAX, ready, VK_NULL_HANDLE, &index),
        VK_SUCCESS);
    snprintf(expected, sizeof expected, "A submit\nA present w%d image2\nacquire semaphore\n",
             (int)(uintptr_t)ready);
    expect_log(expected);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    CALL(device, DestroySemaphore)(device, ready, NULL);
}

// Each swapchain of a present has its result.
static void check_results(void)
{
    VkSwapchainKHR two[] = {chain, (VkSwapchainKHR)(uintptr_t)78};
    VkResult results[] = {VK_INCOMPLETE, VK_INCOMPLETE};
    VkSemaphore flag = semaphore_of(BINARY, true);
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &flag,
                             .swapchainCount = 2,
                             .pSwapchains = two,
                             .pImageIndices = (uint32_t[]){2, 4},
                             .pResults = results};
    // The semaphore of the layer is signalled, so the driver gets the present at once.
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, flag);
    idle();
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &info), VK_SUBOPTIMAL_KHR);
    EXPECT_EQ(results[0], VK_SUCCESS);
    EXPECT_EQ(results[1], VK_SUBOPTIMAL_KHR);
    // It is not, so the present is held.
    EXPECT_EQ(CALL(device, QueuePresentKHR)(QUEUE(queue_a), &info), VK_SUCCESS);
    EXPECT_EQ(results[0], VK_SUCCESS);
    EXPECT_EQ(results[1], VK_SUCCESS);
    results[0] = results[1] = VK_INCOMPLETE;
    hold(QUEUE(queue_b), VK_NULL_HANDLE, 0, flag);
    idle();
    EXPECT_EQ(results[0], VK_INCOMPLETE); // the program may have freed them
    clear_log();
}

// A held present keeps what its chain points to, at every depth.
static void check_regions(void)
{
    VkRectLayerKHR rectangle = {.extent = {5, 6}};
    VkPresentRegionKHR region = {1, &rectangle};
    VkPresentRegionsKHR regions = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR, .swapchainCount = 1, .pRegions = &region};
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    EXPECT_EQ(present_to(QUEUE(queue_a), &chain, 1, &regions, NULL), VK_SUCCESS);
    memset(&rectangle, 0xff, sizeof rectangle);
    memset(&region, 0xff, sizeof region);
    memset(&regions, 0xff, sizeof regions);
    set(gate, gate_value);
    idle();
    expect_log("A submit\nA present image2 5x6\n");
}

// vkQueueSubmit2: the elements have chains, too.
static void check_submit_2(void)
{
    VkProtectedSubmitInfo extra[] = {
        {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, .protectedSubmit = 5},
        {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, .protectedSubmit = 6},
        {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, .protectedSubmit = 7}};
    VkSemaphore a = semaphore_of(BINARY, false), b = semaphore_of(BINARY, false);
    VkSemaphoreSubmitInfo waits[] = {{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                      .semaphore = gate,
                                      .value = ++gate_value},
                                     {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                      .pNext = &extra[0],
                                      .semaphore = a}},
                          signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .pNext = &extra[1],
                                    .semaphore = b};
    VkCommandBufferSubmitInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                          .pNext = &extra[2],
                                          .commandBuffer = (VkCommandBuffer)(uintptr_t)9};
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                          .waitSemaphoreInfoCount = 2,
                          .pWaitSemaphoreInfos = waits,
                          .commandBufferInfoCount = 1,
                          .pCommandBufferInfos = &commands,
                          .signalSemaphoreInfoCount = 1,
                          .pSignalSemaphoreInfos = &signal};
    char expected[100];
    EXPECT_EQ(CALL(device, QueueSubmit2KHR)(QUEUE(queue_a), 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    memset(extra, 0xff, sizeof extra);
    set(gate, gate_value);
    idle();
    snprintf(expected, sizeof expected,
             "A submit2 w%d protected5 commands9 protected7 s%d protected6\n", number(a),
             number(b));
    expect_log(expected);
}

// The labels of a queue stay between the submissions where the program has put them.
static void check_labels(void)
{
    char name[] = "frame";
    VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                  .pLabelName = name};
    CALL(device, QueueBeginDebugUtilsLabelEXT)(QUEUE(queue_a), &label);
    expect_log("A begin frame\n"); // nothing is held
    hold(QUEUE(queue_a), gate, ++gate_value, VK_NULL_HANDLE);
    CALL(device, QueueBeginDebugUtilsLabelEXT)(QUEUE(queue_a), &label);
    strcpy(name, "light");
    CALL(device, QueueInsertDebugUtilsLabelEXT)(QUEUE(queue_a), &label);
    strcpy(name, "other");
    hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    CALL(device, QueueEndDebugUtilsLabelEXT)(QUEUE(queue_a));
    CALL(device, QueueEndDebugUtilsLabelEXT)(QUEUE(queue_a));
    CALL(device, QueueInsertDebugUtilsLabelEXT)(QUEUE(queue_b), &label); // holds nothing
    expect_log("B insert other\n");
    set(gate, gate_value);
    idle();
    expect_log("A submit\nA begin frame\nA insert light\nA submit\nA end \nA end \n");
}

int main(int argc, char **argv)
{
    load_layer(argc, argv);
    VkInstance instance = make_instance(get_instance_proc);
    device = make_device(instance, get_instance_proc, get_device_proc,
                         VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    gate = semaphore_of(TIMELINE, true);
    check_order();
    check_acquire(false);
    check_acquire(true);
    check_acquire_awaited();
    check_results();
    check_regions();
    check_submit_2();
    check_labels();
    CALL(device, DestroyDevice)(device, NULL);
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("held presents and labels reach the driver complete and in order");
    return 0;
}
