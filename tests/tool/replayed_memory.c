// SPDX-License-Identifier: MIT
// Threads that allocate, use and free memory of several sizes at the same time. Addresses are used
// again by other threads, with other sizes. The first argument has a letter for each way to
// allocate: threads and rounds take them in turn.
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check_call.h"

enum {
    THREADS = 8,
    ROUNDS = 16,
    KEPT = 3,
    LEAST_B = 4096,
    SIZES = 7,
    MOST_B = 256 << 10,
    PAGE_B = 2 << 20
};

struct memory {
    char way;
    CUdeviceptr at;
    size_t size_B;
    CUmemGenericAllocationHandle handle;
    CUexternalMemory external;
    CUmemoryPool pool;
    CUarray array;
};

static const char *ways;
static CUcontext context;
static pthread_barrier_t start;
static const CUmemAllocationProp device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                           .requestedHandleTypes =
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                           .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

static void map_pages(struct memory *m)
{
    const CUmemAccessDesc access = {device.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    m->size_B = PAGE_B * (1 + m->size_B / LEAST_B % 3);
    CHECK(cuMemCreate(&m->handle, m->size_B, &device, 0));
    CHECK(cuMemAddressReserve(&m->at, m->size_B, 0, 0, 0));
    CHECK(cuMemMap(m->at, m->size_B, 0, m->handle, 0));
    CHECK(cuMemSetAccess(m->at, m->size_B, &access, 1));
}

static void map_buffer(struct memory *m)
{
    int fd;
    CHECK(cuMemCreate(&m->handle, PAGE_B, &device, 0));
    CHECK(
        cuMemExportToShareableHandle(&fd, m->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC import = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = PAGE_B};
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = m->size_B};
    CHECK(cuImportExternalMemory(&m->external, &import));
    CHECK(cuExternalMemoryGetMappedBuffer(&m->at, m->external, &buffer));
}

static void allocate(struct memory *m, CUstream stream)
{
    const CUmemPoolProps pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = device.location};
    const CUDA_ARRAY_DESCRIPTOR array = {64, m->size_B / 256, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    void *host;
    switch (m->way) {
    case 'p':
        CHECK(cuMemAllocAsync(&m->at, m->size_B, stream));
        break;
    case 'q':
        CHECK(cuMemPoolCreate(&m->pool, &pool));
        CHECK(cuMemAllocFromPoolAsync(&m->at, m->size_B, m->pool, stream));
        break;
    case 'm':
        CHECK(cuMemAllocManaged(&m->at, m->size_B, CU_MEM_ATTACH_GLOBAL));
        break;
    case 'h':
        CHECK(cuMemAllocHost(&host, m->size_B));
        m->at = (uintptr_t)host;
        break;
    case 'v':
        map_pages(m);
        break;
    case 'x':
        map_buffer(m);
        break;
    case 'r':
        CHECK(cuArrayCreate(&m->array, &array));
        CHECK(cuMemAlloc(&m->at, m->size_B));
        break;
    default:
        CHECK(cuMemAlloc(&m->at, m->size_B));
        break;
    }
}

static void end(const struct memory *m, CUstream stream)
{
    switch (m->way) {
    case 'p':
        CHECK(cuMemFreeAsync(m->at, stream));
        break;
    case 'q':
        CHECK(cuMemFreeAsync(m->at, stream));
        CHECK(cuMemPoolDestroy(m->pool));
        break;
    case 'h':
        CHECK(cuMemFreeHost((void *)(uintptr_t)m->at));
        break;
    case 'v':
        CHECK(cuMemUnmap(m->at, m->size_B));
        CHECK(cuMemAddressFree(m->at, m->size_B));
        CHECK(cuMemRelease(m->handle));
        break;
    case 'x':
        CHECK(cuMemFree(m->at));
        CHECK(cuDestroyExternalMemory(m->external));
        CHECK(cuMemRelease(m->handle));
        break;
    case 'r':
        CHECK(cuMemFree(m->at));
        CHECK(cuArrayDestroy(m->array));
        break;
    case 'd': // no allocation begins in the middle of a page
        CHECK(cuMemFree(m->at));
        if (cuMemFree(m->at + 64) == CUDA_SUCCESS)
            exit(1);
        break;
    default:
        CHECK(cuMemFree(m->at));
        break;
    }
}

static void use(const struct memory *m, int value, CUstream stream)
{
    const size_t copied_B = m->size_B < MOST_B ? m->size_B : MOST_B;
    uint8_t *data = malloc(copied_B), *back = malloc(copied_B);
    CUdeviceptr first = m->at;
    size_t size_B = m->size_B;
    memset(data, value, copied_B);
    CHECK(cuMemcpyHtoDAsync(m->at, data, copied_B, stream));
    CHECK(cuMemcpyDtoHAsync(back, m->at, copied_B, stream));
    CHECK(cuStreamSynchronize(stream));
    if (m->way != 'h')
        CHECK(cuMemGetAddressRange(&first, &size_B, m->at + m->size_B - 1));
    if (memcmp(data, back, copied_B) || first != m->at || size_B < m->size_B)
        exit(1);
    free(data);
    free(back);
}

static void *run_thread(void *argument)
{
    const unsigned thread = (unsigned)(uintptr_t)argument;
    struct memory kept[KEPT];
    unsigned count = 0;
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct memory m = {.way = ways[(thread + i) % strlen(ways)],
                           .size_B = (size_t)LEAST_B << (thread * 3 + i * 5) % SIZES};
        allocate(&m, stream);
        use(&m, (int)(thread * ROUNDS + i), stream);
        if (i % 3 == 1)
            kept[count++] = m;
        else
            end(&m, stream);
        while (count == KEPT || (count && i + 1 == ROUNDS))
            end(&kept[--count], stream);
    }
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    ways = argc > 1 ? argv[1] : "a";
    if (cuInit(0) == CUDA_ERROR_NO_DEVICE)
        return 0;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    pthread_barrier_init(&start, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
