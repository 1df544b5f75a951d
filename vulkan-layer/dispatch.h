// SPDX-License-Identifier: MIT
// The next layer's (or the driver's) functions, for each instance and device that went through this
// layer.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

// The closed lists of what this layer calls or intercepts; names without "vk". The second list of
// each kind is intercepted only where memory is shown as non-coherent (noncoherent.h).
#define VL_INSTANCE_FUNCTIONS(X)                                                                   \
    X(DestroyInstance)                                                                             \
    X(CreateDevice)
#define VL_INSTANCE_MEMORY_FUNCTIONS(X)                                                            \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceMemoryProperties2)                                                          \
    X(GetPhysicalDeviceMemoryProperties2KHR)
#define VL_DEVICE_FUNCTIONS(X)                                                                     \
    X(DestroyDevice)                                                                               \
    X(CreateImage)                                                                                 \
    X(DestroyImage)                                                                                \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
    X(AllocateMemory)                                                                              \
    X(FreeMemory)                                                                                  \
    X(BindImageMemory)                                                                             \
    X(BindImageMemory2)                                                                            \
    X(BindImageMemory2KHR)                                                                         \
    X(BindBufferMemory)                                                                            \
    X(BindBufferMemory2)                                                                           \
    X(BindBufferMemory2KHR)                                                                        \
    X(GetMemoryFdKHR)
#define VL_DEVICE_MEMORY_FUNCTIONS(X)                                                              \
    X(MapMemory)                                                                                   \
    X(UnmapMemory)                                                                                 \
    X(FlushMappedMemoryRanges)                                                                     \
    X(InvalidateMappedMemoryRanges)                                                                \
    X(GetImageMemoryRequirements)                                                                  \
    X(GetImageMemoryRequirements2)                                                                 \
    X(GetImageMemoryRequirements2KHR)                                                              \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetBufferMemoryRequirements2)                                                                \
    X(GetBufferMemoryRequirements2KHR)                                                             \
    X(GetDeviceImageMemoryRequirements)                                                            \
    X(GetDeviceImageMemoryRequirementsKHR)                                                         \
    X(GetDeviceBufferMemoryRequirements)                                                           \
    X(GetDeviceBufferMemoryRequirementsKHR)                                                        \
    X(GetMemoryFdPropertiesKHR)                                                                    \
    X(GetMemoryHostPointerPropertiesEXT)

#define VL_MEMBER(name) PFN_vk##name name;

struct vl_instance {
    void *key; // the loader's dispatch table, which instance, physical devices, device and queues
               // begin with
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get;
    PFN_GetPhysicalDeviceProcAddr get_physical; // NULL where the next one is too old for it
    VL_INSTANCE_FUNCTIONS(VL_MEMBER)
    VL_INSTANCE_MEMORY_FUNCTIONS(VL_MEMBER)
    struct vl_instance *next;
};

struct vl_device {
    void *key;
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get;
    VL_DEVICE_FUNCTIONS(VL_MEMBER)
    VL_DEVICE_MEMORY_FUNCTIONS(VL_MEMBER)
    VkPhysicalDeviceMemoryProperties memory; // as the driver says it
    struct vl_device *next;
};
#undef VL_MEMBER

// Whether functions of the second lists are intercepted.
bool vl_noncoherent(void);

// Of a dispatchable handle; NULL: not one of ours. Valid until its destruction, which the program
// must not let race with uses.
struct vl_instance *vl_instance_of(const void *handle);
struct vl_device *vl_device_of(const void *handle);

// The layer's own functions. Each exists where the next one has it.
VKAPI_ATTR VkResult VKAPI_CALL vl_CreateInstance(const VkInstanceCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkInstance *out);
#define VL_DECLARE(name) extern const PFN_vk##name vl_hook_##name;
VL_INSTANCE_FUNCTIONS(VL_DECLARE)
VL_INSTANCE_MEMORY_FUNCTIONS(VL_DECLARE)
VL_DEVICE_FUNCTIONS(VL_DECLARE)
VL_DEVICE_MEMORY_FUNCTIONS(VL_DECLARE)
#undef VL_DECLARE

// The struct of that type in a pNext chain, or NULL.
static inline const void *vl_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext)
        if (s->sType == type)
            return s;
    return NULL;
}
