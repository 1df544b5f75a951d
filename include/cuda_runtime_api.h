/* SPDX-License-Identifier: MIT */
/* The CUDA runtime API of version 13.0, for C and C++: types by hand in cardless/runtime/,
 * prototypes made from the table of entry points. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#define CUDART_VERSION 13000

#if defined(__CUDA_API_VER_MAJOR__) && defined(__CUDA_API_VER_MINOR__)
#define __CUDART_API_VERSION (__CUDA_API_VER_MAJOR__ * 1000 + __CUDA_API_VER_MINOR__ * 10)
#else
#define __CUDART_API_VERSION CUDART_VERSION
#endif

#include "builtin_types.h"
#include "cuda_device_runtime_api.h"

/* The symbol behind a name: the twin for per-thread default streams if the program asks for it. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_VERSION_INTERNAL)
#define __CUDART_API_PER_THREAD_DEFAULT_STREAM
#define __CUDART_API_PTDS(name) name##_ptds
#define __CUDART_API_PTSZ(name) name##_ptsz
#else
#define __CUDART_API_PTDS(name) name
#define __CUDART_API_PTSZ(name) name
#endif

/* Functions that device code may call, too. */
#define CUDART_DEVICE __device__

#include "cuda_runtime_api_functions.h"

/* Code that a compiler makes for <<<>>> may name these two functions themselves. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(__CUDA_API_VERSION_INTERNAL)
#ifdef __cplusplus
extern "C" {
#endif
#undef cudaLaunchKernel
static inline cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                           void **args, size_t sharedMem, cudaStream_t stream)
{
    return cudaLaunchKernel_ptsz(func, gridDim, blockDim, args, sharedMem, stream);
}
#define cudaLaunchKernel __CUDART_API_PTSZ(cudaLaunchKernel)
#undef cudaLaunchKernelExC
static inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                              void **args)
{
    return cudaLaunchKernelExC_ptsz(config, func, args);
}
#define cudaLaunchKernelExC __CUDART_API_PTSZ(cudaLaunchKernelExC)
#ifdef __cplusplus
}
#endif
#endif

#endif
