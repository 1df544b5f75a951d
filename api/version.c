// SPDX-License-Identifier: MIT
// The manual's chapter "Version Management".
#include "api_bodies.h"
#include "call.h"
#include "version.h"

CUresult api_cuDriverGetVersion(int *driverVersion)
{
    *driverVersion = API_DRIVER_VERSION;
    return CUDA_SUCCESS;
}
