// SPDX-License-Identifier: MIT
// Device memory: cuMemAlloc, cuMemAllocPitch, cuMemFree, cuMemGetAddressRange, cuMemGetInfo.
#include "../harness.h"

TEST(alloc_and_free)
{
    CUdeviceptr p, q;
    test_context();
    EXPECT_OK(cuMemAlloc(&p, 1000));
    EXPECT_OK(cuMemAlloc(&q, 1));
    EXPECT_EQ(p % 512, 0);
    EXPECT_EQ(q - p, 1024);
    EXPECT_OK(cuMemFree(q));
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuMemFree(0));
}

TEST(alloc_refused)
{
    CUdeviceptr p = 1;
    size_t free_B, total_B;
    test_context();
    EXPECT_ERROR(cuMemAlloc(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(p, 0);
    EXPECT_OK(cuMemGetInfo(&free_B, &total_B));
    EXPECT_ERROR(cuMemAlloc(&p, total_B + 1), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAlloc(&p, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAlloc(&p, free_B + 1), CUDA_ERROR_OUT_OF_MEMORY);
}

// The card's memory is larger than the host's, but only accessed pages use host memory.
TEST(alloc_nearly_all)
{
    CUdeviceptr p;
    size_t free_B, total_B, now_B;
    test_context();
    EXPECT_OK(cuMemGetInfo(&free_B, &total_B));
    EXPECT(free_B < total_B);
    free_B &= ~(((size_t)32 << 20) - 1);
    EXPECT_OK(cuMemAlloc(&p, free_B));
    EXPECT_OK(cuMemsetD8(p + free_B - 16, 7, 16));
    EXPECT_OK(cuMemGetInfo(&now_B, NULL));
    EXPECT(now_B < (size_t)32 << 20);
    EXPECT_OK(cuMemFree(p));
}

TEST(free_twice)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuMemFree(p));
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

TEST(free_what_is_not_ours)
{
    static char mine[64];
    CUdeviceptr p;
    void *pinned;
    test_context();
    MUST(cuMemAlloc(&p, 4096));
    MUST(cuMemAllocHost(&pinned, 64));
    EXPECT_ERROR(cuMemFree(p + 512), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemFree((CUdeviceptr)(uintptr_t)mine), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemFree((CUdeviceptr)(uintptr_t)pinned), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemFree(~(CUdeviceptr)0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemFreeHost(pinned));
    EXPECT_OK(cuMemFree(p));
}

TEST(pitch)
{
    CUdeviceptr p, base;
    size_t pitch, size;
    test_context();
    EXPECT_OK(cuMemAllocPitch(&p, &pitch, 1025, 3, 4));
    EXPECT_EQ(pitch, 1536);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, p));
    EXPECT_EQ(size, 3 * 1536);
    EXPECT_OK(cuMemFree(p));
    EXPECT_ERROR(cuMemAllocPitch(&p, &pitch, 1025, 3, 5), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocPitch(&p, &pitch, 0, 3, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocPitch(&p, &pitch, 4, 0, 4), CUDA_ERROR_INVALID_VALUE);
}

// 2^32 rows of more than 2^32 bytes: the size overflows 64 bits. By the manual this is out of
// memory.
TEST(pitch_overflow)
{
    CUdeviceptr p;
    size_t pitch;
    test_context();
    EXPECT_ERROR(cuMemAllocPitch(&p, &pitch, (size_t)1 << 32, ((size_t)1 << 32) + 1, 4),
                 CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(p, 0);
}

TEST(address_range)
{
    CUdeviceptr p, base = 1;
    size_t size = 1;
    test_context();
    MUST(cuMemAlloc(&p, 100000));
    EXPECT_OK(cuMemGetAddressRange(&base, &size, p + 99999));
    EXPECT_EQ(base, p);
    EXPECT_EQ(size, 100000);
    EXPECT_OK(cuMemGetAddressRange(NULL, &size, p));
    EXPECT_OK(cuMemGetAddressRange(NULL, NULL, 0x1000));
    EXPECT_ERROR(cuMemGetAddressRange(&base, &size, p + 100000), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(base, 0);
    EXPECT_EQ(size, 0);
    EXPECT_OK(cuMemFree(p));
    EXPECT_ERROR(cuMemGetAddressRange(&base, &size, p), CUDA_ERROR_NOT_FOUND);
}

TEST(info_counts_granules)
{
    CUdeviceptr p, q;
    size_t before, with, both, after;
    test_context();
    EXPECT_OK(cuMemGetInfo(&before, NULL));
    MUST(cuMemAlloc(&p, 1));
    EXPECT_OK(cuMemGetInfo(&with, NULL));
    MUST(cuMemAlloc(&q, (2 << 20) + 1));
    EXPECT_OK(cuMemGetInfo(&both, NULL));
    EXPECT_EQ(before - with, 2 << 20);
    EXPECT_EQ(with - both, 4 << 20);
    EXPECT_OK(cuMemFree(q));
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuMemGetInfo(&after, NULL));
    EXPECT_EQ(before, after);
}

TEST(context_end_frees)
{
    CUcontext c;
    CUdeviceptr p, base;
    size_t size, before, after;
    test_context();
    EXPECT_OK(cuMemGetInfo(&before, NULL));
    MUST(cuCtxCreate(&c, NULL, 0, 0));
    MUST(cuMemAlloc(&p, 8 << 20));
    EXPECT_OK(cuCtxDestroy(c));
    test_context();
    EXPECT_ERROR(cuMemGetAddressRange(&base, &size, p), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemGetInfo(&after, NULL));
    EXPECT_EQ(before, after);
}

TESTS(CASE(alloc_and_free), CASE(alloc_refused), CASE(alloc_nearly_all), CASE(free_twice),
      CASE(free_what_is_not_ours), CASE(pitch), CASE(pitch_overflow), CASE(address_range),
      CASE(info_counts_granules), CASE(context_end_frees))
