// SPDX-License-Identifier: MIT
// Page-locked host memory: allocated by the driver, or registered by the program.
#include "../harness.h"

static char pages[1 << 16] __attribute__((aligned(4096)));

TEST(alloc_and_free)
{
    void *p;
    unsigned flags;
    CUdeviceptr d;
    test_context();
    MUST(cuMemHostAlloc(&p, 10000, CU_MEMHOSTALLOC_PORTABLE));
    memset(p, 7, 10000);
    EXPECT_OK(cuMemHostGetFlags(&flags, (char *)p + 9999));
    EXPECT_EQ(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    EXPECT_OK(cuMemHostGetDevicePointer(&d, (char *)p + 100, 0));
    EXPECT_EQ(d, (uintptr_t)p + 100);
    EXPECT_OK(cuMemFreeHost(p));
    EXPECT_OK(cuMemFreeHost(NULL));
    EXPECT_OK(cuMemHostAlloc(&p, 0, 0));
    EXPECT(p == NULL);
}

TEST(alloc_refused)
{
    void *p = pages;
    test_context();
    EXPECT_ERROR(cuMemHostAlloc(&p, 16, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT(p == NULL);
    EXPECT_ERROR(cuMemHostAlloc(NULL, 16, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocHost(&p, (size_t)1 << 47), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAllocHost(&p, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(free_refused)
{
    void *p;
    CUdeviceptr d;
    test_context();
    MUST(cuMemAllocHost(&p, 8192));
    MUST(cuMemAlloc(&d, 64));
    EXPECT_ERROR(cuMemFreeHost((char *)p + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemFreeHost((void *)(uintptr_t)d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostUnregister(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemFreeHost(p));
    EXPECT_ERROR(cuMemFreeHost(p), CUDA_ERROR_INVALID_VALUE);
}

TEST(device_writes_registered_memory)
{
    CUdeviceptr d;
    test_context();
    EXPECT_OK(cuMemHostRegister(pages + 100, 5000, CU_MEMHOSTREGISTER_DEVICEMAP));
    EXPECT_OK(cuMemHostGetDevicePointer(&d, pages + 100, 0));
    EXPECT_OK(cuMemsetD8(d, 0x5a, 5000));
    EXPECT_EQ(pages[99], 0);
    EXPECT_EQ(pages[100], 0x5a);
    EXPECT_EQ(pages[5099], 0x5a);
    EXPECT_EQ(pages[5100], 0);
    EXPECT_OK(cuMemHostUnregister(pages + 100));
    EXPECT_ERROR(cuMemsetD8(d, 0, 5000), CUDA_ERROR_INVALID_VALUE);
}

TEST(register_overlap)
{
    void *pinned;
    test_context();
    EXPECT_OK(cuMemHostRegister(pages + 4096, 4096, 0));
    EXPECT_ERROR(cuMemHostRegister(pages, 4097, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    EXPECT_OK(cuMemHostRegister(pages, 4096, 0));
    EXPECT_OK(cuMemHostRegister(pages + 8192, 1, 0));
    MUST(cuMemAllocHost(&pinned, 4096));
    EXPECT_ERROR(cuMemHostRegister(pinned, 4096, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(unregister_refused)
{
    test_context();
    MUST(cuMemHostRegister(pages, 8192, 0));
    EXPECT_ERROR(cuMemHostUnregister(pages + 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostUnregister(NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostUnregister(pages + 16384), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    EXPECT_OK(cuMemHostUnregister(pages));
    EXPECT_ERROR(cuMemHostUnregister(pages), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST(register_refused)
{
    test_context();
    EXPECT_ERROR(cuMemHostRegister(pages, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostRegister(pages, 64, 0x10), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostRegister(pages, 64, CU_MEMHOSTREGISTER_IOMEMORY),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemHostRegister((void *)(uintptr_t)-4096, 8192, 0), CUDA_ERROR_INVALID_VALUE);
    char *gone = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone + 32768, 32768);
    EXPECT_ERROR(cuMemHostRegister(gone, 65536, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemHostRegister(gone, 32768, 0));
}

TEST(register_read_only)
{
    test_context();
    char *m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_ERROR(cuMemHostRegister(m, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemHostRegister(m, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
    EXPECT_OK(cuMemHostUnregister(m));
}

// If the program unmaps registered memory, a fill of it should end the context, not the process.
TEST(unmapped_by_the_program)
{
    test_context();
    char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(cuMemHostRegister(m, 4096, 0));
    mprotect(m, 4096, PROT_NONE); // inaccessible, but no other mapping can take its place
    EXPECT_ERROR(cuMemsetD8((CUdeviceptr)(uintptr_t)m, 1, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(alloc_and_free), CASE(alloc_refused), CASE(free_refused),
      CASE(device_writes_registered_memory), CASE(register_overlap), CASE(unregister_refused),
      CASE(register_refused), CASE(register_read_only), CASE(unmapped_by_the_program))
