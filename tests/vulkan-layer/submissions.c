// SPDX-License-Identifier: MIT
// Submissions that wait for external semaphores or signal them: their order, with CUDA on the other
// side, and what happens if objects end early.
#include "../vulkan_sync.h"

#include <pthread.h>

// ---- with CUDA

static bool settled(CUstream s)
{
    for (int i = 0; i < 5000; i++) {
        CUresult r = cuStreamQuery(s);
        if (r != CUDA_ERROR_NOT_READY)
            return r == CUDA_SUCCESS;
        usleep(1000);
    }
    return false;
}

TEST(vulkan_waits_for_cuda)
{
    vks_open();
    test_context();
    struct vks_buffer b = vks_buffer();
    CUstream stream = new_stream();
    for (int is_timeline = 0; is_timeline < 2; is_timeline++) {
        VkSemaphore s = is_timeline ? vks_timeline(0) : vks_binary();
        CUexternalSemaphore c = vks_cuda(s, is_timeline);
        VkFence f = vks_fence(false, false), later = vks_fence(false, false);
        uint32_t value = 100 + (uint32_t)is_timeline;
        vks_submit((struct vks_batch){
            .wait = s, .wait_value = 3, .commands = vks_fill(&b, 0, value, 1), .fence = f});
        // This one does not wait for the semaphore, but comes after one that does.
        vks_submit((struct vks_batch){.commands = vks_fill(&b, 0, value + 50, 2), .fence = later});
        usleep(20000);
        EXPECT_EQ(vkGetFenceStatus(vk.device, f), VK_NOT_READY);
        EXPECT_EQ(vkGetFenceStatus(vk.device, later), VK_NOT_READY);
        EXPECT_OK(cu_signal(c, 3, stream));
        EXPECT_EQ(vkWaitForFences(vk.device, 1, &later, VK_TRUE, SECONDS_5), VK_SUCCESS);
        EXPECT_EQ(vkGetFenceStatus(vk.device, f), VK_SUCCESS);
        EXPECT_EQ(vks_word(&b, 0), value + 50);
        EXPECT_EQ(vks_word(&b, 1), value);
        EXPECT_EQ(vks_word(&b, 2), value + 50);
        vkDestroyFence(vk.device, f, NULL);
        vkDestroyFence(vk.device, later, NULL);
        EXPECT_OK(cuDestroyExternalSemaphore(c));
        vkDestroySemaphore(vk.device, s, NULL);
    }
    vks_buffer_free(b);
    vk_close();
}

TEST(cuda_waits_for_vulkan)
{
    vks_open();
    test_context();
    struct vks_buffer b = vks_buffer();
    CUstream stream = new_stream();
    for (int is_timeline = 0; is_timeline < 2; is_timeline++) {
        VkSemaphore s = is_timeline ? vks_timeline(0) : vks_binary();
        CUexternalSemaphore c = vks_cuda(s, is_timeline);
        VkFence f = vks_fence(false, false);
        EXPECT_OK(cu_wait(c, 7, stream));
        EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        vks_submit((struct vks_batch){
            .signal = s, .signal_value = 7, .commands = vks_fill(&b, 0, 7, 1), .fence = f});
        EXPECT(settled(stream));
        EXPECT_EQ(vks_word(&b, 1), 7);
        // The fence follows the signal.
        EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, SECONDS_5), VK_SUCCESS);
        EXPECT_EQ(is_timeline ? vks_value(s) : 7, 7);
        vkDestroyFence(vk.device, f, NULL);
        EXPECT_OK(cuDestroyExternalSemaphore(c));
        vkDestroySemaphore(vk.device, s, NULL);
    }
    vks_buffer_free(b);
    vk_close();
}

// Both sides submit everything ahead, and neither waits on the host before the end.
static void ping_pong(uint64_t rounds, uint64_t step)
{
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(0);
    CUexternalSemaphore c = vks_cuda(s, true);
    CUstream stream = new_stream();
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t at = 2 * i * step;
        EXPECT_OK(cu_wait(c, at, stream));
        EXPECT_OK(cu_signal(c, at + step, stream));
        vks_submit((struct vks_batch){
            .wait = s, .wait_value = at + step, .signal = s, .signal_value = at + 2 * step});
    }
    EXPECT_EQ(vks_wait(s, 2 * rounds * step, 50 * SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(vks_value(s), 2 * rounds * step);
    VK(vkQueueWaitIdle(vk.queue));
    EXPECT_OK(cuStreamSynchronize(stream));
    vkDestroySemaphore(vk.device, s, NULL);
    vk_close();
}

TEST(ping_pong_10000)
{
    ping_pong(10000, 1);
}

TEST(values_far_apart)
{
    ping_pong(7, UINT64_C(1) << 60);
}

// ---- forms of submissions

TEST(several_batches_in_a_call)
{
    vks_open();
    struct vks_buffer b = vks_buffer();
    VkSemaphore ours = vks_timeline(0), flag = vks_binary(),
                drivers = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE),
                drivers_flag = vks_drivers(VK_SEMAPHORE_TYPE_BINARY);
    VkCommandBuffer commands[3] = {vks_fill(&b, 0, 1, 1), vks_fill(&b, 0, 2, 2),
                                   vks_fill(&b, 0, 3, 3)};
    // The first signals one semaphore of each sort, the second waits for them in another order and
    // for the value 1 of ours, which only the host signals.
    VkSemaphore signals[] = {drivers, flag, drivers_flag},
                waits[] = {flag, ours, drivers_flag, drivers};
    uint64_t signal_values[] = {4, 0, 0}, wait_values[] = {0, 1, 0, 4}, nine = 9;
    VkPipelineStageFlags stages[4];
    for (int i = 0; i < 4; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values[] = {
        {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
         .signalSemaphoreValueCount = 3,
         .pSignalSemaphoreValues = signal_values},
        {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
         .waitSemaphoreValueCount = 4,
         .pWaitSemaphoreValues = wait_values},
        {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
         .signalSemaphoreValueCount = 1,
         .pSignalSemaphoreValues = &nine}};
    VkSubmitInfo infos[3];
    for (int i = 0; i < 3; i++)
        infos[i] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .pNext = &values[i],
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &commands[i]};
    infos[0].signalSemaphoreCount = 3;
    infos[0].pSignalSemaphores = signals;
    infos[1].waitSemaphoreCount = 4;
    infos[1].pWaitSemaphores = waits;
    infos[1].pWaitDstStageMask = stages;
    infos[2].signalSemaphoreCount = 1;
    infos[2].pSignalSemaphores = &ours;
    VkFence f = vks_fence(false, false);
    VK(vkQueueSubmit(vk.queue, 3, infos, f));
    EXPECT_EQ(vks_wait(drivers, 4, SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(vks_word(&b, 1), 1);
    EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, 10000000), VK_TIMEOUT);
    EXPECT_EQ(vks_value(ours), 0);
    vks_signal(ours, 1);
    EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(vks_value(ours), 9);
    EXPECT_EQ(vks_word(&b, 2), 2);
    EXPECT_EQ(vks_word(&b, 3), 3);
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroyFence(vk.device, f, NULL);
    vkDestroySemaphore(vk.device, ours, NULL);
    vkDestroySemaphore(vk.device, flag, NULL);
    vkDestroySemaphore(vk.device, drivers, NULL);
    vkDestroySemaphore(vk.device, drivers_flag, NULL);
    vks_buffer_free(b);
    vk_close();
}

static VkSemaphoreSubmitInfo info_2(VkSemaphore s, uint64_t value)
{
    return (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                   .semaphore = s,
                                   .value = value,
                                   .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
}

TEST(submit_2)
{
    vks_open();
    test_context();
    CUstream stream = new_stream();
    struct vks_buffer b = vks_buffer();
    VkSemaphore ours = vks_timeline(0), drivers = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE);
    CUexternalSemaphore c = vks_cuda(ours, true);
    VkSemaphoreSubmitInfo waits[] = {info_2(drivers, 0), info_2(ours, 1)},
                          signals[] = {info_2(ours, 2), info_2(drivers, 5)};
    VkCommandBufferSubmitInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                          .commandBuffer = vks_fill(&b, 0, 11, 1)};
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                          .waitSemaphoreInfoCount = 2,
                          .pWaitSemaphoreInfos = waits,
                          .commandBufferInfoCount = 1,
                          .pCommandBufferInfos = &commands,
                          .signalSemaphoreInfoCount = 2,
                          .pSignalSemaphoreInfos = signals};
    VK(vkQueueSubmit2(vk.queue, 1, &info, VK_NULL_HANDLE));
    EXPECT_OK(cu_wait(c, 2, stream));
    EXPECT_EQ(vks_wait(drivers, 5, 10000000), VK_TIMEOUT);
    EXPECT_OK(cu_signal(c, 1, new_stream()));
    EXPECT(settled(stream));
    EXPECT_EQ(vks_word(&b, 1), 11);
    EXPECT_EQ(vks_wait(drivers, 5, SECONDS_5), VK_SUCCESS);
    EXPECT_EQ(vks_value(ours), 2);
    VK(vkQueueWaitIdle(vk.queue));
    vkDestroySemaphore(vk.device, ours, NULL);
    vkDestroySemaphore(vk.device, drivers, NULL);
    vks_buffer_free(b);
    vk_close();
}

// vkQueueWaitIdle includes what the layer still holds.
static void *signal_soon(void *argument)
{
    usleep(30000);
    vks_signal(*(VkSemaphore *)argument, 1);
    return NULL;
}

TEST(wait_idle)
{
    vks_open();
    for (int device = 0; device < 2; device++) {
        VkSemaphore s = vks_timeline(0), done = vks_timeline(0);
        pthread_t thread;
        vks_submit(
            (struct vks_batch){.wait = s, .wait_value = 1, .signal = done, .signal_value = 1});
        EXPECT_EQ(pthread_create(&thread, NULL, signal_soon, &s), 0);
        VK(device ? vkDeviceWaitIdle(vk.device) : vkQueueWaitIdle(vk.queue));
        EXPECT_EQ(vks_value(done), 1);
        EXPECT_EQ(pthread_join(thread, NULL), 0);
        vkDestroySemaphore(vk.device, s, NULL);
        vkDestroySemaphore(vk.device, done, NULL);
    }
    vk_close();
}

// Sends stderr to a file, and returns the file.
static int capture_stderr(void)
{
    int file = memfd_create("stderr", MFD_CLOEXEC);
    EXPECT(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    return file;
}

static bool appears(int file, const char *text)
{
    char said[4096];
    for (int i = 0; i < 2000; i++) {
        ssize_t n = pread(file, said, sizeof said - 1, 0);
        said[n > 0 ? n : 0] = 0;
        if (strstr(said, text))
            return true;
        usleep(1000);
    }
    return false;
}

TEST(long_waits_are_reported)
{
    test_setting("CARDLESS_DEADLOCK_MS", "20");
    vks_open();
    int file = capture_stderr();
    VkSemaphore line = vks_timeline(3), flag = vks_binary();
    vks_submit((struct vks_batch){.wait = line, .wait_value = 5});
    EXPECT(appears(file, "[S05 undefined] a submission to VkQueue"));
    EXPECT(appears(file, "timeline semaphore to reach 5; its value is 3"));
    vks_signal(line, 5);
    VK(vkQueueWaitIdle(vk.queue));
    vks_submit((struct vks_batch){.wait = flag});
    EXPECT(appears(file, "binary semaphore to be signalled"));
    vkDestroySemaphore(vk.device, line, NULL);
    vkDestroySemaphore(vk.device, flag, NULL);
    vk_close(); // with the wait still pending
}

// ---- lifetimes

// The program destroys the semaphore and then the device under a submission that nobody will ever
// satisfy. That is the program's mistake, but must not hang.
TEST(destroy_while_pending)
{
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(0), done = vks_timeline(0);
    CUexternalSemaphore c = vks_cuda(done, true);
    vks_submit((struct vks_batch){.wait = s, .wait_value = 1, .signal = done, .signal_value = 1});
    vks_submit((struct vks_batch){.wait = done, .wait_value = 1});
    vkDestroySemaphore(vk.device, s, NULL);
    vkDestroySemaphore(vk.device, done, NULL);
    vk_close();
    // What CUDA has imported lives on.
    CUstream stream = new_stream();
    EXPECT_OK(cu_signal(c, 1, stream));
    EXPECT_OK(cu_wait(c, 1, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
}

// Pending work keeps a destroyed semaphore's payload.
TEST(destroyed_semaphore_still_signals)
{
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(0), go = vks_timeline(0);
    CUexternalSemaphore c = vks_cuda(s, true);
    CUstream stream = new_stream();
    vks_submit((struct vks_batch){.wait = go, .wait_value = 1, .signal = s, .signal_value = 1});
    vkDestroySemaphore(vk.device, s, NULL);
    EXPECT_OK(cu_wait(c, 1, stream));
    vks_signal(go, 1);
    EXPECT(settled(stream));
    VK(vkQueueWaitIdle(vk.queue));
    vkDestroySemaphore(vk.device, go, NULL);
    vk_close();
}

TEST(two_devices)
{
    static const char *const extension = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    vks_open();
    VkDevice other = vk_make_device(&extension, 1, &timelines);
    VkQueue queue;
    vkGetDeviceQueue(other, 0, 0, &queue);
    VkSemaphore s = vks_timeline(0),
                t = vks_semaphore_on(other, VK_SEMAPHORE_TYPE_TIMELINE, 0, false);
    EXPECT_EQ(vks_import_on(other, t, vks_fd(s), false), VK_SUCCESS);
    enum { ROUNDS = 50 };
    for (uint64_t i = 0; i < ROUNDS; i++) {
        vks_submit_to(
            queue, (struct vks_batch){
                       .wait = t, .wait_value = 2 * i + 1, .signal = t, .signal_value = 2 * i + 2});
        vks_submit((struct vks_batch){
            .wait = s, .wait_value = 2 * i, .signal = s, .signal_value = 2 * i + 1});
    }
    EXPECT_EQ(vks_wait(s, 2 * ROUNDS, SECONDS_5), VK_SUCCESS);
    VK(vkDeviceWaitIdle(other));
    vkDestroySemaphore(other, t, NULL);
    vkDestroyDevice(other, NULL);
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroySemaphore(vk.device, s, NULL);
    vk_close();
}

TESTS(CASE(vulkan_waits_for_cuda), CASE(cuda_waits_for_vulkan), CASE(ping_pong_10000),
      CASE(values_far_apart), CASE(several_batches_in_a_call), CASE(submit_2), CASE(wait_idle),
      CASE(long_waits_are_reported), CASE(destroy_while_pending),
      CASE(destroyed_semaphore_still_signals), CASE(two_devices))
