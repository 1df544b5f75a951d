// SPDX-License-Identifier: MIT
// The manual's chapter "EGL Interoperability", images half.
#include <string.h>

#include "api_bodies.h"
#include "egl_stream.h"
#include "gl_resource.h"

CUresult api_cuGraphicsEGLRegisterImage(CUgraphicsResource *pCudaResource, EGLImageKHR image,
                                        unsigned int flags)
{
    return em_gl_register_egl_image(image, flags, pCudaResource);
}

CUresult api_cuGraphicsResourceGetMappedEglFrame(CUeglFrame *eglFrame, CUgraphicsResource resource,
                                                 unsigned int index, unsigned int mipLevel)
{
    struct em_egl_frame frame;
    struct em_gl_frame f;
    if (em_egl_frame(resource, &frame)) { // out of an EGLStream
        memcpy(eglFrame, &frame, sizeof frame);
        return CUDA_SUCCESS;
    }
    CUresult r = em_gl_egl_frame(resource, index, mipLevel, &f);
    if (r)
        return r;
    *eglFrame = (CUeglFrame){
        .frame.pArray = {f.array},
        .width = f.width,
        .height = f.height,
        .planeCount = 1,
        .numChannels = f.channels,
        .frameType = CU_EGL_FRAME_TYPE_ARRAY,
        .eglColorFormat = (CUeglColorFormat)f.color_format,
        .cuFormat = (CUarray_format)f.array_format,
    };
    return CUDA_SUCCESS;
}
