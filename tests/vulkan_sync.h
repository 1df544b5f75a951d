// SPDX-License-Identifier: MIT
// Semaphores and fences of Vulkan for tests, exported and imported, and submissions that use them.
#pragma once
#include <dlfcn.h>

#include "semaphore.h"
#include "vulkan.h"

enum { OPAQUE_FD = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT }; // the same for fences
static const uint64_t SECONDS_5 = UINT64_C(5000000000);

static struct {
    PFN_vkGetSemaphoreFdKHR get_semaphore;
    PFN_vkImportSemaphoreFdKHR import_semaphore;
    PFN_vkGetFenceFdKHR get_fence;
    PFN_vkImportFenceFdKHR import_fence;
} vks;

// Opens a device with external semaphores and fences, timelines and vkQueueSubmit2.
static inline void vks_open(void)
{
    static const char *const extensions[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                                             VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                                             VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME};
    VkPhysicalDeviceVulkan13Features new = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE};
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = &new,
        .timelineSemaphore = VK_TRUE};
    vk_need_layer();
    vk_open_instance(VK_API_VERSION_1_3);
    vk_open_device(extensions, 3, &timelines);
#define FIND(member, name) vks.member = (PFN_vk##name)vkGetDeviceProcAddr(vk.device, "vk" #name)
    FIND(get_semaphore, GetSemaphoreFdKHR);
    FIND(import_semaphore, ImportSemaphoreFdKHR);
    FIND(get_fence, GetFenceFdKHR);
    FIND(import_fence, ImportFenceFdKHR);
#undef FIND
    EXPECT(vks.get_semaphore && vks.import_semaphore && vks.get_fence && vks.import_fence);
}

// ---- semaphores

static inline VkSemaphore vks_semaphore_on(VkDevice device, VkSemaphoreType type, uint64_t value,
                                           bool exportable)
{
    VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                          .handleTypes = OPAQUE_FD};
    VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = exportable ? &export : NULL,
                                      .semaphoreType = type,
                                      .initialValue = value};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &kind};
    VkSemaphore s;
    VK(vkCreateSemaphore(device, &info, NULL, &s));
    return s;
}

static inline VkSemaphore vks_timeline(uint64_t value)
{
    return vks_semaphore_on(vk.device, VK_SEMAPHORE_TYPE_TIMELINE, value, true);
}

static inline VkSemaphore vks_binary(void)
{
    return vks_semaphore_on(vk.device, VK_SEMAPHORE_TYPE_BINARY, 0, true);
}

// Neither exported nor imported: the driver's own.
static inline VkSemaphore vks_drivers(VkSemaphoreType type)
{
    return vks_semaphore_on(vk.device, type, 0, false);
}

static inline int vks_fd(VkSemaphore s)
{
    VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                    .semaphore = s,
                                    .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VK(vks.get_semaphore(vk.device, &info, &fd));
    return fd;
}

static inline VkResult vks_import_on(VkDevice device, VkSemaphore s, int fd, bool temporary)
{
    VkImportSemaphoreFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                       .semaphore = s,
                                       .flags = temporary ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0,
                                       .handleType =
                                           VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                       .fd = fd};
    return vks.import_semaphore(device, &info);
}

static inline VkResult vks_import(VkSemaphore s, int fd, bool temporary)
{
    return vks_import_on(vk.device, s, fd, temporary);
}

static inline uint64_t vks_value(VkSemaphore s)
{
    uint64_t value = ~UINT64_C(0);
    VK(vkGetSemaphoreCounterValue(vk.device, s, &value));
    return value;
}

static inline void vks_signal(VkSemaphore s, uint64_t value)
{
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s, .value = value};
    VK(vkSignalSemaphore(vk.device, &info));
}

static inline VkResult vks_wait(VkSemaphore s, uint64_t value, uint64_t timeout_ns)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &s,
                                .pValues = &value};
    return vkWaitSemaphores(vk.device, &info, timeout_ns);
}

// Imports a semaphore of Vulkan into CUDA.
static inline CUexternalSemaphore vks_cuda(VkSemaphore s, bool is_timeline)
{
    return semaphore_import(is_timeline ? CARDLESS_SEMAPHORE_TIMELINE : CARDLESS_SEMAPHORE_BINARY,
                            vks_fd(s));
}

// ---- submissions

// One batch: what it waits for, its commands and what it signals, if they are not NULL.
struct vks_batch {
    VkSemaphore wait, signal;
    uint64_t wait_value, signal_value;
    VkCommandBuffer commands;
    VkFence fence;
};

static inline void vks_submit_to(VkQueue queue, struct vks_batch b)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = b.wait != NULL,
                                            .pWaitSemaphoreValues = &b.wait_value,
                                            .signalSemaphoreValueCount = b.signal != NULL,
                                            .pSignalSemaphoreValues = &b.signal_value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = b.wait != NULL,
                         .pWaitSemaphores = &b.wait,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = b.commands != NULL,
                         .pCommandBuffers = &b.commands,
                         .signalSemaphoreCount = b.signal != NULL,
                         .pSignalSemaphores = &b.signal};
    VK(vkQueueSubmit(queue, 1, &info, b.fence));
}

static inline void vks_submit(struct vks_batch b)
{
    vks_submit_to(vk.queue, b);
}

// ---- fences

static inline VkFence vks_fence(bool exportable, bool signalled)
{
    VkExportFenceCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                      .handleTypes = OPAQUE_FD};
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                              .pNext = exportable ? &export : NULL,
                              .flags = signalled ? VK_FENCE_CREATE_SIGNALED_BIT : 0};
    VkFence f;
    VK(vkCreateFence(vk.device, &info, NULL, &f));
    return f;
}

static inline int vks_fence_fd(VkFence f)
{
    VkFenceGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
                                .fence = f,
                                .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VK(vks.get_fence(vk.device, &info, &fd));
    return fd;
}

static inline VkResult vks_import_fence(VkFence f, int fd, bool temporary)
{
    VkImportFenceFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
                                   .fence = f,
                                   .flags = temporary ? VK_FENCE_IMPORT_TEMPORARY_BIT : 0,
                                   .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                   .fd = fd};
    return vks.import_fence(vk.device, &info);
}

// ---- a buffer that commands fill

struct vks_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    const volatile uint32_t *words; // read only after a wait
};

static inline struct vks_buffer vks_buffer(void)
{
    VkMemoryRequirements needs;
    struct vks_buffer b = {.buffer = vk_buffer(4096, false, &needs)};
    b.memory = vk_allocate((struct vk_allocation){
        .size = needs.size,
        .type = vk_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0)});
    VK(vkBindBufferMemory(vk.device, b.buffer, b.memory, 0));
    VK(vkMapMemory(vk.device, b.memory, 0, VK_WHOLE_SIZE, 0, (void **)(uintptr_t)&b.words));
    return b;
}

// Reads a word of the buffer. ThreadSanitizer cannot see that a semaphore orders the driver's write
// before this, because the two sides map the semaphore at different addresses.
__attribute__((no_sanitize_thread)) static inline uint32_t vks_word(const struct vks_buffer *b,
                                                                    uint32_t i)
{
    return b->words[i];
}

static inline void vks_buffer_free(struct vks_buffer b)
{
    vkDestroyBuffer(vk.device, b.buffer, NULL);
    vkFreeMemory(vk.device, b.memory, NULL);
}

// Returns commands that write `value` to the word at `to`, and then copy it to the word at `copy`.
static inline VkCommandBuffer vks_fill(const struct vks_buffer *b, uint32_t to, uint32_t value,
                                       uint32_t copy)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = vk.pool,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask =
                                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    VkBufferCopy region = {to * 4, copy * 4, 4};
    VkCommandBuffer c;
    VK(vkAllocateCommandBuffers(vk.device, &info, &c));
    VK(vkBeginCommandBuffer(c, &begin));
    vkCmdFillBuffer(c, b->buffer, to * 4, 4, value);
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    vkCmdCopyBuffer(c, b->buffer, b->buffer, 1, &region);
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    VK(vkEndCommandBuffer(c));
    return c;
}
