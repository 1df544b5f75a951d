// SPDX-License-Identifier: MIT
// Large copies of mapped objects of all kinds, which OpenGL makes itself.
#include "direct.h"

// ---- textures

TEST(texture_to_host)
{
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_image(new_texture(1), GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(given == got);
    EXPECT_EQ(transfers, 1);
    EXPECT(!memcmp(got, want, SIZE));
    unmap(r);
    EXPECT_EQ(transfers, 1);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(texture_from_host)
{
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    pattern(want, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    EXPECT(given == want);
    memset(got, 0, SIZE);
    cu_read_array(a, 4, 1, got); // from OpenGL, which has the bytes
    EXPECT(!memcmp(got, want, 4));
    EXPECT_EQ(transfers, 2);
    unmap(r);
    EXPECT_EQ(transfers, 2); // nothing is written twice
    expect_in_texture(t);
    EXPECT_NO_DIAGNOSTIC();
}

// Rows with gaps between them in the program's memory, and a part of the texture. The gaps stay.
static void part(bool write)
{
    enum { X = 3, Y = 5, W = 400, H = 250, PITCH_B = ROW_B + 8 };
    static uint8_t memory[PITCH_B * H];
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = cu_map_array(r, 0, 0),
                       .srcXInBytes = X * 4,
                       .srcY = Y,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = memory,
                       .dstPitch = PITCH_B,
                       .WidthInBytes = W * 4,
                       .Height = H};
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = memory,
                          .srcPitch = PITCH_B,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = c.srcArray,
                          .dstXInBytes = X * 4,
                          .dstY = Y,
                          .WidthInBytes = W * 4,
                          .Height = H};
    memset(memory, 0xee, sizeof memory);
    EXPECT_OK(write ? cuMemcpy2D(&back) : cuMemcpy2D(&c));
    EXPECT(is_inside(given, memory, sizeof memory));
    bool same = true;
    for (int y = 0; y < H; y++) {
        uint8_t *row = want + (Y + y) * ROW_B + X * 4;
        same = same && memory[y * PITCH_B + W * 4] == 0xee;
        if (write)
            memset(row, 0xee, W * 4);
        else
            same = same && !memcmp(memory + y * PITCH_B, row, W * 4);
    }
    EXPECT(same);
    unmap(r);
    expect_in_texture(t);
}

TEST(part_to_host)
{
    part(false);
}

TEST(part_from_host)
{
    part(true);
}

// Bytes that only CUDA has are not passed by.
TEST(newer_bytes_in_cuda)
{
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_write_array(a, 0, 7, 4, 1, (uint8_t[]){1, 2, 3, 4});
    memcpy(want + 7 * ROW_B, (uint8_t[]){1, 2, 3, 4}, 4);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, want, SIZE));
    pattern(want, SIZE, 3);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    unmap(r);
    expect_in_texture(t);
}

// A large write, then a small one over it, then a large read.
TEST(newer_bytes_in_opengl)
{
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    pattern(want, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    cu_write_array(a, 4, 0, 4, 1, (uint8_t[]){9, 8, 7, 6});
    memcpy(want + 4, (uint8_t[]){9, 8, 7, 6}, 4);
    memset(got, 0, SIZE);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, want, SIZE));
    unmap(r);
    expect_in_texture(t);
}

// Two resources of one texture share its bytes.
TEST(two_resources)
{
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0), q = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0), b = cu_map_array(q, 0, 0);
    pattern(want, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    cu_read_array(b, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, want, SIZE));
    cu_write_array(b, 0, 0, 4, 1, (uint8_t[]){9, 8, 7, 6});
    memcpy(want, (uint8_t[]){9, 8, 7, 6}, 4);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, want, SIZE));
    unmap(r);
    unmap(q);
    expect_in_texture(t);
}

// Writes through READ_ONLY mappings do not reach OpenGL, but later reads see them.
TEST(read_only)
{
    static uint8_t other[SIZE];
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    CUarray a = cu_map_array(r, 0, 0);
    pattern(other, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, other);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, other, SIZE));
    unmap(r);
    expect_in_texture(t);
}

// Under `manual`, bytes of a WRITE_DISCARD mapping are poisoned until they are written.
TEST(discarded)
{
    test_setting("CARDLESS_PERSONALITY", "manual");
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT_EQ(got[0], 0xa5);
    EXPECT_EQ(got[SIZE - 1], 0xa5);
    pattern(want, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    unmap(r);
    expect_in_texture(t);
}

// A copy of 3D slices, layers or faces, from z = 1, of texels of 8 bytes, in rows that are a
// multiple of texels apart.
static void slices(GLenum target)
{
    enum {
        SIDE = 128,
        DEPTH = 6,
        FROM = 1,
        SLICES = 4,
        TEXEL_B = 8,
        LINE_B = SIDE * TEXEL_B,
        SLICE_B = LINE_B * SIDE,
        PITCH_B = LINE_B + TEXEL_B,
        ROWS = SIDE + 2
    };
    static uint8_t memory[PITCH_B * ROWS * SLICES], all[SLICE_B * DEPTH];
    GLuint t;
    gl_start(GL_CORE);
    pattern(all, sizeof all, 5);
    glGenTextures(1, &t);
    glBindTexture(target, t);
    if (target == GL_TEXTURE_CUBE_MAP) {
        glTexStorage2D(target, 1, GL_RGBA16, SIDE, SIDE);
        for (unsigned face = 0; face < DEPTH; face++)
            glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, 0, 0, SIDE, SIDE, GL_RGBA,
                            GL_UNSIGNED_SHORT, all + face * SLICE_B);
    } else {
        glTexStorage3D(target, 1, GL_RGBA16, SIDE, SIDE, DEPTH);
        glTexSubImage3D(target, 0, 0, 0, 0, SIDE, SIDE, DEPTH, GL_RGBA, GL_UNSIGNED_SHORT, all);
    }
    CUgraphicsResource r = cu_image(t, target, 0);
    CUmipmappedArray chain;
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcZ = FROM,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = memory,
                       .dstPitch = PITCH_B,
                       .dstHeight = ROWS,
                       .WidthInBytes = LINE_B,
                       .Height = SIDE,
                       .Depth = SLICES};
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedMipmappedArray(&chain, r));
    MUST(cuMipmappedArrayGetLevel(&c.srcArray, chain, 0));
    EXPECT_OK(cuMemcpy3D(&c));
    EXPECT(is_inside(given, memory, sizeof memory));
    bool same = true;
    for (int z = 0; z < SLICES; z++)
        for (int y = 0; y < SIDE; y++)
            same = same && !memcmp(memory + (z * ROWS + y) * PITCH_B,
                                   all + (FROM + z) * SLICE_B + y * LINE_B, LINE_B);
    EXPECT(same);

    // And back, one slice further.
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = memory,
                          .srcPitch = PITCH_B,
                          .srcHeight = ROWS,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = c.srcArray,
                          .dstZ = FROM + 1,
                          .WidthInBytes = LINE_B,
                          .Height = SIDE,
                          .Depth = SLICES};
    EXPECT_OK(cuMemcpy3D(&back));
    EXPECT(is_inside(given, memory, sizeof memory));
    unmap(r);
    memmove(all + (FROM + 1) * SLICE_B, all + FROM * SLICE_B, SLICES * SLICE_B);
    static uint8_t now[SLICE_B * DEPTH];
    for (unsigned face = 0; target == GL_TEXTURE_CUBE_MAP && face < DEPTH; face++)
        glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, GL_UNSIGNED_SHORT,
                      now + face * SLICE_B);
    if (target != GL_TEXTURE_CUBE_MAP)
        glGetTexImage(target, 0, GL_RGBA, GL_UNSIGNED_SHORT, now);
    EXPECT(!memcmp(now, all, sizeof all));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(slices_of_a_3d_texture)
{
    slices(GL_TEXTURE_3D);
}

TEST(layers)
{
    slices(GL_TEXTURE_2D_ARRAY);
}

TEST(faces)
{
    slices(GL_TEXTURE_CUBE_MAP);
}

TEST(renderbuffer)
{
    gl_start(GL_CORE);
    GLuint b = gl_renderbuffer(GL_RGBA8, WIDTH, HEIGHT);
    CUgraphicsResource r = cu_image(b, GL_RENDERBUFFER, 0);
    CUarray a = cu_map_array(r, 0, 0);
    pattern(want, SIZE, 2);
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, want);
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(given == got);
    EXPECT(!memcmp(got, want, SIZE));
    unmap(r);
    gl_framebuffer(0, b);
    memset(got, 0, SIZE);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE));
}

// Rows that OpenGL cannot be told: the distance is not a multiple of a texel. And parts of texels.
TEST(odd_rows)
{
    enum { PITCH_B = ROW_B + 2 };
    static uint8_t memory[PITCH_B * HEIGHT];
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = cu_map_array(r, 0, 0),
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = memory,
                       .dstPitch = PITCH_B,
                       .WidthInBytes = ROW_B,
                       .Height = HEIGHT};
    EXPECT_OK(cuMemcpy2D(&c));
    bool same = true;
    for (int y = 0; y < HEIGHT; y++)
        same = same && !memcmp(memory + y * PITCH_B, want + y * ROW_B, ROW_B);
    EXPECT(same);
    EXPECT(!is_inside(given, memory, sizeof memory));
    cu_write_array(c.srcArray, 1, 0, ROW_B - 2, HEIGHT, memory);
    for (int y = 0; y < HEIGHT; y++)
        memcpy(want + y * ROW_B + 1, memory + y * (ROW_B - 2), ROW_B - 2);
    unmap(r);
    expect_in_texture(t);
}

// ---- buffers

TEST(buffer)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemcpyDtoH(got, p + 5, BUFFER_B - 5));
    EXPECT(given == got);
    EXPECT(!memcmp(got, want + 5, BUFFER_B - 5));
    pattern(got, BUFFER_B, 2);
    EXPECT_OK(cuMemcpyHtoD(p + 3, got, BUFFER_B - 7));
    EXPECT(given == got);
    EXPECT_EQ(transfers, 2);
    memcpy(want + 3, got, BUFFER_B - 7);
    unmap(r);
    EXPECT_EQ(transfers, 2);
    gl_read_buffer(b, BUFFER_B, got);
    EXPECT(!memcmp(got, want, BUFFER_B));
    EXPECT_NO_DIAGNOSTIC();
}

// Memory that the driver knows: device memory, and pinned memory of two kinds.
TEST(memory_of_the_driver)
{
    CUdeviceptr device;
    void *pinned, *registered;
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    CUgraphicsResource r = cu_buffer(gl_buffer(BUFFER_B, want), 0);
    MUST(cuMemAlloc(&device, BUFFER_B));
    MUST(cuMemHostAlloc(&pinned, BUFFER_B, 0));
    registered = mmap(NULL, BUFFER_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(cuMemHostRegister(registered, BUFFER_B, 0));
    CUdeviceptr p = cu_map_pointer(r), ends[] = {device, (uintptr_t)pinned, (uintptr_t)registered};
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_OK(cuMemcpyDtoD(ends[i], p, BUFFER_B));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT(given == (void *)(uintptr_t)ends[i]);
        memset(got, 0, BUFFER_B);
        EXPECT_OK(cuMemcpyDtoH(got, ends[i], BUFFER_B));
        EXPECT(!memcmp(got, want, BUFFER_B));
    }
    unmap(r);
}

// The program maps the buffer, so OpenGL refuses: the driver says so, and tries again later.
TEST(refused)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    EXPECT(glMapBufferRange(GL_ARRAY_BUFFER, 0, BUFFER_B, GL_MAP_READ_BIT));
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(strstr(test_last_line(), "G07"));
    glUnmapBuffer(GL_ARRAY_BUFFER);
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
}

TESTS(CASE(texture_to_host), CASE(texture_from_host), CASE(part_to_host), CASE(part_from_host),
      CASE(newer_bytes_in_cuda), CASE(newer_bytes_in_opengl), CASE(two_resources), CASE(read_only),
      CASE(discarded), CASE(slices_of_a_3d_texture), CASE(layers), CASE(faces), CASE(renderbuffer),
      CASE(odd_rows), CASE(buffer), CASE(memory_of_the_driver), CASE(refused))
