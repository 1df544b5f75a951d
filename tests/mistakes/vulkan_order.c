// SPDX-License-Identifier: MIT
// Mistakes in the order of Vulkan's and CUDA's work on shared memory: no semaphore at all (S01),
// and a submission that waits for ever (S05, reported by the Vulkan layer).
#include "../vulkan_sync.h"
#include "external.h"

enum { BUFFER_B = 65536 };

// A buffer of Vulkan's that is imported into CUDA, and commands that fill it.
struct shared {
    CUdeviceptr cuda, other; // `other` is CUDA's own
    VkCommandBuffer fill;
};

static struct shared share(void)
{
    VkMemoryRequirements needs;
    VkBuffer buffer = vk_buffer(BUFFER_B, true, &needs);
    VkDeviceMemory memory =
        vk_allocate((struct vk_allocation){.size = needs.size,
                                           .type = vk_memory_type(needs.memoryTypeBits, 0, 0),
                                           .exportable = true});
    VK(vkBindBufferMemory(vk.device, buffer, memory, 0));
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VK(vkBeginCommandBuffer(vk.commands, &begin));
    vkCmdFillBuffer(vk.commands, buffer, 0, BUFFER_B, 7);
    VK(vkEndCommandBuffer(vk.commands));
    struct shared s = {.cuda = map_buffer(import(vk_fd(memory), needs.size, 0), 0, BUFFER_B),
                       .fill = vk.commands};
    EXPECT_OK(cuMemAlloc(&s.other, BUFFER_B));
    return s;
}

// Vulkan fills the buffer, and CUDA copies it, so many times. Only the host waits.
static void take_turns(unsigned times)
{
    struct shared s = share();
    // [S01 wrong]
    VkSubmitInfo fill = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &s.fill};
    for (unsigned i = 0; i < times; i++) {
        VK(vkQueueSubmit(vk.queue, 1, &fill, VK_NULL_HANDLE));
        VK(vkQueueWaitIdle(vk.queue));
        EXPECT_OK(cuMemcpyDtoD(s.other, s.cuda, BUFFER_B));
        EXPECT_OK(cuCtxSynchronize());
    }
    // [end]
}

TEST(s01_no_semaphore)
{
    test_setting("CARDLESS_CHECK", "order");
    vk_need_layer();
    vk_open();
    test_context();
    take_turns(4);
    EXPECT_DIAGNOSTIC(S01);
}

// The device has the extensions, but the program makes no semaphore.
TEST(s01_extension_only)
{
    test_setting("CARDLESS_CHECK", "order");
    vks_open();
    test_context();
    take_turns(4);
    EXPECT_DIAGNOSTIC(S01);
}

// A program that shares one upload may wait on the host.
TEST(s01_twin_upload)
{
    test_setting("CARDLESS_CHECK", "order");
    vk_need_layer();
    vk_open();
    test_context();
    take_turns(2);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s01_twin_not_checked)
{
    vk_need_layer();
    vk_open();
    test_context();
    take_turns(4);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s01_twin)
{
    test_setting("CARDLESS_CHECK", "order");
    vks_open();
    test_context();
    struct shared s = share();
    VkSemaphore vulkans = vks_timeline(0);
    CUexternalSemaphore cudas = vks_cuda(vulkans, true);
    CUstream stream = new_stream();
    // [S01 right]
    for (uint64_t i = 0; i < 8; i += 2) {
        vks_submit((struct vks_batch){.wait = vulkans,
                                      .wait_value = i,
                                      .commands = s.fill,
                                      .signal = vulkans,
                                      .signal_value = i + 1});
        EXPECT_OK(cu_wait(cudas, i + 1, stream));
        EXPECT_OK(cuMemcpyDtoDAsync(s.other, s.cuda, BUFFER_B, stream));
        EXPECT_OK(cu_signal(cudas, i + 2, stream));
    }
    // [end]
    EXPECT_OK(cuStreamSynchronize(stream));
    VK(vkQueueWaitIdle(vk.queue));
    EXPECT_NO_DIAGNOSTIC();
}

// The layer reports through the driver, once a program has imported something into CUDA.
TEST(s05_submission)
{
    test_setting("CARDLESS_DEADLOCK_MS", "20");
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(3);
    CUexternalSemaphore c = vks_cuda(s, true);
    vks_submit((struct vks_batch){.wait = s, .wait_value = 5});
    while (!strstr(test_last_line(), "\"S05\""))
        usleep(1000);
    EXPECT_DIAGNOSTIC(S05);
    EXPECT(strstr(test_last_line(), "a submission to VkQueue"));
    EXPECT(strstr(test_last_line(), "timeline semaphore to reach 5; its value is 3"));
    EXPECT_OK(cu_signal(c, 5, new_stream()));
    VK(vkQueueWaitIdle(vk.queue));
}

TEST(s05_submission_twin)
{
    test_setting("CARDLESS_DEADLOCK_MS", "20000");
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(3);
    CUexternalSemaphore c = vks_cuda(s, true);
    vks_submit((struct vks_batch){.wait = s, .wait_value = 5});
    EXPECT_OK(cu_signal(c, 5, new_stream()));
    VK(vkQueueWaitIdle(vk.queue));
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(s01_no_semaphore), CASE(s01_extension_only), CASE(s01_twin_upload),
      CASE(s01_twin_not_checked), CASE(s01_twin), CASE(s05_submission), CASE(s05_submission_twin))
