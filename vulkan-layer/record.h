// SPDX-License-Identifier: MIT
// What is known of each memory object, image and buffer, and its way into the exported file.
#pragma once
#include <pthread.h>

#include "dispatch.h"
#include "import.h"
#include "vulkan_facts.h"

struct vl_memory;

struct vl_resource {
    struct vl_device *device;
    struct dm_vulkan_resource what;
    struct vl_memory *memory;          // it is bound to, or NULL
    struct vl_resource *next_in_table; // same bucket
    struct vl_resource *next_bound;    // on the same memory
};

// Host writes that the device does not see before they are flushed (noncoherent.c).
struct vl_shadow {
    uint64_t offset, size;         // of the mapped range; size 0: not mapped
    unsigned char *real;           // what the driver mapped
    unsigned char *host;           // what the program writes to
    unsigned char *before;         // the same as it was when host and device last agreed
    void *storage;                 // of both
    uint64_t lost_first, lost_end; // written and unmapped without a flush
};

struct vl_memory {
    struct vl_device *device;
    VkDeviceMemory handle;
    uint64_t size;
    uint32_t flags; // dm_vulkan_memory_flags
    VkExternalMemoryHandleTypeFlags exportable;
    bool imported;              // from another API or process: not ours to describe
    int fd;                     // of the exported file, or -1
    struct dm_import_info file; // behind fd
    struct vl_resource *bound;
    struct vl_shadow shadow;
    struct vl_memory *next_in_table;
};

// Guards all records. The next layer's functions are called without it.
extern pthread_mutex_t vl_record_lock;
// Precondition: vl_record_lock held.
struct vl_memory *vl_memory_find(const struct vl_device *device, VkDeviceMemory handle);

// Brings the record in the exported file up to date. Precondition: vl_record_lock held.
void vl_memory_publish(struct vl_memory *memory);

// Tables by handle. Handles that are not dispatchable are pointers or 64-bit numbers, as the
// platform has it.
enum { VL_BUCKETS = 1024 };
#define VL_NUMBER(handle) ((uint64_t)(handle))
static inline size_t vl_bucket(uint64_t handle)
{
    return (handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54;
}

// Forgets a device's images and buffers. Precondition: vl_record_lock held.
void vl_resources_forget(struct vl_device *device);
// Ends what a program left behind.
void vl_record_forget_device(struct vl_device *device);

// For libcuda.so.1 (struct dm_vulkan_layer).
bool vl_record_unflushed(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end);
bool vl_record_undeclared_export(void);
