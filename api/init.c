// SPDX-License-Identifier: MIT
// The manual's chapter "Initialization".
#include "api_bodies.h"
#include "driver.h"

CUresult api_cuInit(unsigned int flags)
{
    return em_init(flags);
}
