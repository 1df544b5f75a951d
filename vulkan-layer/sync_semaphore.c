// SPDX-License-Identifier: MIT
// Semaphores: creation, import and export, and what the host does with them.
#include "sync.h"

// Precondition: vl_sync_lock held.
static struct vl_object *find(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    return vl_object_find(&sync->semaphores, VL_NUMBER(handle));
}

bool vl_semaphore_is_ours(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_object *s = find(sync, handle);
    return s && (s->permanent || s->temporary || s->drivers_temporary);
}

bool vl_semaphore_is_timeline(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_object *s = find(sync, handle);
    return s && s->kind == DM_SEMAPHORE_TIMELINE;
}

struct vl_payload *vl_semaphore_for_wait(struct vl_sync *sync, VkSemaphore handle, bool *temporary)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_object *s = find(sync, handle);
    struct vl_payload *payload = vl_payload_take(vl_object_payload(s));
    *temporary = s && (s->temporary || s->drivers_temporary);
    if (*temporary)
        vl_object_restore(s);
    return payload;
}

void vl_semaphore_give_back(struct vl_sync *sync, VkSemaphore handle, struct vl_payload *payload)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_object *s = find(sync, handle);
    if (!s || s->temporary || s->drivers_temporary)
        return; // another thread has imported again
    s->temporary = vl_payload_take(payload);
    s->drivers_temporary = !payload;
}

struct vl_payload *vl_semaphore_for_signal(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    return vl_payload_take(vl_object_payload(find(sync, handle)));
}

// ---- creation and destruction

static bool serves(const struct vl_sync *sync, enum dm_semaphore_kind kind)
{
    return kind == DM_SEMAPHORE_TIMELINE ? sync->timeline : sync->binary;
}

// Creates a semaphore with a payload. The driver's semaphore is its handle.
static VkResult create_ours(struct vl_device *d, const VkSemaphoreCreateInfo *info,
                            const VkSemaphoreTypeCreateInfo *type,
                            const VkAllocationCallbacks *allocator, VkSemaphore *out)
{
    bool timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    enum dm_semaphore_kind kind = timeline ? DM_SEMAPHORE_TIMELINE : DM_SEMAPHORE_BINARY;
    struct vl_payload *payload;
    VkResult r = vl_payload_create(kind, timeline ? type->initialValue : 0, &payload);
    if (r)
        return r;
    // The driver cannot export it. No other struct of Linux extends this one.
    VkSemaphoreCreateInfo drivers = *info;
    VkSemaphoreTypeCreateInfo drivers_type;
    drivers.pNext = NULL;
    if (type) {
        drivers_type = *type;
        drivers_type.pNext = NULL;
        drivers.pNext = &drivers_type;
    }
    r = d->CreateSemaphore(d->handle, &drivers, allocator, out);
    if (r) {
        vl_payload_drop(payload);
        return r;
    }
    return vl_object_add(&d->sync->semaphores, VL_NUMBER(*out), kind, payload);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSemaphore *out)
{
    struct vl_device *d = vl_device_of(device);
    const VkExportSemaphoreCreateInfo *export =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    const VkSemaphoreTypeCreateInfo *type =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    bool timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE,
         opaque = export && export->handleTypes & VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    enum dm_semaphore_kind kind = timeline ? DM_SEMAPHORE_TIMELINE : DM_SEMAPHORE_BINARY;
    bool ours = d->sync && opaque && serves(d->sync, kind);
    *out = VK_NULL_HANDLE;
    VkResult r = ours ? create_ours(d, info, type, allocator, out)
                      : d->CreateSemaphore(device, info, allocator, out);
    // Of the driver's semaphores, an import needs to know which are timelines.
    if (!r && !ours && d->sync && timeline)
        r = vl_object_add(&d->sync->semaphores, VL_NUMBER(*out), kind, NULL);
    if (r && *out) {
        d->DestroySemaphore(device, *out, allocator);
        *out = VK_NULL_HANDLE;
    }
    return r;
}
const PFN_vkCreateSemaphore vl_hook_CreateSemaphore = create_semaphore;

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    if (d->sync && semaphore)
        vl_object_remove(&d->sync->semaphores, VL_NUMBER(semaphore));
    d->DestroySemaphore(device, semaphore, allocator);
}
const PFN_vkDestroySemaphore vl_hook_DestroySemaphore = destroy_semaphore;

// ---- import and export

static VkResult drivers_import(struct vl_device *d, const VkImportSemaphoreFdInfoKHR *info)
{
    if (!d->ImportSemaphoreFdKHR)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = d->ImportSemaphoreFdKHR(d->handle, info);
    // "Handle types with copy transference can only be imported with temporary permanence."
    if (!r && d->sync)
        vl_object_imported(&d->sync->semaphores, VL_NUMBER(info->semaphore),
                           info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT ||
                               info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    return r;
}

// Returns whether the layer, and not the driver, exports this semaphore as OPAQUE_FD.
static bool is_served(struct vl_sync *sync, VkSemaphore handle)
{
    dm_mutex_lock(&vl_sync_lock);
    bool timeline = vl_semaphore_is_timeline(sync, handle);
    dm_mutex_unlock(&vl_sync_lock);
    return serves(sync, timeline ? DM_SEMAPHORE_TIMELINE : DM_SEMAPHORE_BINARY);
}

static VKAPI_ATTR VkResult VKAPI_CALL import_semaphore(VkDevice device,
                                                       const VkImportSemaphoreFdInfoKHR *info)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync || info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
        return drivers_import(d, info);
    VkResult r = vl_object_import(&d->sync->semaphores, VL_NUMBER(info->semaphore), info->fd,
                                  info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT);
    // A driver with descriptors of its own may know this one.
    return r == VK_ERROR_INVALID_EXTERNAL_HANDLE && !is_served(d->sync, info->semaphore)
               ? drivers_import(d, info)
               : r;
}
const PFN_vkImportSemaphoreFdKHR vl_hook_ImportSemaphoreFdKHR = import_semaphore;

// The driver exports a semaphore of its own: after it has got the submission that signals it.
static VkResult drivers_export(struct vl_device *d, const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    if (!d->GetSemaphoreFdKHR)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r =
        d->sync ? vl_await_passed_on(d->sync, info->semaphore, VK_NULL_HANDLE) : VK_SUCCESS;
    if (!r)
        r = d->GetSemaphoreFdKHR(d->handle, info, fd);
    if (!r && d->sync && info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT)
        vl_object_exported(&d->sync->semaphores, VL_NUMBER(info->semaphore));
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL export_semaphore(VkDevice device,
                                                       const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    struct vl_device *d = vl_device_of(device);
    bool opaque = info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (!d->sync)
        return drivers_export(d, info, fd);
    bool ours = vl_object_is_ours(&d->sync->semaphores, VL_NUMBER(info->semaphore));
    if (ours && opaque)
        return vl_object_export(&d->sync->semaphores, VL_NUMBER(info->semaphore), fd);
    // The driver must not be asked for a payload that it does not have, or for a handle type that
    // it does not offer: it may crash.
    if (!ours && (!opaque || !is_served(d->sync, info->semaphore)))
        return drivers_export(d, info, fd);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}
const PFN_vkGetSemaphoreFdKHR vl_hook_GetSemaphoreFdKHR = export_semaphore;

// ---- the host's side of timelines

// Returns the payload of a timeline with a reference; NULL if it is the driver's.
static struct vl_payload *payload_of(struct vl_sync *sync, VkSemaphore handle)
{
    return sync ? vl_object_take(&sync->semaphores, VL_NUMBER(handle)) : NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_value(VkDevice device, VkSemaphore semaphore,
                                                uint64_t *value)
{
    struct vl_device *d = vl_device_of(device);
    struct vl_payload *p = payload_of(d->sync, semaphore);
    VkResult r = VK_SUCCESS;
    if (p)
        *value = dm_semaphore_value(&p->semaphore);
    else
        r = (d->GetSemaphoreCounterValue
                 ? d->GetSemaphoreCounterValue
                 : d->GetSemaphoreCounterValueKHR)(device, semaphore, value);
    vl_payload_drop(p);
    return r || !d->sync ? r : vl_sync_lost(d->sync);
}
const PFN_vkGetSemaphoreCounterValue vl_hook_GetSemaphoreCounterValue = get_value;
const PFN_vkGetSemaphoreCounterValueKHR vl_hook_GetSemaphoreCounterValueKHR = get_value;

static VKAPI_ATTR VkResult VKAPI_CALL signal_value(VkDevice device,
                                                   const VkSemaphoreSignalInfo *info)
{
    struct vl_device *d = vl_device_of(device);
    struct vl_payload *p = payload_of(d->sync, info->semaphore);
    if (!p)
        return (d->SignalSemaphore ? d->SignalSemaphore : d->SignalSemaphoreKHR)(device, info);
    dm_semaphore_signal(&p->semaphore, info->value);
    vl_payload_drop(p);
    return VK_SUCCESS;
}
const PFN_vkSignalSemaphore vl_hook_SignalSemaphore = signal_value;
const PFN_vkSignalSemaphoreKHR vl_hook_SignalSemaphoreKHR = signal_value;

struct drivers_wait {
    struct vl_device *device;
    VkSemaphoreWaitInfo info;
};

static VkResult wait_for_drivers(void *argument, uint64_t timeout_ns)
{
    const struct drivers_wait *w = argument;
    const struct vl_device *d = w->device;
    return (d->WaitSemaphores ? d->WaitSemaphores : d->WaitSemaphoresKHR)(d->handle, &w->info,
                                                                          timeout_ns);
}

// Splits the semaphores of a wait into payloads, and the driver's own, whose handles and values go
// to `handles` and `values`. Returns the number of payloads.
static uint32_t wait_split(struct vl_sync *sync, const VkSemaphoreWaitInfo *info,
                           struct vl_host_wait *waits, VkSemaphore *handles, uint64_t *values)
{
    uint32_t ours = 0, drivers = 0;
    dm_mutex_lock(&vl_sync_lock);
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        struct vl_payload *p = vl_semaphore_for_signal(sync, info->pSemaphores[i]);
        if (p) {
            waits[ours++] = (struct vl_host_wait){p, info->pValues[i]};
        } else {
            handles[drivers] = info->pSemaphores[i];
            values[drivers++] = info->pValues[i];
        }
    }
    dm_mutex_unlock(&vl_sync_lock);
    return ours;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_values(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    struct vl_device *d = vl_device_of(device);
    struct drivers_wait drivers = {d, *info};
    uint32_t n = info->semaphoreCount;
    if (!d->sync || !n)
        return wait_for_drivers(&drivers, timeout);
    struct vl_host_wait *waits = dm_calloc(n, sizeof *waits);
    VkSemaphore *handles = dm_calloc(n, sizeof *handles);
    uint64_t *values = dm_calloc(n, sizeof *values);
    VkResult r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (waits && handles && values) {
        uint32_t ours = wait_split(d->sync, info, waits, handles, values);
        drivers.info.semaphoreCount = n - ours;
        drivers.info.pSemaphores = handles;
        drivers.info.pValues = values;
        r = vl_host_wait(d->sync, waits, ours, !(info->flags & VK_SEMAPHORE_WAIT_ANY_BIT), timeout,
                         ours < n ? wait_for_drivers : NULL, &drivers);
        for (uint32_t i = 0; i < ours; i++)
            vl_payload_drop(waits[i].payload);
    }
    dm_free(waits);
    dm_free(handles);
    dm_free(values);
    return r;
}
const PFN_vkWaitSemaphores vl_hook_WaitSemaphores = wait_for_values;
const PFN_vkWaitSemaphoresKHR vl_hook_WaitSemaphoresKHR = wait_for_values;
