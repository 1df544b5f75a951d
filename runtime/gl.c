// SPDX-License-Identifier: MIT
// Resources of OpenGL.
#include "gl.h"

cudaError_t rt_cudaGLGetDevices(unsigned int *pCudaDeviceCount, int *pCudaDevices,
                                unsigned int cudaDeviceCount, enum cudaGLDeviceList deviceList)
{
    // The count does not depend on the room for devices, and outputs may be NULL (recorded:
    // gl_buffer/devices-list-1, gl_buffer/devices-nulls).
    enum { DEVICES_MOST = 64 };
    CUdevice devices[DEVICES_MOST];
    unsigned count;
    RT_TRY(rt_cu.cuGLGetDevices(&count, devices, DEVICES_MOST, (CUGLDeviceList)deviceList));
    for (unsigned i = 0; pCudaDevices && i < count && i < cudaDeviceCount; i++)
        pCudaDevices[i] = devices[i];
    if (pCudaDeviceCount)
        *pCudaDeviceCount = count;
    return cudaSuccess;
}

cudaError_t rt_cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource, GLuint image,
                                           GLenum target, unsigned int flags)
{
    return rt_error(
        rt_cu.cuGraphicsGLRegisterImage((CUgraphicsResource *)resource, image, target, flags));
}

cudaError_t rt_cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **resource, GLuint buffer,
                                            unsigned int flags)
{
    return rt_error(
        rt_cu.cuGraphicsGLRegisterBuffer((CUgraphicsResource *)resource, buffer, flags));
}

// Manual, cudaGLSetGLDevice: "If the device has already been set, or if the runtime was already
// initialized, this call will fail". Nothing else depends on it any more.
cudaError_t rt_set_first_device(int device)
{
    unsigned flags;
    int active;
    const cudaError_t error = rt_device_check("device", device);
    if (error != cudaSuccess)
        return error;
    RT_TRY(rt_cu.cuDevicePrimaryCtxGetState(device, &flags, &active));
    if (active)
        return rt_fail(cudaErrorSetOnActiveProcess,
                       "device %d is in use already; make this call first", device);
    return rt_context_enter(device);
}

cudaError_t rt_cudaGLSetGLDevice(int device)
{
    return rt_set_first_device(device);
}

// ---- calls from before CUDA 3.0, for buffer objects by their numbers

cudaError_t rt_cudaGLRegisterBufferObject(GLuint bufObj)
{
    return rt_error(rt_cu.cuGLRegisterBufferObject(bufObj));
}

cudaError_t rt_cudaGLUnregisterBufferObject(GLuint bufObj)
{
    const CUresult result = rt_cu.cuGLUnregisterBufferObject(bufObj);
    // The driver looks for the buffer first, the runtime for OpenGL (recorded:
    // gl_absent/unregister-object).
    unsigned count;
    CUdevice device;
    if (result == CUDA_ERROR_INVALID_VALUE)
        RT_TRY(rt_cu.cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL));
    return rt_error(result);
}

cudaError_t rt_cudaGLSetBufferObjectMapFlags(GLuint bufObj, unsigned int flags)
{
    return rt_error(rt_cu.cuGLSetBufferObjectMapFlags(bufObj, flags));
}

cudaError_t rt_cudaGLMapBufferObjectAsync(void **devPtr, GLuint bufObj, cudaStream_t stream)
{
    size_t size;
    return rt_error(rt_cu.cuGLMapBufferObjectAsync((CUdeviceptr *)devPtr, &size, bufObj, stream));
}

cudaError_t rt_cudaGLMapBufferObject(void **devPtr, GLuint bufObj)
{
    size_t size;
    return rt_error(rt_cu.cuGLMapBufferObject((CUdeviceptr *)devPtr, &size, bufObj));
}

cudaError_t rt_cudaGLUnmapBufferObject(GLuint bufObj)
{
    return rt_error(rt_cu.cuGLUnmapBufferObject(bufObj));
}

cudaError_t rt_cudaGLUnmapBufferObjectAsync(GLuint bufObj, cudaStream_t stream)
{
    return rt_error(rt_cu.cuGLUnmapBufferObjectAsync(bufObj, stream));
}
