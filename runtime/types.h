// SPDX-License-Identifier: MIT
// Every type in the prototypes of the runtime. Types of other APIs are declared here, so that the
// library is built without their headers; their sizes are part of those ABIs.
#pragma once
// The version of the runtime: 13, or 12 for libcudart.so.12 (runtime/version_12).
#ifndef RT_MAJOR
#define RT_MAJOR 13
#endif
#if RT_MAJOR == 12
#include "version_12/structures.h"
#endif
#include <cuda.h>
#include <cardless/abi/egl.h>
#include <cardless/abi/gl.h>
#include <cardless/runtime/egl.h>
#include <cudaProfiler.h>
#include <driver_types.h>
#include <stdint.h>
#include <surface_types.h>
#include <texture_types.h>
#include <vector_types.h>

#if RT_MAJOR == 12
enum { RT_VERSION = 12090 };
#else
enum { RT_VERSION = 13000 };
#endif

// OpenGL
typedef unsigned int GLenum;
typedef unsigned int GLuint;
enum cudaGLDeviceList {
    cudaGLDeviceListAll = 1,
    cudaGLDeviceListCurrentFrame = 2,
    cudaGLDeviceListNextFrame = 3
};

// EGL
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef void *EGLSyncKHR;
typedef int32_t EGLint;

// VDPAU
typedef uint32_t VdpDevice;
typedef uint32_t VdpVideoSurface;
typedef uint32_t VdpOutputSurface;
typedef int VdpGetProcAddress(VdpDevice device, uint32_t function, void **pointer);

// The driver's functions with such types.
#include <cudaEGL_functions.h>
#include <cudaGL_functions.h>
#include <cudaVDPAU_functions.h>
