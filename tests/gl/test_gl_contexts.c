// SPDX-License-Identifier: MIT
// OpenGL contexts of every kind.
#include "context.h"

enum { SIZE = 4096 };

static uint8_t bytes[SIZE];

// Contexts with GL_KHR_no_error or with reset notification share objects only with contexts of the
// same kind.
static void context_with(EGLint attribute, EGLint value)
{
    static const enum gl_flavour flavours[] = {GL_CORE, GL_COMPATIBILITY, GL_ES};
    test_context();
    for (unsigned i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        EGLContext context = gl_new_context_with(flavours[i], EGL_NO_CONTEXT, attribute, value);
        gl_use(context);
        memset(bytes, 7, SIZE);
        GLuint b = gl_buffer(SIZE, bytes), t = gl_texture_2d(GL_RGBA8, 1, 8, 8), cube;
        glGenTextures(1, &cube);
        glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
        glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_R8, 4, 4);
        CUgraphicsResource r = cu_buffer(b, 0), images[] = {cu_image(t, GL_TEXTURE_2D, 0),
                                                            cu_image(cube, GL_TEXTURE_CUBE_MAP, 0)};
        CUdeviceptr p = cu_map_pointer(r);
        EXPECT_OK(cuMemsetD8(p, 9, 16));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, 15), 9);
        EXPECT_EQ(gl_buffer_byte(b, 16), 7);
        CUarray a = cu_map_array(images[0], 0, 0);
        cu_write_array(a, 0, 0, 32, 8, bytes);
        EXPECT_OK(cuGraphicsUnmapResources(1, images, 0));
        cu_map_array(images[1], 5, 0);
        EXPECT_OK(cuGraphicsUnmapResources(1, &images[1], 0));
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        gl_use(EGL_NO_CONTEXT);
        eglDestroyContext(gl_display, context);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(context_without_errors)
{
    context_with(EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE);
}

TEST(context_with_reset_notification)
{
    context_with(EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET);
}

TEST(context_with_robust_access)
{
    context_with(EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE);
}

TESTS(CASE(context_without_errors), CASE(context_with_reset_notification),
      CASE(context_with_robust_access))
