// SPDX-License-Identifier: MIT
// The Vulkan side of interop tests, on lavapipe: a device, images and buffers of every kind,
// exported memory, and copies between an image and host memory.
#pragma once
#include <vulkan/vulkan.h>

#include "harness.h"

#define VK(call)                                                                                   \
    do {                                                                                           \
        VkResult got_ = (call);                                                                    \
        if (got_) {                                                                                \
            test_failed(__FILE__, __LINE__);                                                       \
            printf("%s gives %d, the case cannot go on\n", #call, got_);                           \
            fflush(stdout);                                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static struct {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkPhysicalDeviceMemoryProperties memory;
    PFN_vkGetMemoryFdKHR get_memory_fd;
} vk;

static inline void vk_choose_lavapipe(void)
{
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    if (vkEnumeratePhysicalDevices(vk.instance, &count, all) < 0)
        count = 0;
    for (uint32_t i = 0; i < count && !vk.physical; i++) {
        VkPhysicalDeviceDriverProperties driver = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
        vkGetPhysicalDeviceProperties2(all[i], &properties);
        if (driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ||
            driver.driverID == VK_DRIVER_ID_GOOGLE_SWIFTSHADER ||
            !strcmp(driver.driverName, "llvmpipe"))
            vk.physical = all[i];
    }
    if (!vk.physical)
        SKIP("neither lavapipe nor SwiftShader is installed");
}

// Creates a device with one queue. `next` is the chain of its create info.
static inline VkDevice vk_make_device(const char *const *extensions, uint32_t count,
                                      const void *next)
{
    float priority = 1;
    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(vk.physical, &features);
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = next,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = count,
                               .ppEnabledExtensionNames = extensions,
                               .pEnabledFeatures = &features};
    VkDevice device;
    VK(vkCreateDevice(vk.physical, &info, NULL, &device));
    return device;
}

static inline void vk_open_instance(uint32_t version)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = version};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application};
    if (vkCreateInstance(&instance, NULL, &vk.instance))
        SKIP("there is no Vulkan here");
    vk_choose_lavapipe();
}

static inline void vk_open_device(const char *const *extensions, uint32_t count, const void *next)
{
    vk.device = vk_make_device(extensions, count, next);
    vkGetDeviceQueue(vk.device, 0, 0, &vk.queue);
    vkGetPhysicalDeviceMemoryProperties(vk.physical, &vk.memory);
    vk.get_memory_fd = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(vk.device, "vkGetMemoryFdKHR");
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VK(vkCreateCommandPool(vk.device, &pool, NULL, &vk.pool));
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = vk.pool,
                                            .commandBufferCount = 1};
    VK(vkAllocateCommandBuffers(vk.device, &commands, &vk.commands));
}

static inline void vk_open(void)
{
    const char *extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    vk_open_instance(VK_API_VERSION_1_2);
    vk_open_device(&extension, 1, NULL);
}

static inline void vk_close(void)
{
    vkDestroyCommandPool(vk.device, vk.pool, NULL);
    vkDestroyDevice(vk.device, NULL);
    vkDestroyInstance(vk.instance, NULL);
}

// Returns whether the Vulkan layer is loaded. Without it every negative test would fail.
static inline void vk_need_layer(void)
{
    if (!getenv("CARDLESS_VULKAN_LAYER"))
        SKIP("not run through `cardless run`, or the Vulkan layer was not built");
}

// ---- images and buffers

enum {
    VK_TEST_USAGE = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                    VK_IMAGE_USAGE_TRANSFER_DST_BIT
};

// Returns the create info of an exportable 2D RGBA8 image with optimal tiling, for storage and
// transfers. Each test changes the fields that it is about.
static inline VkImageCreateInfo vk_image_info(uint32_t width, uint32_t height, uint32_t layers,
                                              uint32_t levels)
{
    static const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .pNext = &external,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = VK_FORMAT_R8G8B8A8_UNORM,
                               .extent = {width, height, 1},
                               .mipLevels = levels,
                               .arrayLayers = layers,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .tiling = VK_IMAGE_TILING_OPTIMAL,
                               .usage = VK_TEST_USAGE};
}

static inline VkImage vk_image(const VkImageCreateInfo *info, VkMemoryRequirements *needs)
{
    VkImage image;
    VK(vkCreateImage(vk.device, info, NULL, &image));
    vkGetImageMemoryRequirements(vk.device, image, needs);
    return image;
}

static inline VkBuffer vk_buffer(uint64_t size, bool exportable, VkMemoryRequirements *needs)
{
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = exportable ? &external : NULL,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    VK(vkCreateBuffer(vk.device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(vk.device, buffer, needs);
    return buffer;
}

// Returns the first memory type that has all `wanted` flags and no `unwanted` flag.
static inline uint32_t vk_memory_type(uint32_t allowed, VkMemoryPropertyFlags wanted,
                                      VkMemoryPropertyFlags unwanted)
{
    for (uint32_t i = 0; i < vk.memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = vk.memory.memoryTypes[i].propertyFlags;
        if (allowed & 1u << i && (flags & wanted) == wanted && !(flags & unwanted))
            return i;
    }
    SKIP("no such memory type");
}

struct vk_allocation {
    uint64_t size;
    uint32_t type;
    VkImage image; // dedicated to these, or NULL
    VkBuffer buffer;
    bool exportable;
};

static inline VkDeviceMemory vk_allocate(struct vk_allocation a)
{
    VkMemoryDedicatedAllocateInfo dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                               .image = a.image,
                                               .buffer = a.buffer};
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .pNext = a.image || a.buffer ? &dedicated : NULL,
                                         .handleTypes =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = a.exportable ? &export : export.pNext,
                                 .allocationSize = a.size,
                                 .memoryTypeIndex = a.type};
    VkDeviceMemory memory;
    VK(vkAllocateMemory(vk.device, &info, NULL, &memory));
    return memory;
}

static inline int vk_fd(VkDeviceMemory memory)
{
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory,
                                 .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VK(vk.get_memory_fd(vk.device, &info, &fd));
    return fd;
}

// ---- copies between a level of an image, all its layers or slices, and host memory: tightly
// packed

static inline void vk_copy_level(VkImage image, const VkImageCreateInfo *info, uint32_t level,
                                 void *texels, uint64_t size, bool to_image)
{
    VkMemoryRequirements needs;
    void *mapped;
    VkBuffer buffer = vk_buffer(size, false, &needs);
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){
        .size = needs.size,
        .type = vk_memory_type(
            needs.memoryTypeBits,
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0)});
    VK(vkBindBufferMemory(vk.device, buffer, memory, 0));
    VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    if (to_image)
        memcpy(mapped, texels, size);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = 0,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS}};
    uint32_t w = info->extent.width >> level, h = info->extent.height >> level,
             d = info->extent.depth >> level;
    VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, info->arrayLayers},
        .imageExtent = {w ? w : 1, h ? h : 1, d ? d : 1}};
    VK(vkBeginCommandBuffer(vk.commands, &begin));
    vkCmdPipelineBarrier(vk.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    if (to_image)
        vkCmdCopyBufferToImage(vk.commands, buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    else
        vkCmdCopyImageToBuffer(vk.commands, image, VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &copy);
    VK(vkEndCommandBuffer(vk.commands));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &vk.commands};
    VK(vkQueueSubmit(vk.queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(vk.queue));
    if (!to_image)
        memcpy(texels, mapped, size);
    vkDestroyBuffer(vk.device, buffer, NULL);
    vkFreeMemory(vk.device, memory, NULL);
}
