// SPDX-License-Identifier: MIT
// The Vulkan part of the examples.
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t draw_spv[] = {
#include "draw.spv.h"
};

void gpu_check(VkResult result, const char *what, const char *file, int line)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s:%d: %s: VkResult %d\n", file, line, what, result);
        exit(1);
    }
}

static int has_uuid(VkPhysicalDevice device, const uint8_t *uuid)
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    vkGetPhysicalDeviceProperties2(device, &properties);
    return !uuid || !memcmp(id.deviceUUID, uuid, VK_UUID_SIZE);
}

static void choose_device(struct gpu *gpu, const uint8_t *uuid)
{
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    VkResult r = vkEnumeratePhysicalDevices(gpu->instance, &n, devices);
    if (r != VK_INCOMPLETE)
        VK(r);
    for (uint32_t i = 0; i < n; i++) {
        if (has_uuid(devices[i], uuid)) {
            gpu->physical = devices[i];
            return;
        }
    }
    fprintf(stderr, "no Vulkan device has the CUDA device's UUID\n");
    exit(1);
}

static uint32_t compute_family(VkPhysicalDevice device)
{
    VkQueueFamilyProperties families[16];
    uint32_t n = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &n, families);
    for (uint32_t i = 0; i < n; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return i;
    fprintf(stderr, "the Vulkan device has no compute queue\n");
    exit(1);
}

void gpu_open(struct gpu *gpu, const uint8_t *uuid)
{
    static const char *const extensions[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application};
    VK(vkCreateInstance(&instance, NULL, &gpu->instance));
    choose_device(gpu, uuid);
    gpu->family = compute_family(gpu->physical);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = gpu->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    VK(vkCreateDevice(gpu->physical, &device, NULL, &gpu->device));
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);
    gpu->get_memory_fd = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(gpu->device, "vkGetMemoryFdKHR");
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = gpu->family};
    VK(vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool));
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = gpu->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    VK(vkAllocateCommandBuffers(gpu->device, &commands, &gpu->commands));
}

void gpu_close(struct gpu *gpu)
{
    vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
    vkDestroyDevice(gpu->device, NULL);
    vkDestroyInstance(gpu->instance, NULL);
}

static uint32_t memory_type(struct gpu *gpu, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if ((allowed & 1u << i) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    fprintf(stderr, "no memory type has the properties 0x%x\n", wanted);
    exit(1);
}

static void allocate(struct gpu *gpu, struct gpu_memory *out, const VkMemoryRequirements *need,
                     VkMemoryPropertyFlags properties,
                     const VkMemoryDedicatedAllocateInfo *dedicated, int exportable)
{
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .pNext = dedicated,
                                         .handleTypes =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = exportable ? (const void *)&export : dedicated,
                                 .allocationSize = need->size,
                                 .memoryTypeIndex =
                                     memory_type(gpu, need->memoryTypeBits, properties)};
    VK(vkAllocateMemory(gpu->device, &info, NULL, &out->memory));
    out->size_B = need->size;
}

void gpu_image_create(struct gpu *gpu, struct gpu_image *image, VkFormat format, uint32_t width,
                      uint32_t height, uint32_t layers, uint32_t levels)
{
    *image =
        (struct gpu_image){.width = width, .height = height, .layers = layers, .levels = levels};
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .pNext = &external,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = format,
                              .extent = {width, height, 1},
                              .mipLevels = levels,
                              .arrayLayers = layers,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .tiling = VK_IMAGE_TILING_OPTIMAL,
                              .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VK(vkCreateImage(gpu->device, &info, NULL, &image->image));
    VkMemoryRequirements need;
    vkGetImageMemoryRequirements(gpu->device, image->image, &need);
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = image->image};
    allocate(gpu, &image->memory, &need, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &dedicated, 1);
    VK(vkBindImageMemory(gpu->device, image->image, image->memory.memory, 0));
}

void gpu_image_destroy(struct gpu *gpu, struct gpu_image *image)
{
    vkDestroyImage(gpu->device, image->image, NULL);
    vkFreeMemory(gpu->device, image->memory.memory, NULL);
}

void gpu_buffer_create(struct gpu *gpu, struct gpu_buffer *buffer, VkDeviceSize size_B,
                       int exportable)
{
    *buffer = (struct gpu_buffer){.size_B = size_B};
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = exportable ? &external : NULL,
                               .size = size_B,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VK(vkCreateBuffer(gpu->device, &info, NULL, &buffer->buffer));
    VkMemoryRequirements need;
    vkGetBufferMemoryRequirements(gpu->device, buffer->buffer, &need);
    VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    allocate(gpu, &buffer->memory, &need, exportable ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : host,
             NULL, exportable);
    VK(vkBindBufferMemory(gpu->device, buffer->buffer, buffer->memory.memory, 0));
    if (!exportable)
        VK(vkMapMemory(gpu->device, buffer->memory.memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped));
}

void gpu_buffer_destroy(struct gpu *gpu, struct gpu_buffer *buffer)
{
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory.memory, NULL);
}

int gpu_memory_fd(struct gpu *gpu, const struct gpu_memory *memory)
{
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory->memory,
                                 .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VK(gpu->get_memory_fd(gpu->device, &info, &fd));
    return fd;
}

void gpu_begin(struct gpu *gpu)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VK(vkBeginCommandBuffer(gpu->commands, &info));
}

void gpu_submit_and_wait(struct gpu *gpu)
{
    VK(vkEndCommandBuffer(gpu->commands));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &gpu->commands};
    VK(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(gpu->queue));
}

void gpu_image_barrier(struct gpu *gpu, const struct gpu_image *image, VkImageLayout from,
                       uint32_t from_family, uint32_t to_family)
{
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = from_family,
        .dstQueueFamilyIndex = to_family,
        .image = image->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, image->levels, 0, image->layers},
    };
    vkCmdPipelineBarrier(gpu->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

// Objects that drawing needs in addition to the image. gpu_draw creates and destroys them.
struct drawing {
    VkShaderModule shader;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet sets[MAX_LEVELS];
    VkImageView views[MAX_LEVELS];
};

static void drawing_pipeline(struct gpu *gpu, struct drawing *d)
{
    VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof draw_spv,
                                       .pCode = draw_spv};
    VK(vkCreateShaderModule(gpu->device, &shader, NULL, &d->shader));
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    VK(vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &d->set_layout));
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &d->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    VK(vkCreatePipelineLayout(gpu->device, &layout, NULL, &d->layout));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = d->shader,
                  .pName = "main"},
        .layout = d->layout};
    VK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &d->pipeline));
}

static void drawing_views(struct gpu *gpu, struct drawing *d, const struct gpu_image *image)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, image->levels};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = image->levels,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VK(vkCreateDescriptorPool(gpu->device, &pool, NULL, &d->pool));
    for (uint32_t level = 0; level < image->levels; level++) {
        VkImageViewCreateInfo view = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = image->image,
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = VK_FORMAT_R8G8B8A8_UINT,
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, level, 1, 0, 1}};
        VK(vkCreateImageView(gpu->device, &view, NULL, &d->views[level]));
        VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = d->pool,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &d->set_layout};
        VK(vkAllocateDescriptorSets(gpu->device, &set, &d->sets[level]));
        VkDescriptorImageInfo info = {.imageView = d->views[level],
                                      .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = d->sets[level],
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                      .pImageInfo = &info};
        vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
    }
}

static void drawing_drop(struct gpu *gpu, struct drawing *d, uint32_t levels)
{
    for (uint32_t level = 0; level < levels; level++)
        vkDestroyImageView(gpu->device, d->views[level], NULL);
    vkDestroyDescriptorPool(gpu->device, d->pool, NULL);
    vkDestroyPipeline(gpu->device, d->pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, d->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, d->set_layout, NULL);
    vkDestroyShaderModule(gpu->device, d->shader, NULL);
}

void gpu_draw(struct gpu *gpu, const struct gpu_image *image)
{
    struct drawing d = {0};
    drawing_pipeline(gpu, &d);
    drawing_views(gpu, &d, image);
    gpu_begin(gpu);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_QUEUE_FAMILY_IGNORED,
                      VK_QUEUE_FAMILY_IGNORED);
    vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline);
    for (uint32_t level = 0; level < image->levels; level++) {
        vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, 0, 1,
                                &d.sets[level], 0, NULL);
        vkCmdPushConstants(gpu->commands, d.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof level,
                           &level);
        vkCmdDispatch(gpu->commands, (level_size(image->width, level) + 7) / 8,
                      (level_size(image->height, level) + 7) / 8, 1);
    }
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, gpu->family, VK_QUEUE_FAMILY_EXTERNAL);
    gpu_submit_and_wait(gpu);
    drawing_drop(gpu, &d, image->levels);
}

void gpu_give(struct gpu *gpu, const struct gpu_image *image)
{
    gpu_begin(gpu);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_QUEUE_FAMILY_IGNORED,
                      VK_QUEUE_FAMILY_IGNORED);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, gpu->family, VK_QUEUE_FAMILY_EXTERNAL);
    gpu_submit_and_wait(gpu);
}

void gpu_read_layer(struct gpu *gpu, const struct gpu_image *image, uint32_t layer,
                    const struct gpu_buffer *host)
{
    gpu_begin(gpu);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, VK_QUEUE_FAMILY_EXTERNAL, gpu->family);
    VkDeviceSize offset = 0;
    for (uint32_t level = 0; level < image->levels; level++) {
        uint32_t w = level_size(image->width, level), h = level_size(image->height, level);
        VkBufferImageCopy copy = {.bufferOffset = offset,
                                  .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 1},
                                  .imageExtent = {w, h, 1}};
        vkCmdCopyImageToBuffer(gpu->commands, image->image, VK_IMAGE_LAYOUT_GENERAL, host->buffer,
                               1, &copy);
        offset += (VkDeviceSize)w * h * 4;
    }
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, gpu->family, VK_QUEUE_FAMILY_EXTERNAL);
    gpu_submit_and_wait(gpu);
}

void gpu_read_buffer(struct gpu *gpu, const struct gpu_buffer *from, const struct gpu_buffer *host)
{
    gpu_begin(gpu);
    VkBufferCopy copy = {.size = from->size_B};
    vkCmdCopyBuffer(gpu->commands, from->buffer, host->buffer, 1, &copy);
    gpu_submit_and_wait(gpu);
}
