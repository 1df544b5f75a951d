// SPDX-License-Identifier: MIT
// Physical memory that is shared with another process, or exported as a dma-buf.
#include <fcntl.h>
#include <sys/eventfd.h>

#include "vmm.h"

// The second process: takes the descriptor, checks the bytes, and writes an answer. Returns the
// exit code.
static int second_process(int fd)
{
    CUmemGenericAllocationHandle h;
    unsigned word = 0;
    test_context();
    EXPECT_ERROR(
        cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_FABRIC),
        CUDA_ERROR_NOT_SUPPORTED);
    MUST(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd); // "the descriptor stays the program's"
    CUdeviceptr va = reserve(4 * G);
    EXPECT_ERROR(cuMemMap(va, 4 * G, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    MUST(cuMemMap(va, 2 * G, 0, h, 0));
    MUST(allow(va, 2 * G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    EXPECT_OK(cuMemcpyDtoH(&word, va + 2 * G - 4, 4));
    EXPECT_EQ(word, 0x600df00d);
    EXPECT_OK(cuMemsetD32(va, 0xc0ffee, 1));
    EXPECT_OK(cuCtxSynchronize());
    fflush(stdout);
    return test_failures > 0;
}

TEST(other_process)
{
    int fd = -1, status;
    unsigned word = 0;
    test_context();
    CUmemGenericAllocationHandle h = create(2 * G, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUdeviceptr va = reserve(2 * G);
    MUST(cuMemMap(va, 2 * G, 0, h, 0));
    MUST(allow(va, 2 * G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    MUST(cuMemsetD32(va, 0x600df00d, 2 * G / 4));
    MUST(cuCtxSynchronize());
    MUST(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", dup(fd)); // without FD_CLOEXEC
        execl("/proc/self/exe", "test_vmm_export", "--second", number, (char *)NULL);
        _exit(127);
    }
    close(fd);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_OK(cuMemcpyDtoH(&word, va, 4));
    EXPECT_EQ(word, 0xc0ffee);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(export_not_declared)
{
    int fd = -77;
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0);
    EXPECT_ERROR(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(fd, -77);
    EXPECT_DIAGNOSTIC(M13);
}

TEST(import_not_memory)
{
    CUmemGenericAllocationHandle h = 77;
    int fd = eventfd(0, 0);
    test_context();
    EXPECT_ERROR(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(M12);
    EXPECT_EQ(fcntl(fd, F_GETFD), 0); // the program still owns it
    EXPECT_ERROR(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)-1,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_NONE),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(h, 77);
    close(fd);
}

TEST(import_pool)
{
    CUmemGenericAllocationHandle h = 77;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool;
    int fd;
    test_context();
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_ERROR(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_DIAGNOSTIC(M12);
    EXPECT_EQ(h, 77);
    close(fd);
    EXPECT_OK(cuMemPoolDestroy(pool));
}

// A dma-buf of 1 MiB of device memory at `original`, imported as external memory: the same bytes at
// another address.
static void import_back(int fd, CUdeviceptr original)
{
    CUexternalMemory memory;
    CUdeviceptr mapped;
    unsigned word = 0;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, .handle.fd = fd, .size = MIB};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.offset = 4096, .size = MIB - 4096};
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image = {
        .arrayDesc = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, .numLevels = 1};
    CUmipmappedArray mipmap;
    MUST(cuImportExternalMemory(&memory, &desc)); // now the driver owns fd
    MUST(cuExternalMemoryGetMappedBuffer(&mapped, memory, &buffer));
    MUST(cuMemsetD32(mapped, 0x12345678, 1));
    EXPECT_OK(cuMemcpyDtoH(&word, original + 4096, 4));
    EXPECT_EQ(word, 0x12345678);
    MUST(cuMemsetD32(original + MIB - 4, 0x9abcdef0, 1));
    EXPECT_OK(cuMemcpyDtoH(&word, mapped + MIB - 4096 - 4, 4));
    EXPECT_EQ(word, 0x9abcdef0);
    EXPECT_ERROR(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &image),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuMemFree(mapped));
    EXPECT_OK(cuDestroyExternalMemory(memory));
}

TEST(dma_buf)
{
    int fd = -77;
    static char pages[8192] __attribute__((aligned(4096)));
    const CUmemRangeHandleType type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    CUdeviceptr p;
    test_context();
    MUST(cuMemAlloc(&p, 4 * MIB));
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 4096, (CUmemRangeHandleType)2, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 0, type, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 5000, type, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p + 512, 4096, type, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 4096, type, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(fd, -77);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 4096, type, 1), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 8 * MIB, type, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, UINT64_MAX & ~UINT64_C(4095), type, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, (uintptr_t)pages, 4096, type, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(fd, -1);
    if (access("/dev/udmabuf", R_OK | W_OK)) {
        EXPECT_ERROR(cuMemGetHandleForAddressRange(&fd, p, 4096, type, 0),
                     CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(fd, -1);
        return;
    }
    MUST(cuMemsetD8(p, 0x5a, 4 * MIB));
    MUST(cuCtxSynchronize());
    MUST(cuMemGetHandleForAddressRange(&fd, p + MIB, MIB, type, 0));
    EXPECT_EQ(lseek(fd, 0, SEEK_END), MIB);
    unsigned char *bytes = mmap(NULL, MIB, PROT_READ, MAP_SHARED, fd, 0);
    EXPECT(bytes != MAP_FAILED && bytes[MIB - 1] == 0x5a);
    munmap(bytes, MIB);
    import_back(fd, p + MIB);
    EXPECT_OK(cuMemFree(p));
}

static const struct test_case cases[] = {
    CASE(other_process), CASE(export_not_declared), CASE(import_not_memory), CASE(import_pool),
    CASE(dma_buf),
};

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--second"))
        return second_process(atoi(argv[2]));
    return test_main(cases, (int)(sizeof cases / sizeof *cases), argc, argv);
}
