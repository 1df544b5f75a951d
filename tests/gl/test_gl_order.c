// SPDX-License-Identifier: MIT
// The order of OpenGL and CUDA work: OpenGL work issued before map completes before CUDA reads, and
// CUDA work issued before unmap completes before OpenGL reads.
#include <time.h>

#include "context.h"

enum { SIZE = 4096 };

// Drawing that was issued before map has completed before CUDA reads.
TEST(graphics_before_map)
{
    enum { LARGE = 1024 };
    static uint8_t pixel[4];
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, LARGE, LARGE);
    gl_framebuffer(t, 0);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    for (int frame = 0; frame < 20; frame++) {
        for (int i = 0; i <= 8; i++) {
            glClearColor((float)(i == 8) * (float)(frame + 1) / 255.0f, 0, 0, 1);
            glClear(GL_COLOR_BUFFER_BIT);
        }
        CUarray a = cu_map_array(r, 0, 0);
        CUDA_MEMCPY2D last = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = a,
                              .srcXInBytes = (LARGE - 1) * 4,
                              .srcY = LARGE - 1,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = pixel,
                              .WidthInBytes = 4,
                              .Height = 1};
        EXPECT_OK(cuMemcpy2D(&last));
        EXPECT_EQ(pixel[0], frame + 1);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    }
}

static void slow(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

// CUDA work that precedes unmap in the stream completes before OpenGL reads. A slow host function
// delays the copy: if unmap did not wait, OpenGL would read the old bytes.
TEST(cuda_before_unmap)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 1; i < 5; i++) {
        CUdeviceptr p;
        MUST(cuGraphicsMapResources(1, &r, stream));
        MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
        EXPECT_OK(cuLaunchHostFunc(stream, slow, NULL));
        EXPECT_OK(cuMemsetD8Async(p, (unsigned char)i, SIZE, stream));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, stream));
        EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), i);
    }
}

TESTS(CASE(graphics_before_map), CASE(cuda_before_unmap))
