// SPDX-License-Identifier: MIT
// The lazy primary context, and its interplay with contexts of the driver API.
#include "context.h"

#include "driver.h"
#include "error.h"
#include "thread.h"

cudaError_t rt_current_device(int *device)
{
    CUdevice current;
    *device = rt_cu.cuCtxGetDevice(&current) ? rt_thread()->device : current;
    return cudaSuccess;
}

cudaError_t rt_context_enter(int device)
{
    CUcontext context;
    RT_TRY(rt_cu.cuDevicePrimaryCtxRetain(&context, device));
    RT_TRY(rt_cu.cuCtxSetCurrent(context));
    return cudaSuccess;
}

cudaError_t rt_need_context(struct rt_thread *self)
{
    CUdevice device;
    cudaError_t r = rt_driver_error();
    if (r)
        return r;
    CUresult result = rt_cu.cuCtxGetDevice(&device);
    if (result != CUDA_ERROR_INVALID_CONTEXT && result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return rt_error(result);
    return rt_context_enter(self->device);
}
