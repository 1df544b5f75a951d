// SPDX-License-Identifier: MIT
// The manual's chapter "Primary Context Management".
#include "api_bodies.h"
#include "context_checks.h"
#include "device.h"
#include "primary.h"

CUresult api_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (!r && !pctx)
        r = em_null("pctx");
    if (!r)
        r = api_check_compute_mode(device);
    return r ? r : em_primary_retain(device, pctx);
}

// The first form accepts one release too many.
CUresult api_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (!r && em_primary_retained(device))
        r = em_primary_release(device);
    return r;
}

CUresult api_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    return r ? r : em_primary_release(device);
}

CUresult api_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (!r)
        r = api_check_context_flags(flags, CU_CTX_FLAGS_MASK & ~CU_CTX_MAP_HOST);
    return r ? r : em_primary_set_flags(device, flags);
}

CUresult api_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (!r)
        em_primary_state(device, flags, active);
    return r;
}

CUresult api_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    return r ? r : em_primary_reset(device);
}
