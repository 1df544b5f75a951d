// SPDX-License-Identifier: MIT
// Memory, copies, fills and pools of the runtime. Compiled twice: for the legacy default stream and
// for per-thread default streams.
#include "expect.h"

enum { BYTES = 4096 };

// Device memory with the bytes start, start + 1 …
static unsigned char *device_bytes(unsigned char start)
{
    unsigned char host[BYTES];
    void *device;
    for (int i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(start + i);
    RT_MUST(cudaMalloc(&device, BYTES));
    RT_MUST(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
    return device;
}

static unsigned char byte_at(const void *device)
{
    unsigned char byte = 0;
    RT_OK(cudaMemcpy(&byte, device, 1, cudaMemcpyDefault));
    return byte;
}

TEST(allocations)
{
    void *p = &p, *q;
    RT_OK(cudaMalloc(&p, 0));
    EXPECT(!p);
    RT_ERROR(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    p = &p;
    RT_ERROR(cudaMalloc(&p, SIZE_MAX), cudaErrorMemoryAllocation);
    EXPECT(!p);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    RT_OK(cudaMalloc(&p, 100));
    RT_OK(cudaMalloc(&q, 100));
    EXPECT(p && q && p != q);
    RT_ERROR(cudaFree((char *)p + 1), cudaErrorInvalidValue);
    RT_OK(cudaFree(p));
    RT_ERROR(cudaFree(p), cudaErrorInvalidValue);
    RT_OK(cudaFree(q));
    RT_OK(cudaFree(NULL));
}

TEST(pitched)
{
    struct cudaPitchedPtr box = {.xsize = 7};
    size_t pitch;
    void *p = &p;
    RT_OK(cudaMallocPitch(&p, &pitch, 100, 3));
    EXPECT(p && pitch >= 100 && !(pitch % 32));
    RT_OK(cudaMemset2D(p, pitch, 9, 100, 3));
    EXPECT_EQ(byte_at((char *)p + 2 * pitch + 99), 9);
    RT_OK(cudaFree(p));
    RT_OK(cudaMallocPitch(&p, &pitch, 0, 3));
    EXPECT(!p && !pitch);
    RT_ERROR(cudaMallocPitch(&p, NULL, 1, 1), cudaErrorInvalidValue);
    RT_ERROR(cudaMallocPitch(&p, &pitch, SIZE_MAX, 1), cudaErrorInvalidValue);

    RT_ERROR(cudaMalloc3D(&box, (struct cudaExtent){16, SIZE_MAX / 2, 16}),
             cudaErrorMemoryAllocation);
    EXPECT_EQ(box.xsize, 7);
    RT_OK(cudaMalloc3D(&box, (struct cudaExtent){16, 3, 2}));
    EXPECT(box.ptr && box.pitch >= 16);
    EXPECT_EQ(box.xsize, 16);
    EXPECT_EQ(box.ysize, 3);
    RT_OK(cudaFree(box.ptr));
}

TEST(host_memory)
{
    unsigned flags;
    void *p, *q;
    RT_OK(cudaMallocHost(&p, BYTES));
    memset(p, 1, BYTES);
    RT_OK(cudaHostGetFlags(&flags, p));
    EXPECT_EQ(flags, cudaHostAllocMapped);
    RT_OK(cudaHostGetDevicePointer(&q, p, 0));
    EXPECT(p == q);
    RT_ERROR(cudaHostGetDevicePointer(&q, p, 1), cudaErrorInvalidValue);
    EXPECT(!q);
    RT_ERROR(cudaFree(p), cudaErrorInvalidValue);
    RT_OK(cudaFreeHost(p));
    RT_OK(cudaFreeHost(NULL));

    RT_OK(cudaHostAlloc(&p, BYTES, cudaHostAllocWriteCombined | cudaHostAllocPortable));
    RT_OK(cudaHostGetFlags(&flags, p));
    EXPECT_EQ(flags, 7);
    RT_OK(cudaFreeHost(p));
    RT_ERROR(cudaHostAlloc(&p, BYTES, 8), cudaErrorInvalidValue);
    RT_OK(cudaHostAlloc(&p, 0, 8));
    EXPECT(!p);
}

TEST(registrations)
{
    char *pages = mmap(NULL, 3 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RT_OK(cudaHostRegister(pages, BYTES, cudaHostRegisterDefault));
    RT_ERROR(cudaHostRegister(pages, BYTES, 0), cudaErrorHostMemoryAlreadyRegistered);
    RT_OK(cudaHostUnregister(pages));
    RT_ERROR(cudaHostUnregister(pages), cudaErrorHostMemoryNotRegistered);
    RT_ERROR(cudaHostRegister(pages, BYTES, 0x10), cudaErrorInvalidValue);
    // The last page of the address space exists, but not for programs.
    RT_ERROR(cudaHostRegister((void *)~(uintptr_t)0xfff, BYTES, 0), cudaErrorNotSupported);
    RT_ERROR(cudaHostRegister((void *)~(uintptr_t)0xfff, 2 * BYTES, 0), cudaErrorInvalidValue);
    munmap(pages, 3 * BYTES);
}

TEST(pointers)
{
    struct cudaPointerAttributes a;
    unsigned char *device = device_bytes(0);
    void *pinned, *managed;
    RT_MUST(cudaMallocHost(&pinned, BYTES));
    RT_MUST(cudaMallocManaged(&managed, BYTES, cudaMemAttachGlobal));
    RT_OK(cudaPointerGetAttributes(&a, device + 5));
    EXPECT_EQ(a.type, cudaMemoryTypeDevice);
    EXPECT_EQ(a.device, 0);
    EXPECT(a.devicePointer == device + 5 && !a.hostPointer);
    RT_OK(cudaPointerGetAttributes(&a, pinned));
    EXPECT_EQ(a.type, cudaMemoryTypeHost);
    EXPECT(a.devicePointer == pinned && a.hostPointer == pinned);
    RT_OK(cudaPointerGetAttributes(&a, managed));
    EXPECT_EQ(a.type, cudaMemoryTypeManaged);
    RT_OK(cudaPointerGetAttributes(&a, &a));
    EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
    EXPECT_EQ(a.device, cudaInvalidDeviceId);
    EXPECT(!a.devicePointer && a.hostPointer == &a);
    RT_OK(cudaPointerGetAttributes(&a, NULL));
    EXPECT(!a.hostPointer);
    RT_ERROR(cudaPointerGetAttributes(NULL, device), cudaErrorInvalidValue);
}

TEST(directions)
{
    unsigned char host[BYTES], *a = device_bytes(1), *b = device_bytes(2);
    RT_OK(cudaMemcpy(b, a, 1, cudaMemcpyDeviceToDevice));
    EXPECT_EQ(byte_at(b), 1);
    RT_OK(cudaMemcpy(host, b + 1, 1, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host[0], 3);
    host[1] = 77;
    RT_OK(cudaMemcpy(b, host + 1, 1, cudaMemcpyHostToDevice));
    EXPECT_EQ(byte_at(b), 77);
    RT_OK(cudaMemcpy(host + 2, host + 1, 1, cudaMemcpyHostToHost));
    EXPECT_EQ(host[2], 77);
    // Between any pointers, although the name says otherwise.
    RT_OK(cudaMemcpy(b + 1, a, 1, cudaMemcpyHostToHost));
    EXPECT_EQ(byte_at(b + 1), 1);
    RT_ERROR(cudaMemcpy(host, host + 1, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    RT_ERROR(cudaMemcpy(host, b, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    RT_ERROR(cudaMemcpy(b, a, 1, (enum cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpyAsync(b, a, 1, (enum cudaMemcpyKind) - 1, 0),
             cudaErrorInvalidMemcpyDirection);
    RT_OK(cudaMemcpy(b, a, 0, (enum cudaMemcpyKind)5));
    RT_ERROR(cudaMemcpy(b, a, BYTES + 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
}

TEST(rectangles)
{
    unsigned char host[4][8], *a = device_bytes(0);
    RT_OK(cudaMemcpy2D(host, 8, a + 3, 64, 8, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host[0][0], 3);
    EXPECT_EQ(host[3][7], 3 + 3 * 64 + 7);
    RT_ERROR(cudaMemcpy2D(host, 7, a, 64, 8, 4, cudaMemcpyDefault), cudaErrorInvalidPitchValue);
    RT_ERROR(cudaMemcpy2D(host, 8, a, 7, 8, 4, cudaMemcpyDefault), cudaErrorInvalidPitchValue);
    RT_OK(cudaMemcpy2D(host, 0, a + 9, 0, 8, 1, cudaMemcpyDefault));
    EXPECT_EQ(host[0][0], 9);
    RT_OK(cudaMemcpy2D(host, 0, a, 0, 8, 0, cudaMemcpyDefault));
    RT_ERROR(cudaMemcpy2D(host, 8, a, 8, 8, 4, (enum cudaMemcpyKind)6),
             cudaErrorInvalidMemcpyDirection);
    RT_OK(cudaMemcpy2DAsync(a, 16, host, 8, 8, 4, cudaMemcpyHostToDevice, 0));
    EXPECT_EQ(byte_at(a + 16), host[1][0]);
}

TEST(boxes)
{
    unsigned char host[2][3][4] = {0}, *a = device_bytes(0);
    struct cudaMemcpy3DParms p = {
        .srcPtr = {a, 16, 16, 8},
        .srcPos = {1, 2, 3},
        .dstPtr = {host, 4, 4, 3},
        .extent = {4, 3, 2},
        .kind = cudaMemcpyDeviceToHost,
    };
    RT_OK(cudaMemcpy3D(&p));
    EXPECT_EQ(host[0][0][0], (unsigned char)(1 + 2 * 16 + 3 * 16 * 8));
    EXPECT_EQ(host[1][2][3], (unsigned char)(4 + 4 * 16 + 4 * 16 * 8));
    p.dstPtr.pitch = 3;
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
    p.dstPtr.pitch = 4;
    p.dstPtr.ysize = 2;
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
    p.dstPtr.ysize = 3;
    p.dstPtr.ptr = NULL;
    RT_ERROR(cudaMemcpy3DAsync(&p, 0), cudaErrorInvalidValue);
    p.extent.depth = 0;
    RT_OK(cudaMemcpy3D(&p));
    RT_ERROR(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
}

TEST(fills)
{
    unsigned char *a = device_bytes(0);
    RT_OK(cudaMemset(a, 0x12345678, 3));
    EXPECT_EQ(byte_at(a + 2), 0x78);
    EXPECT_EQ(byte_at(a + 3), 3);
    RT_OK(cudaMemset2D(a + 100, 10, 0xaa, 2, 3));
    EXPECT_EQ(byte_at(a + 121), 0xaa);
    EXPECT_EQ(byte_at(a + 122), 122);
    // Two slices of two rows, with a row of gap between them.
    RT_OK(cudaMemset3D((struct cudaPitchedPtr){a + 200, 8, 8, 3}, 0xbb,
                       (struct cudaExtent){4, 2, 2}));
    EXPECT_EQ(byte_at(a + 200 + 8 + 3), 0xbb);
    EXPECT_EQ(byte_at(a + 200 + 16), 216);
    EXPECT_EQ(byte_at(a + 200 + 24), 0xbb);
    EXPECT_EQ(byte_at(a + 200 + 24 + 8 + 4), 236);
    RT_ERROR(cudaMemset3D((struct cudaPitchedPtr){a, 3, 8, 3}, 0, (struct cudaExtent){4, 1, 2}),
             cudaErrorInvalidValue);
    RT_ERROR(cudaMemset3D((struct cudaPitchedPtr){a, 8, 8, 1}, 0, (struct cudaExtent){4, 2, 1}),
             cudaErrorInvalidValue);
    RT_OK(cudaMemset(NULL, 0, 0));
    RT_ERROR(cudaMemset(NULL, 0, 1), cudaErrorInvalidValue);
}

TEST(between_devices)
{
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    struct cudaMemcpy3DPeerParms p = {
        .srcPtr = {a, 16, 16, 4}, .dstPtr = {b, 16, 16, 4}, .extent = {1, 1, 1}};
    RT_OK(cudaMemcpyPeer(b + 8, 0, a, 0, 1));
    EXPECT_EQ(byte_at(b + 8), 1);
    RT_OK(cudaMemcpyPeerAsync(b + 9, 0, a, 0, 1, 0));
    EXPECT_EQ(byte_at(b + 9), 1);
    RT_OK(cudaMemcpy3DPeer(&p));
    EXPECT_EQ(byte_at(b), 1);
    RT_ERROR(cudaMemcpyPeer(b, 0, a, 9, 1), cudaErrorInvalidDevice);
    p.dstDevice = -1;
    RT_ERROR(cudaMemcpy3DPeer(&p), cudaErrorInvalidDevice);
}

TEST(pools)
{
    struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                          .location = {cudaMemLocationTypeDevice, 0}};
    cudaMemPool_t pool, found;
    cudaStream_t stream;
    uint64_t used = 0;
    void *p = &p;
    RT_MUST(cudaStreamCreate(&stream));
    RT_OK(cudaMallocAsync(&p, 0, stream));
    EXPECT(!p);
    RT_OK(cudaMallocAsync(&p, 1000, stream));
    RT_OK(cudaMemsetAsync(p, 5, 1000, stream));
    RT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(byte_at((char *)p + 999), 5);
    RT_OK(cudaFreeAsync(p, stream));
    RT_ERROR(cudaFreeAsync(p, stream), cudaErrorInvalidValue);

    RT_OK(cudaMemPoolCreate(&pool, &properties));
    RT_OK(cudaMallocFromPoolAsync(&p, 1000, pool, stream));
    RT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used >= 1000);
    RT_ERROR(cudaMallocFromPoolAsync(&p, 1000, NULL, stream), cudaErrorInvalidValue);
    RT_OK(cudaDeviceSetMemPool(0, pool));
    RT_OK(cudaDeviceGetMemPool(&found, 0));
    EXPECT(found == pool);
    RT_OK(cudaMemGetDefaultMemPool(&found, &properties.location, properties.allocType));
    EXPECT(found && found != pool);
    RT_OK(cudaMemPoolDestroy(pool));
    properties.location.id = 9;
    RT_ERROR(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidValue);
    RT_ERROR(cudaMemPoolCreate(&pool, NULL), cudaErrorInvalidValue);
}

TEST(batches)
{
    unsigned char *a = device_bytes(1), *b = device_bytes(2);
    void *to[] = {b, b + 10};
    const void *from[] = {a, a + 1};
    const size_t sizes[] = {1, 1};
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    RT_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, cudaStreamPerThread));
    RT_OK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT_EQ(byte_at(b), 1);
    EXPECT_EQ(byte_at(b + 10), 2);
    // Manual: "stream must not be NULL (legacy)". The per-thread form replaces it.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    RT_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, 0));
#else
    RT_ERROR(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, 0), cudaErrorInvalidValue);
#endif
}

// A synchronous call waits for the default stream of its form only.
TEST(default_stream)
{
    unsigned char *a = device_bytes(1);
    cudaStream_t blocking;
    uint32_t *gate;
    RT_MUST(cudaMallocHost((void **)&gate, 4));
    *gate = 0;
    RT_MUST(cudaStreamCreate(&blocking));
    MUST(cuStreamWaitValue32(blocking, (CUdeviceptr)(uintptr_t)gate, 1, 0));
    RT_OK(cudaMemsetAsync(a, 9, 1, blocking));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    EXPECT_EQ(byte_at(a), 1);
    *gate = 1;
#else
    *gate = 1;
    EXPECT_EQ(byte_at(a), 9);
#endif
    RT_OK(cudaStreamSynchronize(blocking));
    EXPECT_EQ(byte_at(a), 9);
}

TESTS(CASE(allocations), CASE(pitched), CASE(host_memory), CASE(registrations), CASE(pointers),
      CASE(directions), CASE(rectangles), CASE(boxes), CASE(fills), CASE(between_devices),
      CASE(pools), CASE(batches), CASE(default_stream))
