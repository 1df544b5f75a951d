// SPDX-License-Identifier: MIT
// Fences: creation, import and export, and waits of the host.
#include "clock.h"
#include "sync.h"

bool vl_fence_is_ours(struct vl_sync *sync, VkFence handle)
{
    dm_assert_locked(&vl_sync_lock);
    return vl_object_payload(vl_object_find(&sync->fences, VL_NUMBER(handle)));
}

struct vl_payload *vl_fence_for_signal(struct vl_sync *sync, VkFence handle)
{
    dm_assert_locked(&vl_sync_lock);
    return vl_payload_take(vl_object_payload(vl_object_find(&sync->fences, VL_NUMBER(handle))));
}

// ---- creation and destruction

static VKAPI_ATTR VkResult VKAPI_CALL create_fence(VkDevice device, const VkFenceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkFence *out)
{
    struct vl_device *d = vl_device_of(device);
    struct vl_sync *sync = d->sync;
    const VkExportFenceCreateInfo *export =
        vl_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO);
    bool ours = sync && sync->fence && export &&
                export->handleTypes & VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (!ours)
        return d->CreateFence(device, info, allocator, out);
    struct vl_payload *payload;
    VkFenceCreateInfo drivers = *info;
    drivers.pNext = NULL; // the driver cannot export it; no other struct of Linux extends this one
    VkResult r = vl_payload_create(DM_SEMAPHORE_BINARY, info->flags & VK_FENCE_CREATE_SIGNALED_BIT,
                                   &payload);
    if (r)
        return r;
    r = d->CreateFence(device, &drivers, allocator, out);
    if (r) {
        vl_payload_drop(payload);
        return r;
    }
    r = vl_object_add(&sync->fences, VL_NUMBER(*out), DM_SEMAPHORE_BINARY, payload);
    if (r) {
        d->DestroyFence(device, *out, allocator);
        *out = VK_NULL_HANDLE;
    }
    return r;
}
const PFN_vkCreateFence vl_hook_CreateFence = create_fence;

static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice device, VkFence fence,
                                                const VkAllocationCallbacks *allocator)
{
    struct vl_device *d = vl_device_of(device);
    if (d->sync && fence)
        vl_object_remove(&d->sync->fences, VL_NUMBER(fence));
    d->DestroyFence(device, fence, allocator);
}
const PFN_vkDestroyFence vl_hook_DestroyFence = destroy_fence;

// ---- import and export

static VkResult drivers_import(struct vl_device *d, const VkImportFenceFdInfoKHR *info)
{
    if (!d->ImportFenceFdKHR)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = d->ImportFenceFdKHR(d->handle, info);
    // "Handle types with copy transference can only be imported with temporary permanence."
    if (!r && d->sync)
        vl_object_imported(&d->sync->fences, VL_NUMBER(info->fence),
                           info->flags & VK_FENCE_IMPORT_TEMPORARY_BIT ||
                               info->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL import_fence(VkDevice device,
                                                   const VkImportFenceFdInfoKHR *info)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync || info->handleType != VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT)
        return drivers_import(d, info);
    VkResult r = vl_object_import(&d->sync->fences, VL_NUMBER(info->fence), info->fd,
                                  info->flags & VK_FENCE_IMPORT_TEMPORARY_BIT);
    // A driver with descriptors of its own may know this one.
    return r == VK_ERROR_INVALID_EXTERNAL_HANDLE && !d->sync->fence ? drivers_import(d, info) : r;
}
const PFN_vkImportFenceFdKHR vl_hook_ImportFenceFdKHR = import_fence;

// The driver exports a fence of its own: after it has got the submission that signals it.
static VkResult drivers_export(struct vl_device *d, const VkFenceGetFdInfoKHR *info, int *fd)
{
    if (!d->GetFenceFdKHR)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = d->sync ? vl_await_passed_on(d->sync, VK_NULL_HANDLE, info->fence) : VK_SUCCESS;
    if (!r)
        r = d->GetFenceFdKHR(d->handle, info, fd);
    if (!r && d->sync && info->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT)
        vl_object_exported(&d->sync->fences, VL_NUMBER(info->fence));
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL export_fence(VkDevice device, const VkFenceGetFdInfoKHR *info,
                                                   int *fd)
{
    struct vl_device *d = vl_device_of(device);
    bool opaque = info->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (!d->sync)
        return drivers_export(d, info, fd);
    bool ours = vl_object_is_ours(&d->sync->fences, VL_NUMBER(info->fence));
    if (ours && opaque)
        return vl_object_export(&d->sync->fences, VL_NUMBER(info->fence), fd);
    // The driver must not be asked for a payload that it does not have, or for a handle type that
    // it does not offer: it may crash.
    if (!ours && (!opaque || !d->sync->fence))
        return drivers_export(d, info, fd);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}
const PFN_vkGetFenceFdKHR vl_hook_GetFenceFdKHR = export_fence;

// ---- the host

static VKAPI_ATTR VkResult VKAPI_CALL get_status(VkDevice device, VkFence fence)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync)
        return d->GetFenceStatus(device, fence);
    dm_mutex_lock(&vl_sync_lock);
    struct vl_payload *p = vl_fence_for_signal(d->sync, fence);
    bool held = vl_fence_is_held(d->sync, fence);
    dm_mutex_unlock(&vl_sync_lock);
    VkResult r = VK_NOT_READY;
    if (p)
        r = dm_semaphore_reached(&p->semaphore, 1) ? VK_SUCCESS : VK_NOT_READY;
    else if (!held)
        r = d->GetFenceStatus(device, fence);
    vl_payload_drop(p);
    VkResult lost = vl_sync_lost(d->sync);
    return r == VK_NOT_READY && lost ? lost : r;
}
const PFN_vkGetFenceStatus vl_hook_GetFenceStatus = get_status;

// Resets the layer's fences, and lists the others in `drivers`. Returns the length of the list.
static uint32_t reset_ours(struct vl_sync *sync, uint32_t count, const VkFence *fences,
                           VkFence *drivers)
{
    uint32_t n = 0;
    dm_mutex_lock(&vl_sync_lock);
    for (uint32_t i = 0; i < count; i++) {
        struct vl_object *f = vl_object_find(&sync->fences, VL_NUMBER(fences[i]));
        bool drivers_temporary = f && f->drivers_temporary;
        // "If any member of pFences currently has its payload imported with temporary permanence,
        // that fence's prior permanent payload is first restored. The remaining operations
        // described therefore operate on the restored payload."
        if (f)
            vl_object_restore(f);
        if (f && f->permanent)
            dm_semaphore_reset(&f->permanent->semaphore);
        if (!f || !f->permanent || drivers_temporary)
            drivers[n++] = fences[i];
    }
    dm_mutex_unlock(&vl_sync_lock);
    return n;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count,
                                                   const VkFence *fences)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync)
        return d->ResetFences(device, count, fences);
    VkFence *drivers = dm_calloc(count, sizeof *drivers);
    if (!drivers)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t n = reset_ours(d->sync, count, fences, drivers);
    VkResult r = n ? d->ResetFences(device, n, drivers) : VK_SUCCESS;
    dm_free(drivers);
    return r;
}
const PFN_vkResetFences vl_hook_ResetFences = reset_fences;

struct drivers_wait {
    struct vl_device *device;
    VkFence *fences;
    uint32_t count;
    VkBool32 all;
};

// Moves the fences whose submissions are held to the end of the list. Returns the number of the
// others. Precondition: vl_sync_lock held.
static uint32_t held_last(struct drivers_wait *w)
{
    dm_assert_locked(&vl_sync_lock);
    uint32_t free = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        VkFence f = w->fences[i];
        if (vl_fence_is_held(w->device->sync, f))
            continue;
        w->fences[i] = w->fences[free];
        w->fences[free++] = f;
    }
    return free;
}

// Waits until enough submissions have been passed on: all of them, or one if any fence will do.
// Returns the number of fences that the driver may be asked for, which come first in the list.
static uint32_t wait_until_passed_on(struct drivers_wait *w, uint64_t deadline_ns)
{
    const struct timespec until = {(time_t)(deadline_ns / DM_NS_PER_S),
                                   (long)(deadline_ns % DM_NS_PER_S)};
    int timed_out = 0;
    dm_mutex_lock(&vl_sync_lock);
    uint32_t free = held_last(w);
    while (free < (w->all ? w->count : 1) && !timed_out && !vl_sync_lost(w->device->sync)) {
        if (deadline_ns)
            timed_out = dm_mutex_wait_until(&vl_sync_lock, &w->device->sync->changed, &until);
        else
            dm_mutex_wait(&vl_sync_lock, &w->device->sync->changed);
        free = held_last(w);
    }
    dm_mutex_unlock(&vl_sync_lock);
    return free;
}

static VkResult wait_for_drivers(void *argument, uint64_t timeout_ns)
{
    enum { SLICE_NS = 1000000 }; // if one of several submissions may be passed on meanwhile
    struct drivers_wait *w = argument;
    uint64_t deadline_ns = vl_deadline(timeout_ns);
    for (;;) {
        uint32_t free = wait_until_passed_on(w, deadline_ns);
        uint64_t left = vl_remaining(deadline_ns);
        if (!free || (w->all && free < w->count))
            return VK_TIMEOUT;
        bool slices = free < w->count && left > SLICE_NS;
        VkResult r = w->device->WaitForFences(w->device->handle, free, w->fences, w->all,
                                              slices ? SLICE_NS : left);
        if (r != VK_TIMEOUT || !slices)
            return r;
    }
}

// Splits fences into payloads, and the driver's own, which are listed in `drivers`. Returns the
// number of payloads.
static uint32_t wait_split(struct vl_sync *sync, uint32_t count, const VkFence *fences,
                           struct vl_host_wait *waits, VkFence *drivers)
{
    uint32_t ours = 0, theirs = 0;
    dm_mutex_lock(&vl_sync_lock);
    for (uint32_t i = 0; i < count; i++) {
        struct vl_payload *p = vl_fence_for_signal(sync, fences[i]);
        if (p)
            waits[ours++] = (struct vl_host_wait){p, 1};
        else
            drivers[theirs++] = fences[i];
    }
    dm_mutex_unlock(&vl_sync_lock);
    return ours;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count,
                                                      const VkFence *fences, VkBool32 all,
                                                      uint64_t timeout)
{
    struct vl_device *d = vl_device_of(device);
    if (!d->sync || !count)
        return d->WaitForFences(device, count, fences, all, timeout);
    struct vl_host_wait *waits = dm_calloc(count, sizeof *waits);
    struct drivers_wait drivers = {d, dm_calloc(count, sizeof *drivers.fences), 0, all};
    VkResult r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (waits && drivers.fences) {
        uint32_t ours = wait_split(d->sync, count, fences, waits, drivers.fences);
        drivers.count = count - ours;
        r = vl_host_wait(d->sync, waits, ours, all, timeout,
                         drivers.count ? wait_for_drivers : NULL, &drivers);
        for (uint32_t i = 0; i < ours; i++)
            vl_payload_drop(waits[i].payload);
    }
    dm_free(waits);
    dm_free(drivers.fences);
    return r;
}
const PFN_vkWaitForFences vl_hook_WaitForFences = wait_for_fences;
