// SPDX-License-Identifier: MIT
// OpenGL buffers: bytes move in both directions, flags are honoured, and the driver copes if the
// program changes a registered buffer.
#include "context.h"

enum { SIZE = 4096 };

static uint8_t want[SIZE], got[SIZE];

static void round_trip(enum gl_flavour flavour)
{
    gl_start(flavour);
    pattern(want, SIZE, 3);
    GLuint b = gl_buffer(SIZE, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p, &size, r));
    EXPECT_EQ(size, SIZE);
    EXPECT_EQ(p % 512, 0);
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuMemsetD8(p + 100, 9, 50)); // a part; the rest stays
    memset(want + 100, 9, 50);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    gl_read_buffer(b, SIZE, got);
    EXPECT(!memcmp(got, want, SIZE));

    pattern(want, SIZE, 77); // the other direction, a second time
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, want);
    p = cu_map_pointer(r);
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(core)
{
    round_trip(GL_CORE);
}
TEST(compatibility)
{
    round_trip(GL_COMPATIBILITY);
}
TEST(es)
{
    round_trip(GL_ES);
}

// Two buffers in one call; if a buffer is overwritten as a whole, its old bytes are not needed.
TEST(several)
{
    gl_start(GL_CORE);
    GLuint a = gl_buffer(SIZE, NULL), b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r[] = {cu_buffer(a, 0),
                              cu_buffer(b, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD)};
    CUdeviceptr p, q;
    MUST(cuGraphicsMapResources(2, r, 0));
    MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r[0]));
    MUST(cuGraphicsResourceGetMappedPointer(&q, NULL, r[1]));
    EXPECT_OK(cuMemsetD8(p, 1, SIZE));
    EXPECT_OK(cuMemcpyDtoD(q, p, SIZE));
    EXPECT_OK(cuMemsetD8(q, 2, SIZE / 2));
    EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    EXPECT_EQ(gl_buffer_byte(a, 0), 1);
    EXPECT_EQ(gl_buffer_byte(a, SIZE - 1), 1);
    EXPECT_EQ(gl_buffer_byte(b, 0), 2);
    EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), 1);
}

// "CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY: Specifies that CUDA will not write to this resource." If
// CUDA writes anyway, the bytes never reach OpenGL.
TEST(read_only)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    pattern(want, SIZE, 3);
    GLuint b = gl_buffer(SIZE, want);
    CUgraphicsResource r = cu_buffer(b, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    gl_read_buffer(b, SIZE, got);
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuMemsetD8(p, 9, SIZE)); // nor through a pointer that still works
    EXPECT_OK(cuCtxSynchronize());
    gl_read_buffer(b, SIZE, got);
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE));
    p = cu_map_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 5), 9);
}

// ---- errors

TEST(refused)
{
    EGLContext context = gl_start(GL_CORE);
    CUgraphicsResource r;
    GLuint b = gl_buffer(SIZE, NULL), empty, unborn;
    glGenBuffers(1, &empty);
    glBindBuffer(GL_ARRAY_BUFFER, empty);
    glGenBuffers(1, &unborn);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(NULL, b, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, ~0u), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, 9999, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, unborn, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, empty, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, b, 99), CUDA_ERROR_INVALID_VALUE);
    gl_use(context);
    EXPECT_OK(cuGraphicsGLRegisterBuffer(&r, b, 0));
}

// ---- the program changes the buffer meanwhile

TEST(resized)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    memset(want, 50, SIZE);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE / 2, want, GL_DYNAMIC_DRAW);
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedPointer(&p, &size, r));
    EXPECT_EQ(size, SIZE); // the size at registration
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT_EQ(got[5], 50);
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 5), 9);
    EXPECT_EQ(gl_buffer_byte(b, SIZE / 2 - 1), 9);

    // If the buffer gets another storage while it is mapped, CUDA's writes go to the old one.
    p = cu_map_pointer(r);
    EXPECT_OK(cuMemsetD8(p, 10, SIZE));
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE, want, GL_DYNAMIC_DRAW);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 5), 50);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// Streaming programs orphan a buffer's storage before they fill it again.
TEST(orphaned)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    for (unsigned i = 0; i < 3; i++) {
        pattern(want, SIZE, i);
        glBindBuffer(GL_ARRAY_BUFFER, b);
        glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STREAM_DRAW);
        glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, want);
        CUdeviceptr p = cu_map_pointer(r);
        EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
        EXPECT(!memcmp(got, want, SIZE));
        EXPECT_OK(cuMemsetD8(p, 9, 10));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, 9), 9);
        EXPECT_EQ(gl_buffer_byte(b, 10), want[10]);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(deleted)
{
    gl_start(GL_CORE);
    pattern(want, SIZE, 5);
    GLuint b = gl_buffer(SIZE, want), other;
    CUgraphicsResource r = cu_buffer(b, 0);
    glDeleteBuffers(1, &b);
    other = gl_buffer(SIZE, NULL); // most likely gets the same name
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(other, 5), 0);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(registered_twice)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(64, NULL);
    CUgraphicsResource r = cu_buffer(b, 0), q = cu_buffer(b, 0);
    EXPECT(r != q);
    EXPECT_OK(cuMemsetD8(cu_map_pointer(r), 9, 64));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    uint8_t byte = 0;
    EXPECT_OK(cuMemcpyDtoH(&byte, cu_map_pointer(q) + 5, 1));
    EXPECT_EQ(byte, 9);
}

// Contexts come and go.
TEST(many_contexts)
{
    test_context();
    for (int i = 0; i < 12; i++) {
        EGLContext context = gl_new_context(i % 3 ? GL_CORE : GL_ES, EGL_NO_CONTEXT);
        gl_use(context);
        GLuint b = gl_buffer(64, NULL);
        CUgraphicsResource r = cu_buffer(b, 0);
        EXPECT_OK(cuMemsetD8(cu_map_pointer(r), (unsigned char)(i + 1), 64));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, 7), i + 1);
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        gl_use(EGL_NO_CONTEXT);
        eglDestroyContext(gl_display, context);
    }
}

// The display is terminated while a buffer is still registered.
TEST(terminated)
{
    EGLContext context = gl_start(GL_CORE);
    CUgraphicsResource r = cu_buffer(gl_buffer(64, NULL), 0);
    gl_use(EGL_NO_CONTEXT);
    eglDestroyContext(gl_display, context);
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    eglTerminate(gl_display);
    EXPECT_ERROR(cuGraphicsUnregisterResource(r), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
}

// Reads and writes at random places of a large buffer, compared with a copy that has the expected
// bytes.
TEST(places)
{
    enum { LARGE = 1000003, STEPS = 300, LONGEST = 40000 };
    static uint8_t model[LARGE], part[LONGEST];
    uint64_t state = 3;
    gl_start(GL_CORE);
    pattern(model, LARGE, 9);
    GLuint b = gl_buffer(LARGE, model);
    CUgraphicsResource r = cu_buffer(b, 0);
    for (int round = 0; round < 3; round++) {
        CUdeviceptr p = cu_map_pointer(r);
        for (int i = 0; i < STEPS / (1 + 10 * round); i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            size_t at = (size_t)(state >> 20) % LARGE, size = (size_t)(state >> 40) % LONGEST + 1;
            size = size < LARGE - at ? size : LARGE - at;
            if (state >> 63) {
                EXPECT_OK(cuMemsetD8(p + at, (unsigned char)i, size));
                memset(model + at, i, size);
            } else {
                EXPECT_OK(cuMemcpyDtoH(part, p + at, size));
                EXPECT(!memcmp(part, model + at, size));
            }
        }
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glBindBuffer(GL_ARRAY_BUFFER, b);
        const uint8_t *now = glMapBufferRange(GL_ARRAY_BUFFER, 0, LARGE, GL_MAP_READ_BIT);
        EXPECT(now && !memcmp(now, model, LARGE));
        glUnmapBuffer(GL_ARRAY_BUFFER);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(places), CASE(core), CASE(compatibility), CASE(es), CASE(several), CASE(read_only),
      CASE(refused), CASE(resized), CASE(orphaned), CASE(deleted), CASE(registered_twice),
      CASE(many_contexts), CASE(terminated))
