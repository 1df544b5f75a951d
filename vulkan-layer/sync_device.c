// SPDX-License-Identifier: MIT
// Which semaphores and fences a physical device can share, and the state of a device that does.
#include "sync_queue.h"

#include <stdio.h>
#include <string.h>

struct dm_mutex vl_sync_lock = DM_MUTEX_INITIALIZER(LEAF);

#define SEMAPHORE_FD VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME
#define FENCE_FD VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME

// The extensions that the layer provides on every device, with those that they require and that
// Vulkan 1.1 contains.
static const VkExtensionProperties provided[] = {
    {VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_SPEC_VERSION},
    {SEMAPHORE_FD, VK_KHR_EXTERNAL_SEMAPHORE_FD_SPEC_VERSION},
    {VK_KHR_EXTERNAL_FENCE_EXTENSION_NAME, VK_KHR_EXTERNAL_FENCE_SPEC_VERSION},
    {FENCE_FD, VK_KHR_EXTERNAL_FENCE_FD_SPEC_VERSION},
};
enum { PROVIDED = sizeof provided / sizeof *provided };

static bool is_provided(const char *name)
{
    for (uint32_t i = 0; i < PROVIDED; i++)
        if (!strcmp(provided[i].extensionName, name))
            return true;
    return false;
}

// ---- queries

static bool has_extension(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(list[i].extensionName, name))
            return true;
    return false;
}

// Reads the driver's list. The caller frees *out.
static VkResult drivers_extensions(struct vl_instance *i, VkPhysicalDevice physical,
                                   VkExtensionProperties **out, uint32_t *count)
{
    *out = NULL;
    *count = 0;
    VkResult r = VK_INCOMPLETE;
    while (r == VK_INCOMPLETE) {
        dm_free(*out);
        *out = NULL;
        r = i->EnumerateDeviceExtensionProperties(physical, NULL, count, NULL);
        if (r || !*count)
            return r;
        *out = dm_calloc(*count, sizeof **out);
        if (!*out)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        r = i->EnumerateDeviceExtensionProperties(physical, NULL, count, *out);
    }
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice physical,
                                                           const char *layer, uint32_t *count,
                                                           VkExtensionProperties *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    if (layer) // one of another layer; ours adds them to the driver's
        return i->EnumerateDeviceExtensionProperties(physical, layer, count, out);
    VkExtensionProperties *drivers;
    uint32_t n, capacity = *count, total;
    VkResult r = drivers_extensions(i, physical, &drivers, &n);
    if (r) {
        dm_free(drivers);
        return r;
    }
    total = n;
    for (uint32_t k = 0; out && k < n && k < capacity; k++)
        out[k] = drivers[k];
    for (uint32_t k = 0; k < PROVIDED; k++) {
        if (has_extension(drivers, n, provided[k].extensionName))
            continue;
        if (out && total < capacity)
            out[total] = provided[k];
        total++;
    }
    dm_free(drivers);
    *count = out && capacity < total ? capacity : total;
    return out && capacity < total ? VK_INCOMPLETE : VK_SUCCESS;
}
const PFN_vkEnumerateDeviceExtensionProperties vl_hook_EnumerateDeviceExtensionProperties =
    enumerate_extensions;

// Returns whether the layer provides OPAQUE_FD whatever the driver has. The descriptors of software
// drivers (SwiftShader has binary semaphores of its own) mean nothing to CUDA, and those of a
// card's driver belong to its own CUDA driver.
static bool overrides_driver(const struct vl_instance *i, VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties p = {.deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER};
    if (i->GetPhysicalDeviceProperties)
        i->GetPhysicalDeviceProperties(physical, &p);
    return p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

// The bits have the same values for semaphores and fences.
_Static_assert((int)VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT ==
                       (int)VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT &&
                   (int)VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT ==
                       (int)VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT &&
                   (int)VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT ==
                       (int)VK_EXTERNAL_FENCE_FEATURE_IMPORTABLE_BIT,
               "offer_opaque serves both");
static void offer_opaque(VkFlags *from_imported, VkFlags *compatible, VkFlags *features)
{
    *from_imported = *compatible = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    *features =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}

static void drivers_semaphores(VkPhysicalDevice physical,
                               const VkPhysicalDeviceExternalSemaphoreInfo *info,
                               VkExternalSemaphoreProperties *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    out->exportFromImportedHandleTypes = 0;
    out->compatibleHandleTypes = 0;
    out->externalSemaphoreFeatures = 0;
    if (i->GetPhysicalDeviceExternalSemaphoreProperties)
        i->GetPhysicalDeviceExternalSemaphoreProperties(physical, info, out);
    else if (i->GetPhysicalDeviceExternalSemaphorePropertiesKHR)
        i->GetPhysicalDeviceExternalSemaphorePropertiesKHR(physical, info, out);
}

static VKAPI_ATTR void VKAPI_CALL
semaphore_properties(VkPhysicalDevice physical, const VkPhysicalDeviceExternalSemaphoreInfo *info,
                     VkExternalSemaphoreProperties *out)
{
    const VkExternalSemaphoreHandleTypeFlagBits opaque =
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    drivers_semaphores(physical, info, out);
    if (info->handleType == opaque &&
        (!out->externalSemaphoreFeatures || overrides_driver(vl_instance_of(physical), physical)))
        offer_opaque(&out->exportFromImportedHandleTypes, &out->compatibleHandleTypes,
                     &out->externalSemaphoreFeatures);
}
const PFN_vkGetPhysicalDeviceExternalSemaphoreProperties
    vl_hook_GetPhysicalDeviceExternalSemaphoreProperties = semaphore_properties;
const PFN_vkGetPhysicalDeviceExternalSemaphorePropertiesKHR
    vl_hook_GetPhysicalDeviceExternalSemaphorePropertiesKHR = semaphore_properties;

static void drivers_fences(VkPhysicalDevice physical, const VkPhysicalDeviceExternalFenceInfo *info,
                           VkExternalFenceProperties *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    out->exportFromImportedHandleTypes = 0;
    out->compatibleHandleTypes = 0;
    out->externalFenceFeatures = 0;
    if (i->GetPhysicalDeviceExternalFenceProperties)
        i->GetPhysicalDeviceExternalFenceProperties(physical, info, out);
    else if (i->GetPhysicalDeviceExternalFencePropertiesKHR)
        i->GetPhysicalDeviceExternalFencePropertiesKHR(physical, info, out);
}

static VKAPI_ATTR void VKAPI_CALL fence_properties(VkPhysicalDevice physical,
                                                   const VkPhysicalDeviceExternalFenceInfo *info,
                                                   VkExternalFenceProperties *out)
{
    const VkExternalFenceHandleTypeFlagBits opaque = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
    drivers_fences(physical, info, out);
    if (info->handleType == opaque &&
        (!out->externalFenceFeatures || overrides_driver(vl_instance_of(physical), physical)))
        offer_opaque(&out->exportFromImportedHandleTypes, &out->compatibleHandleTypes,
                     &out->externalFenceFeatures);
}
const PFN_vkGetPhysicalDeviceExternalFenceProperties
    vl_hook_GetPhysicalDeviceExternalFenceProperties = fence_properties;
const PFN_vkGetPhysicalDeviceExternalFencePropertiesKHR
    vl_hook_GetPhysicalDeviceExternalFencePropertiesKHR = fence_properties;

// ---- devices

// Asks for which objects the driver has no OPAQUE_FD of its own that CUDA understands.
static void find_gaps(struct vl_sync *sync, VkPhysicalDevice physical)
{
    const bool all = overrides_driver(vl_instance_of(physical), physical);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_BINARY};
    const VkPhysicalDeviceExternalSemaphoreInfo semaphore = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &type,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkPhysicalDeviceExternalFenceInfo fence = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties s = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    VkExternalFenceProperties f = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
    drivers_semaphores(physical, &semaphore, &s);
    sync->binary = all || !s.externalSemaphoreFeatures;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    drivers_semaphores(physical, &semaphore, &s);
    sync->timeline = all || !s.externalSemaphoreFeatures;
    drivers_fences(physical, &fence, &f);
    sync->fence = all || !f.externalFenceFeatures;
}

// Lists the enabled extensions that the driver has. The others are the layer's alone.
static VkResult plan_names(struct vl_instance *i, VkPhysicalDevice physical,
                           const VkDeviceCreateInfo *info, struct vl_sync_plan *plan)
{
    VkExtensionProperties *drivers;
    uint32_t n;
    VkResult r = drivers_extensions(i, physical, &drivers, &n);
    plan->names = r ? NULL : dm_calloc(info->enabledExtensionCount, sizeof *plan->names);
    for (uint32_t k = 0; plan->names && k < info->enabledExtensionCount; k++) {
        const char *name = info->ppEnabledExtensionNames[k];
        if (!is_provided(name) || has_extension(drivers, n, name))
            plan->names[plan->count++] = name;
    }
    dm_free(drivers);
    return r ? r : plan->names ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static bool enables(const VkDeviceCreateInfo *info, const char *name)
{
    for (uint32_t k = 0; k < info->enabledExtensionCount; k++)
        if (!strcmp(info->ppEnabledExtensionNames[k], name))
            return true;
    return false;
}

VkResult vl_sync_prepare(struct vl_instance *i, VkPhysicalDevice physical,
                         const VkDeviceCreateInfo *info, struct vl_sync_plan *plan)
{
    bool semaphore_fd = enables(info, SEMAPHORE_FD), fence_fd = enables(info, FENCE_FD),
         semaphores = semaphore_fd || enables(info, VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME),
         fences = fence_fd || enables(info, VK_KHR_EXTERNAL_FENCE_EXTENSION_NAME);
    *plan = (struct vl_sync_plan){NULL, NULL, 0};
    if (!semaphores && !fences)
        return VK_SUCCESS;
    struct vl_sync *sync = dm_calloc(1, sizeof *sync);
    if (!sync)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    sync->semaphores.sync = sync->fences.sync = sync;
    sync->semaphore_fd = semaphore_fd;
    sync->fence_fd = fence_fd;
    find_gaps(sync, physical);
    sync->binary &= semaphores;
    sync->timeline &= semaphores;
    sync->fence &= fences;
    VkResult r = plan_names(i, physical, info, plan);
    if (r || (!sync->binary && !sync->timeline && !sync->fence)) {
        dm_free(sync); // the driver provides it all
        return r;
    }
    pthread_cond_init(&sync->changed, NULL);
    plan->sync = sync;
    return VK_SUCCESS;
}

void vl_sync_prepared(struct vl_sync_plan *plan, bool created)
{
    dm_free(plan->names);
    if (created || !plan->sync)
        return;
    pthread_cond_destroy(&plan->sync->changed);
    dm_free(plan->sync);
}

void vl_sync_finish(struct vl_sync *sync)
{
    vl_queues_finish(sync);
    vl_objects_finish(&sync->semaphores);
    vl_objects_finish(&sync->fences);
    pthread_cond_destroy(&sync->changed);
    dm_free(sync);
}

VkResult vl_sync_lost(const struct vl_sync *sync)
{
    return __atomic_load_n(&sync->lost, __ATOMIC_SEQ_CST) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

void vl_sync_lose(struct vl_sync *sync, VkResult r)
{
    dm_assert_locked(&vl_sync_lock);
    if (sync->lost)
        return;
    fprintf(stderr,
            "cardless: the Vulkan driver refused a submission that the layer had accepted for it "
            "(VkResult %d), so VkDevice %p counts as lost\n",
            r, (void *)sync->device->handle);
    __atomic_store_n(&sync->lost, true, __ATOMIC_SEQ_CST);
    vl_wake_all(sync);
}
