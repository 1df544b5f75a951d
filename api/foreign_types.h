// SPDX-License-Identifier: MIT
// Types of other APIs in the driver's prototypes, so that it is built without their headers. Their
// sizes are part of those ABIs.
#pragma once
#include <cuda.h>
#include <cardless/abi/old_types.h>
#include <stdint.h>

// OpenGL
typedef unsigned int GLenum;
typedef unsigned int GLuint;
typedef enum CUGLDeviceList_enum CUGLDeviceList;
enum CUGLDeviceList_enum {
    CU_GL_DEVICE_LIST_ALL = 1,
    CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_GL_DEVICE_LIST_NEXT_FRAME = 3
};

// EGL
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef int32_t EGLint;
typedef struct CUeglStreamConnection_st *CUeglStreamConnection;
// Passed by value, so in memory, as everything of more than 16 bytes.
typedef struct CUeglFrame_st {
    union {
        CUarray array[3];
        void *pitch[3];
    } frame;
    unsigned int width, height, depth, pitch, plane_count, channels;
    unsigned int frame_type, color_format, array_format;
} CUeglFrame;

// VDPAU
typedef uint32_t VdpDevice;
typedef uint32_t VdpVideoSurface;
typedef uint32_t VdpOutputSurface;
typedef int VdpGetProcAddress(VdpDevice device, uint32_t function, void **pointer);

// The profiler's own header
typedef enum CUoutput_mode_enum CUoutput_mode;
enum CUoutput_mode_enum { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 };
