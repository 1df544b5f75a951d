// SPDX-License-Identifier: MIT
// Large copies of mapped objects, which OpenGL makes itself: straight between the object and the
// program's memory. The program replaces eglGetProcAddress, so that it sees which memory the driver
// gives to OpenGL.
#include <dlfcn.h>
#include <stdatomic.h>

#include "context.h"

enum {
    WIDTH = 512,
    HEIGHT = 300,
    ROW_B = WIDTH * 4,
    SIZE = ROW_B * HEIGHT,
    BUFFER_B = 3 << 20,
    MOST_B = BUFFER_B,
    NAP_US = 100000,
};

// ---- the OpenGL in between

static const void *_Atomic given; // the memory of the last transfer
static atomic_int transfers;

static void note(const void *memory)
{
    given = memory;
    transfers++;
}

// X(name, parameters, arguments, the one that is the memory)
#define SEEN(X)                                                                                    \
    X(GetTexImage, (GLenum a, GLint b, GLenum c, GLenum d, void *e), (a, b, c, d, e), e)           \
    X(GetTextureSubImage,                                                                          \
      (GLuint a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, GLsizei k, void *l),                                                              \
      (a, b, c, d, e, f, g, h, i, j, k, l), l)                                                     \
    X(ReadPixels, (GLint a, GLint b, GLsizei c, GLsizei d, GLenum e, GLenum f, void *g),           \
      (a, b, c, d, e, f, g), g)                                                                    \
    X(TexSubImage2D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLsizei e, GLsizei f, GLenum g, GLenum h,              \
       const void *i),                                                                             \
      (a, b, c, d, e, f, g, h, i), i)                                                              \
    X(TexSubImage3D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, const void *k),                                                                   \
      (a, b, c, d, e, f, g, h, i, j, k), k)                                                        \
    X(GetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d), d)            \
    X(BufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, const void *d), (a, b, c, d), d)

#define X(name, parameters, arguments, memory)                                                     \
    static void(*next_##name) parameters;                                                          \
    static void my_##name parameters                                                               \
    {                                                                                              \
        note(memory);                                                                              \
        next_##name arguments;                                                                     \
    }
SEEN(X)
#undef X

typedef __eglMustCastToProperFunctionPointerType function;

__attribute__((visibility("default"))) function EGLAPIENTRY eglGetProcAddress(const char *name)
{
    static function (*next)(const char *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "eglGetProcAddress");
    function f = next(name);
#define X(which, parameters, arguments, memory)                                                    \
    if (!strcmp(name, "gl" #which)) {                                                              \
        *(function *)&next_##which = f;                                                            \
        return f ? (function)my_##which : f;                                                       \
    }
    SEEN(X)
#undef X
    return f;
}

static bool is_inside(const void *p, const void *memory, size_t size_B)
{
    return (uintptr_t)p - (uintptr_t)memory < size_B;
}

// ---- objects

static uint8_t want[MOST_B], got[MOST_B];

static GLuint new_texture(unsigned seed)
{
    GLuint t = gl_texture_2d(GL_RGBA8, 1, WIDTH, HEIGHT);
    pattern(want, SIZE, seed);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, want);
    return t;
}

static void expect_in_texture(GLuint t)
{
    memset(got, 0, SIZE);
    glBindTexture(GL_TEXTURE_2D, t);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE));
}

static void unmap(CUgraphicsResource r)
{
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

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

// ---- the other end

// Memory that is not there, or that cannot be written, is found before OpenGL uses it.
TEST(bad_host_memory)
{
    enum { HOLE_B = 1 << 20 };
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    uint8_t *memory =
        mmap(NULL, BUFFER_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(!mprotect(memory + HOLE_B, HOLE_B, PROT_READ));
    EXPECT_MESSAGE(cuMemcpyDtoH(memory, p, BUFFER_B), CUDA_ERROR_INVALID_VALUE, "host pointer");
    EXPECT(!munmap(memory + HOLE_B, HOLE_B));
    EXPECT_MESSAGE(cuMemcpyDtoH(memory, p, BUFFER_B), CUDA_ERROR_INVALID_VALUE, "host pointer");
    EXPECT_MESSAGE(cuMemcpyHtoD(p, memory, BUFFER_B), CUDA_ERROR_INVALID_VALUE, "host pointer");
    EXPECT_EQ(transfers, 0);
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
    gl_read_buffer(b, BUFFER_B, got);
    EXPECT(!memcmp(got, want, BUFFER_B));
}

// A copy from memory of the program that may only be read.
TEST(read_only_host_memory)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(BUFFER_B, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    uint8_t *memory =
        mmap(NULL, BUFFER_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pattern(memory, BUFFER_B, 1);
    EXPECT(!mprotect(memory, BUFFER_B, PROT_READ));
    EXPECT_OK(cuMemcpyHtoD(cu_map_pointer(r), memory, BUFFER_B));
    EXPECT(given == memory);
    unmap(r);
    gl_read_buffer(b, BUFFER_B, got);
    EXPECT(!memcmp(got, memory, BUFFER_B));
}

// ---- order

static void CUDA_CB nap(void *unused)
{
    (void)unused;
    usleep(NAP_US);
}

// A copy that has to wait in its stream: an earlier command writes the bytes that it copies.
TEST(in_stream_order)
{
    CUstream s;
    void *pinned;
    gl_start(GL_CORE);
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemHostAlloc(&pinned, BUFFER_B, 0));
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    MUST(cuLaunchHostFunc(s, nap, NULL));
    EXPECT_OK(cuMemsetD8Async(p, 9, 100, s));
    EXPECT_OK(cuMemcpyDtoHAsync(pinned, p, BUFFER_B, s));
    memset(want, 9, 100);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT(!memcmp(pinned, want, BUFFER_B));
    MUST(cuLaunchHostFunc(s, nap, NULL));
    EXPECT_OK(cuMemsetD8Async((uintptr_t)pinned, 7, BUFFER_B, s));
    EXPECT_OK(cuMemcpyHtoDAsync(p, pinned, BUFFER_B, s));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, s));
    memset(want, 7, BUFFER_B);
    gl_read_buffer(b, BUFFER_B, got);
    EXPECT(!memcmp(got, want, BUFFER_B));
}

// ---- a mixture

static uint32_t draw(uint32_t below)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

// Small and large reads and writes in random order: each read gets the newest bytes.
TEST(mixture)
{
    enum { ROUNDS = 8, STEPS = 25, LARGE_B = 1 << 20 };
    gl_start(GL_CORE);
    for (int round = 0; round < ROUNDS; round++) {
        pattern(want, BUFFER_B, (unsigned)round);
        GLuint b = gl_buffer(BUFFER_B, want);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        for (int i = 0; i < STEPS; i++) {
            uint32_t size = draw(2) ? LARGE_B + draw(BUFFER_B - LARGE_B) : 1 + draw(4096),
                     at = draw(BUFFER_B - size + 1);
            if (draw(2)) {
                memset(got, 0, size);
                EXPECT_OK(cuMemcpyDtoH(got, p + at, size));
                EXPECT(!memcmp(got, want + at, size));
            } else {
                memset(want + at, i + 1, size);
                EXPECT_OK(cuMemcpyHtoD(p + at, want + at, size));
            }
        }
        unmap(r);
        gl_read_buffer(b, BUFFER_B, got);
        EXPECT(!memcmp(got, want, BUFFER_B));
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        glDeleteBuffers(1, &b);
    }
    EXPECT_NO_DIAGNOSTIC();
}

// The program deletes the texture: a part of it can be read only through a copy of the whole, for
// which memory is allocated.
TEST(part_of_a_deleted_texture)
{
    enum { X = 1, W = 500 };
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    gl_start(GL_CORE);
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &t);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = cu_map_array(r, 0, 0),
                       .srcXInBytes = X * 4,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = got,
                       .dstPitch = ROW_B,
                       .WidthInBytes = W * 4,
                       .Height = HEIGHT};
    EXPECT_OK(cuMemcpy2D(&c));
    bool same = true;
    for (int y = 0; y < HEIGHT; y++)
        same = same && !memcmp(got + y * ROW_B, want + y * ROW_B + X * 4, W * 4);
    EXPECT(same);
    unmap(r);
}

TESTS(CASE(texture_to_host), CASE(texture_from_host), CASE(part_to_host), CASE(part_from_host),
      CASE(newer_bytes_in_cuda), CASE(newer_bytes_in_opengl), CASE(two_resources), CASE(read_only),
      CASE(discarded), CASE(slices_of_a_3d_texture), CASE(layers), CASE(faces), CASE(renderbuffer),
      CASE(odd_rows), CASE(buffer), CASE(memory_of_the_driver), CASE(refused),
      CASE(bad_host_memory), CASE(read_only_host_memory), CASE(in_stream_order), CASE(mixture),
      CASE(part_of_a_deleted_texture))
