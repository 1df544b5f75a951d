/* SPDX-License-Identifier: MIT */
/* The manual's chapter "EGL Interoperability". */
#ifndef CUDAEGL_H
#define CUDAEGL_H

#include <cuda.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_EGL_INFINITE_TIMEOUT 0xFFFFFFFF

#include "cardless/abi/egl.h"

#ifdef __cplusplus
}
#endif

#include "cudaEGL_functions.h"

#endif
