// SPDX-License-Identifier: MIT
// The next functions in the chain (another layer's or the driver's) of each instance and device
// that was created through this layer.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "hash_table.h"

// VK_KHR_map_memory2, for headers older than 1.3.247, and its names in Vulkan 1.4.
#ifndef VK_KHR_map_memory2
#define VK_STRUCTURE_TYPE_MEMORY_MAP_INFO_KHR ((VkStructureType)1000271000)
#define VK_STRUCTURE_TYPE_MEMORY_UNMAP_INFO_KHR ((VkStructureType)1000271001)
typedef VkFlags VkMemoryUnmapFlagsKHR;
typedef struct VkMemoryMapInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkMemoryMapFlags flags;
    VkDeviceMemory memory;
    VkDeviceSize offset, size;
} VkMemoryMapInfoKHR;
typedef struct VkMemoryUnmapInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkMemoryUnmapFlagsKHR flags;
    VkDeviceMemory memory;
} VkMemoryUnmapInfoKHR;
typedef VkResult(VKAPI_PTR *PFN_vkMapMemory2KHR)(VkDevice, const VkMemoryMapInfoKHR *, void **);
typedef VkResult(VKAPI_PTR *PFN_vkUnmapMemory2KHR)(VkDevice, const VkMemoryUnmapInfoKHR *);
#endif
#ifndef VK_VERSION_1_4
typedef PFN_vkMapMemory2KHR PFN_vkMapMemory2;
typedef PFN_vkUnmapMemory2KHR PFN_vkUnmapMemory2;
#endif

// All functions that this layer calls or intercepts; names without "vk". The lists of MEMORY
// functions are intercepted only if memory is presented as non-coherent (noncoherent.h), those of
// PROPERTY functions only if the device is presented as another one (vulkan_as.h), those of
// SYNC functions only on devices with semaphores or fences of the layer (sync.h). The NEW functions
// exist on such devices even if the driver lacks them.
#define VL_INSTANCE_FUNCTIONS(X)                                                                   \
    X(DestroyInstance)                                                                             \
    X(CreateDevice)                                                                                \
    X(EnumerateDeviceExtensionProperties)                                                          \
    X(GetPhysicalDeviceExternalSemaphoreProperties)                                                \
    X(GetPhysicalDeviceExternalSemaphorePropertiesKHR)                                             \
    X(GetPhysicalDeviceExternalFenceProperties)                                                    \
    X(GetPhysicalDeviceExternalFencePropertiesKHR)
#define VL_INSTANCE_MEMORY_FUNCTIONS(X)                                                            \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceMemoryProperties2)                                                          \
    X(GetPhysicalDeviceMemoryProperties2KHR)
#define VL_INSTANCE_PROPERTY_FUNCTIONS(X)                                                          \
    X(GetPhysicalDeviceProperties)                                                                 \
    X(GetPhysicalDeviceProperties2)                                                                \
    X(GetPhysicalDeviceProperties2KHR)
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
    X(MapMemory2)                                                                                  \
    X(MapMemory2KHR)                                                                               \
    X(UnmapMemory)                                                                                 \
    X(UnmapMemory2)                                                                                \
    X(UnmapMemory2KHR)                                                                             \
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

#define VL_DEVICE_SYNC_FUNCTIONS(X)                                                                \
    X(CreateSemaphore)                                                                             \
    X(DestroySemaphore)                                                                            \
    X(GetSemaphoreCounterValue)                                                                    \
    X(GetSemaphoreCounterValueKHR)                                                                 \
    X(WaitSemaphores)                                                                              \
    X(WaitSemaphoresKHR)                                                                           \
    X(SignalSemaphore)                                                                             \
    X(SignalSemaphoreKHR)                                                                          \
    X(CreateFence)                                                                                 \
    X(DestroyFence)                                                                                \
    X(ResetFences)                                                                                 \
    X(GetFenceStatus)                                                                              \
    X(WaitForFences)                                                                               \
    X(QueueSubmit)                                                                                 \
    X(QueueSubmit2)                                                                                \
    X(QueueSubmit2KHR)                                                                             \
    X(QueueBindSparse)                                                                             \
    X(QueuePresentKHR)                                                                             \
    X(QueueWaitIdle)                                                                               \
    X(DeviceWaitIdle)                                                                              \
    X(QueueBeginDebugUtilsLabelEXT)                                                                \
    X(QueueEndDebugUtilsLabelEXT)                                                                  \
    X(QueueInsertDebugUtilsLabelEXT)                                                               \
    X(CreateSwapchainKHR)                                                                          \
    X(DestroySwapchainKHR)                                                                         \
    X(WaitForPresentKHR)                                                                           \
    X(AcquireNextImageKHR)                                                                         \
    X(AcquireNextImage2KHR)
#define VL_DEVICE_NEW_SEMAPHORE_FUNCTIONS(X)                                                       \
    X(GetSemaphoreFdKHR)                                                                           \
    X(ImportSemaphoreFdKHR)
#define VL_DEVICE_NEW_FENCE_FUNCTIONS(X)                                                           \
    X(GetFenceFdKHR)                                                                               \
    X(ImportFenceFdKHR)

// All of them.
#define VL_DEVICE_ALL_FUNCTIONS(X)                                                                 \
    VL_DEVICE_FUNCTIONS(X)                                                                         \
    VL_DEVICE_MEMORY_FUNCTIONS(X)                                                                  \
    VL_DEVICE_SYNC_FUNCTIONS(X)                                                                    \
    VL_DEVICE_NEW_SEMAPHORE_FUNCTIONS(X)                                                           \
    VL_DEVICE_NEW_FENCE_FUNCTIONS(X)

#define VL_MEMBER(name) PFN_vk##name name;

struct vl_sync;

struct vl_instance {
    void *key; // the loader's dispatch table: the first word of the instance and of its physical
               // devices
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get;
    PFN_GetPhysicalDeviceProcAddr get_physical; // NULL if the next one is too old to have it
    VL_INSTANCE_FUNCTIONS(VL_MEMBER)
    VL_INSTANCE_MEMORY_FUNCTIONS(VL_MEMBER)
    VL_INSTANCE_PROPERTY_FUNCTIONS(VL_MEMBER)
    UT_hash_handle hh;
};

struct vl_device {
    void *key; // the first word of the device and of its queues
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get;
    VL_DEVICE_ALL_FUNCTIONS(VL_MEMBER)
    struct vl_sync *sync;                    // NULL: no semaphores or fences of the layer
    uint64_t batches, with_semaphores;       // submitted so far, if they are counted; atomic
    VkPhysicalDeviceMemoryProperties memory; // as the driver reports it
    UT_hash_handle hh;
};
#undef VL_MEMBER

// Returns true if the functions of the second lists are intercepted.
bool vl_noncoherent(void);

// Returns true if submissions are counted for libcuda.so.1 (CARDLESS_CHECK=order).
bool vl_counts_submissions(void);

// Find the instance or device of a dispatchable handle; NULL if it was not created through this
// layer. Valid until the program destroys it.
struct vl_instance *vl_instance_of(const void *handle);
struct vl_device *vl_device_of(const void *handle);

// The layer's own functions. A program gets one only if the next layer has that function, too.
VKAPI_ATTR VkResult VKAPI_CALL vl_CreateInstance(const VkInstanceCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkInstance *out);
#define VL_DECLARE(name) extern const PFN_vk##name vl_hook_##name;
VL_INSTANCE_FUNCTIONS(VL_DECLARE)
VL_INSTANCE_MEMORY_FUNCTIONS(VL_DECLARE)
VL_INSTANCE_PROPERTY_FUNCTIONS(VL_DECLARE)
VL_DEVICE_ALL_FUNCTIONS(VL_DECLARE)
#undef VL_DECLARE

// Finds a struct by type in a pNext chain. Returns NULL if the chain does not contain it.
static inline const void *vl_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext)
        if (s->sType == type)
            return s;
    return NULL;
}
