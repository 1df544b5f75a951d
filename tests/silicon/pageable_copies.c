// SPDX-License-Identifier: MIT
// Copies from pageable memory in a stream that is held up: whether the call returns before the
// stream goes on, and whether the bytes are those of the time of the call.
#include <pthread.h>

#include "record.h"

enum { MOST_B = 16 << 20, HELD_US = 150000, WIDTH = 4096 };

static volatile int opened;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    while (!opened)
        usleep(1000);
}

static void *open_later(void *unused)
{
    (void)unused;
    usleep(HELD_US);
    opened = 1;
    return NULL;
}

static CUdeviceptr device;
static CUarray array;
static unsigned char *host;

enum shape { LINEAR, LINEAR_UNIFIED, ROWS, ARRAY, LINEAR_SYNC, LINEAR_PEER };

static CUresult copy(enum shape shape, size_t size, size_t at, CUstream stream)
{
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = host,
                         .srcPitch = WIDTH,
                         .WidthInBytes = size < WIDTH ? size : WIDTH,
                         .Height = size < WIDTH ? 1 : size / WIDTH};
    switch (shape) {
    case LINEAR:
        return cuMemcpyHtoDAsync(device + at, host, size, stream);
    case LINEAR_UNIFIED:
        return cuMemcpyAsync(device + at, (CUdeviceptr)(uintptr_t)host, size, stream);
    case ROWS:
        box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        box.dstDevice = device + at;
        box.dstPitch = WIDTH;
        return cuMemcpy2DAsync(&box, stream);
    case ARRAY:
        box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        box.dstArray = array;
        return cuMemcpy2DAsync(&box, stream);
    default:
        return cuMemcpyHtoD(device + at, host, size);
    }
}

static const char *const shapes[] = {"linear", "unified", "rows", "array", "sync"};

// One line says how many of the copies returned while the stream was held, and the value that the
// last one brought: 1 as at the call, or 2 as after it.
static void held(enum shape shape, size_t size, unsigned count, CUstream stream, CUstream own)
{
    pthread_t thread;
    CUresult r = CUDA_SUCCESS;
    unsigned returned = 0;
    unsigned char value = 77;
    memset(host, 1, size);
    NEED(cuMemsetD8(device, 0, MOST_B));
    NEED(cuCtxSynchronize());
    opened = 0;
    NEED(cuLaunchHostFunc(own, hold, NULL));
    pthread_create(&thread, NULL, open_later, NULL);
    for (unsigned i = 0; i < count && !r; i++) {
        r = copy(shape, size, size * i % (MOST_B - size + 1), stream);
        returned += !opened;
    }
    memset(host, 2, size);
    pthread_join(thread, NULL);
    CUresult synchronised = cuCtxSynchronize();
    if (shape == ARRAY) {
        CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = array,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = &value,
                             .WidthInBytes = 1,
                             .Height = 1};
        NEED(cuMemcpy2D(&box));
    } else {
        NEED(cuMemcpyDtoH(&value, device, 1));
    }
    SAY("%s returned %u of %u; synchronize=%s value %d", record_brief(r), returned, count,
        record_brief(synchronised), value);
}

static void prepare(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = WIDTH, .Height = 4096, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    record_context();
    NEED(cuMemAlloc(&device, MOST_B));
    NEED(cuArrayCreate(&array, &d));
    host = malloc(MOST_B);
}

GROUP(sizes)
{
    static const size_t sizes[] = {1,       4096,    65535,   65536,   65537,   131072,  1 << 20,
                                   1572864, 2093056, 2097151, 2097152, 2097153, 2101248, 3 << 20,
                                   4 << 20, 4194305, 6 << 20, 8 << 20, 16 << 20};
    CUstream stream;
    prepare();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int shape = LINEAR; shape <= LINEAR_SYNC; shape++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (CASE("%s-%zu", shapes[shape], sizes[i]))
                held(shape, sizes[i], 1, shape == LINEAR_SYNC ? NULL : stream,
                     shape == LINEAR_SYNC ? NULL : stream);
}

GROUP(many)
{
    static const size_t sizes[] = {4, 4096, 65536, 262144, 1 << 20, 2 << 20};
    static const unsigned counts[] = {2, 8, 32, 128, 512};
    CUstream stream;
    prepare();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++)
            if (CASE("linear-%zu-x%u", sizes[i], counts[k]))
                held(LINEAR, sizes[i], counts[k], stream, stream);
}

GROUP(streams)
{
    CUstream stream, blocking;
    prepare();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&blocking, 0));
    if (CASE("legacy-held-by-blocking"))
        held(LINEAR, 4096, 1, NULL, blocking);
    if (CASE("blocking-held-by-legacy"))
        held(LINEAR, 4096, 1, blocking, NULL);
    if (CASE("legacy"))
        held(LINEAR, 4096, 1, NULL, NULL);
    if (CASE("per-thread"))
        held(LINEAR, 4096, 1, CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD);
    if (CASE("other"))
        held(LINEAR, 4096, 1, stream, blocking);
}

int main(int argc, char **argv)
{
    RUN(sizes);
    RUN(many);
    RUN(streams);
    return 0;
}
