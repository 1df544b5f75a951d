// SPDX-License-Identifier: MIT
// Mistakes with real OpenGL: each is reported once, and its correct twin is not reported. The other
// programs in this folder expect no diagnostics unless a case says so.
#include "context.h"

enum { SIZE = 4096 };

static uint8_t bytes[SIZE];

TEST(g06_used_after_unmap)
{
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_buffer(gl_buffer(SIZE, NULL), 0);
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 1, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_ERROR(cuMemsetD8(p, 2, SIZE), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G06);
}

// Copies the first row of a texture, to or from a mapping with these flags.
static void copy_row(unsigned flags, bool write)
{
    uint8_t row[64 * 4] = {0};
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_image(gl_texture_2d(GL_RGBA8, 1, 64, 4), GL_TEXTURE_2D, flags);
    CUarray a = cu_map_array(r, 0, 0);
    if (write)
        cu_write_array(a, 0, 0, sizeof row, 1, row);
    else
        cu_read_array(a, sizeof row, 1, row);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

TEST(g09_written_read_only)
{
    copy_row(CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, true);
    EXPECT_DIAGNOSTIC(G09);
}

TEST(g09_read_discarded)
{
    copy_row(CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD, false);
    EXPECT_DIAGNOSTIC(G09);
}

TEST(g09_twins)
{
    copy_row(CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, false);
    copy_row(CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD, true);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(g07_mapped_by_opengl)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    EXPECT(glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT));
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemcpyDtoH(bytes, p, SIZE));
    EXPECT_DIAGNOSTIC(G07);
    EXPECT_OK(cuMemsetD8(p, 1, SIZE));
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, 0),
                 CUDA_ERROR_UNKNOWN); // CUDA's writes are lost, which is an error
}

TEST(g10_flags)
{
    gl_start(GL_CORE);
    CUgraphicsResource r;
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, gl_buffer(64, NULL),
                                            CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G10);
}

TEST(g11_format)
{
    gl_start(GL_CORE);
    CUgraphicsResource r;
    // [G11 wrong]
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, gl_texture_2d(GL_DEPTH_COMPONENT24, 1, 16, 16),
                                           GL_TEXTURE_2D, 0),
                 CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(G11);
}

TEST(g11_target)
{
    gl_start(GL_CORE);
    CUgraphicsResource r;
    EXPECT_ERROR(
        cuGraphicsGLRegisterImage(&r, gl_texture_2d(GL_RGBA8, 1, 16, 16), GL_TEXTURE_1D, 0),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G11);
}

TEST(g11_no_storage)
{
    gl_start(GL_CORE);
    CUgraphicsResource r;
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(G11);
}

TEST(g12_no_context)
{
    gl_start(GL_CORE);
    CUgraphicsResource r;
    // [G12 wrong]
    GLuint b = gl_buffer(64, NULL);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    // [end]
    EXPECT_DIAGNOSTIC(G12);
}

TEST(g11_g12_twin)
{
    gl_start(GL_CORE); // makes a context current in this thread
    CUgraphicsResource r;
    // [G11 G12 right]
    EXPECT_OK(cuGraphicsGLRegisterImage(&r, gl_texture_2d(GL_RGBA8, 1, 16, 16), GL_TEXTURE_2D, 0));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// Makes one of the calls that need a context: 0 map, 1 unmap, 2 unregister, 3 devices, 4 init.
static void without_context(int call)
{
    CUdevice device;
    unsigned count;
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_buffer(gl_buffer(64, NULL), 0);
    if (call == 1)
        MUST(cuGraphicsMapResources(1, &r, 0));
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(call == 0   ? cuGraphicsMapResources(1, &r, 0)
                 : call == 1 ? cuGraphicsUnmapResources(1, &r, 0)
                 : call == 2 ? cuGraphicsUnregisterResource(r)
                 : call == 3 ? cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL)
                             : cuGLInit(),
                 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_DIAGNOSTIC(G12);
}

TEST(g12_map)
{
    without_context(0);
}

TEST(g12_unmap)
{
    without_context(1);
}

TEST(g12_unregister)
{
    without_context(2);
}

TEST(g12_devices)
{
    without_context(3);
}

TEST(g12_init)
{
    without_context(4);
}

TEST(g13_deleted)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    glDeleteBuffers(1, &b);
    EXPECT_OK(cuGraphicsMapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G13);
}

// The program gives a registered buffer other storage. If `again` is set, it then registers the
// buffer again.
static void resize(bool again)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    if (again)
        EXPECT_OK(cuGraphicsUnregisterResource(r));
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE / 2, NULL, GL_DYNAMIC_DRAW);
    if (again)
        r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 1, again ? SIZE / 2 : SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    glDeleteBuffers(1, &b);
}

TEST(g14_resized)
{
    resize(false);
    EXPECT_DIAGNOSTIC(G14);
}

// The correct way.
TEST(resized_and_registered_again)
{
    resize(true);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(g06_used_after_unmap), CASE(g09_written_read_only), CASE(g09_read_discarded),
      CASE(g09_twins), CASE(g07_mapped_by_opengl), CASE(g10_flags), CASE(g11_format),
      CASE(g11_target), CASE(g11_no_storage), CASE(g12_no_context), CASE(g11_g12_twin),
      CASE(g12_map), CASE(g12_unmap), CASE(g12_unregister), CASE(g12_devices), CASE(g12_init),
      CASE(g13_deleted), CASE(g14_resized), CASE(resized_and_registered_again))
