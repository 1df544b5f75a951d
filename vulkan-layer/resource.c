// SPDX-License-Identifier: MIT
// Records the images and buffers that a program creates, and their bindings to memory.
#include <stdlib.h>
#include <string.h>

#include "record.h"

static struct vl_resource *images, *buffers;

static struct vl_resource **table_of(enum dm_vulkan_resource_kind kind)
{
    return kind == DM_VULKAN_IMAGE ? &images : &buffers;
}

// Precondition: vl_record_lock held.
static struct vl_resource *resource_find(const struct vl_device *device,
                                         enum dm_vulkan_resource_kind kind, uint64_t handle)
{
    dm_assert_locked(&vl_record_lock);
    struct vl_key key = VL_KEY(device, handle);
    return DM_TABLE_FIND(*table_of(kind), &key);
}

static void resource_unbind(struct vl_resource *r)
{
    if (!r->memory)
        return;
    if (r->previous_bound)
        r->previous_bound->next_bound = r->next_bound;
    else
        r->memory->bound[r->what.kind] = r->next_bound;
    if (r->next_bound)
        r->next_bound->previous_bound = r->previous_bound;
    vl_memory_publish(r->memory);
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
        // The struct was cleared, so the last byte stays 0.
        strncpy(what->format_name, formats[i].name, sizeof what->format_name - 1);
        what->element_B = formats[i].element_B;
        what->block_px = formats[i].block_px;
        return;
    }
}

static uint16_t external_flags(VkExternalMemoryHandleTypeFlags types)
{
    return (types & VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT ? DM_VULKAN_EXTERNAL_OPAQUE_FD
                                                                 : 0) |
           (types & VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT ? DM_VULKAN_EXTERNAL_DMA_BUF
                                                                   : 0);
}

// Adds a record. If memory runs out, the resource stays without one, as without the layer.
static void resource_add(struct vl_device *device, const struct dm_vulkan_resource *what)
{
    struct vl_resource *r = calloc(1, sizeof *r);
    if (!r)
        return;
    r->key = VL_KEY(device, what->handle);
    r->what = *what;
    struct vl_resource **table = table_of(what->kind);
    dm_mutex_lock(&vl_record_lock);
    if (DM_TABLE_FIND(*table, &r->key) || DM_TABLE_ADD(*table, key, r))
        free(r);
    dm_mutex_unlock(&vl_record_lock);
}

static void resource_remove(struct vl_device *device, enum dm_vulkan_resource_kind kind,
                            uint64_t handle)
{
    struct vl_resource **table = table_of(kind);
    dm_mutex_lock(&vl_record_lock);
    struct vl_resource *r = resource_find(device, kind, handle);
    if (r) {
        resource_unbind(r);
        DM_TABLE_REMOVE(*table, r);
        free(r);
    }
    dm_mutex_unlock(&vl_record_lock);
}

// Fills in the fields that images and buffers share. The rest is 0, also the padding, because the
// check sum of a record covers it.
static void resource_describe(struct dm_vulkan_resource *what, enum dm_vulkan_resource_kind kind,
                              uint64_t handle, VkExternalMemoryHandleTypeFlags types,
                              uint32_t usage)
{
    memset(what, 0, sizeof *what);
    what->handle = handle;
    what->kind = kind;
    what->flags = external_flags(types);
    what->usage = usage;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkImage *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->CreateImage(device, info, allocator, out);
    if (r)
        return r;
    const VkExternalMemoryImageCreateInfo *external =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    struct dm_vulkan_resource what;
    resource_describe(&what, DM_VULKAN_IMAGE, VL_NUMBER(*out), external ? external->handleTypes : 0,
                      info->usage);
    what.flags |= (info->tiling != VK_IMAGE_TILING_OPTIMAL ? DM_VULKAN_LINEAR : 0) |
                  (info->usage & VK_IMAGE_USAGE_STORAGE_BIT ? DM_VULKAN_STORAGE : 0) |
                  (info->usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT ? DM_VULKAN_COLOR_TARGET : 0) |
                  (info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT ? DM_VULKAN_CUBE : 0);
    what.dimensions = (uint16_t)(info->imageType + 1);
    what.width = info->extent.width;
    what.height = info->extent.height;
    what.depth = info->extent.depth;
    what.layers = info->arrayLayers;
    what.levels = info->mipLevels;
    what.samples = info->samples;
    describe_format(&what, info->format);
    resource_add(d, &what);
    return r;
}
const PFN_vkCreateImage vl_hook_CreateImage = create_image;

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->CreateBuffer(device, info, allocator, out);
    if (r)
        return r;
    const VkExternalMemoryBufferCreateInfo *external =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    struct dm_vulkan_resource what;
    resource_describe(&what, DM_VULKAN_BUFFER, VL_NUMBER(*out),
                      external ? external->handleTypes : 0, info->usage);
    what.size = info->size;
    resource_add(d, &what);
    return r;
}
const PFN_vkCreateBuffer vl_hook_CreateBuffer = create_buffer;

// ---- binding, and destruction

static void resource_bind(struct vl_device *device, enum dm_vulkan_resource_kind kind,
                          uint64_t handle, VkDeviceMemory memory, uint64_t offset, bool plane)
{
    dm_mutex_lock(&vl_record_lock);
    struct vl_resource *r = resource_find(device, kind, handle);
    struct vl_memory *m = vl_memory_find(device, memory);
    if (m && (plane || !r)) {
        // CUDA cannot map a single plane of an image, so it is not described.
        m->flags |= DM_VULKAN_MORE_RESOURCES;
        vl_memory_publish(m);
    } else if (m && !r->memory) {
        r->memory = m;
        r->what.offset = offset;
        struct vl_resource **first = &m->bound[kind];
        r->previous_bound = NULL;
        r->next_bound = *first;
        if (*first)
            (*first)->previous_bound = r;
        *first = r;
        vl_memory_publish(m);
    }
    dm_mutex_unlock(&vl_record_lock);
}

// Images and buffers have the same calls with different types. A binding without memory is that of
// a swapchain's image.
#define DESTROY_AND_BIND(Resource, resource, KIND)                                                 \
    static VKAPI_ATTR void VKAPI_CALL destroy_##resource(VkDevice device, Vk##Resource resource,   \
                                                         const VkAllocationCallbacks *allocator)   \
    {                                                                                              \
        struct vl_device *d = vl_device_of(device);                                                \
        if (resource)                                                                              \
            resource_remove(d, KIND, VL_NUMBER(resource));                                         \
        d->Destroy##Resource(device, resource, allocator);                                         \
    }                                                                                              \
    const PFN_vkDestroy##Resource vl_hook_Destroy##Resource = destroy_##resource;                  \
                                                                                                   \
    static VKAPI_ATTR VkResult VKAPI_CALL bind_##resource(                                         \
        VkDevice device, Vk##Resource resource, VkDeviceMemory memory, VkDeviceSize offset)        \
    {                                                                                              \
        struct vl_device *d = vl_device_of(device);                                                \
        VkResult r = d->Bind##Resource##Memory(device, resource, memory, offset);                  \
        if (!r)                                                                                    \
            resource_bind(d, KIND, VL_NUMBER(resource), memory, offset, false);                    \
        return r;                                                                                  \
    }                                                                                              \
    const PFN_vkBind##Resource##Memory vl_hook_Bind##Resource##Memory = bind_##resource;           \
                                                                                                   \
    static VKAPI_ATTR VkResult VKAPI_CALL bind_##resource##s(                                      \
        VkDevice device, uint32_t count, const VkBind##Resource##MemoryInfo *infos)                \
    {                                                                                              \
        struct vl_device *d = vl_device_of(device);                                                \
        VkResult r =                                                                               \
            (d->Bind##Resource##Memory2 ? d->Bind##Resource##Memory2                               \
                                        : d->Bind##Resource##Memory2KHR)(device, count, infos);    \
        for (uint32_t i = 0; i < count && !r; i++)                                                 \
            if (infos[i].memory)                                                                   \
                resource_bind(                                                                     \
                    d, KIND, VL_NUMBER(infos[i].resource), infos[i].memory, infos[i].memoryOffset, \
                    vl_find(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO));      \
        return r;                                                                                  \
    }                                                                                              \
    const PFN_vkBind##Resource##Memory2 vl_hook_Bind##Resource##Memory2 = bind_##resource##s;      \
    const PFN_vkBind##Resource##Memory2KHR vl_hook_Bind##Resource##Memory2KHR = bind_##resource##s
DESTROY_AND_BIND(Image, image, DM_VULKAN_IMAGE);
DESTROY_AND_BIND(Buffer, buffer, DM_VULKAN_BUFFER);

// ---- the end of a device

static void resources_remove_all(struct vl_device *device, struct vl_resource **table)
{
    struct vl_resource *r, *next;
    DM_TABLE_EACH (*table, r, next) {
        if (r->key.device != device)
            continue;
        DM_TABLE_REMOVE(*table, r);
        free(r);
    }
}

void vl_resources_forget(struct vl_device *device)
{
    dm_assert_locked(&vl_record_lock);
    resources_remove_all(device, &images);
    resources_remove_all(device, &buffers);
}
