// SPDX-License-Identifier: MIT
// The lazy primary context, and its interplay with contexts of the driver API.
#include "context.h"

#include <stdatomic.h>

#include "driver.h"
#include "error.h"
#include "fat_binary.h"
#include "thread.h"
#include "valid_devices.h"

// The primary contexts that the runtime retained, by device. It never releases them, because the
// manual keeps them until cudaDeviceReset or the end of the process. Devices with a larger number
// work as well: the runtime retains their contexts each time.
enum { KEPT = 64 };
static CUcontext primaries[KEPT];

uint32_t rt_context_resets;

// The current context, or NULL. Unlike other calls of the driver, asking for it reports no mistake
// if there is no context.
static CUresult current_context(CUcontext *context)
{
    *context = NULL;
    return rt_cu.cuCtxGetCurrent(context);
}

// The call that needs the device reports the reason if the driver cannot answer.
int rt_device_of(CUcontext current)
{
    struct rt_messages unwanted;
    CUdevice device;
    rt_messages_begin(&unwanted);
    const bool known = current && !rt_cu.cuCtxGetDevice(&device);
    rt_messages_end(&unwanted);
    if (known)
        return device;
    int chosen = rt_thread()->chosen;
    return chosen ? chosen - 1 : rt_valid_device(0);
}

int rt_current_device(void)
{
    struct rt_messages unwanted;
    CUcontext context;
    rt_messages_begin(&unwanted);
    current_context(&context);
    rt_messages_end(&unwanted);
    return rt_device_of(context);
}

cudaError_t rt_device_check(const char *argument, int device)
{
    int count;
    RT_TRY(rt_cu.cuDeviceGetCount(&count));
    if (device >= 0 && device < count)
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidDevice,
                   count == 1 ? "%s (%d) is not a device; the only device is 0"
                              : "%s (%d) is not a device; use 0 to %d",
                   argument, device, count - 1);
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
    struct rt_messages messages;
    rt_messages_begin(&messages);
    const CUresult result = rt_cu.cuDevicePrimaryCtxRetain(context, device);
    rt_messages_end(&messages);
    // After a kernel has failed, a reset does not help (recorded: sticky/trap-then-reset).
    if (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result < CUDA_ERROR_NOT_PERMITTED)
        return rt_fail(cudaErrorDevicesUnavailable,
                       "device %d cannot be used any more, because a kernel has failed on it; end "
                       "the process and start it again",
                       device);
    if (result)
        return rt_fail_held(&messages, result);
    if (kept)
        __atomic_store_n(kept, *context, __ATOMIC_RELEASE);
    return cudaSuccess;
}

cudaError_t rt_context_enter(int device)
{
    CUcontext context;
    cudaError_t r = rt_context_primary(device, &context);
    if (!r)
        r = rt_error(rt_cu.cuCtxSetCurrent(context));
    if (!r)
        rt_binaries_load();
    return r;
}

// Whether `context` is or was the primary context of a device. The program may have retained it
// without the runtime.
static bool is_primary_of(CUcontext context, int device)
{
    CUcontext primary;
    if (device < KEPT && __atomic_load_n(&primaries[device], __ATOMIC_ACQUIRE) == context)
        return true;
    if (!primary_is_active(device) || rt_cu.cuDevicePrimaryCtxRetain(&primary, device))
        return false;
    rt_cu.cuDevicePrimaryCtxRelease(device);
    return primary == context;
}

// The device whose primary context this is, or -1. The thread remembers the answer for one context.
static int primary_device(struct rt_thread *self, CUcontext context)
{
    int devices;
    const uint32_t resets = __atomic_load_n(&rt_context_resets, __ATOMIC_RELAXED);
    if (self->context == context && self->resets == resets)
        return self->primary_device;
    int found = -1;
    if (!rt_cu.cuDeviceGetCount(&devices))
        for (int i = devices - 1; i >= 0; i--)
            if (is_primary_of(context, i))
                found = i;
    self->context = NULL; // meanwhile, so that a signal handler finds no half of an answer
    atomic_signal_fence(memory_order_seq_cst);
    self->resets = resets;
    self->primary_device = found;
    atomic_signal_fence(memory_order_seq_cst);
    self->context = context;
    return found;
}

bool rt_context_is_own(void)
{
    CUcontext context;
    return !current_context(&context) && context && primary_device(rt_thread(), context) < 0;
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
    CUcontext context;
    // Calls that compiled code makes while it starts have no beginning that starts the driver.
    cudaError_t r = self->entry ? self->driver_error : rt_driver_error_quietly();
    if (r)
        r = self->driver_error = rt_driver_start();
    if (!r)
        r = rt_error(current_context(&context));
    if (r)
        return r;
    if (context) {
        // A primary context that was reset or released comes back to life (recorded:
        // contexts/current-destroyed-primary-reset, contexts/primary-released). The driver checks
        // the program's own contexts itself.
        int device = primary_device(self, context);
        if (__builtin_expect(device < 0 || primary_is_active(device), 1))
            return cudaSuccess;
    }
    return context_enter_default(self);
}
