// SPDX-License-Identifier: MIT
// The manual's chapter "Device Management", in the forms that CUDA 12 still has.
#include <stddef.h>
#include <string.h>

#include "../rt.h"

// The function without a suffix is that of CUDA 11, whose structure ends before these members.
// Programs of CUDA 12 call cudaGetDeviceProperties_v2.
cudaError_t rt12_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    struct cudaDeviceProp whole;
    const cudaError_t r = rt_cudaGetDeviceProperties(&whole, device);
    if (r == cudaSuccess)
        memcpy(prop, &whole, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return r;
}

// Manual: "Converts the double value of d to an internal float representation if the device does
// not support double arithmetic. If the device does natively support doubles, then this function
// does nothing." Every device of this driver's versions supports them.
cudaError_t rt12_cudaSetDoubleForDevice(double *d)
{
    (void)d;
    return cudaSuccess;
}

cudaError_t rt12_cudaSetDoubleForHost(double *d)
{
    (void)d;
    return cudaSuccess;
}
