// SPDX-License-Identifier: MIT
// Primary contexts. The struct of a primary context is never freed, so a handle from before its end
// is valid again after the context was retained again.
#include "primary.h"

#include "call.h"
#include "device.h"
#include "lock.h"

// Returns true if the primary context is alive. If another thread is ending it, waits for the end.
// Precondition: em_lock held, which may be released meanwhile.
static bool is_active(const struct em_device *device)
{
    em_assert_locked();
    if (device->primary)
        em_context_wait_end(device->primary);
    return device->primary && device->primary->base.error_state != EM_DESTROYED;
}

// "The primary context always maps host memory": its flags contain CU_CTX_MAP_HOST, which cannot be
// set. CU_CTX_USER_COREDUMP_ENABLE belongs to the device, not to the context.
static unsigned context_flags(unsigned flags)
{
    return (flags & ~(unsigned)CU_CTX_USER_COREDUMP_ENABLE) | CU_CTX_MAP_HOST;
}

CUresult em_primary_retain(struct em_device *device, CUcontext *out)
{
    em_assert_unlocked();
    em_lock();
    CUresult r = em_devices_failed();
    if (!r && !device->primary)
        r = em_context_new(device, true, &device->primary);
    if (!r) {
        if (!is_active(device))
            em_context_begin(device->primary, context_flags(device->primary_flags));
        device->primary->usage++;
        *out = em_context_handle(device->primary);
    }
    em_unlock();
    return r;
}

void em_primary_end(struct em_context *context)
{
    em_assert_locked();
    context->attached = 0;
    context->device->primary_flags = 0;
    em_context_end(context);
}

CUresult em_primary_release(struct em_device *device)
{
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    em_lock();
    struct em_context *c = device->primary;
    if (!c || !c->usage)
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT,
                    "the primary context of device %d is not retained; call "
                    "cuDevicePrimaryCtxRetain first",
                    device->ordinal);
    // Check `usage` again, because another thread may have retained the context during the wait.
    else if (!--c->usage && is_active(device) && !c->usage)
        em_primary_end(c);
    em_unlock();
    return r;
}

bool em_primary_retained(struct em_device *device)
{
    em_assert_unlocked();
    em_lock();
    bool retained = device->primary && device->primary->usage;
    em_unlock();
    return retained;
}

// "Resetting the primary context does not release it, an application that has retained the primary
// context should explicitly release its usage."
CUresult em_primary_reset(struct em_device *device)
{
    em_assert_unlocked();
    em_lock();
    if (is_active(device))
        em_primary_end(device->primary);
    em_unlock();
    return CUDA_SUCCESS;
}

CUresult em_primary_set_flags(struct em_device *device, unsigned flags)
{
    em_assert_unlocked();
    em_lock();
    device->primary_flags = flags;
    if (is_active(device)) // its flag for core dumps cannot change any more
        device->primary->flags = context_flags(flags & ~(unsigned)CU_CTX_COREDUMP_ENABLE) |
                                 (device->primary->flags & CU_CTX_COREDUMP_ENABLE);
    em_unlock();
    return CUDA_SUCCESS;
}

void em_primary_state(struct em_device *device, unsigned *flags, int *active)
{
    em_assert_unlocked();
    em_lock();
    *active = is_active(device);
    *flags = device->primary_flags;
    // CU_CTX_SYNC_MEMOPS belongs to the context, because cuCtxSetFlags can set it there.
    if (*active)
        *flags |= device->primary->flags & CU_CTX_SYNC_MEMOPS;
    em_unlock();
}
