/* SPDX-License-Identifier: MIT */
/* The manual's chapter "EGL Interoperability". */
#ifndef __CUDA_EGL_INTEROP_H__
#define __CUDA_EGL_INTEROP_H__

#include "cuda_runtime.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>

/* The platform has EGL streams. */
#define isEglSupported 1

#ifdef __cplusplus
extern "C" {
#endif

#include "cardless/runtime/egl.h"

#ifdef __cplusplus
}
#endif

#include "cuda_egl_interop_functions.h"

#endif
