// SPDX-License-Identifier: MIT
// A histogram with kernels that are functions of the host: shared memory, a barrier, an atomic
// operation, and a graph that launches both kernels.
//
//     histogram         prints the histogram of some numbers
//     histogram fault   reads past the end of the numbers, to show the message of a fault
//
// The table of kernels is in this program. In a shared object of its own (cuModuleLoad), with the
// name cardlessModule, it would look the same.
#include <cardless.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 8, BLOCKS = 4, THREADS = 64, COUNT = BLOCKS * THREADS };
// Device memory is mapped in pages of this size.
enum { PAGE = 2 << 20 };

static void check(CUresult r, const char *what)
{
    const char *name = "an unknown error";
    if (!r)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}
#define CHECK(call) check((call), #call)

// Each thread adds one number to its block's histogram; the first threads add that to the result.
static void count(const unsigned char *numbers, unsigned *histogram)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned *bins = t->shared, i = t->block.x * t->block_size.x + t->thread.x;
    if (t->thread.x < BINS)
        bins[t->thread.x] = 0;
    cardlessBarrier();
    bins[numbers[i] % BINS]++; // the threads of a block take turns
    cardlessBarrier();
    if (t->thread.x < BINS)
        __atomic_fetch_add(&histogram[t->thread.x], bins[t->thread.x], __ATOMIC_RELAXED);
}

// Once for each block: makes numbers.
static void make(unsigned char *numbers)
{
    const cardlessThread *t = cardlessThisThread();
    for (unsigned i = 0; i < t->block_size.x; i++)
        numbers[t->block.x * t->block_size.x + i] = (unsigned char)(i * i);
}

static const cardlessParam count_params[] = {{.type = CARDLESS_CONST_POINTER},
                                             {.type = CARDLESS_POINTER}},
                           make_params[] = {{.type = CARDLESS_POINTER}};
static const cardlessKernelDesc kernels[] = {
    {.name = "count",
     .function = (void (*)(void))count,
     .params = count_params,
     .param_count = 2,
     .flags = CARDLESS_KERNEL_BARRIERS,
     .static_shared = BINS * sizeof(unsigned)},
    {.name = "make",
     .function = (void (*)(void))make,
     .params = make_params,
     .param_count = 1,
     .flags = CARDLESS_KERNEL_PER_BLOCK},
};
static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                         .version = CARDLESS_VERSION,
                                         .kernel_count = 2,
                                         .kernels = kernels};

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUfunction count_function, make_function;
    CUdeviceptr page, numbers, histogram;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    unsigned bins[BINS], blocks = BLOCKS;
    if (argc > 1 && !strcmp(argv[1], "fault"))
        blocks++;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, &table));
    CHECK(cuModuleGetFunction(&count_function, module, "count"));
    CHECK(cuModuleGetFunction(&make_function, module, "make"));
    CHECK(cuMemAlloc(&histogram, sizeof bins));
    // The numbers end with the page, so a read past them is a fault. Inside a page it would not be.
    CHECK(cuMemAlloc(&page, PAGE));
    numbers = page + PAGE - COUNT;

    // Captured launches become the nodes of a graph.
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD8Async(histogram, 0, sizeof bins, stream));
    void *make_arguments[] = {&numbers}, *count_arguments[] = {&numbers, &histogram};
    CHECK(cuLaunchKernel(make_function, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, make_arguments,
                         NULL));
    CHECK(cuLaunchKernel(count_function, blocks, 1, 1, THREADS, 1, 1, 0, stream, count_arguments,
                         NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));

    CHECK(cuMemcpyDtoH(bins, histogram, sizeof bins));
    for (unsigned i = 0; i < BINS; i++)
        printf("%u: %u\n", i, bins[i]);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    return 0;
}
