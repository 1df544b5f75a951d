// SPDX-License-Identifier: MIT
// What a Vulkan program said about memory that it exported: a record that our Vulkan layer leaves
// in the exported file itself, so that it goes wherever the descriptor goes, also to other
// processes, and ends with the memory. Whoever has the descriptor can write there: a record is
// evidence for sentences, and nothing that bytes are moved by.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dm_import_info;

enum dm_vulkan_resource_kind { DM_VULKAN_IMAGE = 1, DM_VULKAN_BUFFER = 2 };

enum dm_vulkan_resource_flags {
    DM_VULKAN_LINEAR = 1,             // not VK_IMAGE_TILING_OPTIMAL
    DM_VULKAN_STORAGE = 2,            // VK_IMAGE_USAGE_STORAGE_BIT
    DM_VULKAN_COLOR_TARGET = 4,       // VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
    DM_VULKAN_EXTERNAL_OPAQUE_FD = 8, // VkExternalMemory*CreateInfo names OPAQUE_FD
    DM_VULKAN_EXTERNAL_DMA_BUF = 16,
    DM_VULKAN_CUBE = 32, // VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT
};

// An image or buffer that is bound to the memory.
struct dm_vulkan_resource {
    uint64_t handle; // Vk{Image,Buffer}, for sentences
    uint64_t offset; // where it is bound
    uint64_t size;   // VkMemoryRequirements::size
    uint16_t kind, flags;
    uint16_t dimensions; // 1, 2, 3 as VkImageType says
    uint16_t format;     // VkFormat, 0xffff where the number is larger
    uint32_t width, height, depth, layers, levels, samples;
    uint16_t element_B, block_px; // of the format: bytes of a texel or block; 0: not known
    uint32_t usage;
    char format_name[32]; // "R8G8B8A8_UNORM"
};

enum dm_vulkan_memory_flags {
    DM_VULKAN_DEDICATED = 1,    // VkMemoryDedicatedAllocateInfo
    DM_VULKAN_HOST_VISIBLE = 2, // its memory type's properties, as the program saw them
    DM_VULKAN_HOST_COHERENT = 4,
    DM_VULKAN_MORE_RESOURCES = 8, // more are bound than fit, or one that cannot be described
    DM_VULKAN_UNDECLARED =
        16, // exported as a handle type that VkExportMemoryAllocateInfo did not name
};

enum { DM_VULKAN_FACTS_VERSION = 1, DM_VULKAN_RESOURCES_MOST = 24, DM_VULKAN_FACTS_AT = 512 };

struct dm_vulkan_facts {
    char magic[8]; // "CARDLSVK"
    uint32_t version;
    uint32_t check;  // over what follows of the head, and the resources, with this field 0
    uint64_t memory; // VkDeviceMemory, for sentences
    uint64_t size;   // VkMemoryAllocateInfo::allocationSize
    uint32_t flags;  // dm_vulkan_memory_flags
    uint32_t resource_count;
    struct dm_vulkan_resource resource[DM_VULKAN_RESOURCES_MOST];
};

// Writes the record into the file behind `fd`: between Mesa's header and its payload, or as an
// extended attribute where the file begins with its payload. Seals the check. 0; -ENOTSUP where the
// file has no room for it; -EINVAL: too many resources; another negative errno.
int dm_vulkan_facts_write(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts);

// Reads it. 0; -ENODATA: there is none; -EBADMSG: damaged, or not one of ours. *facts is only good
// with 0.
int dm_vulkan_facts_read(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts);

// What the layer offers to libcuda.so.1 in the same process: vkGetInstanceProcAddr(NULL,
// DM_VULKAN_LAYER_PROC) of the layer's library returns a function that returns this.
#define DM_VULKAN_LAYER_SONAME "libVkLayer_cardless.so"
#define DM_VULKAN_LAYER_PROC "cardlessVulkanLayer1"
struct dm_vulkan_layer {
    uint32_t version; // 1
    // Bytes [*first, *end) of the payload inside [offset, offset + size) were written by the host
    // through vkMapMemory and not flushed: true.
    bool (*unflushed)(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size, uint64_t *first,
                      uint64_t *end);
    // The last vkGetMemoryFdKHR was of memory that was not allocated for export, and gave no
    // descriptor.
    bool (*undeclared_export)(void);
};
typedef const struct dm_vulkan_layer *(*dm_vulkan_layer_proc)(void);
