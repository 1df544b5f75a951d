// SPDX-License-Identifier: MIT
// The manual's chapter "Version Management".
#include "rt.h"

// Manual: "If no driver is installed, then 0 is returned as the driver version."
cudaError_t rt_cudaDriverGetVersion(int *driverVersion)
{
    *driverVersion = 0;
    return rt_driver_is_loaded() ? rt_error(rt_cu.cuDriverGetVersion(driverVersion)) : cudaSuccess;
}

cudaError_t rt_cudaRuntimeGetVersion(int *runtimeVersion)
{
    *runtimeVersion = RT_VERSION;
    return cudaSuccess;
}
