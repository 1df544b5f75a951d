// SPDX-License-Identifier: MIT
// Vulkan memory for tests of mistakes.
#pragma once
#include "../vulkan.h"

#include "../send_fd.h"
#include "external.h"
#include "import.h"
#include "vulkan_facts.h"

enum { BUFFER_B = 65536 };

// An image with memory of its own, imported correctly.
struct shared {
    VkImage image;
    VkDeviceMemory memory;
    uint64_t size;
    CUexternalMemory cuda;
};

static inline void open_both(void)
{
    vk_need_layer();
    vk_open();
    test_context();
}

static inline VkDeviceMemory image_memory(const VkImageCreateInfo *info, VkImage *image,
                                          uint64_t *size)
{
    VkMemoryRequirements needs;
    *image = vk_image(info, &needs);
    *size = needs.size;
    VkDeviceMemory memory =
        vk_allocate((struct vk_allocation){.size = needs.size,
                                           .type = vk_memory_type(needs.memoryTypeBits, 0, 0),
                                           .image = *image,
                                           .exportable = true});
    VK(vkBindImageMemory(vk.device, *image, memory, 0));
    return memory;
}

// Allocates exportable memory for a buffer, of a type that has the properties `with` and lacks the
// properties `without`.
static inline VkDeviceMemory buffer_memory(VkMemoryPropertyFlags with,
                                           VkMemoryPropertyFlags without, uint64_t *size)
{
    VkMemoryRequirements needs;
    VkBuffer buffer = vk_buffer(BUFFER_B, true, &needs);
    *size = needs.size;
    VkDeviceMemory memory = vk_allocate(
        (struct vk_allocation){.size = needs.size,
                               .type = vk_memory_type(needs.memoryTypeBits, with, without),
                               .exportable = true});
    VK(vkBindBufferMemory(vk.device, buffer, memory, 0));
    return memory;
}

static inline struct shared share(const VkImageCreateInfo *info)
{
    struct shared s;
    open_both();
    s.memory = image_memory(info, &s.image, &s.size);
    s.cuda = import(vk_fd(s.memory), s.size, CUDA_EXTERNAL_MEMORY_DEDICATED);
    return s;
}
