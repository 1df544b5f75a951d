// SPDX-License-Identifier: MIT
// Cooperative launches on several devices, which CUDA 13 has dropped.

#include "../fat_binary.h"
#include "../own_memory.h"
#include "old_driver.h"

// Manual: the stream "cannot be the NULL stream or cudaStreamLegacy or cudaStreamPerThread"; the
// driver refuses those.
static bool is_default(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

// Manual: "cudaLaunchParams::func specifies the kernel to be launched. This same functions must be
// launched on all devices." Each device has its own function of the kernel, which the driver finds
// in the context of the stream.
static cudaError_t launch_function(const struct cudaLaunchParams *launch, CUfunction *function)
{
    CUcontext context, before;
    if (is_default(launch->stream))
        return rt_function(launch->func, function);
    RT_TRY(rt_cu.cuCtxGetCurrent(&before));
    RT_TRY(rt_cu.cuStreamGetCtx(launch->stream, &context));
    RT_TRY(rt_cu.cuCtxSetCurrent(context));
    const cudaError_t error = rt_function(launch->func, function);
    RT_TRY(rt_cu.cuCtxSetCurrent(before));
    return error;
}

static cudaError_t launches_describe(const struct cudaLaunchParams *list, unsigned int count,
                                     CUDA_LAUNCH_PARAMS *out)
{
    for (unsigned int i = 0; i < count; i++) {
        const struct cudaLaunchParams *p = &list[i];
        CUfunction function;
        const cudaError_t error = launch_function(p, &function);
        if (error != cudaSuccess)
            return error;
        out[i] = (CUDA_LAUNCH_PARAMS){
            .function = function,
            .gridDimX = p->gridDim.x,
            .gridDimY = p->gridDim.y,
            .gridDimZ = p->gridDim.z,
            .blockDimX = p->blockDim.x,
            .blockDimY = p->blockDim.y,
            .blockDimZ = p->blockDim.z,
            .sharedMemBytes = (unsigned)p->sharedMem,
            .hStream = p->stream,
            .kernelParams = p->args,
        };
    }
    return cudaSuccess;
}

cudaError_t rt12_cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launchParamsList,
                                                        unsigned int numDevices, unsigned int flags)
{
    int devices;
    RT_TRY(rt_cu.cuDeviceGetCount(&devices));
    // Manual: "No two kernels can be launched on the same device."
    if (!numDevices || numDevices > (unsigned)devices)
        return rt_fail(cudaErrorInvalidValue,
                       "numDevices (%u) must be from 1 to the number of devices"
                       " (%d)",
                       numDevices, devices);
    CUDA_LAUNCH_PARAMS *list = rt_alloc(numDevices * sizeof *list);
    if (!list)
        return cudaErrorMemoryAllocation;
    cudaError_t r = launches_describe(launchParamsList, numDevices, list);
    if (r == cudaSuccess)
        r = rt_error(rt12_old()->old_cuLaunchCooperativeKernelMultiDevice(list, numDevices, flags));
    rt_free(list);
    return r;
}
