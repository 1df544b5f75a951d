/* SPDX-License-Identifier: MIT */
/* The manual's chapter "Profiler Control". */
#ifndef CUDA_PROFILER_H
#define CUDA_PROFILER_H
#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "cardless/abi/profiler.h"

#include "cudaProfiler_functions.h"

#ifdef __cplusplus
}
#endif
#endif
