// SPDX-License-Identifier: MIT
// The manual's chapter "Profiler Control": switches the collection of an attached profiling tool,
// of which there is never one here.
#include "api_bodies.h"

// "Enables profile collection by the active profiling tool for the current context. If profiling is
// already enabled, then cuProfilerStart() has no effect."
CUresult api_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult api_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
