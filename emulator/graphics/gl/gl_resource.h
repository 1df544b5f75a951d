// SPDX-License-Identifier: MIT
// OpenGL as a backend of graphics resources: registers buffers, textures and renderbuffers of the
// context that is current in the calling thread.
#pragma once
#include <cuda.h>

struct em_stream;

// cuGraphicsGLRegisterBuffer, cuGraphicsGLRegisterImage in the current context. They take em_lock.
CUresult em_gl_register_buffer(unsigned buffer, unsigned flags, CUgraphicsResource *out);
CUresult em_gl_register_image(unsigned image, unsigned target, unsigned flags,
                              CUgraphicsResource *out);

// cuGraphicsEGLRegisterImage, for the EGL that is in the process. Takes em_lock.
CUresult em_gl_register_egl_image(void *image, unsigned flags, CUgraphicsResource *out);
// cuGraphicsResourceGetMappedEglFrame, for an EGLImage.
struct em_gl_frame {
    CUarray array;
    unsigned width, height, channels, color_format;
    CUarray_format array_format;
};
CUresult em_gl_egl_frame(CUgraphicsResource resource, unsigned index, unsigned level,
                         struct em_gl_frame *out);

// CUDA_ERROR_INVALID_GRAPHICS_CONTEXT if no OpenGL context is current in this thread.
CUresult em_gl_need_context(void);
// cuGLGetDevices: at most `capacity` of the devices that render for the current OpenGL context.
CUresult em_gl_devices(unsigned list, unsigned capacity, CUdevice *devices, unsigned *count);

// The calls of CUDA 2, which name the buffer, for the current CUDA context. They take em_lock.
CUresult em_gl_old_register(unsigned buffer);
CUresult em_gl_old_unregister(unsigned buffer);
CUresult em_gl_old_set_flags(unsigned buffer, unsigned flags);
CUresult em_gl_old_map(unsigned buffer, struct em_stream *stream, CUdeviceptr *address,
                       size_t *size);
CUresult em_gl_old_unmap(unsigned buffer, struct em_stream *stream);
