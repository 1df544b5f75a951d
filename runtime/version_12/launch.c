// SPDX-License-Identifier: MIT
// Cooperative launches on several devices, which CUDA 13 has dropped.
#include <stdlib.h>

#include "../fat_binary.h"
#include "old_driver.h"

static cudaError_t launches_describe(const struct cudaLaunchParams *list, unsigned int count,
                                     CUDA_LAUNCH_PARAMS *out)
{
    for (unsigned int i = 0; i < count; i++) {
        const struct cudaLaunchParams *p = &list[i];
        const cudaError_t error = rt_launchable(p->func, &out[i].function);
        if (error != cudaSuccess)
            return error;
        out[i].gridDimX = p->gridDim.x;
        out[i].gridDimY = p->gridDim.y;
        out[i].gridDimZ = p->gridDim.z;
        out[i].blockDimX = p->blockDim.x;
        out[i].blockDimY = p->blockDim.y;
        out[i].blockDimZ = p->blockDim.z;
        out[i].sharedMemBytes = (unsigned)p->sharedMem;
        out[i].hStream = p->stream;
        out[i].kernelParams = p->args;
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
        return cudaErrorInvalidValue;
    CUDA_LAUNCH_PARAMS *list = calloc(numDevices, sizeof *list);
    if (!list)
        return cudaErrorMemoryAllocation;
    cudaError_t r = launches_describe(launchParamsList, numDevices, list);
    if (r == cudaSuccess)
        r = rt_error(rt12_old()->old_cuLaunchCooperativeKernelMultiDevice(list, numDevices, flags));
    free(list);
    return r;
}
