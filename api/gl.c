// SPDX-License-Identifier: MIT
// The manual's chapter "OpenGL Interoperability".
#include "api_bodies.h"
#include "call.h"
#include "gl_resource.h"
#include "pointer_check.h"

CUresult api_cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource, GLuint buffer,
                                        unsigned int Flags)
{
    return em_gl_register_buffer(buffer, Flags, pCudaResource);
}

CUresult api_cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, GLuint image,
                                       GLenum target, unsigned int Flags)
{
    return em_gl_register_image(image, target, Flags, pCudaResource);
}

CUresult api_cuGLGetDevices_v2(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                               unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    CUresult r = CUDA_SUCCESS;
    if (cudaDeviceCount)
        r = em_writable_object("pCudaDevices", pCudaDevices, sizeof *pCudaDevices);
    return r ? r : em_gl_devices(deviceList, cudaDeviceCount, pCudaDevices, pCudaDeviceCount);
}

// "This call is not needed": it changes nothing.
CUresult api_cuGLInit(void)
{
    return em_gl_need_context();
}

CUresult api_cuGLCtxCreate_v2(CUcontext *pCtx, unsigned int Flags, CUdevice device)
{
    CUresult r = em_gl_need_context();
    return r ? r : api_cuCtxCreate_v2(pCtx, Flags, device);
}

CUresult api_cuGLRegisterBufferObject(GLuint buffer)
{
    return em_gl_old_register(buffer);
}

CUresult api_cuGLMapBufferObject_v2(CUdeviceptr *dptr, size_t *size, GLuint buffer,
                                    struct em_stream *default_stream)
{
    return em_gl_old_map(buffer, default_stream, dptr, size);
}

CUresult api_cuGLMapBufferObjectAsync_v2(CUdeviceptr *dptr, size_t *size, GLuint buffer,
                                         struct em_stream *hStream)
{
    return em_gl_old_map(buffer, hStream, dptr, size);
}

CUresult api_cuGLUnmapBufferObject(GLuint buffer, struct em_stream *default_stream)
{
    return em_gl_old_unmap(buffer, default_stream);
}

CUresult api_cuGLUnmapBufferObjectAsync(GLuint buffer, struct em_stream *hStream)
{
    return em_gl_old_unmap(buffer, hStream);
}

CUresult api_cuGLUnregisterBufferObject(GLuint buffer)
{
    return em_gl_old_unregister(buffer);
}

CUresult api_cuGLSetBufferObjectMapFlags(GLuint buffer, unsigned int Flags)
{
    return em_gl_old_set_flags(buffer, Flags);
}
