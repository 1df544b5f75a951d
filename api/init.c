// SPDX-License-Identifier: MIT
// The manual's chapter "Initialization".
#include "api_bodies.h"
#include "driver.h"
#include "startup.h"

DM_STARTUP CUresult api_cuInit(unsigned int flags)
{
    DM_MAP_CODE(cuMemAlloc);
    return em_init(flags);
}
