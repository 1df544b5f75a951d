/* SPDX-License-Identifier: MIT */
/* The variables by which a kernel knows its place. A CUDA compiler defines them in device code; for
 * other compilers and editors they are only declared. */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#ifndef __CUDACC__
#ifdef __cplusplus
extern "C" {
#endif
extern const uint3 threadIdx; /* of the thread in its block */
extern const uint3 blockIdx;  /* of the block in the grid */
extern const dim3 blockDim;   /* threads of a block */
extern const dim3 gridDim;    /* blocks of the grid */
extern const int warpSize;    /* threads of a warp */
#ifdef __cplusplus
}
#endif
#endif

#endif
