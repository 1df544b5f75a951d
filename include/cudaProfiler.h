/* SPDX-License-Identifier: MIT */
/* The manual's chapter "Profiler Control". */
#ifndef CUDA_PROFILER_H
#define CUDA_PROFILER_H
#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Format of the output file of cuProfilerInitialize. */
typedef enum CUoutput_mode_enum { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;

#include "cudaProfiler_functions.h"

#ifdef __cplusplus
}
#endif
#endif
