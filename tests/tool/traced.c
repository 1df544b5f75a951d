// SPDX-License-Identifier: MIT
// A program for the tests of `cardless trace`. Its argument is the way in which it ends, or what
// else it does: return, segv, abort, exit, kill, threads, fork, _Fork, many N,
// diverge, skip, graph, contents, texels, mapped, handles, wait,
// vmm.
#include <cuda.h>
#include <cardless.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check_call.h"

enum { SIZE_B = 4096, THREADS = 4, LOOPS = 3000, HANDLES = 12000, PAGE_B = 2 << 20 };

static CUcontext start(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    return context;
}

// Fills and copies memory in a stream that another stream waits for.
static void work(unsigned value)
{
    static unsigned char host[SIZE_B];
    CUdeviceptr memory;
    CUstream first, second;
    CUevent event;
    CHECK(cuMemAlloc(&memory, SIZE_B));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemsetD32Async(memory, value, SIZE_B / 4, first));
    CHECK(cuEventRecord(event, first));
    CHECK(cuStreamWaitEvent(second, event, 0));
    CHECK(cuMemcpyDtoHAsync(host, memory, SIZE_B, second));
    CHECK(cuStreamSynchronize(second));
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuMemFree(memory));
}

// A graph of three fills, and two streams that a word and a semaphore order.
static void order(void)
{
    CUdeviceptr memory;
    CUstream first, second;
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuMemAlloc(&memory, SIZE_B));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (unsigned char i = 0; i < 3; i++)
        CHECK(cuMemsetD8Async(memory, i, SIZE_B, first));
    CHECK(cuStreamEndCapture(first, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, first));
    CHECK(cuStreamWriteValue32(first, memory, 5, 0));
    CHECK(cuStreamWaitValue32(second, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
    cardlessSemaphore timeline;
    CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    CHECK(cardlessSemaphoreCreate(&timeline, CARDLESS_SEMAPHORE_TIMELINE, 0));
    CHECK(cardlessSemaphoreExport(timeline, &desc.handle.fd));
    CHECK(cuImportExternalSemaphore(&semaphore, &desc));
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 3};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 2};
    CHECK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, second));
    CHECK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, first));
    CHECK(cuStreamSynchronize(first));
    CHECK(cuDestroyExternalSemaphore(semaphore));
    CHECK(cardlessSemaphoreDestroy(timeline));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuMemFree(memory));
}

// Copies a few bytes, and many, from the host.
static void copy_contents(void)
{
    static const char piece[] = "large piece of data";
    enum { PIECE_B = sizeof piece - 1, PIECES = 3000 };
    static char small[] = "a small piece of data", large[PIECES * PIECE_B];
    CUdeviceptr memory;
    for (unsigned i = 0; i < PIECES; i++)
        memcpy(large + i * PIECE_B, piece, PIECE_B);
    CHECK(cuMemAlloc(&memory, sizeof large));
    CHECK(cuMemcpyHtoD(memory, small, sizeof small));
    CHECK(cuMemcpyHtoD(memory, large, sizeof large));
    CHECK(cuMemFree(memory));
}

static void make_array(void)
{
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR wanted = {.Width = 64,
                                            .Height = 32,
                                            .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                            .NumChannels = 4,
                                            .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuArray3DCreate(&array, &wanted));
    CUDA_ARRAY3D_DESCRIPTOR found;
    CHECK(cuArray3DGetDescriptor(&found, array));
    CHECK(cuArrayDestroy(array));
}

// Fills arrays of which one is destroyed and the other one is left.
static void fill_arrays(void)
{
    enum { WIDTH = 64, HEIGHT = 32 };
    static unsigned char bytes[HEIGHT][WIDTH][4];
    static float numbers[HEIGHT][WIDTH];
    CUarray array, left;
    const CUDA_ARRAY_DESCRIPTOR of_bytes = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT8, 4},
                                of_numbers = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    CHECK(cuArrayCreate(&array, &of_bytes));
    CHECK(cuArrayCreate(&left, &of_numbers));
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH; x++) {
            bytes[y][x][0] = (unsigned char)x;
            bytes[y][x][1] = (unsigned char)y;
            bytes[y][x][3] = 255;
            numbers[y][x] = (float)x - (float)y / 4;
        }
    }
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = bytes,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = WIDTH * 4,
                          .Height = HEIGHT};
    CHECK(cuMemcpy2D(&copy));
    copy.srcHost = numbers;
    copy.dstArray = left;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuArrayDestroy(array));
}

// Maps a graphics resource twice, and ends it while it is mapped.
static void map_resource(CUcontext primary)
{
    CUcontext context;
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cardlessBufferCreate(&buffer, SIZE_B));
    CHECK(cardlessRegisterBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CHECK(cuGraphicsMapResources(1, &resource, NULL));
    CHECK(cuGraphicsUnmapResources(1, &resource, NULL));
    CHECK(cuGraphicsMapResources(1, &resource, NULL));
    CHECK(cuCtxDestroy(context));
    CHECK(cuCtxSetCurrent(primary));
}

static void *thread(void *context)
{
    CHECK(cuCtxSetCurrent(context));
    CUdeviceptr memory;
    CUstream stream;
    CHECK(cuMemAlloc(&memory, SIZE_B));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < LOOPS; i++)
        CHECK(cuMemsetD8Async(memory, (unsigned char)i, SIZE_B, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(memory));
    return NULL;
}

static void run_threads(CUcontext context)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, context);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

// The child's calls fail, because a card does not work in a child. They are recorded nevertheless,
// but not in a child of _Fork, of which the driver hears nothing.
static void run_child(pid_t (*make_child)(void))
{
    const pid_t child = make_child();
    int status;
    if (!child) {
        CUdevice device;
        const CUresult result = cuDeviceGet(&device, 0);
        _exit(make_child == fork && result != CUDA_ERROR_NOT_INITIALIZED);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(1);
}

static long resident_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// Prints how much more memory the process had than before.
static void run_many(unsigned long count)
{
    CUdeviceptr memory;
    CUstream stream;
    CHECK(cuMemAlloc(&memory, SIZE_B));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 1000; i++)
        CHECK(cuMemsetD8Async(memory, 1, 16, stream));
    const long before = resident_kb();
    for (unsigned long i = 0; i < count; i++)
        CHECK(cuMemsetD8Async(memory, 1, 16, stream));
    printf("%ld\n", resident_kb() - before);
}

// More handles than fit into the first table of the recorder, and then one that has a name.
static void use_handles(void)
{
    static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
                               ".visible .entry named_late()\n{\n    ret;\n}\n";
    CUevent event;
    CUmodule module;
    CUfunction kernel;
    for (unsigned i = 0; i < HANDLES; i++) {
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        CHECK(cuEventDestroy(event));
    }
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&kernel, module, "named_late"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuModuleUnload(module));
}

// Two mappings of one handle in a reservation.
static void map_twice(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    const CUmemAccessDesc access = {.location = prop.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr base;
    CUmemGenericAllocationHandle handle;
    CHECK(cuMemAddressReserve(&base, 4 * (size_t)PAGE_B, 0, 0, 0));
    CHECK(cuMemCreate(&handle, PAGE_B, &prop, 0));
    CHECK(cuMemMap(base, PAGE_B, 0, handle, 0));
    CHECK(cuMemMap(base + 2 * (size_t)PAGE_B, PAGE_B, 0, handle, 0));
    CHECK(cuMemSetAccess(base, PAGE_B, &access, 1));
    CHECK(cuMemSetAccess(base + 2 * (size_t)PAGE_B, PAGE_B, &access, 1));
    CHECK(cuMemsetD8(base + 2 * (size_t)PAGE_B, 1, SIZE_B));
    CHECK(cuMemUnmap(base, PAGE_B));
    CHECK(cuMemUnmap(base + 2 * (size_t)PAGE_B, PAGE_B));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemAddressFree(base, 4 * (size_t)PAGE_B));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "return";
    CUcontext context = start();
    work(7);
    if (strcmp(what, "skip"))
        make_array();
    if (cuMemFree((CUdeviceptr)0x1234) == CUDA_SUCCESS) // a diagnostic
        return 1;
    if (!strcmp(what, "threads"))
        run_threads(context);
    if (!strcmp(what, "fork"))
        run_child(fork);
    if (!strcmp(what, "_Fork"))
        run_child(_Fork);
    if (!strcmp(what, "graph"))
        order();
    if (!strcmp(what, "mapped"))
        map_resource(context);
    if (!strcmp(what, "texels"))
        fill_arrays();
    if (!strcmp(what, "contents"))
        copy_contents();
    if (!strcmp(what, "vmm"))
        map_twice();
    if (!strcmp(what, "handles"))
        use_handles();
    if (!strcmp(what, "wait")) { // until the test closes the other end
        puts("recording");
        fflush(stdout);
        getchar();
    }
    if (!strcmp(what, "many"))
        run_many(strtoul(argv[2], NULL, 0));
    if (!strcmp(what, "diverge"))
        work(8);
    work(9);
    if (!strcmp(what, "segv")) {
        volatile int *volatile nowhere = (int *)16;
        *nowhere = 1;
    }
    if (!strcmp(what, "abort"))
        abort();
    if (!strcmp(what, "exit"))
        _exit(0);
    if (!strcmp(what, "kill"))
        kill(getpid(), SIGKILL);
    return 0;
}
