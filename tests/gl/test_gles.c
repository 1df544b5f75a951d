// SPDX-License-Identifier: MIT
// A program with only OpenGL ES and EGL: neither libOpenGL nor libGL is loaded before the driver
// creates its own context.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

#include "../harness.h"
#include <cudaGL.h>

enum { SIZE = 4096, SIDE = 32 };

static void start(void)
{
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = platform_display ? platform_display(EGL_PLATFORM_SURFACELESS_MESA,
                                                             EGL_DEFAULT_DISPLAY, NULL)
                                          : EGL_NO_DISPLAY;
    if (!display || !eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API))
        SKIP("SKIPPED: no EGL display without a surface");
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        SKIP("SKIPPED: no context of OpenGL ES 3 (%#x)", (unsigned)eglGetError());
    test_context();
}

TEST(buffer)
{
    static uint8_t want[SIZE], got[SIZE];
    GLuint b;
    CUgraphicsResource r;
    CUdeviceptr p;
    start();
    for (int i = 0; i < SIZE; i++)
        want[i] = (uint8_t)(i * 7 + 3);
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE, want, GL_DYNAMIC_DRAW);
    MUST(cuGraphicsGLRegisterBuffer(&r, b, 0));
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuMemsetD8(p + 10, 9, 10));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    const uint8_t *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_READ_BIT);
    EXPECT(mapped && mapped[9] == want[9] && mapped[10] == 9 && mapped[19] == 9 &&
           mapped[20] == want[20]);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_EQ(eglQueryAPI(), EGL_OPENGL_ES_API);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(texture)
{
    static uint8_t want[SIDE * SIDE * 4], got[SIDE * SIDE * 4];
    GLuint t, f;
    CUgraphicsResource r;
    CUarray a;
    start();
    memset(want, 70, sizeof want);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, want);
    MUST(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0));
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    EXPECT_OK(cuMemcpyAtoH(got, a, 0, SIDE * 4));
    EXPECT(!memcmp(got, want, SIDE * 4));
    memset(want, 90, SIDE * 4);
    EXPECT_OK(cuMemcpyHtoA(a, 0, want, SIDE * 4));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    glGenFramebuffers(1, &f);
    glBindFramebuffer(GL_FRAMEBUFFER, f);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, sizeof want));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(buffer), CASE(texture))
