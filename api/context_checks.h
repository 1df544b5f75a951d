// SPDX-License-Identifier: MIT
// Checks that all calls which create a context share.
#pragma once
#include "call.h"
#include "device.h"

// "The two LSBs [three since CUDA 4] are scheduling flags": at most one may be set. `allowed` holds
// all bits that the call accepts.
static inline CUresult api_check_context_flags(unsigned flags, unsigned allowed)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if (flags & ~allowed)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) contain %#x, which this call does not accept", flags,
                       flags & ~allowed);
    if (schedule & (schedule - 1))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) contain more than one CU_CTX_SCHED_* flag", flags);
    return CUDA_SUCCESS;
}

// "Context creation will fail with CUDA_ERROR_UNKNOWN if the compute mode of the device is
// CU_COMPUTEMODE_PROHIBITED."
static inline CUresult api_check_compute_mode(const struct em_device *device)
{
    if (em_device_attribute(device, DM_ATTRIBUTE_compute_mode) == CU_COMPUTEMODE_PROHIBITED)
        return em_fail(CUDA_ERROR_UNKNOWN, "the compute mode of device %d prohibits contexts",
                       device->ordinal);
    return CUDA_SUCCESS;
}
