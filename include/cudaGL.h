/* SPDX-License-Identifier: MIT */
/* The manual's chapter "OpenGL Interoperability". */
#ifndef CUDAGL_H
#define CUDAGL_H

#include <cuda.h>
#include <GL/gl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of the devices that render for the current OpenGL context. */
typedef enum CUGLDeviceList_enum {
    CU_GL_DEVICE_LIST_ALL = 1,
    CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

/* Flags of the deprecated cuGLSetBufferObjectMapFlags. */
typedef enum CUGLmap_flags_enum {
    CU_GL_MAP_RESOURCE_FLAGS_NONE = 0,
    CU_GL_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
    CU_GL_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2
} CUGLmap_flags;

#ifdef __cplusplus
}
#endif

#include "cudaGL_functions.h"

#endif
