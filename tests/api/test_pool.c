// SPDX-License-Identifier: MIT
// Memory pools and allocation in stream order.
#include "../harness.h"

enum { BLOCK = 32 << 20 };

static CUmemPoolProps device_props(void)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
}

static CUmemoryPool new_pool(CUmemAllocationHandleType types)
{
    CUmemPoolProps props = device_props();
    CUmemoryPool pool;
    props.handleTypes = types;
    MUST(cuMemPoolCreate(&pool, &props));
    return pool;
}

static cuuint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t v = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, attribute, &v));
    return v;
}

TEST(alloc_and_free)
{
    CUdeviceptr p, q;
    test_context();
    CUmemoryPool pool = new_pool(0);
    EXPECT_OK(cuMemAllocFromPoolAsync(&p, 1000, pool, NULL));
    EXPECT_OK(cuMemAllocFromPoolAsync(&q, 1, pool, NULL));
    EXPECT_EQ(q - p, 1024);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1001);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), BLOCK);
    EXPECT_OK(cuMemsetD8Async(p, 7, 1000, NULL));
    EXPECT_OK(cuMemFreeAsync(p, NULL));
    EXPECT_ERROR(cuMemFreeAsync(p, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemFree(q));
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1001);
    EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST(refused)
{
    CUdeviceptr p = 1;
    test_context();
    CUmemoryPool pool = new_pool(0);
    EXPECT_OK(cuMemAllocAsync(&p, 0, NULL));
    EXPECT_EQ(p, 0);
    EXPECT_ERROR(cuMemAllocAsync(&p, SIZE_MAX, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAllocAsync(&p, (size_t)1 << 40, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAllocFromPoolAsync(&p, 16, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemFreeAsync(0x1000, NULL), CUDA_ERROR_INVALID_VALUE);
    MUST(cuMemPoolDestroy(pool));
    EXPECT_ERROR(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocFromPoolAsync(&p, 16, pool, NULL), CUDA_ERROR_INVALID_VALUE);
}

TEST(create_refused)
{
    CUmemoryPool pool;
    CUmemPoolProps props = device_props();
    test_context();
    props.location.id = 99;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props = device_props();
    props.allocType = 0;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props = device_props();
    props.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props = device_props();
    props.reserved[5] = 1;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
}

TEST(threshold_and_trim)
{
    CUdeviceptr p;
    cuuint64_t keep = UINT64_MAX;
    test_context();
    CUmemoryPool pool = new_pool(0);
    EXPECT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    MUST(cuMemAllocFromPoolAsync(&p, BLOCK + 1, pool, NULL));
    EXPECT_OK(cuMemFreeAsync(p, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * BLOCK);
    EXPECT_OK(cuMemPoolTrimTo(pool, 1));
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), BLOCK);
    EXPECT_OK(cuMemPoolTrimTo(pool, 0));
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
}

TEST(attributes)
{
    int reuse = 0;
    cuuint64_t one = 1;
    test_context();
    CUmemoryPool pool = new_pool(0);
    EXPECT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &reuse));
    EXPECT_EQ(reuse, 1);
    EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    EXPECT_EQ(reuse, 0);
    EXPECT_ERROR(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &one),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPoolGetAttribute(pool, 0, &one), CUDA_ERROR_INVALID_VALUE);
}

TEST(current_pool)
{
    CUmemoryPool standard, now;
    CUdeviceptr p;
    unsigned long long from = 0;
    test_context();
    CUmemoryPool pool = new_pool(0);
    MUST(cuDeviceGetDefaultMemPool(&standard, 0));
    EXPECT_OK(cuDeviceSetMemPool(0, pool));
    MUST(cuMemAllocAsync(&p, 64, NULL));
    EXPECT_OK(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    EXPECT_EQ(from, (uintptr_t)pool);
    EXPECT_OK(cuMemPoolDestroy(pool));
    EXPECT_OK(cuDeviceGetMemPool(&now, 0));
    EXPECT(now == standard);
    EXPECT_OK(cuMemFreeAsync(p, NULL)); // if the pool's handle is destroyed, its allocations remain
    EXPECT_ERROR(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceSetMemPool(0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceSetMemPool(99, pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetMemPool(&now, 99), CUDA_ERROR_INVALID_VALUE);
}

TEST(access)
{
    CUmemAccessDesc d = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags;
    test_context();
    CUmemoryPool pool = new_pool(0);
    EXPECT_OK(cuMemPoolGetAccess(&flags, pool, &d.location));
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_OK(cuMemPoolSetAccess(pool, &d, 1));
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    EXPECT_ERROR(cuMemPoolSetAccess(pool, &d, 1), CUDA_ERROR_NOT_SUPPORTED);
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    EXPECT_ERROR(cuMemPoolSetAccess(pool, &d, 1), CUDA_ERROR_INVALID_DEVICE);
    d.location.id = 99;
    EXPECT_ERROR(cuMemPoolGetAccess(&flags, pool, &d.location), CUDA_ERROR_INVALID_VALUE);
}

TEST(host_pool)
{
    CUmemPoolProps props = device_props();
    CUmemoryPool pool;
    CUdeviceptr p;
    test_context();
    props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL));
    EXPECT_OK(cuMemsetD8(p, 0x33, 4096));
    EXPECT_EQ(((char *)(uintptr_t)p)[4095], 0x33); // the host reaches it too
    EXPECT_OK(cuMemFreeAsync(p, NULL));
}

// The child imports the parent's pool and a pointer into it, and reads and writes through it.
TEST(share_with_another_process)
{
    int fd_pipe[2];
    CUmemPoolPtrExportData data;
    if (pipe(fd_pipe))
        SKIP("no pipe");
    int out_fd = 100; // the number under which the child receives the pool's descriptor
    pid_t child = fork();
    if (!child) {
        CUmemoryPool pool;
        CUdeviceptr p, again;
        unsigned char first = 0;
        char path[64];
        if (read(fd_pipe[0], &data, sizeof data) != (ssize_t)sizeof data)
            _exit(9);
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), out_fd);
        FILE *f = fopen(path, "r+");
        if (!f)
            _exit(TEST_SKIPPED);
        test_context();
        EXPECT_OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fileno(f),
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        EXPECT_OK(cuMemPoolImportPointer(&p, pool, &data));
        EXPECT_OK(cuMemPoolImportPointer(&again, pool, &data));
        EXPECT_EQ(again, p);
        EXPECT_OK(cuMemcpyDtoH(&first, p, 1));
        EXPECT_EQ(first, 0x42);
        EXPECT_OK(cuMemsetD8(p, 0x43, 100));
        EXPECT_ERROR(cuMemAllocFromPoolAsync(&again, 16, pool, NULL), CUDA_ERROR_INVALID_VALUE);
        memset(&data, 0x11, sizeof data);
        EXPECT_ERROR(cuMemPoolImportPointer(&again, pool, &data), CUDA_ERROR_INVALID_VALUE);
        EXPECT_OK(cuMemFree(p));
        EXPECT_OK(cuMemPoolDestroy(pool));
        fflush(stdout);
        _exit(test_failures != 0);
    }
    CUdeviceptr before, p;
    unsigned char first = 0;
    int fd, status;
    test_context();
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    MUST(cuMemAllocFromPoolAsync(&before, 1000, pool, NULL));
    MUST(cuMemAllocFromPoolAsync(&p, 65536, pool, NULL));
    EXPECT_ERROR(cuMemPoolExportPointer(&data, p),
                 CUDA_ERROR_INVALID_VALUE); // the pool is checked first
    MUST(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemPoolExportPointer(&data, p));
    MUST(cuMemsetD8(p, 0x42, 65536));
    dup2(fd, out_fd);
    EXPECT_EQ(write(fd_pipe[1], &data, sizeof data), sizeof data);
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status));
    if (WEXITSTATUS(status) == TEST_SKIPPED)
        SKIP("another process's descriptors cannot be opened here");
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_OK(cuMemcpyDtoH(&first, p, 1));
    EXPECT_EQ(first, 0x43);
}

TEST(import_refused)
{
    CUmemoryPool pool;
    test_context();
    EXPECT_ERROR(cuMemPoolImportFromShareableHandle(&pool, (void *)-1l,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuMemPoolImportFromShareableHandle(&pool, (void *)1l, CU_MEM_HANDLE_TYPE_WIN32, 0),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemPoolImportFromShareableHandle(&pool, (void *)1l,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1),
                 CUDA_ERROR_INVALID_VALUE);
    int plain = new_pool(0) ? memfd_create("plain", MFD_CLOEXEC) : -1;
    EXPECT_EQ(ftruncate(plain, 1 << 20), 0);
    EXPECT_ERROR(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)plain,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)plain,
                                                    (CUmemAllocationHandleType)16, 0),
                 CUDA_ERROR_INVALID_VALUE);
}

// Importing a pool again gives the same handle, which lives until each import has been destroyed.
TEST(imported_twice)
{
    CUmemoryPool exported, first, second;
    CUmemPoolProps props = device_props();
    CUmemAccess_flags access;
    int fd = -1;
    test_context();
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT_OK(cuMemPoolCreate(&exported, &props));
    EXPECT_OK(cuMemPoolExportToShareableHandle(&fd, exported,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_OK(cuMemPoolImportFromShareableHandle(&first, (void *)(intptr_t)fd,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_OK(cuMemPoolImportFromShareableHandle(&second, (void *)(intptr_t)fd,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT(first == second && first != exported);
    EXPECT_OK(cuMemPoolDestroy(first));
    EXPECT_OK(cuMemPoolGetAccess(&access, second, &props.location));
    EXPECT_OK(cuMemPoolDestroy(second));
    EXPECT_ERROR(cuMemPoolDestroy(second), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemPoolImportFromShareableHandle(&second, (void *)(intptr_t)fd,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT(second != first);
    close(fd);
}

// Several calls share one check but return different codes. The one sentence should name the code
// that was returned.
TEST(one_sentence)
{
    CUmemoryPool pool;
    CUmemPoolProps props = device_props();
    CUmemLocation nowhere = {.type = (CUmemLocationType)77, .id = 3},
                  no_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
    test_context();
    props.location = nowhere;
    EXPECT_ONE_SENTENCE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuMemGetMemPool(&pool, &nowhere, CU_MEM_ALLOCATION_TYPE_PINNED),
                        CUDA_ERROR_NOT_SUPPORTED);
    props.location = no_device;
    EXPECT_ONE_SENTENCE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props = device_props();
    props.allocType = CU_MEM_ALLOCATION_TYPE_MAX;
    EXPECT_ONE_SENTENCE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuDeviceGetMemPool(&pool, 99), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuDeviceSetMemPool(99, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuDeviceGetDefaultMemPool(&pool, 99), CUDA_ERROR_INVALID_DEVICE);
}

TESTS(CASE(alloc_and_free), CASE(refused), CASE(create_refused), CASE(threshold_and_trim),
      CASE(attributes), CASE(current_pool), CASE(access), CASE(host_pool),
      CASE(share_with_another_process), CASE(import_refused), CASE(imported_twice),
      CASE(one_sentence))
