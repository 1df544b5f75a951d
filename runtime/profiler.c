// SPDX-License-Identifier: MIT
// The manual's chapter "Profiler Control".
#include "rt.h"

cudaError_t rt_cudaProfilerStart(void)
{
    return rt_error(rt_cu.cuProfilerStart());
}

// Without a context there is nothing to stop, and it is not started (recorded: lazy/ProfilerStop).
cudaError_t rt_cudaProfilerStop(void)
{
    CUresult r = rt_cu.cuProfilerStop();
    return r == CUDA_ERROR_INVALID_CONTEXT ? cudaSuccess : rt_error(r);
}
