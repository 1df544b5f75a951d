// SPDX-License-Identifier: MIT
// Submissions that fail, at once or after the layer has held them, on a simulated driver. If a
// submission fails at once, nothing is lost. If it fails later, the device is lost, and nobody
// waits for it any longer.
#include "fake_program.h"

static VkInstance instance;

static void open_device(void)
{
    device = make_device_with(instance, get_instance_proc, get_device_proc,
                              VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                              VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME);
}

static void close_device(void)
{
    CALL(device, DestroyDevice)(device, NULL);
    clear_log();
}

// ---- waits that are in progress when the device is lost

static VkSemaphore gate, never, drivers_line;
static VkFence ours, held;

static VkResult wait_for_value(VkSemaphore s)
{
    uint64_t value = 1;
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &s,
                                .pValues = &value};
    return CALL(device, WaitSemaphores)(device, &info, UINT64_MAX);
}

static VkResult wait_for_any_value(void)
{
    uint64_t values[] = {1, 1};
    VkSemaphore list[] = {never, drivers_line};
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .flags = VK_SEMAPHORE_WAIT_ANY_BIT,
                                .semaphoreCount = 2,
                                .pSemaphores = list,
                                .pValues = values};
    return CALL(device, WaitSemaphores)(device, &info, UINT64_MAX);
}

static VkResult wait_for_fences_of(VkFence first, VkFence second, VkBool32 all)
{
    VkFence list[] = {first, second};
    return CALL(device, WaitForFences)(device, second ? 2 : 1, list, all, UINT64_MAX);
}

static VkResult by_number(int i)
{
    switch (i) {
    case 0:
        return wait_for_value(never);
    case 1:
        return wait_for_value(drivers_line);
    case 2:
        return wait_for_any_value();
    case 3:
        return wait_for_fences_of(ours, VK_NULL_HANDLE, VK_TRUE);
    case 4:
        return wait_for_fences_of(held, VK_NULL_HANDLE, VK_TRUE);
    case 5:
        return wait_for_fences_of(ours, held, VK_TRUE);
    case 6:
        return wait_for_fences_of(held, ours, VK_FALSE);
    case 7:
        return CALL(device, QueueWaitIdle)(QUEUE(queue_b));
    default:
        return CALL(device, DeviceWaitIdle)(device);
    }
}
enum { WAITS = 9 };

static void *wait_in_thread(void *argument)
{
    return (void *)(intptr_t)by_number((int)(intptr_t)argument);
}

// Queue B holds a submission with a fence of the layer and one with a fence of the driver, which
// nobody satisfies. Then the driver refuses what queue A has held.
static void check_waits_end(void)
{
    pthread_t threads[WAITS];
    open_device();
    gate = semaphore_of(TIMELINE, true);
    never = semaphore_of(TIMELINE, true);
    drivers_line = semaphore_of(TIMELINE, false);
    ours = fence_of(true);
    held = fence_of(false);
    hold(QUEUE(queue_a), gate, 1, VK_NULL_HANDLE);
    EXPECT_EQ(submit(QUEUE(queue_b), never, 1, drivers_line, ours), VK_SUCCESS);
    EXPECT_EQ(submit(QUEUE(queue_b), VK_NULL_HANDLE, 0, VK_NULL_HANDLE, held), VK_SUCCESS);
    for (intptr_t i = 0; i < WAITS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, wait_in_thread, (void *)i), 0);
    usleep(20000); // the results are the same if a thread is late
    fail_after(1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    set(gate, 1);
    for (int i = 0; i < WAITS; i++) {
        struct timespec until;
        void *result = NULL;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        if (pthread_timedjoin_np(threads[i], &result, &until)) {
            fprintf(stderr, "wait %d has not ended\n", i);
            exit(1);
        }
        EXPECT_EQ((intptr_t)result, VK_ERROR_DEVICE_LOST);
    }
    // Those who poll and those who submit should learn of it, too.
    uint64_t value;
    EXPECT_EQ(CALL(device, GetFenceStatus)(device, ours), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, GetFenceStatus)(device, held), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, GetSemaphoreCounterValue)(device, never, &value), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, GetSemaphoreCounterValue)(device, drivers_line, &value),
              VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(submit(QUEUE(queue_a), never, 1, VK_NULL_HANDLE, VK_NULL_HANDLE),
              VK_ERROR_DEVICE_LOST);
    // Work that the driver already has may wait for a signal of what is dropped.
    char expected[100];
    snprintf(expected, sizeof expected, "A submit\nB submit s%d\n", number(drivers_line));
    expect_log(expected);
    CALL(device, DestroySemaphore)(device, drivers_line, NULL);
    CALL(device, DestroyFence)(device, held, NULL);
    close_device();
}

// The driver has the work of queue B, which waits there for a signal of queue A. The loss should
// end that wait, too.
static void check_work_in_driver(void)
{
    open_device();
    gate = semaphore_of(TIMELINE, true);
    never = semaphore_of(TIMELINE, true);
    drivers_line = semaphore_of(TIMELINE, false);
    signal_fences(false);
    hold(QUEUE(queue_a), gate, 1, drivers_line);
    hold(QUEUE(queue_b), drivers_line, 1, never);
    while (submissions() < 1)
        usleep(1000);
    fail_after(1, VK_ERROR_DEVICE_LOST);
    set(gate, 1);
    EXPECT_EQ(wait_for_value(never), VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, QueueWaitIdle)(QUEUE(queue_b)), VK_ERROR_DEVICE_LOST);
    close_device();
    signal_fences(true);
}

// ---- submissions that fail at once

// The payloads should be as before: the same submission succeeds afterwards.
static void check_refused(void)
{
    VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    open_device();
    for (int i = 0; i < 4; i++) {
        VkSemaphore s = semaphore_of(BINARY, true), t = semaphore_of(BINARY, true);
        VkFence f = fence_of(false);
        bool temporary = i & 2;
        if (temporary)
            EXPECT_EQ(import_semaphore(t, semaphore_fd(s), true), VK_SUCCESS);
        hold(QUEUE(queue_a), VK_NULL_HANDLE, 0, s);
        idle();
        fail_after(1, results[i & 1]);
        EXPECT_EQ(submit(QUEUE(queue_b), temporary ? t : s, 0, VK_NULL_HANDLE, f), results[i & 1]);
        EXPECT_EQ(CALL(device, GetFenceStatus)(device, f), VK_NOT_READY);
        clear_log();
        EXPECT_EQ(submit(QUEUE(queue_b), temporary ? t : s, 0, VK_NULL_HANDLE, f), VK_SUCCESS);
        expect_log("B submit fence\n"); // without another thread: the semaphore is signalled
        EXPECT_EQ(CALL(device, GetFenceStatus)(device, f), VK_SUCCESS);
    }
    close_device();
}

// The driver refuses the second batch of a call.
static void check_half_refused(void)
{
    open_device();
    VkSemaphore s = semaphore_of(TIMELINE, true);
    uint64_t value = 0;
    VkPipelineStageFlags stage = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = 1,
                                            .pWaitSemaphoreValues = &value};
    VkSubmitInfo infos[] = {{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                            {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &values,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &s,
                             .pWaitDstStageMask = &stage}};
    fail_after(2, VK_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_EQ(CALL(device, QueueSubmit)(QUEUE(queue_a), 2, infos, VK_NULL_HANDLE),
              VK_ERROR_DEVICE_LOST);
    EXPECT_EQ(CALL(device, DeviceWaitIdle)(device), VK_ERROR_DEVICE_LOST);
    close_device();
}

int main(int argc, char **argv)
{
    load_layer(argc, argv);
    instance = make_instance(get_instance_proc);
    check_waits_end();
    check_work_in_driver();
    check_refused();
    check_half_refused();
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("nothing is lost, or everybody learns of it");
    return 0;
}
