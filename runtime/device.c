// SPDX-License-Identifier: MIT
// The manual's chapter "Device Management": devices, their choice, and their flags.
#include <stdio.h>
#include <stdlib.h>

#include "fat_binary.h"
#include "readable.h"
#include "rt.h"
#include "valid_devices.h"

// The list of cudaSetValidDevices. It is empty until the program sets one.
enum { LISTED = 64 };
static int listed[LISTED];
static int listed_count;

cudaError_t rt_cudaGetDeviceCount(int *count)
{
    return rt_error(rt_cu.cuDeviceGetCount(count));
}

cudaError_t rt_cudaGetDevice(int *device)
{
    CUcontext context;
    // A host function must not call even this (recorded: hostfunc/calls-inside-hostfunc).
    RT_TRY(rt_cu.cuCtxGetCurrent(&context));
    *device = rt_device_of(context);
    return cudaSuccess;
}

// Manual: "Sets device as the current device for the calling host thread. […] This function will
// also immediately initialize the runtime state on the primary context". It does so in place of a
// context that the program created (recorded: contexts/created-context-SetDevice).
cudaError_t rt_cudaSetDevice(int device)
{
    cudaError_t r = rt_device_check("device", device);
    if (r)
        return r;
    rt_thread()->chosen = device + 1;
    return rt_context_enter(device);
}

int rt_valid_device(int index)
{
    int count = __atomic_load_n(&listed_count, __ATOMIC_ACQUIRE), devices;
    if (index < count)
        return __atomic_load_n(&listed[index], __ATOMIC_RELAXED);
    return !count && !rt_cu.cuDeviceGetCount(&devices) && index < devices ? index : -1;
}

// Manual: "If a specified device ID in the list does not exist, this function will return
// cudaErrorInvalidDevice. If len is not 0 and device_arr is NULL or if len exceeds the number of
// devices in the system, then cudaErrorInvalidValue is returned."
cudaError_t rt_cudaSetValidDevices(int *device_arr, int len)
{
    int devices;
    RT_TRY(rt_cu.cuDeviceGetCount(&devices));
    if (len < 0 || len > devices || len > LISTED)
        return rt_fail(cudaErrorInvalidValue,
                       "len (%d) must be from 0 to the number of devices (%d)", len, devices);
    if (len && !device_arr)
        return rt_fail(cudaErrorInvalidValue, "argument device_arr is NULL");
    const cudaError_t readable =
        rt_readable("device_arr", device_arr, (unsigned)len, sizeof *device_arr);
    if (readable != cudaSuccess)
        return readable;
    for (int i = 0; i < len; i++) {
        char name[32];
        snprintf(name, sizeof name, "device_arr[%d]", i);
        if (rt_device_check(name, device_arr[i]))
            return cudaErrorInvalidDevice;
    }
    __atomic_store_n(&listed_count, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < len; i++)
        __atomic_store_n(&listed[i], device_arr[i], __ATOMIC_RELAXED);
    __atomic_store_n(&listed_count, len, __ATOMIC_RELEASE);
    return cudaSuccess;
}

// At most one of the three flags that say how a thread waits may be set. The driver rejects
// cudaDeviceMapHost and its own flags for core dumps, so they are removed: host memory is always
// mapped (recorded: device/flags-20, device/flags-40).
static cudaError_t device_set_flags(int device, unsigned int flags)
{
    unsigned int wait = flags & cudaDeviceScheduleMask;
    if (flags & ~(unsigned int)cudaDeviceMask)
        return rt_fail(cudaErrorInvalidValue, "flags (0x%x) has bits that are not cudaDevice flags",
                       flags);
    if (wait & (wait - 1))
        return rt_fail(cudaErrorInvalidValue,
                       "flags (0x%x) has more than one of the cudaDeviceSchedule flags", flags);
    flags &= cudaDeviceScheduleMask | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
    return rt_error(rt_cu.cuDevicePrimaryCtxSetFlags(device, flags));
}

cudaError_t rt_cudaSetDeviceFlags(unsigned int flags)
{
    // Recorded: contexts/flags-after-created.
    if (rt_context_is_own())
        return rt_fail(cudaErrorIncompatibleDriverContext,
                       "the current context was created by the driver API, which sets its flags");
    int device = rt_current_device();
    cudaError_t r = device_set_flags(device, flags);
    return r ? r : rt_context_enter(device);
}

// A primary context that exists always maps host memory.
cudaError_t rt_cudaGetDeviceFlags(unsigned int *flags)
{
    int active;
    RT_TRY(rt_cu.cuDevicePrimaryCtxGetState(rt_current_device(), flags, &active));
    if (active)
        *flags |= cudaDeviceMapHost;
    return cudaSuccess;
}

// Manual: "If cudaInitDeviceFlagsAreValid is set, deviceFlags is applied to the requested device."
// Other bits of `flags` have no effect (recorded: device/init-flags-0-valid-2). The context does
// not become current.
cudaError_t rt_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext context;
    cudaError_t r = rt_device_check("device", device);
    if (!r && (flags & cudaInitDeviceFlagsAreValid))
        r = device_set_flags(device, deviceFlags);
    return r ? r : rt_context_primary(device, &context);
}

cudaError_t rt_cudaDeviceReset(void)
{
    __atomic_add_fetch(&rt_context_resets, 1, __ATOMIC_RELAXED);
    return rt_error(rt_cu.cuDevicePrimaryCtxReset(rt_current_device()));
}

cudaError_t rt_cudaDeviceSynchronize(void)
{
    CUresult result;
    RT_IN_CONTEXT(result, rt_cu.cuCtxSynchronize());
    rt_binaries_unload();
    return rt_error(result);
}

cudaError_t rt_cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    return rt_error(rt_cu.cuDeviceGetPCIBusId(pciBusId, len, device));
}

cudaError_t rt_cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    return rt_error(rt_cu.cuDeviceGetByPCIBusId(device, pciBusId));
}
