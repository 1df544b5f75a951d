// SPDX-License-Identifier: MIT
// Copies between linear memory: runs of bytes, boxes, ranges, overlap, contexts, invalid host
// pointers.
#include <pthread.h>

#include "../harness.h"

enum { SIZE = 8192 };
static unsigned char a[SIZE], b[SIZE], want[SIZE];

static uint32_t seed = 1;
static unsigned below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void pattern(unsigned char *p, unsigned salt)
{
    for (unsigned i = 0; i < SIZE; i++)
        p[i] = (unsigned char)(i * 7 + (i >> 8) + salt);
}

static CUdeviceptr fresh(void)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAlloc(&p, SIZE));
    MUST(cuMemsetD8(p, 0, SIZE));
    pattern(a, 3);
    return p;
}

TEST(round_trip)
{
    CUdeviceptr p = fresh(), q;
    MUST(cuMemAlloc(&q, SIZE));
    EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
    EXPECT_OK(cuMemcpyDtoD(q, p, SIZE));
    EXPECT_OK(cuMemcpyDtoH(b, q, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
    pattern(a, 9);
    EXPECT_OK(cuMemcpyHtoDAsync(p, a, SIZE, NULL));
    memset(a, 0, SIZE); // the program may reuse pageable memory when the call returns
    EXPECT_OK(cuMemcpyDtoDAsync(q, p, SIZE, NULL));
    EXPECT_OK(cuMemcpyDtoHAsync(b, q, SIZE, NULL));
    EXPECT_OK(cuCtxSynchronize());
    pattern(a, 9);
    EXPECT(!memcmp(a, b, SIZE));
}

TEST(unified)
{
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemcpy(p, (CUdeviceptr)(uintptr_t)a, SIZE));
    EXPECT_OK(cuMemcpy((CUdeviceptr)(uintptr_t)b, p, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
    memset(b, 0, SIZE);
    EXPECT_OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)b, (CUdeviceptr)(uintptr_t)a, SIZE, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT(!memcmp(a, b, SIZE));
}

TEST(device_arguments)
{
    CUdeviceptr p = fresh();
    EXPECT_ERROR(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)b, a, 4),
                 CUDA_ERROR_INVALID_VALUE); // host memory as device memory
    EXPECT_ERROR(cuMemcpyDtoH(b, (CUdeviceptr)(uintptr_t)a, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyDtoD(p, 0, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyHtoD(p, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyDtoD(0, 0, 0));
    EXPECT_OK(cuMemcpyHtoD(p, NULL, 0));
    EXPECT_ERROR(cuMemcpyHtoDAsync(p, a, 4, (CUstream)(uintptr_t)0x1234567),
                 CUDA_ERROR_INVALID_HANDLE);
}

TEST(ranges)
{
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemcpyHtoD(p + SIZE - 1, a, 1));
    EXPECT_ERROR(cuMemcpyHtoD(p + SIZE - 1, a, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyDtoH(b, p + SIZE, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyDtoD(p, p + 1, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    MUST(cuMemFree(p));
    EXPECT_ERROR(cuMemcpyDtoH(b, p, 1), CUDA_ERROR_INVALID_VALUE);
}

// The result is that of a copy through a buffer.
TEST(overlap)
{
    CUdeviceptr p = fresh();
    for (unsigned i = 0; i < 200; i++) {
        unsigned n = 1 + below(SIZE / 2), from = below(SIZE - n), to = below(SIZE - n);
        MUST(cuMemcpyHtoD(p, a, SIZE));
        memcpy(want, a, SIZE);
        memmove(want + to, want + from, n);
        EXPECT_OK(cuMemcpyDtoD(p + to, p + from, n));
        MUST(cuMemcpyDtoH(b, p, SIZE));
        EXPECT(!memcmp(b, want, SIZE));
    }
}

TEST(random_boxes)
{
    CUdeviceptr p = fresh();
    for (unsigned i = 0; i < 300; i++) {
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = a,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = p};
        c.WidthInBytes = 1 + below(40), c.Height = 1 + below(6), c.Depth = 1 + below(4);
        c.srcXInBytes = below(8), c.srcY = below(3), c.srcZ = below(2);
        c.dstXInBytes = below(8), c.dstY = below(3), c.dstZ = below(2);
        c.srcPitch = c.srcXInBytes + c.WidthInBytes + below(16),
        c.srcHeight = c.srcY + c.Height + below(3);
        c.dstPitch = c.dstXInBytes + c.WidthInBytes + below(16),
        c.dstHeight = c.dstY + c.Height + below(3);
        MUST(cuMemsetD8(p, 0, SIZE));
        memset(want, 0, SIZE);
        for (size_t z = 0; z < c.Depth; z++)
            for (size_t y = 0; y < c.Height; y++)
                for (size_t x = 0; x < c.WidthInBytes; x++)
                    want[((z + c.dstZ) * c.dstHeight + y + c.dstY) * c.dstPitch + x +
                         c.dstXInBytes] = a[((z + c.srcZ) * c.srcHeight + y + c.srcY) * c.srcPitch +
                                            x + c.srcXInBytes];
        EXPECT_OK(i & 1 ? cuMemcpy3D(&c) : cuMemcpy3DAsync(&c, NULL));
        MUST(cuMemcpyDtoH(b, p, SIZE));
        EXPECT(!memcmp(b, want, SIZE));
    }
}

TEST(box_arguments)
{
    CUdeviceptr p = fresh();
    const CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = a,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = p,
                                .dstPitch = 64,
                                .WidthInBytes = 32,
                                .Height = 4};
    CUDA_MEMCPY2D c = good;
    EXPECT_OK(cuMemcpy2D(&c));
    EXPECT_OK(cuMemcpy2DUnaligned(&c));
    EXPECT_ERROR(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
    c.srcPitch = 31;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstXInBytes = 33;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstMemoryType = 5;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.Height = 0; // nothing to copy: the rest is not checked
    EXPECT_OK(cuMemcpy2D(&c));
    c = good, c.dstY = SIZE;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstY = SIZE_MAX;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
}

// In memory that cuMemMap has mapped, the driver checks a box as if x and y were 0, and treats any
// memory type as device memory.
TEST(positions_in_mapped_memory)
{
    enum { PAGE = 2 << 20 };
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle page;
    CUdeviceptr p;
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUdeviceptr plain = fresh();
    MUST(cuMemAddressReserve(&p, PAGE, 0, 0, 0));
    MUST(cuMemCreate(&page, PAGE, &prop, 0));
    MUST(cuMemMap(p, PAGE, 0, page, 0));
    MUST(cuMemSetAccess(p, PAGE, &access, 1));
    MUST(cuMemcpyHtoD(p, a, SIZE));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p + 256,
                       .srcPitch = 24,
                       .srcXInBytes = 16,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = b,
                       .dstPitch = 16,
                       .WidthInBytes = 16,
                       .Height = 4};
    EXPECT_OK(cuMemcpy2D(&c)); // x + width is more than the pitch
    for (unsigned y = 0; y < 4; y++)
        EXPECT(!memcmp(b + y * 16, a + 256 + 16 + y * 24, 16));
    c.srcXInBytes = (size_t)-8, c.srcY = SIZE_MAX, c.srcMemoryType = 5;
    EXPECT_OK(cuMemcpy2D(&c));
    for (unsigned y = 0; y < 4; y++)
        EXPECT(!memcmp(b + y * 16, a + 256 - 24 - 8 + y * 24, 16));
    c.srcMemoryType = CU_MEMORYTYPE_UNIFIED, c.srcXInBytes = (size_t)(uintptr_t)b - (size_t)p;
    EXPECT_ERROR(cuMemcpy2D(&c),
                 CUDA_ERROR_INVALID_VALUE); // moved into the program's own memory
    c.srcXInBytes = (size_t)-8, c.srcDevice = p + PAGE - 64;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE); // the box does not fit at the address
    c.srcDevice = plain + 256;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
}

// An invalid host pointer should cause an error, not a crash, and the context should stay usable.
TEST(host_fault)
{
    CUdeviceptr p = fresh();
    long page = sysconf(_SC_PAGESIZE);
    char *m =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(m != MAP_FAILED);
    mprotect(m + page, (size_t)page, PROT_NONE);
    EXPECT_OK(cuMemcpyHtoD(p, m, (size_t)page));
    EXPECT_ERROR(cuMemcpyHtoD(p, m + page - 8, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyDtoH(m + page - 8, p, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyHtoD(p, (void *)(uintptr_t)16, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyHtoD(p, a, 16));
    EXPECT_OK(cuCtxSynchronize());
}

static void block_all_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
}

static void *fault_blocked(void *context)
{
    static const size_t sizes[] = {4, 64, 4096, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20};
    CUdeviceptr p;
    CUstream stream;
    sigset_t now;
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&p, 1 << 20));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    char *bad = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    block_all_signals();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EXPECT_ERROR(cuMemcpyHtoD(p, bad, sizes[i]), CUDA_ERROR_INVALID_VALUE);
        EXPECT_ERROR(cuMemcpyDtoH(bad, p, sizes[i]), CUDA_ERROR_INVALID_VALUE);
        EXPECT_ERROR(cuMemcpyHtoDAsync(p, bad, sizes[i], stream), CUDA_ERROR_INVALID_VALUE);
        EXPECT_OK(cuCtxSynchronize());
    }
    EXPECT_EQ(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    EXPECT(sigismember(&now, SIGSEGV));
    return NULL;
}

// The mask is read before the first copy of a thread.
TEST(host_fault_blocked)
{
    pthread_t thread;
    CUcontext context = test_context();
    EXPECT_EQ(pthread_create(&thread, NULL, fault_blocked, context), 0);
    pthread_join(thread, NULL);
}

// And again after 256 KiB, where each copy counts as 1 KiB more than its size.
TEST(host_fault_blocked_later)
{
    CUdeviceptr p = fresh();
    EXPECT_OK(cuMemcpyHtoD(p, a, 4));
    block_all_signals();
    for (int i = 0; i < 256; i++)
        EXPECT_OK(cuMemcpyHtoD(p, a, 4));
    EXPECT_ERROR(cuMemcpyHtoD(p, (void *)(uintptr_t)16, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuCtxSynchronize());
}

TEST(contexts)
{
    CUdeviceptr p = fresh(), q;
    CUcontext first, second;
    MUST(cuCtxGetCurrent(&first));
    MUST(cuCtxCreate(&second, NULL, 0, 0));
    MUST(cuMemAlloc(&q, SIZE));
    MUST(cuMemcpyHtoD(p, a, SIZE));
    EXPECT_OK(cuMemcpyPeer(q, second, p, first, SIZE));
    MUST(cuMemcpyDtoH(b, q, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
    EXPECT_OK(cuMemcpyPeerAsync(q, NULL, p, NULL, SIZE, NULL));
    MUST(cuCtxDestroy(second));
    MUST(cuCtxSetCurrent(first));
    EXPECT_ERROR(cuMemcpyPeer(p, second, p, first, 16), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuMemcpyPeer(p, first, p, (CUcontext)(uintptr_t)0x1234567, 16),
                 CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuMemcpyDtoH(b, q, 16), CUDA_ERROR_INVALID_VALUE); // freed with its context
}

// A mapped external buffer in another context, as recorded on an H100 (driver 580): every copy
// reaches it, a fill does not, and it has no address range.
TEST(mapped_buffer_in_other_context)
{
    enum { FILE_SIZE = 1 << 21 };
    CUexternalMemory memory;
    CUcontext other;
    CUdeviceptr p, q, base = 1;
    size_t size = 1;
    test_context();
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = memfd_create("buffer", MFD_CLOEXEC),
                                             .size = FILE_SIZE};
    EXPECT(desc.handle.fd >= 0 && !ftruncate(desc.handle.fd, FILE_SIZE));
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = FILE_SIZE};
    MUST(cuImportExternalMemory(&memory, &desc));
    MUST(cuExternalMemoryGetMappedBuffer(&p, memory, &buffer));
    MUST(cuMemsetD8(p, 90, FILE_SIZE));
    MUST(cuCtxSynchronize());
    MUST(cuCtxCreate(&other, NULL, 0, 0));
    MUST(cuMemAlloc(&q, SIZE));
    pattern(a, 5);
    EXPECT_OK(cuMemcpyHtoD(p + SIZE, a, SIZE));
    EXPECT_OK(cuMemcpyDtoD(q, p + SIZE, SIZE));
    EXPECT_OK(cuMemcpyDtoDAsync(p, q, SIZE, NULL));
    EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
    EXPECT_ERROR(cuMemsetD8(p, 3, 64), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8Async(p, 3, 64, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetAddressRange(&base, &size, p), CUDA_ERROR_NOT_FOUND);
    EXPECT_OK(cuMemcpyDtoH(b, p, 1));
    EXPECT(b[0] == a[0]);
}

// The exporter has truncated the file: the error is sticky.
TEST(truncated)
{
    enum { FILE_SIZE = 1 << 21 };
    CUexternalMemory memory;
    CUdeviceptr p;
    test_context();
    int fd = memfd_create("truncated", MFD_CLOEXEC);
    EXPECT(fd >= 0 && !ftruncate(fd, FILE_SIZE));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = dup(fd), .size = FILE_SIZE};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = FILE_SIZE};
    MUST(cuImportExternalMemory(&memory, &desc));
    MUST(cuExternalMemoryGetMappedBuffer(&p, memory, &buffer));
    EXPECT_OK(cuMemcpyHtoD(p + FILE_SIZE - 16, "0123456789abcdef", 16));
    EXPECT(!ftruncate(fd, 0));
    EXPECT_ERROR(cuMemcpyDtoH(b, p + FILE_SIZE - 16, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(round_trip), CASE(unified), CASE(device_arguments), CASE(ranges), CASE(overlap),
      CASE(random_boxes), CASE(box_arguments), CASE(positions_in_mapped_memory), CASE(host_fault),
      CASE(host_fault_blocked), CASE(host_fault_blocked_later), CASE(contexts),
      CASE(mapped_buffer_in_other_context), CASE(truncated))
