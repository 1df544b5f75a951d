// SPDX-License-Identifier: MIT
// VK_LAYER_CARDLESS_interop: the functions that the Vulkan loader and libcuda.so.1 look up in this
// library. The layer records images, buffers and memory, and provides external semaphores and
// fences if the driver lacks them (sync.h). It does not change Vulkan's other results, except with
// CARDLESS_VULKAN_MEMORY=noncoherent (noncoherent.c) and CARDLESS_VULKAN_AS=nvidia (vulkan_as.c).
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "record.h"
#include "sync.h"
#include "sync_report.h"
#include "vulkan_as.h"
#include "vulkan_facts.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                      const char *name);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device,
                                                                    const char *name);

struct hook {
    const char *name;
    PFN_vkVoidFunction function;
};
#define HOOK(name) {"vk" #name, (PFN_vkVoidFunction)vl_hook_##name},

// The vl_hook_* are constants, but no constant expressions in C, so tables are filled at each
// look-up.
static PFN_vkVoidFunction find_in(const struct hook *hooks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(hooks[i].name, name))
            return hooks[i].function;
    return NULL;
}

static PFN_vkVoidFunction physical_hook(const char *name)
{
    const struct hook memory[] = {VL_INSTANCE_MEMORY_FUNCTIONS(HOOK)},
                      properties[] = {VL_INSTANCE_PROPERTY_FUNCTIONS(HOOK)};
    PFN_vkVoidFunction f =
        vl_noncoherent() ? find_in(memory, sizeof memory / sizeof *memory, name) : NULL;
    return f || !vl_as_nvidia() ? f
                                : find_in(properties, sizeof properties / sizeof *properties, name);
}

static PFN_vkVoidFunction instance_hook(const char *name)
{
    const struct hook hooks[] = {VL_INSTANCE_FUNCTIONS(HOOK)};
    PFN_vkVoidFunction f = find_in(hooks, sizeof hooks / sizeof *hooks, name);
    return f ? f : physical_hook(name);
}

// Finds a function that is intercepted if the next layer has it. `sync`: also those for devices
// with semaphores or fences of the layer, or whose submissions are counted.
static PFN_vkVoidFunction device_hook(const char *name, bool sync)
{
    const struct hook always[] = {VL_DEVICE_FUNCTIONS(HOOK)},
                      memory[] = {VL_DEVICE_MEMORY_FUNCTIONS(HOOK)},
                      shared[] = {VL_DEVICE_SYNC_FUNCTIONS(HOOK)};
    PFN_vkVoidFunction f = find_in(always, sizeof always / sizeof *always, name);
    if (!f && vl_noncoherent())
        f = find_in(memory, sizeof memory / sizeof *memory, name);
    return f || !sync ? f : find_in(shared, sizeof shared / sizeof *shared, name);
}

// Finds a function that the layer adds to the driver's.
static PFN_vkVoidFunction added_function(const char *name, bool semaphores, bool fences)
{
    const struct hook semaphore[] = {VL_DEVICE_NEW_SEMAPHORE_FUNCTIONS(HOOK)},
                      fence[] = {VL_DEVICE_NEW_FENCE_FUNCTIONS(HOOK)};
    PFN_vkVoidFunction f =
        semaphores ? find_in(semaphore, sizeof semaphore / sizeof *semaphore, name) : NULL;
    return f || !fences ? f : find_in(fence, sizeof fence / sizeof *fence, name);
}

static const struct dm_vulkan_layer *for_libcuda(void)
{
    static const struct dm_vulkan_layer layer = {.version = 2,
                                                 .unflushed = vl_record_unflushed,
                                                 .undeclared_export = vl_record_undeclared_export,
                                                 .submissions = vl_record_submissions,
                                                 .report_with = vl_report_with};
    return &layer;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)vkGetDeviceProcAddr;
    struct vl_device *d = vl_device_of(device);
    if (!d)
        return NULL;
    PFN_vkVoidFunction ours =
        d->sync ? added_function(name, d->sync->semaphore_fd, d->sync->fence_fd) : NULL;
    if (ours)
        return ours;
    // Another function that the next layer lacks, or lacks because its extension is not enabled,
    // must be missing here, too.
    PFN_vkVoidFunction next = d->get(device, name);
    ours = next ? device_hook(name, d->sync || vl_counts_submissions()) : NULL;
    return ours ? ours : next;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char *name)
{
    if (!strcmp(name, "vkGetInstanceProcAddr"))
        return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
    if (!strcmp(name, "vkCreateInstance"))
        return (PFN_vkVoidFunction)vl_CreateInstance;
    if (!strcmp(name, DM_VULKAN_LAYER_PROC))
        return (PFN_vkVoidFunction)for_libcuda;
    struct vl_instance *i = instance ? vl_instance_of(instance) : NULL;
    if (!i)
        return NULL;
    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)vkGetDeviceProcAddr;
    PFN_vkVoidFunction next = i->get(instance, name), ours = next ? instance_hook(name) : NULL;
    if (!ours)
        ours = added_function(name, true, true);
    // A device without a struct vl_sync passes its calls on.
    if (next && !ours)
        ours = device_hook(name, true);
    return ours ? ours : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_physical(VkInstance instance, const char *name)
{
    struct vl_instance *i = vl_instance_of(instance);
    PFN_vkVoidFunction next = i && i->get_physical ? i->get_physical(instance, name) : NULL,
                       ours = next ? physical_hook(name) : NULL;
    return ours ? ours : next;
}

// "Upon return pVersionStruct->loaderLayerInterfaceVersion is the version that both understand."
EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    if (!interface || interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT)
        return VK_ERROR_INITIALIZATION_FAILED;
    if (interface->loaderLayerInterfaceVersion > CURRENT_LOADER_LAYER_INTERFACE_VERSION)
        interface->loaderLayerInterfaceVersion = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
    if (interface->loaderLayerInterfaceVersion >= 2) {
        interface->pfnGetInstanceProcAddr = vkGetInstanceProcAddr;
        interface->pfnGetDeviceProcAddr = vkGetDeviceProcAddr;
        interface->pfnGetPhysicalDeviceProcAddr = get_physical;
    }
    return VK_SUCCESS;
}
