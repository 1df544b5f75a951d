/* SPDX-License-Identifier: MIT */
/* The manual's chapter "OpenGL Interoperability". */
#ifndef __CUDA_GL_INTEROP_H__
#define __CUDA_GL_INTEROP_H__

#include "cuda_runtime_api.h"
#include <GL/gl.h>

/* Devices of the current OpenGL context. The lists of frames are for several GPUs that take turns.
 */
enum cudaGLDeviceList {
    cudaGLDeviceListAll = 1,
    cudaGLDeviceListCurrentFrame = 2,
    cudaGLDeviceListNextFrame = 3
};

enum cudaGLMapFlags {
    cudaGLMapFlagsNone = 0,
    cudaGLMapFlagsReadOnly = 1,
    cudaGLMapFlagsWriteDiscard = 2
};

#include "cuda_gl_interop_functions.h"

#endif
