// SPDX-License-Identifier: MIT
// EGLImages: they register without OpenGL, stay mapped while they are registered, and bytes move in
// both directions.
#include "context.h"
#include <cudaEGL.h>

enum { W = 16, H = 8, SIZE = W * H * 4 };

static uint8_t want[SIZE], got[SIZE];

static EGLImageKHR image_of(EGLContext context, GLuint texture)
{
    static const EGLint none[] = {EGL_NONE};
    PFNEGLCREATEIMAGEKHRPROC create =
        (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    EGLImageKHR image = create ? create(gl_display, context, EGL_GL_TEXTURE_2D_KHR,
                                        (EGLClientBuffer)(uintptr_t)texture, none)
                               : NULL;
    if (!image)
        SKIP("SKIPPED: EGL creates no EGLImage from a texture");
    return image;
}

TEST(bytes)
{
    EGLContext context = gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, W, H);
    EGLImageKHR image = image_of(context, t);
    CUgraphicsResource r;
    CUeglFrame frame;
    memset(&frame, 0, sizeof frame);
    pattern(want, SIZE, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, want);
    glFinish();
    EXPECT_OK(cuGraphicsEGLRegisterImage(&r, image, 0));
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&frame, r, 0, 0));
    EXPECT_EQ(frame.frameType, CU_EGL_FRAME_TYPE_ARRAY);
    EXPECT_EQ(frame.width, W);
    EXPECT_EQ(frame.height, H);
    EXPECT_EQ(frame.planeCount, 1);
    EXPECT_EQ(frame.numChannels, 4);
    EXPECT_EQ(frame.eglColorFormat, CU_EGL_COLOR_FORMAT_ABGR);
    EXPECT_EQ(frame.cuFormat, CU_AD_FORMAT_UNSIGNED_INT8);
    cu_read_array(frame.frame.pArray[0], W * 4, H, got);
    EXPECT(!memcmp(got, want, SIZE));

    pattern(want, SIZE, 50); // OpenGL writes, CUDA reads again
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, want);
    glFinish();
    cu_read_array(frame.frame.pArray[0], W * 4, H, got);
    EXPECT(!memcmp(got, want, SIZE));

    pattern(want, SIZE, 90); // CUDA writes; OpenGL sees it after the stream is synchronized
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, SIZE));
    MUST(cuMemcpyHtoD(p, want, SIZE));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = p,
                        .srcPitch = W * 4,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = frame.frame.pArray[0],
                        .WidthInBytes = W * 4,
                        .Height = H};
    EXPECT_OK(cuMemcpy2DAsync(&in, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE));

    // The program destroys the image and the texture. The resource keeps the memory.
    PFNEGLDESTROYIMAGEKHRPROC destroy =
        (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    destroy(gl_display, image);
    glDeleteTextures(1, &t);
    memset(got, 0, SIZE);
    cu_read_array(frame.frame.pArray[0], W * 4, H, got);
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&p, NULL, r), CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    gl_use(EGL_NO_CONTEXT);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

// A write is pending in one stream while the program synchronizes another. OpenGL should see the
// write after its own stream is synchronized.
TEST(two_streams)
{
    EGLContext context = gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, W, H);
    CUgraphicsResource r;
    CUeglFrame frame;
    CUdeviceptr p;
    CUstream first, second;
    pattern(want, SIZE, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, want);
    glFinish();
    MUST(cuGraphicsEGLRegisterImage(&r, image_of(context, t), 0));
    MUST(cuGraphicsResourceGetMappedEglFrame(&frame, r, 0, 0));
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&p, SIZE));
    MUST(cuMemsetD8(p, 9, SIZE));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = p,
                        .srcPitch = W * 4,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = frame.frame.pArray[0],
                        .WidthInBytes = W * 4,
                        .Height = H};
    atomic_uint *go_on = test_hold(second);
    EXPECT_OK(cuMemcpy2DAsync(&in, second));
    EXPECT_OK(cuStreamSynchronize(first));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE)); // nothing is written yet
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(second));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT_EQ(got[0], 9);
    EXPECT_EQ(got[SIZE - 1], 9);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(formats)
{
    EGLContext context = gl_start(GL_CORE);
    static const struct {
        GLenum format;
        CUresult code;
    } rows[] = {{GL_R8, CUDA_SUCCESS},
                {GL_RGBA8, CUDA_SUCCESS},
                {GL_RG8, CUDA_ERROR_NOT_SUPPORTED},
                {GL_RGB10_A2, CUDA_ERROR_INVALID_VALUE},
                {GL_RGB565, CUDA_ERROR_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const EGLint none[] = {EGL_NONE};
        PFNEGLCREATEIMAGEKHRPROC create =
            (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
        GLuint t = gl_texture_2d(rows[i].format, 1, W, H);
        EGLImageKHR image =
            create(gl_display, context, EGL_GL_TEXTURE_2D_KHR, (EGLClientBuffer)(uintptr_t)t, none);
        CUgraphicsResource r;
        if (image)
            EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, image, 0), rows[i].code);
    }
}

TEST(refused)
{
    EGLContext context = gl_start(GL_CORE);
    EGLImageKHR image = image_of(context, gl_texture_2d(GL_RGBA8, 1, W, H));
    CUgraphicsResource r;
    CUeglFrame frame;
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(NULL, image, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, image, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, NULL, 99), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, NULL, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, (EGLImageKHR)(uintptr_t)0x12340, 0),
                 CUDA_ERROR_UNKNOWN);
    PFNEGLCREATESYNCKHRPROC create_sync =
        (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR"); // a handle of another kind
    EGLSyncKHR sync = create_sync ? create_sync(gl_display, EGL_SYNC_FENCE_KHR, NULL) : NULL;
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, sync, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, (EGLImageKHR)context, 0), CUDA_ERROR_UNKNOWN);
    void *forged[32]; // memory that begins like Mesa's own objects
    for (int i = 0; i < 32; i++)
        forged[i] = gl_display;
    EXPECT_ERROR(cuGraphicsEGLRegisterImage(&r, (EGLImageKHR)forged, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(&frame, NULL, 0, 0),
                 CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(
        cuGraphicsResourceGetMappedEglFrame(&frame, (CUgraphicsResource)(uintptr_t)0x12340, 0, 0),
        CUDA_ERROR_INVALID_HANDLE);
    r = cu_buffer(gl_buffer(64, NULL), 0);
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(&frame, r, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_OK(cuGraphicsEGLRegisterImage(&r, image, 0));
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(NULL, r, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(bytes), CASE(two_streams), CASE(formats), CASE(refused))
