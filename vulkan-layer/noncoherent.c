// SPDX-License-Identifier: MIT
// Non-coherent memory types: the program maps a copy of the memory, and flushes and invalidations
// move bytes between the two.
#include "noncoherent.h"

#include <stdlib.h>
#include <string.h>

#include "kn_copy.h"

static pthread_once_t mode_once = PTHREAD_ONCE_INIT;
static bool mode;

static void read_mode(void)
{
    const char *value = secure_getenv("CARDLESS_VULKAN_MEMORY");
    mode = value && !strcmp(value, "noncoherent");
}

bool vl_noncoherent(void)
{
    pthread_once(&mode_once, read_mode);
    return mode;
}

// ---- memory types: the driver's without HOST_COHERENT, then the driver's. "Types with a subset of
// the properties come first."

static bool types_are_doubled(uint32_t count)
{
    return vl_noncoherent() && count && count <= VK_MAX_MEMORY_TYPES / 2;
}

static void show_types(VkPhysicalDeviceMemoryProperties *p)
{
    uint32_t n = p->memoryTypeCount;
    if (!types_are_doubled(n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        p->memoryTypes[n + i] = p->memoryTypes[i];
        p->memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    p->memoryTypeCount = 2 * n;
}

static uint32_t show_bits(const struct vl_device *d, uint32_t bits)
{
    return types_are_doubled(d->memory.memoryTypeCount) ? bits | bits << d->memory.memoryTypeCount
                                                        : bits;
}

uint32_t vl_memory_type(const struct vl_device *device, uint32_t shown, bool *noncoherent)
{
    uint32_t n = device->memory.memoryTypeCount;
    if (!types_are_doubled(n))
        return shown;
    if (shown >= n)
        return shown - n;
    *noncoherent =
        device->memory.memoryTypes[shown].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return shown;
}

static VKAPI_ATTR void VKAPI_CALL get_types(VkPhysicalDevice physical,
                                            VkPhysicalDeviceMemoryProperties *out)
{
    vl_instance_of(physical)->GetPhysicalDeviceMemoryProperties(physical, out);
    show_types(out);
}
const PFN_vkGetPhysicalDeviceMemoryProperties vl_hook_GetPhysicalDeviceMemoryProperties = get_types;

static VKAPI_ATTR void VKAPI_CALL get_types_2(VkPhysicalDevice physical,
                                              VkPhysicalDeviceMemoryProperties2 *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    (i->GetPhysicalDeviceMemoryProperties2
         ? i->GetPhysicalDeviceMemoryProperties2
         : i->GetPhysicalDeviceMemoryProperties2KHR)(physical, out);
    show_types(&out->memoryProperties);
}
const PFN_vkGetPhysicalDeviceMemoryProperties2 vl_hook_GetPhysicalDeviceMemoryProperties2 =
    get_types_2;
const PFN_vkGetPhysicalDeviceMemoryProperties2KHR vl_hook_GetPhysicalDeviceMemoryProperties2KHR =
    get_types_2;

static VKAPI_ATTR void VKAPI_CALL image_requirements(VkDevice device, VkImage image,
                                                     VkMemoryRequirements *out)
{
    struct vl_device *d = vl_device_of(device);
    d->GetImageMemoryRequirements(device, image, out);
    out->memoryTypeBits = show_bits(d, out->memoryTypeBits);
}
const PFN_vkGetImageMemoryRequirements vl_hook_GetImageMemoryRequirements = image_requirements;

static VKAPI_ATTR void VKAPI_CALL buffer_requirements(VkDevice device, VkBuffer buffer,
                                                      VkMemoryRequirements *out)
{
    struct vl_device *d = vl_device_of(device);
    d->GetBufferMemoryRequirements(device, buffer, out);
    out->memoryTypeBits = show_bits(d, out->memoryTypeBits);
}
const PFN_vkGetBufferMemoryRequirements vl_hook_GetBufferMemoryRequirements = buffer_requirements;

// These four take a struct, and have a name in Vulkan 1.1 or 1.3 as well as the extension's.
#define REQUIREMENTS(function, name, Info)                                                         \
    static VKAPI_ATTR void VKAPI_CALL function(VkDevice device, const Info *info,                  \
                                               VkMemoryRequirements2 *out)                         \
    {                                                                                              \
        struct vl_device *d = vl_device_of(device);                                                \
        (d->name ? d->name : d->name##KHR)(device, info, out);                                     \
        out->memoryRequirements.memoryTypeBits =                                                   \
            show_bits(d, out->memoryRequirements.memoryTypeBits);                                  \
    }                                                                                              \
    const PFN_vk##name vl_hook_##name = function;                                                  \
    const PFN_vk##name##KHR vl_hook_##name##KHR = function
REQUIREMENTS(image_requirements_2, GetImageMemoryRequirements2, VkImageMemoryRequirementsInfo2);
REQUIREMENTS(buffer_requirements_2, GetBufferMemoryRequirements2, VkBufferMemoryRequirementsInfo2);
REQUIREMENTS(image_requirements_of, GetDeviceImageMemoryRequirements,
             VkDeviceImageMemoryRequirements);
REQUIREMENTS(buffer_requirements_of, GetDeviceBufferMemoryRequirements,
             VkDeviceBufferMemoryRequirements);

static VKAPI_ATTR VkResult VKAPI_CALL fd_properties(VkDevice device,
                                                    VkExternalMemoryHandleTypeFlagBits type, int fd,
                                                    VkMemoryFdPropertiesKHR *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->GetMemoryFdPropertiesKHR(device, type, fd, out);
    if (!r)
        out->memoryTypeBits = show_bits(d, out->memoryTypeBits);
    return r;
}
const PFN_vkGetMemoryFdPropertiesKHR vl_hook_GetMemoryFdPropertiesKHR = fd_properties;

static VKAPI_ATTR VkResult VKAPI_CALL
host_pointer_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                        const void *pointer, VkMemoryHostPointerPropertiesEXT *out)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->GetMemoryHostPointerPropertiesEXT(device, type, pointer, out);
    if (!r)
        out->memoryTypeBits = show_bits(d, out->memoryTypeBits);
    return r;
}
const PFN_vkGetMemoryHostPointerPropertiesEXT vl_hook_GetMemoryHostPointerPropertiesEXT =
    host_pointer_properties;

// ---- mapped memory

// A flush moves whole lines, as a cache does. Lines that the host did not write are not moved.
enum { LINE_B = 64, SHADOW_ALIGNMENT = 4096 };

void vl_shadow_finish(struct vl_shadow *s)
{
    dm_assert_locked(&vl_record_lock);
    free(s->storage);
    s->storage = NULL;
    s->size = 0;
}

static bool shadow_start(struct vl_shadow *s, uint64_t offset, uint64_t size, void *real)
{
    // "ppData minus offset is a multiple of minMemoryMapAlignment": the copy has the original's
    // alignment.
    uint64_t lead = (uintptr_t)real % SHADOW_ALIGNMENT,
             capacity = (lead + size + SHADOW_ALIGNMENT - 1) / SHADOW_ALIGNMENT * SHADOW_ALIGNMENT;
    if (capacity < size || capacity > SIZE_MAX / 2)
        return false;
    s->storage = aligned_alloc(SHADOW_ALIGNMENT, 2 * capacity);
    if (!s->storage)
        return false;
    s->offset = offset;
    s->size = size;
    s->real = real;
    s->host = (unsigned char *)s->storage + lead;
    s->before = s->host + capacity;
    kn_copy(s->host, real, size);
    kn_copy(s->before, real, size);
    return true;
}

// Intersects [offset, offset + size) with the mapping. The result counts from the mapping's start.
static bool shadow_clip(const struct vl_shadow *s, uint64_t offset, uint64_t size, uint64_t *first,
                        uint64_t *end)
{
    uint64_t mapped_end = s->offset + s->size, asked_end;
    if (!s->size || __builtin_add_overflow(offset, size, &asked_end))
        asked_end = mapped_end;
    asked_end = asked_end < mapped_end ? asked_end : mapped_end;
    offset = offset > s->offset ? offset : s->offset;
    if (!s->size || offset >= asked_end)
        return false;
    *first = offset - s->offset;
    *end = asked_end - s->offset;
    return true;
}

// Finds the next piece of at most a line, from *at on, that the host has written. Sets *at to its
// start and returns its end. Returns 0 if the host has written nothing more.
static uint64_t shadow_next_written(const struct vl_shadow *s, uint64_t *at, uint64_t end)
{
    while (*at < end) {
        uint64_t stop = (*at / LINE_B + 1) * LINE_B;
        stop = stop < end ? stop : end;
        if (memcmp(s->host + *at, s->before + *at, stop - *at))
            return stop;
        *at = stop;
    }
    return 0;
}

static void shadow_flush(struct vl_shadow *s, uint64_t offset, uint64_t size)
{
    uint64_t at, end, stop;
    if (!shadow_clip(s, offset, size, &at, &end))
        return;
    if (s->offset + at <= s->lost_first && s->offset + end >= s->lost_end)
        s->lost_first = s->lost_end = 0;
    for (; (stop = shadow_next_written(s, &at, end)); at = stop) {
        kn_copy(s->real + at, s->host + at, stop - at);
        kn_copy(s->before + at, s->host + at, stop - at);
    }
}

static void shadow_invalidate(struct vl_shadow *s, uint64_t offset, uint64_t size)
{
    uint64_t at, end;
    if (!shadow_clip(s, offset, size, &at, &end))
        return;
    kn_copy(s->host + at, s->real + at, end - at);
    kn_copy(s->before + at, s->real + at, end - at);
}

bool vl_shadow_unflushed(const struct vl_shadow *s, uint64_t offset, uint64_t size, uint64_t *first,
                         uint64_t *end)
{
    dm_assert_locked(&vl_record_lock);
    uint64_t at, stop, last;
    if (s->lost_end > offset && s->lost_first < offset + size) {
        *first = s->lost_first > offset ? s->lost_first : offset;
        *end = s->lost_end;
        return true;
    }
    if (!shadow_clip(s, offset, size, &at, &last))
        return false;
    stop = shadow_next_written(s, &at, last);
    if (!stop)
        return false;
    while (at < stop && s->host[at] == s->before[at])
        at++;
    *first = s->offset + at;
    for (*end = *first; at < stop; at++)
        if (s->host[at] != s->before[at])
            *end = s->offset + at + 1;
    return true;
}

static bool is_noncoherent(const struct vl_memory *m)
{
    return m && m->flags & DM_VULKAN_HOST_VISIBLE && !(m->flags & DM_VULKAN_HOST_COHERENT);
}

// Replaces the driver's mapping by a copy, if the program sees the memory as non-coherent. Returns
// false if memory runs out.
static bool shadow_map(struct vl_device *d, VkDeviceMemory memory, uint64_t offset, uint64_t size,
                       void **data)
{
    bool good = true;
    dm_mutex_lock(&vl_record_lock);
    struct vl_memory *m = vl_memory_find(d, memory);
    if (is_noncoherent(m) && !m->shadow.size && offset < m->size) {
        uint64_t mapped_B = size == VK_WHOLE_SIZE ? m->size - offset : size;
        good = shadow_start(&m->shadow, offset, mapped_B, *data);
        if (good)
            *data = m->shadow.host;
    }
    dm_mutex_unlock(&vl_record_lock);
    return good;
}

static void shadow_unmap(struct vl_device *d, VkDeviceMemory memory)
{
    dm_mutex_lock(&vl_record_lock);
    struct vl_memory *m = vl_memory_find(d, memory);
    uint64_t first, end;
    if (m && m->shadow.size) {
        // Unmapping does not flush: writes that were not flushed before are lost.
        if (vl_shadow_unflushed(&m->shadow, m->shadow.offset, m->shadow.size, &first, &end)) {
            m->shadow.lost_first = first;
            m->shadow.lost_end = end;
        }
        vl_shadow_finish(&m->shadow);
    }
    dm_mutex_unlock(&vl_record_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 VkMemoryMapFlags flags, void **data)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->MapMemory(device, memory, offset, size, flags, data);
    if (!r && !shadow_map(d, memory, offset, size, data)) {
        d->UnmapMemory(device, memory);
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return r;
}
const PFN_vkMapMemory vl_hook_MapMemory = map_memory;

// VK_EXT_map_memory_placed: the program chooses the address, so there cannot be a copy.
enum { MAP_PLACED = 1 };

static VKAPI_ATTR VkResult VKAPI_CALL map_memory_2(VkDevice device, const VkMemoryMapInfoKHR *info,
                                                   void **data)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = (d->MapMemory2 ? d->MapMemory2 : d->MapMemory2KHR)(device, info, data);
    if (!r && !(info->flags & MAP_PLACED) &&
        !shadow_map(d, info->memory, info->offset, info->size, data)) {
        d->UnmapMemory(device, info->memory);
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return r;
}
const PFN_vkMapMemory2 vl_hook_MapMemory2 = map_memory_2;
const PFN_vkMapMemory2KHR vl_hook_MapMemory2KHR = map_memory_2;

static VKAPI_ATTR void VKAPI_CALL unmap_memory(VkDevice device, VkDeviceMemory memory)
{
    struct vl_device *d = vl_device_of(device);
    shadow_unmap(d, memory);
    d->UnmapMemory(device, memory);
}
const PFN_vkUnmapMemory vl_hook_UnmapMemory = unmap_memory;

static VKAPI_ATTR VkResult VKAPI_CALL unmap_memory_2(VkDevice device,
                                                     const VkMemoryUnmapInfoKHR *info)
{
    struct vl_device *d = vl_device_of(device);
    shadow_unmap(d, info->memory);
    return (d->UnmapMemory2 ? d->UnmapMemory2 : d->UnmapMemory2KHR)(device, info);
}
const PFN_vkUnmapMemory2 vl_hook_UnmapMemory2 = unmap_memory_2;
const PFN_vkUnmapMemory2KHR vl_hook_UnmapMemory2KHR = unmap_memory_2;

static void shadow_for_ranges(struct vl_device *d, uint32_t count,
                              const VkMappedMemoryRange *ranges,
                              void (*move)(struct vl_shadow *, uint64_t, uint64_t))
{
    dm_mutex_lock(&vl_record_lock);
    for (uint32_t i = 0; i < count; i++) {
        struct vl_memory *m = vl_memory_find(d, ranges[i].memory);
        if (m && m->shadow.size)
            move(&m->shadow, ranges[i].offset, ranges[i].size);
    }
    dm_mutex_unlock(&vl_record_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL flush_ranges(VkDevice device, uint32_t count,
                                                   const VkMappedMemoryRange *ranges)
{
    struct vl_device *d = vl_device_of(device);
    shadow_for_ranges(d, count, ranges, shadow_flush);
    return d->FlushMappedMemoryRanges(device, count, ranges);
}
const PFN_vkFlushMappedMemoryRanges vl_hook_FlushMappedMemoryRanges = flush_ranges;

static VKAPI_ATTR VkResult VKAPI_CALL invalidate_ranges(VkDevice device, uint32_t count,
                                                        const VkMappedMemoryRange *ranges)
{
    struct vl_device *d = vl_device_of(device);
    VkResult r = d->InvalidateMappedMemoryRanges(device, count, ranges);
    if (!r)
        shadow_for_ranges(d, count, ranges, shadow_invalidate);
    return r;
}
const PFN_vkInvalidateMappedMemoryRanges vl_hook_InvalidateMappedMemoryRanges = invalidate_ranges;
