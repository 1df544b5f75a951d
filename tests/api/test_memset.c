// SPDX-License-Identifier: MIT
// Memory fills.
#include "../harness.h"

static unsigned char back[4096];

static CUdeviceptr fresh(void)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAlloc(&p, sizeof back));
    MUST(cuMemsetD8(p, 0xee, sizeof back));
    return p;
}

static const unsigned char *read_back(CUdeviceptr p)
{
    MUST(cuMemcpyDtoH(back, p, sizeof back));
    return back;
}

TEST(values)
{
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemsetD8(p + 1, 0x11, 3));
    EXPECT_OK(cuMemsetD16(p + 16, 0x2233, 2));
    EXPECT_OK(cuMemsetD32Async(p + 32, 0x44556677, 2, NULL));
    EXPECT_OK(cuCtxSynchronize());
    const unsigned char *b = read_back(p);
    EXPECT(!memcmp(b, "\xee\x11\x11\x11\xee", 5));
    EXPECT(!memcmp(b + 16, "\x33\x22\x33\x22\xee", 5));
    EXPECT(!memcmp(b + 32, "\x77\x66\x55\x44\x77\x66\x55\x44\xee", 9));
}

TEST(rows)
{
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemsetD2D16(p, 64, 0x0102, 3, 2));
    const unsigned char *b = read_back(p);
    EXPECT(!memcmp(b, "\2\1\2\1\2\1\xee", 7));
    EXPECT(!memcmp(b + 64, "\2\1\2\1\2\1\xee", 7));
    EXPECT_EQ(b[128], 0xee);
}

TEST(nothing)
{
    fresh();
    EXPECT_OK(cuMemsetD8(0, 1, 0));
    EXPECT_OK(cuMemsetD32(1, 1, 0));
    EXPECT_OK(cuMemsetD2D32(0x1000, 1, 1, 0, 4));
}

TEST(alignment)
{
    CUdeviceptr p = fresh();
    EXPECT_ERROR(cuMemsetD16(p + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD32(p + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD2D32(p, 66, 1, 4, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemsetD2D32(p, 66, 1, 4, 1)); // the pitch of a single row does not matter
}

TEST(range)
{
    static char mine[64];
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemsetD8(p, 1, sizeof back));
    EXPECT_ERROR(cuMemsetD8(p, 1, sizeof back + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8(p + sizeof back - 1, 1, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD32(p, 1, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8(0x1000, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8((CUdeviceptr)(uintptr_t)mine, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD2D8(p, 15, 1, 16, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD2D8(p, 1024, 1, 1024, 5), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemsetD2D8(p + 1024, 1024, 1, 1024, 3));
}

// Rows whose addresses exceed 64 bits: the manual does not allow them, as it does not allow any
// rows outside of the memory.
TEST(pitch_wraps)
{
    CUdeviceptr p = fresh();
    EXPECT_ERROR(cuMemsetD2D8(p, SIZE_MAX & ~(size_t)3, 1, 16, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(read_back(p)[0], 0xee);
}

TEST(pitch_wraps_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemsetD2D8(p, SIZE_MAX & ~(size_t)3, 1, 16, 2));
    EXPECT(!memcmp(read_back(p), "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\xee", 17));
}

TEST(bad_stream)
{
    CUdeviceptr p = fresh();
    EXPECT_ERROR(cuMemsetD8Async(p, 1, 16, (CUstream)(uintptr_t)0x1234567),
                 CUDA_ERROR_INVALID_HANDLE);
}

TESTS(CASE(values), CASE(rows), CASE(nothing), CASE(alignment), CASE(range), CASE(pitch_wraps),
      CASE(pitch_wraps_as_the_driver), CASE(bad_stream))
