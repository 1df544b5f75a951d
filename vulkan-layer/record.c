// SPDX-License-Identifier: MIT
// Notes what a program makes, binds and exports, and keeps the record in each exported file true.
#include "record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noncoherent.h"

pthread_mutex_t vl_record_lock = PTHREAD_MUTEX_INITIALIZER;

enum { BUCKETS = 1024 };

static struct {
    struct vl_memory *memories[BUCKETS];
    struct vl_resource *images[BUCKETS], *buffers[BUCKETS];
    bool undeclared_export;
} records;

// Handles that are not dispatchable are pointers or 64-bit numbers, as the platform has it.
#define NUMBER(handle) ((uint64_t)(handle))

static size_t bucket_of(uint64_t handle)
{
    return (handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54;
}

struct vl_memory *vl_memory_find(const struct vl_device *device, VkDeviceMemory handle)
{
    struct vl_memory *m = records.memories[bucket_of(NUMBER(handle))];
    while (m && (m->handle != handle || m->device != device))
        m = m->next_in_table;
    return m;
}

static struct vl_resource **table_of(enum dm_vulkan_resource_kind kind)
{
    return kind == DM_VULKAN_IMAGE ? records.images : records.buffers;
}

// Where the resource hangs in its bucket; points to NULL where it is not known. Precondition: vl_record_lock held.
static struct vl_resource **resource_link(const struct vl_device *device, enum dm_vulkan_resource_kind kind, uint64_t handle)
{
    struct vl_resource **r = &table_of(kind)[bucket_of(handle)];
    while (*r && ((*r)->what.handle != handle || (*r)->device != device))
        r = &(*r)->next_in_table;
    return r;
}

// ---- the record in the file

static void add_resources(struct dm_vulkan_facts *facts, const struct vl_memory *m, enum dm_vulkan_resource_kind kind)
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

// Precondition: vl_record_lock held.
static void publish(struct vl_memory *m)
{
    if (m->fd < 0)
        return;
    struct dm_vulkan_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.memory = NUMBER(m->handle);
    facts.size = m->size;
    facts.flags = m->flags;
    add_resources(&facts, m, DM_VULKAN_IMAGE);
    add_resources(&facts, m, DM_VULKAN_BUFFER);
    // A file that takes no record is memory about which nothing is known, as without the layer.
    dm_vulkan_facts_write(m->fd, &m->file, &facts);
}

static void unbind(struct vl_resource *r)
{
    if (!r->memory)
        return;
    struct vl_resource **link = &r->memory->bound;
    while (*link != r)
        link = &(*link)->next_bound;
    *link = r->next_bound;
    publish(r->memory);
    r->memory = NULL;
}

// ---- images and buffers

static const struct format {
    uint32_t number;
    const char *name;
    uint16_t element_B, block_px;
} formats[] = {
#include "vulkan_formats.h"
};

static void describe_format(struct dm_vulkan_resource *what, VkFormat format)
{
    uint32_t number = (uint32_t)format;
    what->format = number < 0xffff ? (uint16_t)number : 0xffff;
    what->block_px = 1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].number != number)
            continue;
        // Zeroed before: the last byte stays 0.
        strncpy(what->format_name, formats[i].name, sizeof what->format_name - 1);
        what->element_B = formats[i].element_B;
        what->block_px = formats[i].block_px;
        return;
    }
}

static uint16_t external_flags(VkExternalMemoryHandleTypeFlags types)
{
    return (types & VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT ? DM_VULKAN_EXTERNAL_OPAQUE_FD : 0) |
           (types & VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT ? DM_VULKAN_EXTERNAL_DMA_BUF : 0);
}

// Without memory for a record the resource is not known; nothing else follows.
static void remember(struct vl_device *device, const struct dm_vulkan_resource *what)
{
    struct vl_resource *r = calloc(1, sizeof *r);
    if (!r)
        return;
    r->device = device;
    r->what = *what;
    pthread_mutex_lock(&vl_record_lock);
    struct vl_resource **bucket = &table_of(what->kind)[bucket_of(what->handle)];
    r->next_in_table = *bucket;
    *bucket = r;
    pthread_mutex_unlock(&vl_record_lock);
}

static void forget(struct vl_device *device, enum dm_vulkan_resource_kind kind, uint64_t handle)
{
    pthread_mutex_lock(&vl_record_lock);
    struct vl_resource **link = resource_link(device, kind, handle), *r = *link;
    if (r) {
        unbind(r);
        *link = r->next_in_table;
        free(r);
    }
    pthread_mutex_unlock(&vl_record_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info, const VkAllocationCallbacks *allocator,
                                                   VkImage *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->CreateImage(device, info, allocator, out);
    if (r)
        return r;
    const VkExternalMemoryImageCreateInfo *external = vl_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    struct dm_vulkan_resource what;
    memset(&what, 0, sizeof what);
    what.handle = NUMBER(*out);
    what.kind = DM_VULKAN_IMAGE;
    what.flags = (info->tiling != VK_IMAGE_TILING_OPTIMAL ? DM_VULKAN_LINEAR : 0) |
                 (info->usage & VK_IMAGE_USAGE_STORAGE_BIT ? DM_VULKAN_STORAGE : 0) |
                 (info->usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT ? DM_VULKAN_COLOR_TARGET : 0) |
                 (info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT ? DM_VULKAN_CUBE : 0) | external_flags(external ? external->handleTypes : 0);
    what.dimensions = (uint16_t)(info->imageType + 1);
    what.width = info->extent.width;
    what.height = info->extent.height;
    what.depth = info->extent.depth;
    what.layers = info->arrayLayers;
    what.levels = info->mipLevels;
    what.samples = info->samples;
    what.usage = info->usage;
    describe_format(&what, info->format);
    remember(d, &what);
    return r;
}
const PFN_vkCreateImage vl_hook_CreateImage = create_image;

static VKAPI_ATTR void VKAPI_CALL destroy_image(VkDevice device, VkImage image, const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    if (image)
        forget(d, DM_VULKAN_IMAGE, NUMBER(image));
    d->DestroyImage(device, image, allocator);
}
const PFN_vkDestroyImage vl_hook_DestroyImage = destroy_image;

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *allocator,
                                                    VkBuffer *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->CreateBuffer(device, info, allocator, out);
    if (r)
        return r;
    const VkExternalMemoryBufferCreateInfo *external = vl_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    struct dm_vulkan_resource what;
    memset(&what, 0, sizeof what);
    what.handle = NUMBER(*out);
    what.kind = DM_VULKAN_BUFFER;
    what.flags = external_flags(external ? external->handleTypes : 0);
    what.size = info->size;
    what.usage = info->usage;
    remember(d, &what);
    return r;
}
const PFN_vkCreateBuffer vl_hook_CreateBuffer = create_buffer;

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    if (buffer)
        forget(d, DM_VULKAN_BUFFER, NUMBER(buffer));
    d->DestroyBuffer(device, buffer, allocator);
}
const PFN_vkDestroyBuffer vl_hook_DestroyBuffer = destroy_buffer;

// ---- binding

static void bind(struct vl_device *device, enum dm_vulkan_resource_kind kind, uint64_t handle, VkDeviceMemory memory, uint64_t offset, bool plane)
{
    pthread_mutex_lock(&vl_record_lock);
    struct vl_resource *r = *resource_link(device, kind, handle);
    struct vl_memory *m = vl_memory_find(device, memory);
    if (m && (plane || !r)) {
        m->flags |= DM_VULKAN_MORE_RESOURCES; // one plane of an image is no image that CUDA could map
        publish(m);
    } else if (m && !r->memory) {
        r->memory = m;
        r->what.offset = offset;
        r->next_bound = m->bound;
        m->bound = r;
        publish(m);
    }
    pthread_mutex_unlock(&vl_record_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_image(VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->BindImageMemory(device, image, memory, offset);
    if (!r)
        bind(d, DM_VULKAN_IMAGE, NUMBER(image), memory, offset, false);
    return r;
}
const PFN_vkBindImageMemory vl_hook_BindImageMemory = bind_image;

static VKAPI_ATTR VkResult VKAPI_CALL bind_images(VkDevice device, uint32_t count, const VkBindImageMemoryInfo *infos)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = (d->BindImageMemory2 ? d->BindImageMemory2 : d->BindImageMemory2KHR)(device, count, infos);
    for (uint32_t i = 0; i < count && !r; i++)
        if (infos[i].memory) // else it is a swapchain's
            bind(d, DM_VULKAN_IMAGE, NUMBER(infos[i].image), infos[i].memory, infos[i].memoryOffset,
                 vl_find(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO));
    return r;
}
const PFN_vkBindImageMemory2 vl_hook_BindImageMemory2 = bind_images;
const PFN_vkBindImageMemory2KHR vl_hook_BindImageMemory2KHR = bind_images;

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->BindBufferMemory(device, buffer, memory, offset);
    if (!r)
        bind(d, DM_VULKAN_BUFFER, NUMBER(buffer), memory, offset, false);
    return r;
}
const PFN_vkBindBufferMemory vl_hook_BindBufferMemory = bind_buffer;

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice device, uint32_t count, const VkBindBufferMemoryInfo *infos)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = (d->BindBufferMemory2 ? d->BindBufferMemory2 : d->BindBufferMemory2KHR)(device, count, infos);
    for (uint32_t i = 0; i < count && !r; i++)
        bind(d, DM_VULKAN_BUFFER, NUMBER(infos[i].buffer), infos[i].memory, infos[i].memoryOffset, false);
    return r;
}
const PFN_vkBindBufferMemory2 vl_hook_BindBufferMemory2 = bind_buffers;
const PFN_vkBindBufferMemory2KHR vl_hook_BindBufferMemory2KHR = bind_buffers;

// ---- memory

static bool is_imported(const VkMemoryAllocateInfo *info)
{
    return vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) ||
           vl_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
}

static struct vl_memory *new_memory(struct vl_device *d, const VkMemoryAllocateInfo *info, uint32_t type, bool noncoherent)
{
    struct vl_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    const VkMemoryDedicatedAllocateInfo *dedicated = vl_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    const VkExportMemoryAllocateInfo *export = vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    VkMemoryPropertyFlags properties = type < d->memory.memoryTypeCount ? d->memory.memoryTypes[type].propertyFlags : 0;
    m->device = d;
    m->size = info->allocationSize;
    m->flags = (dedicated && (dedicated->image || dedicated->buffer) ? DM_VULKAN_DEDICATED : 0) |
               (properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT ? DM_VULKAN_HOST_VISIBLE : 0) |
               (properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT && !noncoherent ? DM_VULKAN_HOST_COHERENT : 0);
    m->exportable = export ? export->handleTypes : 0;
    m->imported = is_imported(info);
    m->fd = -1;
    return m;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator,
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
    struct vl_memory **bucket = &records.memories[bucket_of(NUMBER(*out))];
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
    if (m->fd >= 0)
        close(m->fd);
    vl_shadow_finish(&m->shadow);
    free(m);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    pthread_mutex_lock(&vl_record_lock);
    for (struct vl_memory **p = &records.memories[bucket_of(NUMBER(memory))]; *p; p = &(*p)->next_in_table) {
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

// A descriptor of our own, high up, so that the program's numbers are what they would be without us.
static int keep(int fd)
{
    const int high = 900;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, high);
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_memory_fd(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *fd)
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
            m->fd = keep(*fd);
        publish(m);
    }
    pthread_mutex_unlock(&vl_record_lock);
    return r;
}
const PFN_vkGetMemoryFdKHR vl_hook_GetMemoryFdKHR = get_memory_fd;

// ---- ends, and libcuda's questions

static void forget_resources(struct vl_device *device, enum dm_vulkan_resource_kind kind)
{
    for (size_t b = 0; b < BUCKETS; b++) {
        for (struct vl_resource **p = &table_of(kind)[b]; *p;) {
            struct vl_resource *r = *p;
            if (r->device != device) {
                p = &r->next_in_table;
                continue;
            }
            *p = r->next_in_table;
            free(r);
        }
    }
}

void vl_record_forget_device(struct vl_device *device)
{
    pthread_mutex_lock(&vl_record_lock);
    for (size_t b = 0; b < BUCKETS; b++) {
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
    forget_resources(device, DM_VULKAN_IMAGE);
    forget_resources(device, DM_VULKAN_BUFFER);
    pthread_mutex_unlock(&vl_record_lock);
}

bool vl_record_unflushed(uint64_t dev, uint64_t ino, uint64_t offset, uint64_t size, uint64_t *first, uint64_t *end)
{
    bool found = false;
    pthread_mutex_lock(&vl_record_lock);
    for (size_t b = 0; b < BUCKETS && !found; b++)
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
