// SPDX-License-Identifier: MIT
// The same of OpenGL resources, on Mesa's software renderer.
//   graphics [RECORDING]
#include "../gl/context.h"
#undef MUST
#include "calls.h"
#include "graphics_copies.h"

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    CUstream s;
    CUarray a;
    CUdeviceptr p;
    size_t size;
    gl_use(gl_new_context(GL_CORE, EGL_NO_CONTEXT));
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    begin(argc, argv);
    GLuint b = gl_buffer(sizeof bytes, bytes), other = gl_buffer(sizeof bytes, bytes);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, 512, 512);
    CUgraphicsResource r, q;
    MUST(cuGraphicsGLRegisterBuffer(&r, b, 0));
    BENCH("cuGraphicsGLRegisterBuffer+Unregister 1 MiB", 20,
          cuGraphicsGLRegisterBuffer(&q, other, 0);
          cuGraphicsUnregisterResource(q));
    BENCH("cuGraphicsMap+GetPointer+Unmap 1 MiB buffer", 100, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA reads all of it", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuMemcpyDtoH(bytes, p, sizeof bytes);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA reads 4 bytes", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuMemcpyDtoH(bytes, p, 4);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA writes 4 bytes", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuMemcpyHtoD(p, bytes, 4);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA fills all of it", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuMemsetD8Async(p, 7, sizeof bytes, s);
          cuGraphicsUnmapResources(1, &r, s));
    MUST(cuGraphicsUnregisterResource(r));
    MUST(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0));
    BENCH("cuGraphicsMap+GetArray+Unmap 512x512 image", 100, cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA reads all of it", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cu_read_array(a, 2048, 512, bytes);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA writes all of it", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
          cu_write_array(a, 0, 0, 2048, 512, bytes); cuGraphicsUnmapResources(1, &r, s));
    MUST(cuGraphicsUnregisterResource(r));
    t = gl_texture_2d(GL_RGBA32F, 1, 4096, 4096);
    glFinish();
    MUST(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0));
    BENCH("the same of a 4096x4096 RGBA32F image, CUDA reads 16 bytes", 5,
          cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cu_read_array(a, 16, 1, bytes);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA writes 16 bytes", 5, cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cu_write_array(a, 0, 0, 16, 1, bytes);
          cuGraphicsUnmapResources(1, &r, s));
    MUST(cuGraphicsUnregisterResource(r));
    graphics_copies(s);
    return 0;
}
