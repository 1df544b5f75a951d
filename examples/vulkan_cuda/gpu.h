// SPDX-License-Identifier: MIT
// The Vulkan part of the examples: the CUDA device as a Vulkan device, an exportable mip-mapped
// array image, and exportable buffers.
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
    VkDeviceSize size_B; // size of the allocation, which an importer has to pass
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
    void *mapped; // the mapping, or NULL if this is not a host buffer
};

#define VK(call) gpu_check((call), #call, __FILE__, __LINE__)
void gpu_check(VkResult result, const char *what, const char *file, int line);

// Opens the Vulkan device with this UUID (16 bytes from cuDeviceGetUuid), or the first device if
// uuid is NULL.
void gpu_open(struct gpu *gpu, const uint8_t *uuid);
void gpu_close(struct gpu *gpu);

// Creates an image array of four bytes a texel with a full or partial mip chain, in memory of its
// own that can be exported as an opaque fd.
void gpu_image_create(struct gpu *gpu, struct gpu_image *image, VkFormat format, uint32_t width,
                      uint32_t height, uint32_t layers, uint32_t levels);
void gpu_image_destroy(struct gpu *gpu, struct gpu_image *image);

// Creates a buffer in exportable device memory, or in host memory that this program reads.
void gpu_buffer_create(struct gpu *gpu, struct gpu_buffer *buffer, VkDeviceSize size_B,
                       int exportable);
void gpu_buffer_destroy(struct gpu *gpu, struct gpu_buffer *buffer);

// Returns a new file descriptor for the memory. The importer becomes its owner.
int gpu_memory_fd(struct gpu *gpu, const struct gpu_memory *memory);

// Runs draw.comp on every level of layer 0, and releases the image to the other API.
void gpu_draw(struct gpu *gpu, const struct gpu_image *image);

// Releases an image that has no contents yet to the other API.
void gpu_give(struct gpu *gpu, const struct gpu_image *image);

// Acquires the image from the other API, and copies all levels of one layer, tightly packed, to a
// host buffer.
void gpu_read_layer(struct gpu *gpu, const struct gpu_image *image, uint32_t layer,
                    const struct gpu_buffer *host);
// Copies a buffer into a host buffer of the same size.
void gpu_read_buffer(struct gpu *gpu, const struct gpu_buffer *from, const struct gpu_buffer *host);

// Begins the command buffer; submits it, and waits until it is complete.
void gpu_begin(struct gpu *gpu);
void gpu_submit_and_wait(struct gpu *gpu);
// A barrier over the whole image, which also transfers its ownership between queue families.
void gpu_image_barrier(struct gpu *gpu, const struct gpu_image *image, VkImageLayout from,
                       uint32_t from_family, uint32_t to_family);

static inline uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}
