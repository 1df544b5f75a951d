// SPDX-License-Identifier: MIT
// Functions of the program that a driver calls if the process exceeds its budget of a device's
// memory.
#include "notification.h"

#include "alloc.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "object.h"

struct notification {
    struct em_object object; // type EM_ASYNC_CALLBACK, in no context
    CUasyncCallback function;
    void *data;
    const struct em_device *device;
};

static void finish_notification(struct em_object *object)
{
    dm_free(object);
}

CUresult em_notification_register(CUdevice device, CUasyncCallback function, void *data,
                                  CUasyncCallbackHandle *out)
{
    em_assert_unlocked();
    struct em_device *d;
    CUresult r = em_device_get(device, &d);
    if (r)
        return r;
    struct notification *n = dm_calloc(1, sizeof *n);
    if (!n)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a callback");
    n->function = function;
    n->data = data;
    n->device = d;
    em_lock();
    r = em_object_start(&n->object, EM_ASYNC_CALLBACK, NULL, finish_notification);
    if (!r)
        *out = (CUasyncCallbackHandle)(uintptr_t)n->object.handle;
    em_unlock();
    if (r)
        dm_free(n);
    return r;
}

// The handle is checked before the device (recorded: updatable_nodes notes/6).
CUresult em_notification_unregister(CUdevice device, CUasyncCallbackHandle handle)
{
    em_assert_unlocked();
    struct em_device *d = NULL;
    struct notification *n;
    em_lock();
    CUresult r = em_object_get(EM_ASYNC_CALLBACK, handle, CUDA_ERROR_INVALID_VALUE, &n);
    if (!r)
        r = em_device_get(device, &d);
    if (!r && d != n->device)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "device (%d) is not the one for which the callback was registered (%d)", device,
                    n->device->ordinal);
    if (!r)
        em_object_retire(&n->object);
    em_unlock();
    return r;
}

CUresult em_notification_end(CUasyncCallbackHandle handle)
{
    em_assert_unlocked();
    struct notification *n;
    em_lock();
    const CUresult r = em_object_get(EM_ASYNC_CALLBACK, handle, CUDA_ERROR_INVALID_VALUE, &n);
    if (!r)
        em_object_retire(&n->object);
    em_unlock();
    return r;
}
