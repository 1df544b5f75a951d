// SPDX-License-Identifier: MIT
// Large copies that OpenGL makes itself: memory that is not valid, the order in streams, mixtures
// with small copies, and other threads.
#include <pthread.h>

#include "direct.h"

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
    const int file = memfd_create("short", MFD_CLOEXEC);
    EXPECT(file >= 0 && !ftruncate(file, HOLE_B));
    uint8_t *bytes = mmap(NULL, BUFFER_B, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EXPECT_MESSAGE(cuMemcpyDtoH(bytes, p, BUFFER_B), CUDA_ERROR_INVALID_VALUE, "end of its file");
    EXPECT_MESSAGE(cuMemcpyHtoD(p, bytes, BUFFER_B), CUDA_ERROR_INVALID_VALUE, "end of its file");
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

// Memory of a file, which another process may shorten at any time: OpenGL cannot be left at a
// fault, so it does not access such memory.
TEST(memory_of_a_file)
{
    gl_start(GL_CORE);
    const int file = memfd_create("whole", MFD_CLOEXEC);
    EXPECT(file >= 0 && !ftruncate(file, SIZE));
    uint8_t *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CUgraphicsResource r = cu_image(new_texture(1), GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, ROW_B, HEIGHT, bytes);
    EXPECT_EQ(transfers, 1);
    EXPECT(!is_inside(given, bytes, SIZE));
    EXPECT(!memcmp(bytes, want, SIZE));
    EXPECT_OK(cuMemHostRegister(bytes, SIZE, 0));
    cu_write_array(a, 0, 0, ROW_B, HEIGHT, bytes);
    EXPECT(!is_inside(given, bytes, SIZE));
    EXPECT_OK(cuMemHostUnregister(bytes));
    unmap(r);
    EXPECT_NO_DIAGNOSTIC();
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

// ---- other threads

static CUcontext context;
static CUdeviceptr mapped;

static void *use_the_driver(void *unused)
{
    CUdeviceptr p;
    CUstream s;
    uint8_t bytes[16] = {0};
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT(await(&inside));
    EXPECT_OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuMemAlloc(&p, sizeof bytes));
    EXPECT_OK(cuMemsetD8Async(p, 7, sizeof bytes, s));
    EXPECT_OK(cuMemcpyDtoHAsync(bytes, p, sizeof bytes, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(bytes[15], 7);
    EXPECT(!released);
    released = true;
    return unused;
}

// Another thread writes the bytes that OpenGL is reading: it waits for that.
static void *write_the_same(void *unused)
{
    CUstream s;
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT(await(&inside));
    EXPECT_OK(cuMemsetD8Async(mapped, 9, BUFFER_B, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT(released);
    return unused;
}

static void *release_later(void *unused)
{
    EXPECT(await(&inside));
    usleep(NAP_US);
    released = true;
    return unused;
}

// Calls that need other memory go on while OpenGL copies.
TEST(others_go_on)
{
    pthread_t thread;
    gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&context));
    CUgraphicsResource r = cu_image(new_texture(1), GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    EXPECT(!pthread_create(&thread, NULL, use_the_driver, NULL));
    holds = true;
    cu_read_array(a, ROW_B, HEIGHT, got);
    EXPECT(!memcmp(got, want, SIZE));
    pthread_join(thread, NULL);
    unmap(r);
}

TEST(same_bytes)
{
    pthread_t writer, waker;
    gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&context));
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    CUgraphicsResource r = cu_buffer(b, 0);
    mapped = cu_map_pointer(r);
    EXPECT(!pthread_create(&writer, NULL, write_the_same, NULL));
    EXPECT(!pthread_create(&waker, NULL, release_later, NULL));
    holds = true;
    EXPECT_OK(cuMemcpyDtoH(got, mapped, BUFFER_B));
    EXPECT(!memcmp(got, want, BUFFER_B));
    pthread_join(writer, NULL);
    pthread_join(waker, NULL);
    unmap(r);
    memset(want, 9, BUFFER_B);
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

// The program makes a texture larger while its bytes are read, and does not wait for the copy. What
// the copy has then is the program's own affair, but it writes no other memory.
static CUarray growing;
static uint8_t *destination;
static size_t pitch_B;

static void *read_the_growing(void *unused)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = growing,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = destination,
                       .dstPitch = pitch_B,
                       .WidthInBytes = ROW_B,
                       .Height = HEIGHT};
    EXPECT_OK(cuCtxSetCurrent(context));
    (void)!cuMemcpy2D(&c);
    return unused;
}

static void grows(size_t pitch)
{
    pthread_t thread;
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&context));
    GLuint t = new_texture(1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    growing = cu_map_array(r, 0, 0);
    memset(got, 0xa5, sizeof got);
    destination = got;
    pitch_B = pitch;
    holds = true;
    EXPECT(!pthread_create(&thread, NULL, read_the_growing, NULL));
    EXPECT(await(&inside));
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 2 * WIDTH, 2 * HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 want);
    glFinish();
    released = true;
    pthread_join(thread, NULL);
    size_t written = 0;
    for (size_t at = pitch * HEIGHT; at < sizeof got; at++)
        written += got[at] != 0xa5;
    EXPECT_EQ(written, 0);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

TEST(grows_in_a_direct_copy)
{
    grows(ROW_B);
}

TEST(grows_in_a_staged_copy)
{
    grows(ROW_B + 2); // OpenGL's rows are whole elements apart
}

TESTS(CASE(bad_host_memory), CASE(read_only_host_memory), CASE(memory_of_a_file),
      CASE(in_stream_order), CASE(others_go_on), CASE(same_bytes), CASE(mixture),
      CASE(part_of_a_deleted_texture), CASE(grows_in_a_direct_copy), CASE(grows_in_a_staged_copy))
