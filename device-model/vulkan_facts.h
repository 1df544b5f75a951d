// SPDX-License-Identifier: MIT
// Facts from a Vulkan program about memory that it exported. Our Vulkan layer writes this record
// into the exported file itself, so it goes wherever the descriptor goes, to other processes as
// well, and ends with the memory. Anyone with the descriptor can write there: the record serves
// diagnostics, and no bytes are moved because of it.
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
    uint64_t handle; // Vk{Image,Buffer}, for messages
    uint64_t offset; // at which it is bound
    uint64_t size;   // VkMemoryRequirements::size
    uint16_t kind, flags;
    uint16_t dimensions; // 1, 2 or 3, from VkImageType
    uint16_t format;     // VkFormat; 0xffff if the number is larger
    uint32_t width, height, depth, layers, levels, samples;
    uint16_t element_B,
        block_px; // of the format: bytes and width of a texel or block; 0: not known
    uint32_t usage;
    char format_name[32]; // "R8G8B8A8_UNORM"
};

enum dm_vulkan_memory_flags {
    DM_VULKAN_DEDICATED = 1,    // VkMemoryDedicatedAllocateInfo
    DM_VULKAN_HOST_VISIBLE = 2, // properties of the memory type, as the program saw them
    DM_VULKAN_HOST_COHERENT = 4,
    DM_VULKAN_MORE_RESOURCES = 8, // more are bound than fit, or one of them cannot be described
    DM_VULKAN_UNDECLARED =
        16, // exported with a handle type that VkExportMemoryAllocateInfo did not name
};

enum { DM_VULKAN_FACTS_VERSION = 1, DM_VULKAN_RESOURCES_MOST = 24, DM_VULKAN_FACTS_AT = 512 };

struct dm_vulkan_facts {
    char magic[8]; // "CARDLSVK"
    uint32_t version;
    uint32_t check;  // check sum of the following fields and of the resources, with this field 0
    uint64_t memory; // VkDeviceMemory, for messages
    uint64_t size;   // VkMemoryAllocateInfo::allocationSize
    uint32_t flags;  // dm_vulkan_memory_flags
    uint32_t resource_count;
    struct dm_vulkan_resource resource[DM_VULKAN_RESOURCES_MOST];
};

// Writes the record into the file of `fd`: between Mesa's header and its payload, or as an extended
// attribute if the file begins with its payload. Fills in the check sum. Returns 0; -ENOTSUP if the
// file has no space for it; -EINVAL if there are too many resources; or another negative errno.
int dm_vulkan_facts_write(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts);

// Reads the record. Returns 0; -ENODATA if there is no record; -EBADMSG if it is damaged or not
// ours. *facts is valid only if the result is 0.
int dm_vulkan_facts_read(int fd, const struct dm_import_info *info, struct dm_vulkan_facts *facts);

// Where the record of such a file is.
enum dm_vulkan_facts_place {
    DM_VULKAN_FACTS_NOWHERE,
    DM_VULKAN_FACTS_IN_HEADER,
    DM_VULKAN_FACTS_IN_ATTRIBUTE,
};
enum dm_vulkan_facts_place dm_vulkan_facts_place(const struct dm_import_info *info);
// Whether a file may have a record there. Its first DM_HEADER_SIZE bytes should be mapped at
// `header`. False also if they cannot be read.
bool dm_vulkan_facts_in_header(const void *header);

// The layer's functions for libcuda.so.1 in the same process: vkGetInstanceProcAddr(NULL,
// DM_VULKAN_LAYER_PROC) of the layer's library returns a function that returns this struct.
#define DM_VULKAN_LAYER_SONAME "libVkLayer_cardless.so"
#define DM_VULKAN_LAYER_PROC "cardlessVulkanLayer2"
struct dm_vulkan_submissions {
    uint64_t device; // VkDevice, for messages
    uint64_t batches, with_semaphores;
};
struct dm_vulkan_layer {
    uint32_t version; // 2
    // Finds bytes [*first, *end) of the payload, inside [offset, offset + size), that the host
    // wrote through vkMapMemory and did not flush. Returns true if there are any.
    bool (*unflushed)(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size, uint64_t *first,
                      uint64_t *end);
    // Returns true if the last vkGetMemoryFdKHR failed for memory that was not allocated for
    // export.
    bool (*undeclared_export)(void);
    // Counts the batches that the program has submitted to the VkDevice of this memory, and those
    // of them that wait for an external semaphore or signal one. Returns false if nothing is
    // counted (CARDLESS_CHECK=order is not set), or the memory is not known.
    bool (*submissions)(uint64_t dev, uint64_t ino, struct dm_vulkan_submissions *out);
    // From now on, the layer reports waits of submissions that take too long (S05) with `report`,
    // which any thread may call, and not on stderr.
    void (*report_with)(void (*report)(const char *text));
};
typedef const struct dm_vulkan_layer *(*dm_vulkan_layer_proc)(void);
