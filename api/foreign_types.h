// SPDX-License-Identifier: MIT
// Types of other APIs in the driver's prototypes, so that it is built without their headers. Their
// sizes are part of those ABIs.
#pragma once
#include <cuda.h>
#include <cardless/abi/egl.h>
#include <cardless/abi/gl.h>
#include <cardless/abi/old_types.h>
#include <cardless/abi/profiler.h>
#include <stdint.h>

// OpenGL
typedef unsigned int GLenum;
typedef unsigned int GLuint;

// EGL
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef int32_t EGLint;

// VDPAU
typedef uint32_t VdpDevice;
typedef uint32_t VdpVideoSurface;
typedef uint32_t VdpOutputSurface;
typedef int VdpGetProcAddress(VdpDevice device, uint32_t function, void **pointer);
