// SPDX-License-Identifier: MIT
// Primary contexts. Their struct, once made, stays for good: a handle kept from an earlier life
// names the context of the next one.
#include "primary.h"

#include "call.h"
#include "device.h"
#include "lock.h"

// Whether the primary context is alive; one that is just ending is waited for. Precondition:
// em_lock held, which may be released meanwhile.
static bool is_active(const struct em_device *device)
{
    em_assert_locked();
    if (device->primary)
        em_context_wait_end(device->primary);
    return device->primary && device->primary->base.error_state != EM_DESTROYED;
}

// "The primary context always maps host memory": CU_CTX_MAP_HOST shows in its flags though it
// cannot be set. Core dumps that the user asks for are the device's, not the context's.
static unsigned context_flags(unsigned flags)
{
    return (flags & ~(unsigned)CU_CTX_USER_COREDUMP_ENABLE) | CU_CTX_MAP_HOST;
}

CUresult em_primary_retain(struct em_device *device, CUcontext *out)
{
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    em_lock();
    if (!device->primary)
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
        r = em_fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context of device %d is not retained",
                    device->ordinal);
    else if (!--c->usage && is_active(device) &&
             !c->usage) // another thread may have retained it while this one waited
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
    if (is_active(device)) // core dumps are settled when it is made
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
    // Synchronous memory operations belong to the context: cuCtxSetFlags on it shows here too.
    if (*active)
        *flags |= device->primary->flags & CU_CTX_SYNC_MEMOPS;
    em_unlock();
}
