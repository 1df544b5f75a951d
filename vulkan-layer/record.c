// SPDX-License-Identifier: MIT
// Records the memory that a program allocates and exports, and keeps the record in each exported
// file up to date.
#include "record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noncoherent.h"

struct dm_mutex vl_record_lock = DM_MUTEX_INITIALIZER(LEAF);

static struct vl_memory *memories;
static struct vl_file *files;
static bool undeclared_export;

struct vl_memory *vl_memory_find(const struct vl_device *device, VkDeviceMemory handle)
{
    dm_assert_locked(&vl_record_lock);
    struct vl_key key = VL_KEY(device, handle);
    return DM_TABLE_FIND(memories, &key);
}

// ---- the record in the file

static void add_resources(struct dm_vulkan_facts *facts, const struct vl_memory *m,
                          enum dm_vulkan_resource_kind kind)
{
    for (const struct vl_resource *r = m->bound[kind]; r; r = r->next_bound) {
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
    dm_assert_locked(&vl_record_lock);
    // A program that closes all descriptors (a daemon) may have opened another file under this
    // number.
    if (m->fd < 0 || !is_kept(m))
        return;
    struct dm_vulkan_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.memory = m->key.handle;
    facts.size = m->size;
    facts.flags = m->flags;
    add_resources(&facts, m, DM_VULKAN_IMAGE);
    add_resources(&facts, m, DM_VULKAN_BUFFER);
    // If the file has no space for a record, CUDA checks it as it does without the layer.
    dm_vulkan_facts_write(m->fd, &m->file, &facts);
}

// ---- exported files

// Notes which file the memory was exported as. Returns false if memory runs out: then the file has
// no record, and CUDA checks it as it does without the layer.
static bool file_enter(struct vl_memory *m)
{
    dm_assert_locked(&vl_record_lock);
    const struct vl_file_key key = {(uint64_t)m->file.dev, (uint64_t)m->file.ino};
    struct vl_file *f = DM_TABLE_FIND(files, &key);
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f)
            return false;
        f->key = key;
        if (DM_TABLE_ADD(files, key, f)) {
            free(f);
            return false;
        }
    }
    m->exported = f;
    m->next_exported = f->memories;
    if (f->memories)
        f->memories->previous_exported = m;
    f->memories = m;
    return true;
}

static void file_leave(struct vl_memory *m)
{
    dm_assert_locked(&vl_record_lock);
    struct vl_file *f = m->exported;
    if (!f)
        return;
    if (m->previous_exported)
        m->previous_exported->next_exported = m->next_exported;
    else
        f->memories = m->next_exported;
    if (m->next_exported)
        m->next_exported->previous_exported = m->previous_exported;
    m->exported = NULL;
    m->previous_exported = m->next_exported = NULL;
    if (!f->memories) {
        DM_TABLE_REMOVE(files, f);
        free(f);
    }
}

// ---- memory

static bool is_imported(const VkMemoryAllocateInfo *info)
{
    return vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) ||
           vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
}

static struct vl_memory *memory_create(struct vl_device *d, const VkMemoryAllocateInfo *info,
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
    struct vl_memory *m = r ? NULL : memory_create(d, info, drivers.memoryTypeIndex, noncoherent);
    if (!m)
        return r;
    m->key = VL_KEY(d, *out);
    dm_mutex_lock(&vl_record_lock);
    // Out of memory for the table: the memory stays without a record, as without the layer.
    if (DM_TABLE_FIND(memories, &m->key) || DM_TABLE_ADD(memories, key, m))
        free(m);
    dm_mutex_unlock(&vl_record_lock);
    return r;
}
const PFN_vkAllocateMemory vl_hook_AllocateMemory = allocate_memory;

// Precondition: vl_record_lock held.
static void memory_destroy(struct vl_memory *m)
{
    dm_assert_locked(&vl_record_lock);
    DM_TABLE_REMOVE(memories, m);
    for (int kind = 0; kind < VL_KINDS; kind++)
        for (struct vl_resource *r = m->bound[kind]; r; r = r->next_bound)
            r->memory = NULL;
    file_leave(m);
    if (m->fd >= 0 && is_kept(m))
        close(m->fd);
    vl_shadow_finish(&m->shadow);
    free(m);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    dm_mutex_lock(&vl_record_lock);
    struct vl_memory *m = vl_memory_find(d, memory);
    if (m)
        memory_destroy(m);
    dm_mutex_unlock(&vl_record_lock);
    d->FreeMemory(device, memory, allocator);
}
const PFN_vkFreeMemory vl_hook_FreeMemory = free_memory;

static VKAPI_ATTR VkResult VKAPI_CALL get_memory_fd(VkDevice device,
                                                    const VkMemoryGetFdInfoKHR *info, int *fd)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->GetMemoryFdKHR(device, info, fd);
    bool given = !r && *fd >= 0;
    dm_mutex_lock(&vl_record_lock);
    struct vl_memory *m = vl_memory_find(d, info->memory);
    undeclared_export = m && !given && !(m->exportable & info->handleType);
    if (m && given && !m->imported) {
        if (!(m->exportable & info->handleType))
            m->flags |= DM_VULKAN_UNDECLARED;
        if (m->fd < 0 && !dm_import_recognise(*fd, &m->file) && file_enter(m)) {
            m->fd = dm_fd_duplicate_high(*fd);
            if (m->fd < 0)
                file_leave(m);
        }
        vl_memory_publish(m);
    }
    dm_mutex_unlock(&vl_record_lock);
    return r;
}
const PFN_vkGetMemoryFdKHR vl_hook_GetMemoryFdKHR = get_memory_fd;

// ---- the end of a device, and the functions for libcuda.so.1

void vl_record_forget_device(struct vl_device *device)
{
    dm_mutex_lock(&vl_record_lock);
    struct vl_memory *m, *next;
    DM_TABLE_EACH (memories, m, next)
        if (m->key.device == device)
            memory_destroy(m);
    vl_resources_forget(device);
    dm_mutex_unlock(&vl_record_lock);
}

bool vl_record_unflushed(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size,
                         uint64_t *first, uint64_t *end)
{
    bool found = false;
    dm_mutex_lock(&vl_record_lock);
    const struct vl_file_key key = {dev, ino};
    const struct vl_file *f = DM_TABLE_FIND(files, &key);
    for (struct vl_memory *m = f ? f->memories : NULL; m && !found; m = m->next_exported)
        found = vl_shadow_unflushed(&m->shadow, offset, size, first, end);
    dm_mutex_unlock(&vl_record_lock);
    return found;
}

bool vl_record_submissions(uint64_t dev, uint64_t ino, struct dm_vulkan_submissions *out)
{
    if (!vl_counts_submissions())
        return false;
    dm_mutex_lock(&vl_record_lock);
    const struct vl_file_key key = {dev, ino};
    const struct vl_file *f = DM_TABLE_FIND(files, &key);
    const struct vl_device *d = f && f->memories ? f->memories->key.device : NULL;
    if (d) {
        out->device = (uint64_t)(uintptr_t)d->handle;
        out->batches = __atomic_load_n(&d->batches, __ATOMIC_RELAXED);
        out->with_semaphores = __atomic_load_n(&d->with_semaphores, __ATOMIC_RELAXED);
    }
    dm_mutex_unlock(&vl_record_lock);
    return d;
}

bool vl_record_undeclared_export(void)
{
    dm_mutex_lock(&vl_record_lock);
    bool r = undeclared_export;
    dm_mutex_unlock(&vl_record_lock);
    return r;
}
