/* SPDX-License-Identifier: MIT */
/* Devices of OpenGL contexts. Needs no header of OpenGL. */
#ifndef CARDLESS_ABI_GL_H
#define CARDLESS_ABI_GL_H

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

#endif
