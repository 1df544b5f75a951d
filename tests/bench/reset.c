// SPDX-License-Identifier: MIT
// Nanoseconds that a fuzzer should expect of cardlessFuzzReset (cardless_fuzz.h) after inputs that
// left little or much.
#include <cardless_fuzz.h>
#include <fcntl.h>

#include "calls.h"

enum { FILE_B = 2 << 20, BATCH = 300 };

static int file;

static int own_file(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    int fd;
    MUST(cuMemCreate(&memory, FILE_B, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemRelease(memory));
    return fd;
}

static void leave_context(int count)
{
    CUcontext context;
    (void)count;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
}

static void leave_imports(int count)
{
    leave_context(count);
    for (int i = 0; i < count; i++) {
        CUexternalMemory memory;
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                                 .handle.fd = fcntl(file, F_DUPFD_CLOEXEC, 0),
                                                 .size = FILE_B};
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = FILE_B};
        CUdeviceptr address;
        unsigned value = 1;
        MUST(cuImportExternalMemory(&memory, &desc));
        MUST(cuExternalMemoryGetMappedBuffer(&address, memory, &buffer));
        MUST(cuMemcpyHtoD(address, &value, sizeof value));
    }
}

static void leave_objects(int count)
{
    leave_context(count);
    for (int i = 0; i < count; i++) {
        CUstream stream;
        CUevent event;
        CUgraph graph;
        CUdeviceptr address;
        MUST(cuStreamCreate(&stream, 0));
        MUST(cuEventCreate(&event, 0));
        MUST(cuGraphCreate(&graph, 0));
        MUST(cuMemAlloc(&address, 4096));
    }
}

static const struct {
    const char *name;
    void (*leave)(int count);
    int count;
} rows[] = {
    {"reset: a context", leave_context, 0},
    {"reset: an import, a buffer", leave_imports, 1},
    {"reset: a stream, event, graph, allocation", leave_objects, 1},
    {"reset: 10 of each", leave_objects, 10},
    {"reset: 100 of each", leave_objects, 100},
};

static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    MUST(cuInit(0));
    file = own_file();
    printf("%-44s %12s\n", "processor time of cardlessFuzzReset after", "ns");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double runs[RUNS];
        for (int run = 0; run < RUNS; run++) {
            double sum = 0;
            for (int n = 0; n < BATCH; n++) {
                rows[i].leave(rows[i].count);
                double start = processor_ns();
                MUST(cardlessFuzzReset());
                sum += processor_ns() - start;
            }
            runs[run] = sum / BATCH;
        }
        qsort(runs, RUNS, sizeof *runs, by_value);
        printf("%-44s %12.0f\n", rows[i].name, runs[RUNS / 2]);
        fflush(stdout);
    }
    return 0;
}
