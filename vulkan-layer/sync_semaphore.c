// SPDX-License-Identifier: MIT
// Semaphores: creation, import and export, and what the host does with them.
#include "sync.h"

#include <string.h>

struct vl_semaphore *vl_semaphore_find(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_key key = VL_KEY(sync->device, handle);
    return DM_TABLE_FIND(sync->semaphores, &key);
}

bool vl_semaphore_is_ours(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    return s && (s->permanent || s->temporary || s->drivers_temporary);
}

struct vl_payload *vl_semaphore_for_wait(struct vl_sync *sync, VkSemaphore handle, bool *temporary)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    *temporary = s && (s->temporary || s->drivers_temporary);
    if (!s)
        return NULL;
    if (!*temporary)
        return vl_payload_take(s->permanent);
    struct vl_payload *payload = s->temporary;
    s->temporary = NULL;
    s->drivers_temporary = false;
    return payload;
}

void vl_semaphore_give_back(struct vl_sync *sync, VkSemaphore handle, struct vl_payload *payload)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    if (!s || s->temporary || s->drivers_temporary)
        return; // another thread has imported again
    s->temporary = vl_payload_take(payload);
    s->drivers_temporary = !payload;
}

bool vl_semaphore_is_timeline(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    return s && s->kind == DM_SEMAPHORE_TIMELINE;
}

struct vl_payload *vl_semaphore_for_signal(struct vl_sync *sync, VkSemaphore handle)
{
    dm_assert_locked(&vl_sync_lock);
    const struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    if (!s || s->drivers_temporary)
        return NULL;
    return vl_payload_take(s->temporary ? s->temporary : s->permanent);
}

// ---- creation and destruction

static bool serves(const struct vl_sync *sync, enum dm_semaphore_kind kind)
{
    return sync->semaphore_fd && (kind == DM_SEMAPHORE_TIMELINE ? sync->timeline : sync->binary);
}

// Adds a record. Takes the payload over; drops it if memory runs out.
static VkResult semaphore_add(struct vl_sync *sync, VkSemaphore handle, enum dm_semaphore_kind kind,
                              struct vl_payload *permanent)
{
    struct vl_semaphore *s = dm_calloc(1, sizeof *s);
    if (s) {
        s->key = VL_KEY(sync->device, handle);
        s->kind = kind;
        s->permanent = permanent;
        dm_mutex_lock(&vl_sync_lock);
        int status = DM_TABLE_ADD(sync->semaphores, key, s);
        dm_mutex_unlock(&vl_sync_lock);
        if (!status)
            return VK_SUCCESS;
    }
    dm_free(s);
    vl_payload_drop(permanent);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void semaphore_free(struct vl_semaphore *s)
{
    vl_payload_drop(s->permanent);
    vl_payload_drop(s->temporary);
    dm_free(s);
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
    return semaphore_add(d->sync, *out, kind, payload);
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
        r = semaphore_add(d->sync, *out, kind, NULL);
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
    struct vl_semaphore *s = NULL;
    if (d->sync && semaphore) {
        dm_mutex_lock(&vl_sync_lock);
        s = vl_semaphore_find(d->sync, semaphore);
        if (s)
            DM_TABLE_REMOVE(d->sync->semaphores, s);
        dm_mutex_unlock(&vl_sync_lock);
    }
    if (s)
        semaphore_free(s); // submissions that are pending have references of their own
    if (d->sync && vl_sync_lost(d->sync))
        vl_queue_drain(d->sync, VK_NULL_HANDLE);
    d->DestroySemaphore(device, semaphore, allocator);
}
const PFN_vkDestroySemaphore vl_hook_DestroySemaphore = destroy_semaphore;

void vl_semaphores_finish(struct vl_sync *sync)
{
    struct vl_semaphore *s, *next;
    DM_TABLE_EACH (sync->semaphores, s, next) {
        DM_TABLE_REMOVE(sync->semaphores, s);
        semaphore_free(s);
    }
}

// ---- import and export

static enum dm_semaphore_kind kind_of(struct vl_sync *sync, VkSemaphore handle)
{
    dm_mutex_lock(&vl_sync_lock);
    const struct vl_semaphore *s = vl_semaphore_find(sync, handle);
    enum dm_semaphore_kind kind = s ? s->kind : DM_SEMAPHORE_BINARY;
    dm_mutex_unlock(&vl_sync_lock);
    return kind;
}

// Puts an imported payload into the semaphore, and drops the one that it replaces. `payload` is
// NULL if the driver has imported it.
static void semaphore_replace(struct vl_semaphore *s, struct vl_payload *payload, bool temporary)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_payload **slot = temporary ? &s->temporary : &s->permanent;
    vl_payload_drop(*slot);
    *slot = payload;
    if (temporary)
        s->drivers_temporary = !payload;
}

static VkResult drivers_import(struct vl_device *d, const VkImportSemaphoreFdInfoKHR *info)
{
    if (!d->ImportSemaphoreFdKHR)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = d->ImportSemaphoreFdKHR(d->handle, info);
    if (r)
        return r;
    dm_mutex_lock(&vl_sync_lock);
    struct vl_semaphore *s = vl_semaphore_find(d->sync, info->semaphore);
    // "Handle types with copy transference can only be imported with temporary permanence."
    if (s && (s->permanent || s->temporary))
        semaphore_replace(s, NULL,
                          info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT ||
                              info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    dm_mutex_unlock(&vl_sync_lock);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL import_semaphore(VkDevice device,
                                                       const VkImportSemaphoreFdInfoKHR *info)
{
    struct vl_device *d = vl_device_of(device);
    struct vl_sync *sync = d->sync;
    if (!sync)
        return d->ImportSemaphoreFdKHR(device, info);
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
        return drivers_import(d, info);
    enum dm_semaphore_kind kind = kind_of(sync, info->semaphore);
    // A successful import closes the descriptor, so everything that can fail comes before. A record
    // without payloads changes nothing.
    dm_mutex_lock(&vl_sync_lock);
    bool known = vl_semaphore_find(sync, info->semaphore);
    dm_mutex_unlock(&vl_sync_lock);
    // The program must not use the semaphore in two calls at once, so nobody adds it meanwhile.
    VkResult r = known ? VK_SUCCESS : semaphore_add(sync, info->semaphore, kind, NULL);
    struct vl_payload *payload;
    if (!r)
        r = vl_payload_import(info->fd, kind, &payload);
    // A driver with descriptors of its own may know this one.
    if (r == VK_ERROR_INVALID_EXTERNAL_HANDLE && !serves(sync, kind))
        return drivers_import(d, info);
    if (r)
        return r;
    dm_mutex_lock(&vl_sync_lock);
    semaphore_replace(vl_semaphore_find(sync, info->semaphore), payload,
                      info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT);
    dm_mutex_unlock(&vl_sync_lock);
    return VK_SUCCESS;
}
const PFN_vkImportSemaphoreFdKHR vl_hook_ImportSemaphoreFdKHR = import_semaphore;

// Returns whether the semaphore would need a payload for this export, but has none.
static bool refuses(struct vl_sync *sync, const VkSemaphoreGetFdInfoKHR *info)
{
    return sync && info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT &&
           serves(sync, kind_of(sync, info->semaphore));
}

static VKAPI_ATTR VkResult VKAPI_CALL export_semaphore(VkDevice device,
                                                       const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    struct vl_device *d = vl_device_of(device);
    struct vl_payload *payload = NULL;
    if (d->sync && info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
        dm_mutex_lock(&vl_sync_lock);
        payload = vl_semaphore_for_signal(d->sync, info->semaphore);
        dm_mutex_unlock(&vl_sync_lock);
    }
    if (!payload) // a driver that does not offer a handle type may crash if it is asked for one
        return d->GetSemaphoreFdKHR && !refuses(d->sync, info)
                   ? d->GetSemaphoreFdKHR(device, info, fd)
                   : VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = vl_payload_export(payload, fd);
    vl_payload_drop(payload);
    if (r)
        return r;
    // "If the semaphore was using a temporarily imported payload, the semaphore's prior permanent
    // payload will be restored."
    dm_mutex_lock(&vl_sync_lock);
    struct vl_semaphore *s = vl_semaphore_find(d->sync, info->semaphore);
    vl_payload_drop(s->temporary);
    s->temporary = NULL;
    dm_mutex_unlock(&vl_sync_lock);
    return VK_SUCCESS;
}
const PFN_vkGetSemaphoreFdKHR vl_hook_GetSemaphoreFdKHR = export_semaphore;

// ---- the host's side of timelines

// Returns the payload of a timeline with a reference; NULL if it is the driver's.
static struct vl_payload *payload_of(struct vl_sync *sync, VkSemaphore handle)
{
    if (!sync)
        return NULL;
    dm_mutex_lock(&vl_sync_lock);
    struct vl_payload *p = vl_semaphore_for_signal(sync, handle);
    dm_mutex_unlock(&vl_sync_lock);
    return p;
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
