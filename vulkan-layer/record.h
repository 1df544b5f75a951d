// SPDX-License-Identifier: MIT
// Records of memory objects, images and buffers, which are written into exported files.
#pragma once
#include <pthread.h>

#include "dispatch.h"
#include "import.h"
#include "mutex.h"
#include "vulkan_facts.h"

// Handles that are not dispatchable are unique only within their device.
struct vl_key {
    const struct vl_device *device;
    uint64_t handle;
};

// Such handles are pointers on 64-bit platforms and numbers on others.
#define VL_NUMBER(handle) ((uint64_t)(handle))
#define VL_KEY(device, handle) ((struct vl_key){(device), VL_NUMBER(handle)})

struct vl_memory;

enum { VL_KINDS = DM_VULKAN_BUFFER + 1 }; // the index is an enum dm_vulkan_resource_kind

struct vl_resource {
    struct vl_key key;
    struct dm_vulkan_resource what;
    struct vl_memory *memory;                        // bound to it, or NULL
    struct vl_resource *previous_bound, *next_bound; // of the same kind, on the same memory
    UT_hash_handle hh;
};

// A copy of mapped memory that holds back host writes until they are flushed (noncoherent.c).
struct vl_shadow {
    uint64_t offset, size;         // of the mapped range; size 0: not mapped
    unsigned char *real;           // the driver's mapping
    unsigned char *host;           // the copy that the program reads and writes
    unsigned char *before;         // `host` when host and device last agreed
    void *storage;                 // holds `host` and `before`
    uint64_t lost_first, lost_end; // bytes that were written, and unmapped without a flush
};

// An exported file, by its identity. All memory objects that were exported as this file.
struct vl_file {
    struct vl_file_key {
        uint64_t dev, ino;
    } key;
    struct vl_memory *memories;
    UT_hash_handle hh;
};

struct vl_memory {
    struct vl_key key;
    uint64_t size;
    uint32_t flags; // dm_vulkan_memory_flags
    VkExternalMemoryHandleTypeFlags exportable;
    bool imported;              // from another API or process, which describes it
    int fd;                     // of the exported file, or -1
    struct dm_import_info file; // of fd
    struct vl_file *exported;   // NULL if fd is -1
    struct vl_memory *previous_exported, *next_exported; // of the same file
    struct vl_resource *bound[VL_KINDS];
    struct vl_shadow shadow;
    UT_hash_handle hh;
};

// Guards all records. The next layer's functions are called without it.
extern struct dm_mutex vl_record_lock;
// Precondition: vl_record_lock held.
struct vl_memory *vl_memory_find(const struct vl_device *device, VkDeviceMemory handle);

// Updates the record in the exported file. Precondition: vl_record_lock held.
void vl_memory_publish(struct vl_memory *memory);

// Removes the records of a device's images and buffers. Precondition: vl_record_lock held.
void vl_resources_forget(struct vl_device *device);
// Removes all records of a device that is destroyed.
void vl_record_forget_device(struct vl_device *device);

// For libcuda.so.1 (struct dm_vulkan_layer).
bool vl_record_unflushed(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end);
bool vl_record_undeclared_export(void);
bool vl_record_submissions(uint64_t dev, uint64_t ino, struct dm_vulkan_submissions *out);
