/* SPDX-License-Identifier: MIT */
/* The manual's chapter "Profiler Control". */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"

#include "cuda_profiler_api_functions.h"

#endif
