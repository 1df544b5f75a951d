// SPDX-License-Identifier: MIT
// The layouts of software Vulkan drivers, against the drivers themselves (lavapipe, or SwiftShader
// by argument). Vulkan writes images, and the test reads them from memory at the places of
// dm_layout_locate; then dm_box_copy writes them, and Vulkan reads them.
#include "box.h"
#include "check.h"
#include "layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { SKIPPED = 77, BUFFER_B = 32 << 20 };

static struct {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer;
    VkDeviceMemory buffer_memory;
    uint8_t *staging;
    uint32_t memory_type;
} vk;

static const struct producer {
    const char *name;
    VkDriverId id;
    enum dm_layout_kind kind;
} producers[] =
    {
        {"lavapipe", VK_DRIVER_ID_MESA_LLVMPIPE, DM_LAYOUT_LLVMPIPE},
        {"swiftshader", VK_DRIVER_ID_GOOGLE_SWIFTSHADER, DM_LAYOUT_SWIFTSHADER},
},
  *producer;

static const struct format {
    const char *name;
    VkFormat format;
    uint32_t element_B, block_px;
} formats[] = {
    {"RGBA8", VK_FORMAT_R8G8B8A8_UNORM, 4, 1},
    {"R8", VK_FORMAT_R8_UNORM, 1, 1},
    {"R16", VK_FORMAT_R16_UINT, 2, 1},
    {"RGBA16F", VK_FORMAT_R16G16B16A16_SFLOAT, 8, 1},
    {"RGBA32F", VK_FORMAT_R32G32B32A32_SFLOAT, 16, 1},
    {"BC1", VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 8, 4},
    {"BC7", VK_FORMAT_BC7_UNORM_BLOCK, 16, 4},
};

static const struct shape {
    const char *name;
    uint32_t width, height, depth, layers, levels;
    bool cube;
} shapes[] = {
    {"1D", 1000, 0, 0, 0, 1, false},           {"1D mips", 1000, 0, 0, 0, 10, false},
    {"1D array mips", 333, 0, 0, 5, 9, false}, {"2D", 100, 50, 0, 0, 1, false},
    {"2D mips", 100, 50, 0, 0, 7, false},      {"2D square mips", 256, 256, 0, 0, 9, false},
    {"2D one texel", 1, 1, 0, 0, 1, false},    {"2D narrow mips", 3, 77, 0, 0, 7, false},
    {"2D array mips", 65, 33, 0, 6, 7, false}, {"3D", 33, 20, 9, 0, 1, false},
    {"3D mips", 64, 32, 16, 0, 7, false},      {"3D odd mips", 17, 5, 31, 0, 5, false},
    {"cube mips", 60, 60, 0, 6, 6, true},      {"cube array mips", 32, 32, 0, 12, 6, true},
};

static int vulkan_start(void)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &app};
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    VkPhysicalDeviceFeatures features;
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue_info,
                                      .pEnabledFeatures = &features};
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandBufferAllocateInfo commands_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandBufferCount = 1};
    VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .size = BUFFER_B,
                                      .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                               VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties memory;

    if (vkCreateInstance(&instance_info, NULL, &vk.instance) ||
        vkEnumeratePhysicalDevices(vk.instance, &count, all) < 0)
        return SKIPPED;
    for (uint32_t i = 0; i < count && !vk.physical; i++) {
        VkPhysicalDeviceDriverProperties driver = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};

        vkGetPhysicalDeviceProperties2(all[i], &properties);
        if (driver.driverID == producer->id) {
            vk.physical = all[i];
            printf("%s, %s\n", properties.properties.deviceName, driver.driverInfo);
        }
    }
    if (!vk.physical)
        return SKIPPED;
    vkGetPhysicalDeviceFeatures(vk.physical, &features);
    vkGetPhysicalDeviceMemoryProperties(vk.physical, &memory);
    while (
        vk.memory_type < memory.memoryTypeCount &&
        !(memory.memoryTypes[vk.memory_type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        vk.memory_type++;
    if (vkCreateDevice(vk.physical, &device_info, NULL, &vk.device))
        return 1;
    vkGetDeviceQueue(vk.device, 0, 0, &vk.queue);
    if (vkCreateCommandPool(vk.device, &pool_info, NULL, &vk.pool))
        return 1;
    commands_info.commandPool = vk.pool;
    if (vkAllocateCommandBuffers(vk.device, &commands_info, &vk.commands) ||
        vkCreateBuffer(vk.device, &buffer_info, NULL, &vk.buffer))
        return 1;
    vkGetBufferMemoryRequirements(vk.device, vk.buffer, &needs);
    memory_info.allocationSize = needs.size;
    memory_info.memoryTypeIndex = vk.memory_type;
    if (vkAllocateMemory(vk.device, &memory_info, NULL, &vk.buffer_memory) ||
        vkBindBufferMemory(vk.device, vk.buffer, vk.buffer_memory, 0) ||
        vkMapMemory(vk.device, vk.buffer_memory, 0, VK_WHOLE_SIZE, 0, (void **)&vk.staging))
        return 1;
    return 0;
}

static void vulkan_finish(void)
{
    if (vk.device) {
        vkDestroyBuffer(vk.device, vk.buffer, NULL);
        vkFreeMemory(vk.device, vk.buffer_memory, NULL);
        vkDestroyCommandPool(vk.device, vk.pool, NULL);
        vkDestroyDevice(vk.device, NULL);
    }
    if (vk.instance)
        vkDestroyInstance(vk.instance, NULL);
}

// Copies all levels and layers between the staging buffer (tightly packed, level by level) and the
// image.
static void transfer(VkImage image, const struct dm_layout *l, bool to_image)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &vk.commands};
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .oldLayout = to_image ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_GENERAL,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, l->levels, 0, l->layers}};
    VkDeviceSize offset_B = 0;

    vkBeginCommandBuffer(vk.commands, &begin);
    vkCmdPipelineBarrier(vk.commands, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         0, NULL, 0, NULL, 1, &barrier);
    for (uint32_t level = 0; level < l->levels; level++) {
        const struct dm_layout_level *v = &l->level[level];
        VkBufferImageCopy region = {
            .bufferOffset = offset_B,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, l->layers},
            .imageExtent = {v->width_px, v->height_px, v->depth}};

        if (to_image)
            vkCmdCopyBufferToImage(vk.commands, vk.buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1,
                                   &region);
        else
            vkCmdCopyImageToBuffer(vk.commands, image, VK_IMAGE_LAYOUT_GENERAL, vk.buffer, 1,
                                   &region);
        offset_B += (uint64_t)v->width_el * v->height_el * dm_layout_depth(l, level) * l->element_B;
    }
    vkEndCommandBuffer(vk.commands);
    CHECK_EQ(vkQueueSubmit(vk.queue, 1, &submit, VK_NULL_HANDLE), 0, "submit");
    CHECK_EQ(vkQueueWaitIdle(vk.queue), 0, "wait");
}

static uint64_t packed_B(const struct dm_layout *l)
{
    uint64_t size_B = 0;

    for (uint32_t level = 0; level < l->levels; level++)
        size_B += (uint64_t)l->level[level].width_el * l->level[level].height_el *
                  dm_layout_depth(l, level) * l->element_B;
    return size_B;
}

// Fills the buffer with bytes that distinguish elements and are never a NaN or a denormal, which a
// copy could change.
static void fill_staging(uint64_t size_B, unsigned seed)
{
    for (uint64_t i = 0; i < size_B; i++)
        vk.staging[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 13) & 0x3f;
}

static void check_contents(VkImage image, const struct dm_layout *l, uint8_t *memory,
                           const char *where)
{
    uint64_t size_B = packed_B(l), at_B = 0, wrong = 0;
    uint8_t *want;

    CHECK_EQ(size_B <= BUFFER_B, true, "%s", where);
    fill_staging(size_B, 1);
    transfer(image, l, true);
    for (uint32_t level = 0; level < l->levels; level++)
        for (uint64_t z = 0; z < dm_layout_depth(l, level); z++)
            for (uint64_t y = 0; y < l->level[level].height_el; y++)
                for (uint64_t x = 0; x < l->level[level].width_el; x++, at_B += l->element_B)
                    wrong += memcmp(memory + dm_layout_locate(l, level, x, y, z), vk.staging + at_B,
                                    l->element_B) != 0;
    CHECK_EQ(wrong, 0, "elements written by Vulkan, %s", where);

    fill_staging(size_B, 2);
    at_B = 0;
    for (uint32_t level = 0; level < l->levels; level++) {
        const struct dm_layout_level *v = &l->level[level];
        struct dm_box_extent e = {(uint64_t)v->width_el * l->element_B, v->height_el,
                                  dm_layout_depth(l, level)};
        struct dm_surface packed = {
            .base = vk.staging + at_B, .pitch_B = e.width_B, .slice_B = e.width_B * e.height};
        struct dm_surface array = {.base = memory, .layout = l, .level = level};

        CHECK_EQ(dm_box_copy(&array, (struct dm_position){0}, &packed, (struct dm_position){0}, e),
                 0, "%s", where);
        at_B += packed.slice_B * e.depth;
    }
    want = malloc(size_B);
    memcpy(want, vk.staging, size_B);
    memset(vk.staging, 0xee, size_B);
    transfer(image, l, false);
    CHECK_EQ(memcmp(vk.staging, want, size_B), 0, "elements read by Vulkan, %s", where);
    free(want);
}

static void check_subresources(VkImage image, const struct dm_layout *l, const char *where)
{
    for (uint32_t level = 0; level < l->levels; level++)
        for (uint32_t layer = 0; layer < l->layers; layer++) {
            VkImageSubresource subresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, layer};
            VkSubresourceLayout got;

            vkGetImageSubresourceLayout(vk.device, image, &subresource, &got);
            CHECK_EQ(l->level[level].offset_B + layer * l->level[level].layer_stride_B, got.offset,
                     "level %u layer %u, %s", level, layer, where);
            CHECK_EQ(l->level[level].pitch_B, got.rowPitch, "level %u, %s", level, where);
            if (l->level[level].depth > 1)
                CHECK_EQ(l->level[level].slice_B, got.depthPitch, "level %u, %s", level, where);
            if (l->layers > 1)
                CHECK_EQ(l->level[level].layer_stride_B, got.arrayPitch, "level %u, %s", level,
                         where);
        }
}

// Returns false if the driver does not support such images.
static bool check_image(const struct format *f, const struct shape *s, VkImageTiling tiling)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .format = f->format,
        .tiling = tiling,
        .imageType = s->depth    ? VK_IMAGE_TYPE_3D
                     : s->height ? VK_IMAGE_TYPE_2D
                                 : VK_IMAGE_TYPE_1D,
        .flags = s->cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0,
        .extent = {s->width, s->height ? s->height : 1, s->depth ? s->depth : 1},
        .mipLevels = s->levels,
        .arrayLayers = s->layers ? s->layers : 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    struct dm_layout_desc desc = {.kind = producer->kind,
                                  .element_B = f->element_B,
                                  .block_px = f->block_px,
                                  .width_px = s->width,
                                  .height_px = s->height,
                                  .depth = s->depth,
                                  .layers = s->layers,
                                  .levels = s->levels,
                                  .cube = s->cube};
    VkImageFormatProperties possible;
    VkMemoryRequirements needs;
    VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .memoryTypeIndex = vk.memory_type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    struct dm_layout layout;
    uint8_t *mapped = NULL;
    char where[96];

    if (vkGetPhysicalDeviceImageFormatProperties(vk.physical, info.format, info.imageType, tiling,
                                                 info.usage, info.flags, &possible) ||
        possible.maxMipLevels < s->levels || possible.maxArrayLayers < info.arrayLayers)
        return false;
    snprintf(where, sizeof where, "%s %s %s", f->name, s->name,
             tiling == VK_IMAGE_TILING_LINEAR ? "linear" : "optimal");
    CHECK_EQ(dm_layout_init(&layout, &desc) == 0, true, "%s", where);
    CHECK_EQ(vkCreateImage(vk.device, &info, NULL, &image), 0, "%s", where);
    vkGetImageMemoryRequirements(vk.device, image, &needs);
    // SwiftShader keeps a decompressed copy after block-compressed images.
    if (f->block_px == 1 || producer->kind == DM_LAYOUT_LLVMPIPE)
        CHECK_EQ(layout.size_B, needs.size, "memory of %s", where);
    else
        CHECK_EQ(layout.size_B <= needs.size, true, "memory of %s", where);
    CHECK_EQ(needs.alignment % layout.alignment_B, 0, "alignment of %s", where);
    memory_info.allocationSize = needs.size;
    CHECK_EQ(vkAllocateMemory(vk.device, &memory_info, NULL, &memory), 0, "%s", where);
    CHECK_EQ(vkBindImageMemory(vk.device, image, memory, 0), 0, "%s", where);
    CHECK_EQ(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&mapped), 0, "%s", where);
    if (mapped && needs.size >= layout.total_B) {
        check_contents(image, &layout, mapped, where);
        if (tiling == VK_IMAGE_TILING_LINEAR)
            check_subresources(image, &layout, where);
    }
    vkDestroyImage(vk.device, image, NULL);
    vkFreeMemory(vk.device, memory, NULL);
    return true;
}

int main(int argc, char **argv)
{
    unsigned images = 0;
    int r;

    for (unsigned i = 0; i < sizeof producers / sizeof *producers; i++)
        if (argc > 1 && !strcmp(argv[1], producers[i].name))
            producer = &producers[i];
    if (!producer) {
        fprintf(stderr, "usage: %s lavapipe|swiftshader\n", argv[0]);
        return 2;
    }
    r = vulkan_start();

    if (r) {
        fprintf(stderr,
                r == SKIPPED ? "SKIPPED: no %s here; nothing was compared\n"
                             : "%s does not start\n",
                producer->name);
        vulkan_finish();
        return r;
    }
    for (unsigned f = 0; f < sizeof formats / sizeof *formats; f++)
        for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            images += check_image(&formats[f], &shapes[s], VK_IMAGE_TILING_OPTIMAL);
            images += check_image(&formats[f], &shapes[s], VK_IMAGE_TILING_LINEAR);
        }
    printf("%u images\n", images);
    vulkan_finish();
    return check_result(producer->name);
}
