// SPDX-License-Identifier: MIT
// OpenGL objects that are registered more than once: all their resources share one memory, as on a
// card.
#include "context.h"

enum { SIZE = 4096, SIDE = 16, ROW_B = SIDE * 4 };

static uint8_t bytes[SIZE];

static void fill(CUdeviceptr p, size_t at, uint8_t value)
{
    EXPECT_OK(cuMemcpyHtoD(p + at, &value, 1));
}

static uint8_t byte_at(CUdeviceptr p, size_t at)
{
    uint8_t value = 0;
    EXPECT_OK(cuMemcpyDtoH(&value, p + at, 1));
    return value;
}

static GLuint new_buffer(uint8_t value)
{
    memset(bytes, value, SIZE);
    return gl_buffer(SIZE, bytes);
}

// Writes through either resource are visible through the other, and neither unmap undoes them.
static void buffers(const char *personality)
{
    test_setting("CARDLESS_PERSONALITY", personality);
    gl_start(GL_CORE);
    GLuint b = new_buffer(5);
    CUgraphicsResource r = cu_buffer(b, 0), r2 = cu_buffer(b, 0);
    EXPECT(r != r2);
    CUdeviceptr p = cu_map_pointer(r), q = cu_map_pointer(r2);
    EXPECT(p != q); // as on the card, each has its own address
    EXPECT_EQ(byte_at(q, 0), 5);
    fill(p, 0, 9);
    EXPECT_EQ(byte_at(q, 0), 9);
    fill(q, 1, 8);
    EXPECT_EQ(byte_at(p, 1), 8);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 0), 9);
    EXPECT_EQ(byte_at(q, 0), 9);
    fill(q, 2, 7);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    gl_read_buffer(b, SIZE, bytes);
    EXPECT_EQ(bytes[0], 9);
    EXPECT_EQ(bytes[1], 8);
    EXPECT_EQ(bytes[2], 7);
    EXPECT_EQ(bytes[3], 5);

    // The next mapping sees OpenGL's writes, through either resource. The remaining resource keeps
    // working.
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferSubData(GL_ARRAY_BUFFER, 0, 1, (uint8_t[]){3});
    q = cu_map_pointer(r2);
    EXPECT_EQ(byte_at(q, 0), 3);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r2));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(buffers_of_the_manual)
{
    buffers("manual");
}

TEST(buffers_of_the_driver)
{
    buffers("driver-580");
}

// The last unmap should not undo the other resource's writes, even if both write to the same place.
TEST(both_write)
{
    gl_start(GL_CORE);
    GLuint b = new_buffer(5);
    CUgraphicsResource list[2] = {cu_buffer(b, 0), cu_buffer(b, 0)};
    CUdeviceptr p[2];
    EXPECT_OK(cuGraphicsMapResources(2, list, 0));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(cuGraphicsResourceGetMappedPointer(&p[i], NULL, list[i]));
    EXPECT_OK(cuMemsetD8(p[0], 1, SIZE));
    EXPECT_OK(cuMemsetD8(p[1] + 16, 2, 16));
    EXPECT_OK(cuGraphicsUnmapResources(1, &list[1], 0));
    EXPECT_OK(cuMemsetD8(p[0] + 16, 3, 1));
    EXPECT_OK(cuGraphicsUnmapResources(1, &list[0], 0));
    gl_read_buffer(b, SIZE, bytes);
    EXPECT_EQ(bytes[0], 1);
    EXPECT_EQ(bytes[16], 3);
    EXPECT_EQ(bytes[17], 2);
    EXPECT_EQ(bytes[SIZE - 1], 1);
}

// Recorded: writes through a READ_ONLY mapping reach OpenGL if another mapping is not READ_ONLY,
// and are lost if both are.
static void check_flags_of_both(unsigned flags, unsigned other, int want)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    GLuint b = new_buffer(5);
    CUgraphicsResource r = cu_buffer(b, flags), r2 = cu_buffer(b, other);
    CUdeviceptr p = cu_map_pointer(r);
    fill(p, 0, 9);
    CUdeviceptr q = cu_map_pointer(r2);
    EXPECT_EQ(byte_at(q, 0), 9);
    EXPECT_EQ(byte_at(q, 1), 5);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 0), want);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    EXPECT_EQ(gl_buffer_byte(b, 0), want);
}

TEST(read_only_and_no_flags)
{
    check_flags_of_both(CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_NONE, 9);
}

TEST(no_flags_and_read_only)
{
    check_flags_of_both(CU_GRAPHICS_REGISTER_FLAGS_NONE, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, 9);
}

TEST(read_only_twice)
{
    check_flags_of_both(CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,
                        5);
}

// A second mapping with WRITE_DISCARD should keep the bytes that the first mapping has written.
TEST(discarded_by_one)
{
    gl_start(GL_CORE);
    GLuint b = new_buffer(5);
    CUgraphicsResource r = cu_buffer(b, 0),
                       r2 = cu_buffer(b, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    CUdeviceptr p = cu_map_pointer(r);
    fill(p, 0, 9);
    CUdeviceptr q = cu_map_pointer(r2);
    fill(q, 1, 8);
    EXPECT_EQ(byte_at(p, 0), 9);
    EXPECT_EQ(byte_at(p, 2), 5);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    gl_read_buffer(b, SIZE, bytes);
    EXPECT_EQ(bytes[0], 9);
    EXPECT_EQ(bytes[1], 8);
    EXPECT_EQ(bytes[2], 5);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(in_two_contexts)
{
    CUcontext first, second;
    CUdevice device;
    gl_start(GL_CORE);
    EXPECT_OK(cuCtxGetCurrent(&first));
    EXPECT_OK(cuCtxGetDevice(&device));
    GLuint b = new_buffer(5);
    CUdeviceptr p = cu_map_pointer(cu_buffer(b, 0));
    fill(p, 0, 9);
    MUST(cuCtxCreate(&second, NULL, 0, device));
    CUgraphicsResource r2 = cu_buffer(b, 0);
    CUdeviceptr q = cu_map_pointer(r2);
    EXPECT_EQ(byte_at(q, 0), 9);
    fill(q, 1, 8);
    EXPECT_OK(cuCtxDestroy(second)); // ends its mapping
    EXPECT_OK(cuCtxSetCurrent(first));
    EXPECT_EQ(byte_at(p, 1), 8);
    EXPECT_EQ(gl_buffer_byte(b, 1), 8);
}

// ---- another object with the same name

static GLuint buffer_named(GLuint name, uint8_t value)
{
    memset(bytes, value, SIZE);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, SIZE, bytes, GL_DYNAMIC_DRAW);
    return name;
}

// In this profile a program may choose names itself, so it can reuse one.
TEST(another_buffer_with_the_name)
{
    enum { NAME = 77 };
    gl_start(GL_COMPATIBILITY);
    GLuint b = buffer_named(NAME, 5);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    glDeleteBuffers(1, &b);
    b = buffer_named(NAME, 6);
    CUgraphicsResource r2 = cu_buffer(b, 0), r3 = cu_buffer(b, 0);
    CUdeviceptr q = cu_map_pointer(r2), s = cu_map_pointer(r3);
    EXPECT_EQ(byte_at(p, 0), 5);
    EXPECT_EQ(byte_at(q, 0), 6);
    fill(p, 0, 9);
    EXPECT_EQ(byte_at(q, 0), 6);
    fill(q, 1, 8);
    EXPECT_EQ(byte_at(s, 1), 8);
    EXPECT_EQ(byte_at(p, 1), 5);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    EXPECT_EQ(gl_buffer_byte(b, 0), 6);
    EXPECT_EQ(gl_buffer_byte(b, 1), 8);
}

static GLuint texture_named(GLuint name, uint8_t value)
{
    memset(bytes, value, SIZE);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    return name;
}

static uint8_t texel(CUarray a)
{
    memset(bytes, 0, SIZE);
    cu_read_array(a, ROW_B, SIDE, bytes);
    return bytes[0];
}

static void set_texel(CUarray a, uint8_t value)
{
    cu_write_array(a, 0, 0, 4, 1, (uint8_t[]){value, value, value, value});
}

TEST(another_texture_with_the_name)
{
    enum { NAME = 77 };
    gl_start(GL_COMPATIBILITY);
    GLuint t = texture_named(NAME, 5);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    glDeleteTextures(1, &t);
    t = texture_named(NAME, 6);
    CUgraphicsResource r2 = cu_image(t, GL_TEXTURE_2D, 0), r3 = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray b = cu_map_array(r2, 0, 0), c = cu_map_array(r3, 0, 0);
    EXPECT_EQ(texel(a), 5);
    EXPECT_EQ(texel(b), 6);
    set_texel(a, 9);
    EXPECT_EQ(texel(b), 6);
    set_texel(b, 8);
    EXPECT_EQ(texel(c), 8);
    EXPECT_EQ(texel(a), 9);
}

// ---- images

static void images(GLuint name, GLenum target)
{
    CUgraphicsResource r = cu_image(name, target, 0),
                       r2 = cu_image(name, target, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CUarray a = cu_map_array(r, 0, 0), b = cu_map_array(r2, 0, 0);
    EXPECT(a != b);
    texel(b);
    set_texel(a, 9);
    EXPECT_EQ(texel(b), 9);
    set_texel(b, 8);
    EXPECT_EQ(texel(a), 8);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(texel(b), 8);
    cu_write_array(b, 4, 0, 4, 1, (uint8_t[]){7, 7, 7, 7});
    EXPECT_OK(cuGraphicsUnmapResources(1, &r2, 0));
    a = cu_map_array(r, 0, 0);
    EXPECT_EQ(texel(a), 8);
    EXPECT_EQ(bytes[4], 7);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r2));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(textures)
{
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE);
    images(t, GL_TEXTURE_2D);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_EQ(bytes[0], 8);
    EXPECT_EQ(bytes[4], 7);
}

TEST(cubes)
{
    GLuint t;
    gl_start(GL_CORE);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_CUBE_MAP, t);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, SIDE, SIDE);
    images(t, GL_TEXTURE_CUBE_MAP);
}

TEST(renderbuffers)
{
    GLuint b;
    gl_start(GL_CORE);
    glGenRenderbuffers(1, &b);
    glBindRenderbuffer(GL_RENDERBUFFER, b);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    images(b, GL_RENDERBUFFER);
}

TEST(without_errors)
{
    gl_use(gl_new_context_with(GL_COMPATIBILITY, EGL_NO_CONTEXT, EGL_CONTEXT_OPENGL_NO_ERROR_KHR,
                               EGL_TRUE));
    test_context();
    images(gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE), GL_TEXTURE_2D);
    GLuint b = new_buffer(5);
    CUdeviceptr p = cu_map_pointer(cu_buffer(b, 0)), q = cu_map_pointer(cu_buffer(b, 0));
    fill(p, 0, 9);
    EXPECT_EQ(byte_at(q, 0), 9);
}

TESTS(CASE(buffers_of_the_manual), CASE(buffers_of_the_driver), CASE(both_write),
      CASE(read_only_and_no_flags), CASE(no_flags_and_read_only), CASE(read_only_twice),
      CASE(discarded_by_one), CASE(in_two_contexts), CASE(another_buffer_with_the_name),
      CASE(another_texture_with_the_name), CASE(textures), CASE(cubes), CASE(renderbuffers),
      CASE(without_errors))
