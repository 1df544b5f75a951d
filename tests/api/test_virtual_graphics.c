// SPDX-License-Identifier: MIT
// The virtual graphics API without CUDA: buffers, textures, commands and their clock.
#include <dlfcn.h>
#include <sys/mman.h>

#include "../mistakes/virtual.h"
#include "resident.h"

TEST(lookup)
{
    unsigned version = 0;
    __typeof__(&cardlessGetVersion) get = CARDLESS_LOOKUP(cardlessGetVersion);
    EXPECT(get != NULL);
    EXPECT(dlsym(RTLD_DEFAULT, "cardlessNoSuchFunction") == NULL);
    EXPECT_OK(get(&version));
    EXPECT_EQ(version, CARDLESS_VERSION);
    EXPECT_ERROR(cardlessFinish(), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(buffers)
{
    MUST(cuInit(0)); // no context is needed
    unsigned char bytes[64], back[64];
    cardlessBuffer a = virtual_buffer(64), b = virtual_buffer(64);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i + 1);
    EXPECT_EQ(byte_of(a, 63), 0);
    EXPECT_OK(cardlessWriteBuffer(a, 0, 64, bytes));
    EXPECT_OK(cardlessCopyBuffer(b, 16, a, 0, 48));
    EXPECT_OK(cardlessCopyBuffer(a, 8, a, 0, 32)); // overlaps
    EXPECT_OK(cardlessFillBuffer(b, 0, 4, 200));
    EXPECT_OK(cardlessReadBuffer(b, 0, 64, back));
    EXPECT_EQ(back[0], 200);
    EXPECT_EQ(back[4], 0);
    EXPECT(!memcmp(back + 16, bytes, 48));
    EXPECT_OK(cardlessReadBuffer(a, 0, 64, back));
    EXPECT(!memcmp(back + 8, bytes, 32));
    EXPECT_ERROR(cardlessFillBuffer(a, 60, 5, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessFillBuffer(a, ~(size_t)0, 2, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessWriteBuffer(a, 0, 64, (void *)16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessReadBuffer(a, 0, 64, (void *)16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessBufferCreate(&b, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessBufferCreate(&b, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_OK(cardlessBufferDestroy(a));
    EXPECT_ERROR(cardlessBufferDestroy(a), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cardlessTextureDestroy((cardlessTexture)b), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cardlessFillBuffer((cardlessBuffer)0x1234, 0, 1, 0), CUDA_ERROR_INVALID_HANDLE);
}

// Both directions take host memory only, with and without protection keys.
TEST(device_pointers)
{
    CUdeviceptr device, managed;
    void *host;
    test_context();
    cardlessBuffer a = virtual_buffer(4096);
    MUST(cuMemAlloc(&device, 4096));
    MUST(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemHostAlloc(&host, 4096, 0));
    void *const bytes = (void *)(uintptr_t)device;
    EXPECT_MESSAGE(cardlessWriteBuffer(a, 0, 64, bytes), CUDA_ERROR_INVALID_VALUE,
                   "are device memory");
    EXPECT_MESSAGE(cardlessReadBuffer(a, 0, 64, bytes), CUDA_ERROR_INVALID_VALUE,
                   "are device memory");
    EXPECT_OK(cardlessReadBuffer(a, 0, 4096, host));
    EXPECT_OK(cardlessWriteBuffer(a, 0, 4096, host));
    EXPECT_OK(cardlessReadBuffer(a, 0, 4096, (void *)(uintptr_t)managed));
    EXPECT_OK(cardlessWriteBuffer(a, 0, 4096, (void *)(uintptr_t)managed));
}

// Sizes just below 2^64, which overflow when they are rounded up to pages.
static void refuse_huge_buffers(const char *personality)
{
    test_setting("CARDLESS_PERSONALITY", personality);
    MUST(cuInit(0));
    static const size_t sizes[] = {SIZE_MAX,       SIZE_MAX - 81,   SIZE_MAX - 511,
                                   SIZE_MAX - 512, SIZE_MAX - 4095, SIZE_MAX - (2 << 20),
                                   SIZE_MAX / 2};
    cardlessBuffer b, small = virtual_buffer(64);
    MUST(cardlessFillBuffer(small, 0, 64, 7));
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EXPECT_ERROR(cardlessBufferCreate(&b, sizes[i]), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_ERROR(cardlessBufferResize(small, sizes[i]), CUDA_ERROR_OUT_OF_MEMORY);
    }
    EXPECT_EQ(byte_of(small, 63), 7);
    EXPECT_ERROR(cardlessFillBuffer(small, 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(huge_buffers_manual)
{
    refuse_huge_buffers("manual");
}

TEST(huge_buffers_driver)
{
    refuse_huge_buffers("driver-580");
}

// Takes the right to access device memory away. Returns false if there is no device memory.
static bool withdraw_device_memory(void)
{
    char line[512];
    bool any = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long first, end;
        if ((strstr(line, "memfd:cardless-arena") || strstr(line, "memfd:cardless-memory")) &&
            sscanf(line, "%lx-%lx", &first, &end) == 2)
            any |= !mprotect((void *)first, end - first, PROT_NONE);
    }
    if (maps)
        fclose(maps);
    return any;
}

// If a command faults, the call that runs it should fail. The process should not end.
TEST(commands_that_fault)
{
    MUST(cuInit(0));
    cardlessBuffer b = virtual_buffer(8 << 20);
    EXPECT(withdraw_device_memory());
    MUST(cardlessFillBuffer(b, 0, 8 << 20, 1));
    EXPECT_ERROR(cardlessFinish(), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cardlessFinish());
    MUST(cardlessFillBuffer(b, 0, 8 << 20, 1));
    EXPECT_ERROR(cardlessQuery(), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cardlessQuery());
}

TEST(clock)
{
    uint64_t issued = 9, done = 9;
    MUST(cuInit(0));
    cardlessBuffer b = virtual_buffer(64);
    EXPECT_OK(cardlessGetClock(&issued, &done));
    EXPECT_EQ(issued, 0);
    EXPECT_EQ(done, 0);
    EXPECT_OK(cardlessFillBuffer(b, 0, 64, 1));
    EXPECT_OK(cardlessFillBuffer(b, 0, 64, 2));
    EXPECT_OK(cardlessGetClock(&issued, &done));
    EXPECT_EQ(issued, 2);
    EXPECT_EQ(done, 0); // no call has waited for them yet
    EXPECT_OK(cardlessFinish());
    EXPECT_OK(cardlessGetClock(NULL, &done));
    EXPECT_EQ(done, 2);
    EXPECT_OK(cardlessFillBuffer(b, 0, 64, 3));
    EXPECT_OK(cardlessBufferDestroy(b)); // issued commands keep the bytes
    EXPECT_OK(cardlessQuery());
}

TEST(textures)
{
    static unsigned char texels[8 * 4 * 2 * 16], back[sizeof texels];
    static const float red[] = {1, 0, 0, 1};
    MUST(cuInit(0));
    cardlessTexture t, u;
    cardlessTextureDesc d = {CARDLESS_TEXTURE_3D, 8, 4, 2, 0, 3, CU_AD_FORMAT_FLOAT, 4};
    cardlessBox corner = {4, 2, 1, 4, 2, 1}, one = {7, 3, 1, 1, 1, 1};
    for (unsigned i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 7 + 1);
    EXPECT_OK(cardlessTextureCreate(&t, &d));
    EXPECT_OK(cardlessTextureCreate(&u, &d));
    EXPECT_OK(cardlessWriteTexture(t, 0, NULL, texels));
    EXPECT_OK(cardlessReadTexture(t, 0, NULL, back));
    EXPECT(!memcmp(back, texels, sizeof back));
    EXPECT_OK(cardlessFillTexture(t, 0, &corner, red));
    EXPECT_OK(cardlessReadTexture(t, 0, &one, back));
    EXPECT(!memcmp(back, red, sizeof red));
    EXPECT_OK(cardlessCopyTexture(u, 1, 0, 0, 0, t, 0, &corner)); // 4x2x1 is the whole of level 1
    EXPECT_OK(cardlessReadTexture(u, 1, NULL, back));
    EXPECT(!memcmp(back + 7 * 16, red, sizeof red));
    EXPECT_ERROR(cardlessCopyTexture(u, 2, 0, 0, 0, t, 0, &corner), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cardlessCopyTexture(t, 0, 5, 2, 1, t, 0, &one));
    EXPECT_ERROR(cardlessCopyTexture(t, 0, 4, 2, 1, t, 0, &corner),
                 CUDA_ERROR_INVALID_VALUE); // source and destination overlap
    EXPECT_ERROR(cardlessReadTexture(t, 3, NULL, back), CUDA_ERROR_INVALID_VALUE);
    corner.width = ~0u;
    EXPECT_ERROR(cardlessFillTexture(t, 0, &corner, red), CUDA_ERROR_INVALID_VALUE);
    d.levels = 9;
    EXPECT_ERROR(cardlessTextureCreate(&u, &d), CUDA_ERROR_INVALID_VALUE);
    d = (cardlessTextureDesc){CARDLESS_TEXTURE_2D, 8, 8, 1, 0, 1, CU_AD_FORMAT_FLOAT, 4};
    EXPECT_ERROR(cardlessTextureCreate(&u, &d),
                 CUDA_ERROR_INVALID_VALUE); // a 2D texture has no depth
    d = (cardlessTextureDesc){CARDLESS_TEXTURE_CUBE, 8, 9, 0, 0, 1, CU_AD_FORMAT_FLOAT, 4};
    EXPECT_ERROR(cardlessTextureCreate(&u, &d), CUDA_ERROR_INVALID_VALUE);
    d = (cardlessTextureDesc){CARDLESS_TEXTURE_2D, 8, 8, 0, 0, 1, CU_AD_FORMAT_FLOAT, 3};
    EXPECT_ERROR(cardlessTextureCreate(&u, &d), CUDA_ERROR_INVALID_VALUE);
}

// A box must lie inside its level in every dimension.
TEST(boxes)
{
    enum { WIDTH = 8, HEIGHT = 4, DEPTH = 2 };
    static unsigned char texels[(WIDTH + 1) * (HEIGHT + 1) * (DEPTH + 1) * 4];
    const unsigned extents[3] = {WIDTH, HEIGHT, DEPTH};
    MUST(cuInit(0));
    cardlessTexture t = virtual_texture(CARDLESS_TEXTURE_3D, WIDTH, HEIGHT, DEPTH, 0, 2);
    for (unsigned axis = 0; axis < 3; axis++) {
        const struct {
            unsigned at, extent;
        } bad[] = {{0, extents[axis] + 1},
                   {1, extents[axis]},
                   {extents[axis], 1},
                   {extents[axis] + 1, 1},
                   {~0u, 2},
                   {1, ~0u},
                   {0, 0}};
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            unsigned at[3] = {0, 0, 0}, extent[3] = {1, 1, 1};
            at[axis] = bad[i].at;
            extent[axis] = bad[i].extent;
            cardlessBox box = {at[0], at[1], at[2], extent[0], extent[1], extent[2]},
                        good = {0, 0, 0, extent[0], extent[1], extent[2]};
            EXPECT_ERROR(cardlessReadTexture(t, 0, &box, texels), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cardlessWriteTexture(t, 0, &box, texels), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cardlessFillTexture(t, 0, &box, texels), CUDA_ERROR_INVALID_VALUE);
            EXPECT_ERROR(cardlessCopyTexture(t, 1, at[0], at[1], at[2], t, 0, &good),
                         CUDA_ERROR_INVALID_VALUE);
        }
    }
    EXPECT_OK(cardlessReadTexture(t, 0, &(cardlessBox){0, 0, 0, WIDTH, HEIGHT, DEPTH}, texels));
    EXPECT_OK(cardlessReadTexture(t, 0, &(cardlessBox){WIDTH - 1, HEIGHT - 1, DEPTH - 1, 1, 1, 1},
                                  texels));
}

// New objects should be zero, even if they reuse memory.
TEST(new_objects)
{
    static unsigned char bytes[1 << 20];
    test_context();
    for (size_t size = 512; size <= sizeof bytes; size *= 4) {
        CUdeviceptr p[4];
        for (int i = 0; i < 4; i++) {
            MUST(cuMemAlloc(&p[i], size));
            MUST(cuMemsetD8(p[i], 0xee, size));
        }
        for (int i = 0; i < 4; i++)
            MUST(cuMemFree(p[i]));
        for (int i = 0; i < 4; i++) {
            EXPECT_OK(cardlessReadBuffer(virtual_buffer(size), 0, size, bytes));
            size_t zeros = 0;
            while (zeros < size && !bytes[zeros])
                zeros++;
            EXPECT_EQ(zeros, size);
        }
    }
}

struct host_calls {
    cardlessBuffer buffer;
    CUresult finish, read;
};

static void wait_inside(void *arg)
{
    struct host_calls *c = arg;
    unsigned char byte;
    c->finish = cardlessFinish();
    c->read = cardlessReadBuffer(c->buffer, 0, 1, &byte);
}

// A host function must not make calls. This one would wait for work that waits for its own stream.
TEST(waiting_in_a_host_function)
{
    test_context();
    struct host_calls c = {
        .buffer = virtual_buffer(64), .finish = CUDA_ERROR_UNKNOWN, .read = CUDA_ERROR_UNKNOWN};
    CUstream s = stream();
    CUgraphicsResource r = registered(c.buffer, 0);
    EXPECT_OK(cuGraphicsMapResources(1, &r, s));
    atomic_uint *word = test_hold(s);
    EXPECT_OK(cuLaunchHostFunc(s, wait_inside, &c));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, s));
    EXPECT_OK(cardlessFillBuffer(c.buffer, 0, 64, 1));
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_ERROR(c.finish, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_ERROR(c.read, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(byte_of(c.buffer, 63), 1);
}

// Large objects use host memory only for the pages that are accessed.
TEST(large_objects)
{
    cardlessTextureDesc d = {CARDLESS_TEXTURE_2D_ARRAY,  16384, 16384, 0, 2, 1,
                             CU_AD_FORMAT_UNSIGNED_INT8, 4};
    cardlessBox corner = {0, 0, 0, 1, 1, 1}, other = {16383, 16383, 1, 1, 1, 1};
    unsigned char texel[4] = {1, 2, 3, 4}, got[4];
    cardlessTexture t;
    MUST(cuInit(0));
    long before = touched_KiB();
    for (int i = 0; i < 2; i++) { // the second time they reuse the first ones' memory
        cardlessBuffer b = virtual_buffer((size_t)3 << 30);
        EXPECT_OK(cardlessTextureCreate(&t, &d));
        EXPECT_OK(cardlessFillTexture(t, 0, &corner, texel));
        EXPECT_OK(cardlessReadTexture(t, 0, &corner, got));
        EXPECT_EQ(got[3], 4);
        EXPECT_OK(cardlessReadTexture(t, 0, &other, got));
        EXPECT_EQ(got[3], 0);
        EXPECT(touched_KiB() - before < 64 << 10);
        EXPECT_OK(cardlessTextureDestroy(t));
        EXPECT_OK(cardlessBufferDestroy(b));
    }
    EXPECT_OK(cardlessTextureCreate(&t, &d));
    EXPECT_OK(cardlessReadTexture(t, 0, &corner, got));
    EXPECT_EQ(got[3], 0);
}

TESTS(CASE(large_objects), CASE(lookup), CASE(buffers), CASE(device_pointers), CASE(clock),
      CASE(textures), CASE(boxes), CASE(new_objects), CASE(waiting_in_a_host_function),
      CASE(huge_buffers_manual), CASE(huge_buffers_driver), CASE(commands_that_fault))
