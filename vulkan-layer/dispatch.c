// SPDX-License-Identifier: MIT
// Creates and destroys instances and devices: follows the loader's chain and keeps the next
// functions.
#include "dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "sync.h"

static struct dm_mutex lock = DM_MUTEX_INITIALIZER(LEAF); // guards the two tables
static struct vl_instance *instances;
static struct vl_device *devices;

static void *key_of(const void *handle)
{
    return *(void *const *)handle;
}

struct vl_instance *vl_instance_of(const void *handle)
{
    void *key = key_of(handle);
    dm_mutex_lock(&lock);
    struct vl_instance *i = DM_TABLE_FIND(instances, &key);
    dm_mutex_unlock(&lock);
    return i;
}

struct vl_device *vl_device_of(const void *handle)
{
    void *key = key_of(handle);
    dm_mutex_lock(&lock);
    struct vl_device *d = DM_TABLE_FIND(devices, &key);
    dm_mutex_unlock(&lock);
    return d;
}

// ---- instances

VKAPI_ATTR VkResult VKAPI_CALL vl_CreateInstance(const VkInstanceCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkInstance *out)
{
    // The loader's own struct: it expects each layer to advance it to the next one.
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)vl_find(
        info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    while (link && link->function != VK_LAYER_LINK_INFO)
        link = (VkLayerInstanceCreateInfo *)vl_find(link->pNext,
                                                    VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_GetPhysicalDeviceProcAddr get_physical =
        link->u.pLayerInfo->pfnNextGetPhysicalDeviceProcAddr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    struct vl_instance *i = dm_calloc(1, sizeof *i);
    if (!create || !i) {
        dm_free(i);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
    }
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult r = create(info, allocator, out);
    if (r) {
        dm_free(i);
        return r;
    }
    i->key = key_of(*out);
    i->handle = *out;
    i->get = get;
    i->get_physical = get_physical;
#define FILL(name) i->name = (PFN_vk##name)get(*out, "vk" #name);
    VL_INSTANCE_FUNCTIONS(FILL)
    VL_INSTANCE_MEMORY_FUNCTIONS(FILL)
    VL_INSTANCE_PROPERTY_FUNCTIONS(FILL)
#undef FILL
    dm_mutex_lock(&lock);
    int status = DM_TABLE_ADD(instances, key, i);
    dm_mutex_unlock(&lock);
    if (status) {
        i->DestroyInstance(*out, allocator);
        *out = VK_NULL_HANDLE;
        dm_free(i);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    if (!instance)
        return;
    struct vl_instance *i = vl_instance_of(instance);
    if (!i)
        return;
    dm_mutex_lock(&lock);
    DM_TABLE_REMOVE(instances, i);
    dm_mutex_unlock(&lock);
    i->DestroyInstance(instance, allocator);
    dm_free(i);
}
const PFN_vkDestroyInstance vl_hook_DestroyInstance = destroy_instance;

// ---- devices

static void device_end(struct vl_device *d, const VkAllocationCallbacks *allocator)
{
    if (d->sync)
        vl_sync_finish(d->sync);
    d->DestroyDevice(d->handle, allocator);
    dm_free(d);
}

static void device_fill(struct vl_device *d, struct vl_instance *i, PFN_vkGetDeviceProcAddr get,
                        VkPhysicalDevice physical)
{
    d->key = key_of(d->handle);
    d->get = get;
#define FILL(name) d->name = (PFN_vk##name)get(d->handle, "vk" #name);
    VL_DEVICE_ALL_FUNCTIONS(FILL)
#undef FILL
    i->GetPhysicalDeviceMemoryProperties(physical, &d->memory);
}

// Creates the driver's device, without the extensions that only this layer has.
static VkResult device_create(struct vl_instance *i, VkPhysicalDevice physical,
                              const VkDeviceCreateInfo *info,
                              const VkAllocationCallbacks *allocator, PFN_vkCreateDevice create,
                              struct vl_device *d)
{
    struct vl_sync_plan plan;
    VkDeviceCreateInfo drivers = *info;
    VkResult r = vl_sync_prepare(i, physical, info, &plan);
    if (r)
        return r;
    if (plan.names) {
        drivers.ppEnabledExtensionNames = plan.names;
        drivers.enabledExtensionCount = plan.count;
    }
    r = create(physical, &drivers, allocator, &d->handle);
    if (!r && plan.sync) {
        d->sync = plan.sync;
        d->sync->device = d;
    }
    vl_sync_prepared(&plan, !r);
    // The driver's own semaphores are not looked at, so the device counts as one that uses them.
    for (uint32_t k = 0; k < info->enabledExtensionCount && !d->sync; k++)
        if (!strcmp(info->ppEnabledExtensionNames[k], VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME))
            d->with_semaphores = 1;
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)vl_find(
        info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    while (link && link->function != VK_LAYER_LINK_INFO)
        link = (VkLayerDeviceCreateInfo *)vl_find(link->pNext,
                                                  VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (!i || !link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)get_instance(i->handle, "vkCreateDevice");
    struct vl_device *d = dm_calloc(1, sizeof *d);
    if (!create || !d) {
        dm_free(d);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
    }
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    d->handle = *out; // the loader passes a pointer of its own down in it
    VkResult r = device_create(i, physical, info, allocator, create, d);
    if (r) {
        dm_free(d);
        return r;
    }
    device_fill(d, i, get, physical);
    dm_mutex_lock(&lock);
    int status = DM_TABLE_ADD(devices, key, d);
    dm_mutex_unlock(&lock);
    if (status) {
        device_end(d, allocator);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = d->handle;
    return VK_SUCCESS;
}
const PFN_vkCreateDevice vl_hook_CreateDevice = create_device;

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = device ? vl_device_of(device) : NULL;
    if (!d)
        return;
    vl_record_forget_device(d);
    dm_mutex_lock(&lock);
    DM_TABLE_REMOVE(devices, d);
    dm_mutex_unlock(&lock);
    device_end(d, allocator);
}
const PFN_vkDestroyDevice vl_hook_DestroyDevice = destroy_device;
