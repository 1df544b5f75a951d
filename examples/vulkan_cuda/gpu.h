// SPDX-License-Identifier: MIT
// The Vulkan half of the examples: a device that is the CUDA device, an exportable mip-mapped array
// image, and exportable buffers.
#pragma once
#include <stdint.h>
#include <vulkan/vulkan.h>

enum { MAX_LEVELS = 12 };

struct gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint32_t family;
    PFN_vkGetMemoryFdKHR get_memory_fd;
};

struct gpu_memory {
    VkDeviceMemory memory;
    VkDeviceSize size_B; // of the allocation: what an importer has to pass
};

struct gpu_image {
    VkImage image;
    struct gpu_memory memory;
    uint32_t width, height, layers, levels;
};

struct gpu_buffer {
    VkBuffer buffer;
    struct gpu_memory memory;
    VkDeviceSize size_B;
    void *mapped; // of a host buffer, else NULL
};

#define VK(call) gpu_check((call), #call, __FILE__, __LINE__)
void gpu_check(VkResult result, const char *what, const char *file, int line);

// Opens the Vulkan device whose UUID is `uuid` (16 bytes, as cuDeviceGetUuid gives it), or the
// first one where uuid is NULL.
void gpu_open(struct gpu *gpu, const uint8_t *uuid);
void gpu_close(struct gpu *gpu);

// An RGBA8UI image array with a full or partial mip chain in memory of its own that can be exported
// as an opaque fd.
void gpu_image_create(struct gpu *gpu, struct gpu_image *image, uint32_t width, uint32_t height,
                      uint32_t layers, uint32_t levels);
void gpu_image_destroy(struct gpu *gpu, struct gpu_image *image);

// A buffer in exportable device memory, or in host memory that this program reads.
void gpu_buffer_create(struct gpu *gpu, struct gpu_buffer *buffer, VkDeviceSize size_B,
                       int exportable);
void gpu_buffer_destroy(struct gpu *gpu, struct gpu_buffer *buffer);

// A new file descriptor for the memory; whoever imports it owns it.
int gpu_memory_fd(struct gpu *gpu, const struct gpu_memory *memory);

// Runs draw.comp over every level of layer 0, and hands the image over to the other API.
void gpu_draw(struct gpu *gpu, const struct gpu_image *image);

// Copies all levels of one layer, tightly packed one after the other, into a host buffer; takes the
// image back from the other API first.
void gpu_read_layer(struct gpu *gpu, const struct gpu_image *image, uint32_t layer,
                    const struct gpu_buffer *host);
// Copies a buffer into a host buffer of the same size.
void gpu_read_buffer(struct gpu *gpu, const struct gpu_buffer *from, const struct gpu_buffer *host);

static inline uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}
