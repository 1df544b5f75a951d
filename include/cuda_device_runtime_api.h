/* SPDX-License-Identifier: MIT */
/* Streams that only kernels can use: launches of graphs and of other kernels from a kernel. Host
 * code may name them, for example in code that is compiled for both. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#if defined(__cplusplus) && defined(__CUDACC__)
#include "driver_types.h"

#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#endif

#endif
