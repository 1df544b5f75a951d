// SPDX-License-Identifier: MIT
// Notes what memory a program allocates and exports, and keeps the record in each exported file
// true.
#include "record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noncoherent.h"

pthread_mutex_t vl_record_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct vl_memory *memories[VL_BUCKETS];
    bool undeclared_export;
} records;

struct vl_memory *vl_memory_find(const struct vl_device *device, VkDeviceMemory handle)
{
    struct vl_memory *m = records.memories[vl_bucket(VL_NUMBER(handle))];
    while (m && (m->handle != handle || m->device != device))
        m = m->next_in_table;
    return m;
}

// ---- the record in the file

static void add_resources(struct dm_vulkan_facts *facts, const struct vl_memory *m,
                          enum dm_vulkan_resource_kind kind)
{
    for (const struct vl_resource *r = m->bound; r; r = r->next_bound) {
        if (r->what.kind != kind)
            continue;
        if (facts->resource_count == DM_VULKAN_RESOURCES_MOST) {
            facts->flags |= DM_VULKAN_MORE_RESOURCES;
            return;
        }
        facts->resource[facts->resource_count++] = r->what;
    }
}

static bool is_kept(const struct vl_memory *m)
{
    struct dm_fd_identity kept = {.fd = m->fd, .dev = m->file.dev, .ino = m->file.ino};
    return dm_fd_still_ours(&kept);
}

void vl_memory_publish(struct vl_memory *m)
{
    // A program that closes all descriptors (a daemon) may by now have a file of its own under this
    // number.
    if (m->fd < 0 || !is_kept(m))
        return;
    struct dm_vulkan_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.memory = VL_NUMBER(m->handle);
    facts.size = m->size;
    facts.flags = m->flags;
    add_resources(&facts, m, DM_VULKAN_IMAGE);
    add_resources(&facts, m, DM_VULKAN_BUFFER);
    // A file that takes no record is memory about which nothing is known, as without the layer.
    dm_vulkan_facts_write(m->fd, &m->file, &facts);
}

// ---- memory

static bool is_imported(const VkMemoryAllocateInfo *info)
{
    return vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) ||
           vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
}

static struct vl_memory *new_memory(struct vl_device *d, const VkMemoryAllocateInfo *info,
                                    uint32_t type, bool noncoherent)
{
    struct vl_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    const VkMemoryDedicatedAllocateInfo *dedicated =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    const VkExportMemoryAllocateInfo *export =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    VkMemoryPropertyFlags properties =
        type < d->memory.memoryTypeCount ? d->memory.memoryTypes[type].propertyFlags : 0;
    m->device = d;
    m->size = info->allocationSize;
    m->flags =
        (dedicated && (dedicated->image || dedicated->buffer) ? DM_VULKAN_DEDICATED : 0) |
        (properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT ? DM_VULKAN_HOST_VISIBLE : 0) |
        (properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT && !noncoherent ? DM_VULKAN_HOST_COHERENT
                                                                           : 0);
    m->exportable = export ? export->handleTypes : 0;
    m->imported = is_imported(info);
    m->fd = -1;
    return m;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkDeviceMemory *out)
{
    struct vl_device *d = vl_device_of(device);
    VkMemoryAllocateInfo drivers = *info;
    bool noncoherent = false;
    drivers.memoryTypeIndex = vl_memory_type(d, info->memoryTypeIndex, &noncoherent);
    VkResult r = d->AllocateMemory(device, &drivers, allocator, out);
    struct vl_memory *m = r ? NULL : new_memory(d, info, drivers.memoryTypeIndex, noncoherent);
    if (!m)
        return r;
    m->handle = *out;
    pthread_mutex_lock(&vl_record_lock);
    struct vl_memory **bucket = &records.memories[vl_bucket(VL_NUMBER(*out))];
    m->next_in_table = *bucket;
    *bucket = m;
    pthread_mutex_unlock(&vl_record_lock);
    return r;
}
const PFN_vkAllocateMemory vl_hook_AllocateMemory = allocate_memory;

// Precondition: vl_record_lock held; the memory is in no table any more.
static void memory_finish(struct vl_memory *m)
{
    while (m->bound) {
        m->bound->memory = NULL;
        m->bound = m->bound->next_bound;
    }
    if (m->fd >= 0 && is_kept(m))
        close(m->fd);
    vl_shadow_finish(&m->shadow);
    free(m);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    pthread_mutex_lock(&vl_record_lock);
    for (struct vl_memory **p = &records.memories[vl_bucket(VL_NUMBER(memory))]; *p;
         p = &(*p)->next_in_table) {
        struct vl_memory *m = *p;
        if (m->handle != memory || m->device != d)
            continue;
        *p = m->next_in_table;
        memory_finish(m);
        break;
    }
    pthread_mutex_unlock(&vl_record_lock);
    d->FreeMemory(device, memory, allocator);
}
const PFN_vkFreeMemory vl_hook_FreeMemory = free_memory;

static VKAPI_ATTR VkResult VKAPI_CALL get_memory_fd(VkDevice device,
                                                    const VkMemoryGetFdInfoKHR *info, int *fd)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->GetMemoryFdKHR(device, info, fd);
    bool given = !r && *fd >= 0;
    pthread_mutex_lock(&vl_record_lock);
    struct vl_memory *m = vl_memory_find(d, info->memory);
    records.undeclared_export = m && !given && !(m->exportable & info->handleType);
    if (m && given && !m->imported) {
        if (!(m->exportable & info->handleType))
            m->flags |= DM_VULKAN_UNDECLARED;
        if (m->fd < 0 && !dm_import_recognise(*fd, &m->file))
            m->fd = dm_fd_duplicate_high(*fd);
        vl_memory_publish(m);
    }
    pthread_mutex_unlock(&vl_record_lock);
    return r;
}
const PFN_vkGetMemoryFdKHR vl_hook_GetMemoryFdKHR = get_memory_fd;

// ---- ends, and libcuda's questions

void vl_record_forget_device(struct vl_device *device)
{
    pthread_mutex_lock(&vl_record_lock);
    for (size_t b = 0; b < VL_BUCKETS; b++) {
        for (struct vl_memory **p = &records.memories[b]; *p;) {
            struct vl_memory *m = *p;
            if (m->device != device) {
                p = &m->next_in_table;
                continue;
            }
            *p = m->next_in_table;
            memory_finish(m);
        }
    }
    vl_resources_forget(device);
    pthread_mutex_unlock(&vl_record_lock);
}

bool vl_record_unflushed(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end)
{
    bool found = false;
    pthread_mutex_lock(&vl_record_lock);
    for (size_t b = 0; b < VL_BUCKETS && !found; b++)
        for (struct vl_memory *m = records.memories[b]; m && !found; m = m->next_in_table)
            if (m->fd >= 0 && m->file.dev == dev && m->file.ino == ino)
                found = vl_shadow_unflushed(&m->shadow, offset, size, first, end);
    pthread_mutex_unlock(&vl_record_lock);
    return found;
}

bool vl_record_undeclared_export(void)
{
    pthread_mutex_lock(&vl_record_lock);
    bool r = records.undeclared_export;
    pthread_mutex_unlock(&vl_record_lock);
    return r;
}
