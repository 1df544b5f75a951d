// SPDX-License-Identifier: MIT
// For tests of the thread in which the driver uses OpenGL: that of the program that calls, or its
// own.
#pragma once
#include "direct.h"

struct current {
    EGLContext context;
    EGLSurface draw, read;
    EGLenum api;
};

static inline struct current look(void)
{
    return (struct current){eglGetCurrentContext(), eglGetCurrentSurface(EGL_DRAW),
                            eglGetCurrentSurface(EGL_READ), eglQueryAPI()};
}

static inline void expect_current(const struct current *before)
{
    const struct current now = look();
    EXPECT(now.context == before->context && now.draw == before->draw && now.read == before->read &&
           now.api == before->api);
}

// Copies to and from a buffer and a texture of the current context, small and large ones. `here`:
// whether the driver should work in this thread.
static inline void use(bool here)
{
    const struct current before = look();
    pattern(want, BUFFER_B, 1);
    const GLuint b = gl_buffer(BUFFER_B, want), t = gl_texture_2d(GL_RGBA8, 1, WIDTH, HEIGHT);
    const CUgraphicsResource of_buffer = cu_buffer(b, 0),
                             of_texture = cu_image(t, GL_TEXTURE_2D, 0);
    const size_t sizes[] = {256, BUFFER_B};
    for (int i = 0; i < 2; i++) {
        CUdeviceptr p = cu_map_pointer(of_buffer);
        memset(got, 0, BUFFER_B);
        EXPECT_OK(cuMemcpyDtoH(got, p, sizes[i]));
        EXPECT(!memcmp(got, want, sizes[i]));
        EXPECT(!!pthread_equal(transfer_thread, pthread_self()) == here);
        EXPECT(transfer_context && transfer_context != before.context);
        expect_current(&before);
        pattern(want, sizes[i], 2);
        EXPECT_OK(cuMemcpyHtoD(p, want, sizes[i]));
        unmap(of_buffer);
        EXPECT(!!pthread_equal(transfer_thread, pthread_self()) == here);
        expect_current(&before);
        gl_read_buffer(b, BUFFER_B, got);
        EXPECT(!memcmp(got, want, BUFFER_B));
    }
    cu_write_array(cu_map_array(of_texture, 0, 0), 0, 0, ROW_B, HEIGHT, want);
    unmap(of_texture);
    cu_read_array(cu_map_array(of_texture, 0, 0), ROW_B, HEIGHT, got);
    EXPECT(!!pthread_equal(transfer_thread, pthread_self()) == here);
    EXPECT(!memcmp(got, want, SIZE));
    unmap(of_texture);
    EXPECT_OK(cuGraphicsUnregisterResource(of_buffer));
    EXPECT_OK(cuGraphicsUnregisterResource(of_texture));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    expect_current(&before);
}
