// SPDX-License-Identifier: MIT
// Checks that several ways to make a context share.
#pragma once
#include "call.h"
#include "device.h"

// "The two LSBs [three since CUDA 4] are scheduling flags": one of them at the most; `allowed`: all
// bits that the call takes.
static inline CUresult api_check_context_flags(unsigned flags, unsigned allowed)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if (flags & ~allowed)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x hold %#x, which cannot be set here",
                       flags, flags & ~allowed);
    if (schedule & (schedule - 1))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags %#x ask for more than one kind of scheduling", flags);
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
