// SPDX-License-Identifier: MIT
// Device queries of OpenGL interoperability, and the calls that predate cuGraphics.
#include "context.h"

TEST(devices)
{
    gl_start(GL_CORE);
    unsigned count = 77;
    CUdevice device = 9;
    CUcontext made, now;
    for (CUGLDeviceList list = CU_GL_DEVICE_LIST_ALL; list <= CU_GL_DEVICE_LIST_NEXT_FRAME;
         list++) {
        EXPECT_OK(cuGLGetDevices(&count, &device, 1, list));
        EXPECT_EQ(count, 1);
        EXPECT_EQ(device, 0);
    }
    EXPECT_OK(cuGLGetDevices(&count, &device, 0, CU_GL_DEVICE_LIST_ALL));
    EXPECT_EQ(count, 0);
    EXPECT_ERROR(cuGLGetDevices(&count, &device, 1, (CUGLDeviceList)4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLGetDevices(&count, NULL, 1, CU_GL_DEVICE_LIST_ALL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGLInit());
    EXPECT_OK(cuGLCtxCreate(&made, 0, 0));
    EXPECT_OK(cuCtxGetCurrent(&now));
    EXPECT(made == now);
    EXPECT_ERROR(cuGLCtxCreate(&made, 0, 77), CUDA_ERROR_INVALID_DEVICE);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL),
                 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGLInit(), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGLCtxCreate(&made, 0, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
}

TEST(old_calls)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(256, NULL);
    CUdeviceptr p;
    size_t size = 0;
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_ERROR(cuGLMapBufferObject(&p, &size, b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLUnmapBufferObject(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLUnregisterBufferObject(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLRegisterBufferObject(0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGLRegisterBufferObject(9999), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGLRegisterBufferObject(b));
    EXPECT_ERROR(cuGLRegisterBufferObject(b), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGLMapBufferObject(&p, &size, b));
    EXPECT_EQ(size, 256);
    EXPECT_OK(cuMemsetD8(p, 9, 256));
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 0), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_ERROR(cuGLUnregisterBufferObject(b), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGLUnmapBufferObject(b));
    EXPECT_EQ(gl_buffer_byte(b, 3), 9);
    EXPECT_OK(cuGLMapBufferObjectAsync(&p, NULL, b, stream));
    EXPECT_OK(cuMemsetD8Async(p, 10, 256, stream));
    EXPECT_OK(cuGLUnmapBufferObjectAsync(b, stream));
    EXPECT_EQ(gl_buffer_byte(b, 3), 10);
    EXPECT_OK(cuGLMapBufferObject(NULL, &size, b));
    EXPECT_OK(cuGLUnmapBufferObject(b));
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGLUnregisterBufferObject(b));
    EXPECT_ERROR(cuGLMapBufferObject(&p, &size, b), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(devices), CASE(old_calls))
