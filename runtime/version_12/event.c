// SPDX-License-Identifier: MIT
// The manual's chapter "Event Management", in the form before CUDA 12.8.
#include "../rt.h"
#include "old_driver.h"

cudaError_t rt12_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return rt_error(rt12_old()->old_cuEventElapsedTime(ms, start, end));
}
