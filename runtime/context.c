// SPDX-License-Identifier: MIT
// The lazy primary context, and its interplay with contexts of the driver API.
#include "context.h"

#include "driver.h"
#include "error.h"
#include "thread.h"
#include "valid_devices.h"

// The primary contexts that the runtime retained, by device. It never releases them, because the
// manual keeps them until cudaDeviceReset or the end of the process. Devices with a larger number
// work as well: the runtime retains their contexts each time.
enum { KEPT = 64 };
static CUcontext primaries[KEPT];

int rt_current_device(void)
{
    CUdevice current;
    if (rt_cu.cuCtxGetDevice(&current) == CUDA_SUCCESS)
        return current;
    int chosen = rt_thread()->chosen;
    return chosen ? chosen - 1 : rt_valid_device(0);
}

cudaError_t rt_device_check(int device)
{
    CUdevice handle;
    return rt_error(rt_cu.cuDeviceGet(&handle, device));
}

// Whether a primary context exists. The program may have released or reset it.
static bool primary_is_active(int device)
{
    unsigned int flags;
    int active = 0;
    return !rt_cu.cuDevicePrimaryCtxGetState(device, &flags, &active) && active;
}

cudaError_t rt_context_primary(int device, CUcontext *context)
{
    CUcontext *kept = device < KEPT ? &primaries[device] : NULL;
    *context = kept ? __atomic_load_n(kept, __ATOMIC_ACQUIRE) : NULL;
    if (*context && primary_is_active(device))
        return cudaSuccess;
    RT_TRY(rt_cu.cuDevicePrimaryCtxRetain(context, device));
    if (kept)
        __atomic_store_n(kept, *context, __ATOMIC_RELEASE);
    return cudaSuccess;
}

cudaError_t rt_context_enter(int device)
{
    CUcontext context;
    cudaError_t r = rt_context_primary(device, &context);
    return r ? r : rt_error(rt_cu.cuCtxSetCurrent(context));
}

// Whether `context` is or was the primary context of a device. The program may have retained it
// without the runtime.
static bool is_primary(CUcontext context, int device)
{
    CUcontext primary;
    if (device < KEPT && __atomic_load_n(&primaries[device], __ATOMIC_ACQUIRE) == context)
        return true;
    if (!primary_is_active(device) || rt_cu.cuDevicePrimaryCtxRetain(&primary, device))
        return false;
    rt_cu.cuDevicePrimaryCtxRelease(device);
    return primary == context;
}

bool rt_context_is_own(void)
{
    CUcontext context;
    int devices;
    if (rt_cu.cuCtxGetCurrent(&context) || !context || rt_cu.cuDeviceGetCount(&devices))
        return false;
    for (int device = 0; device < devices; device++)
        if (is_primary(context, device))
            return false;
    return true;
}

// Without a choice of the program, tries its valid devices in their order.
static cudaError_t context_enter_default(struct rt_thread *self)
{
    if (self->chosen)
        return rt_context_enter(self->chosen - 1);
    cudaError_t r = rt_context_enter(rt_valid_device(0));
    for (int i = 1; r && rt_valid_device(i) >= 0; i++)
        if (!rt_context_enter(rt_valid_device(i)))
            return cudaSuccess;
    return r;
}

cudaError_t rt_need_context(struct rt_thread *self)
{
    cudaError_t r = rt_driver_error();
    if (r)
        return r;
    // The cheapest call that needs a living context and changes nothing.
    CUresult result = rt_cu.cuCtxGetStreamPriorityRange(NULL, NULL);
    if (__builtin_expect(result == CUDA_SUCCESS, 1))
        return cudaSuccess;
    // A primary context that was reset or released comes back to life (recorded:
    // contexts/current-destroyed-primary-reset, contexts/primary-released).
    if (result == CUDA_ERROR_INVALID_CONTEXT ||
        (result == CUDA_ERROR_CONTEXT_IS_DESTROYED && !rt_context_is_own()))
        return context_enter_default(self);
    return rt_error(result);
}
