// SPDX-License-Identifier: MIT
// The driver's functions for the per-thread default stream that the runtime calls. cuda.h declares
// them only for programs that are compiled for that stream.
#pragma once
#include <cuda.h>

__typeof__(cuMemcpy) cuMemcpy_ptds;
__typeof__(cuMemcpy2DUnaligned) cuMemcpy2DUnaligned_v2_ptds;
__typeof__(cuMemcpy3D) cuMemcpy3D_v2_ptds;
__typeof__(cuMemcpy3DPeer) cuMemcpy3DPeer_ptds;
__typeof__(cuMemcpyDtoD) cuMemcpyDtoD_v2_ptds;
__typeof__(cuMemcpyDtoH) cuMemcpyDtoH_v2_ptds;
__typeof__(cuMemcpyHtoD) cuMemcpyHtoD_v2_ptds;
__typeof__(cuMemsetD2D8) cuMemsetD2D8_v2_ptds;
__typeof__(cuMemsetD8) cuMemsetD8_v2_ptds;

// The form of a synchronous function for a default stream: RT_DEFAULT(stream, cuMemcpyHtoD_v2)(…).
#define RT_DEFAULT(stream, name) ((stream) == cudaStreamPerThread ? rt_cu.name##_ptds : rt_cu.name)
