// SPDX-License-Identifier: MIT
// The benchmark's kernels on this driver.
#include <stdint.h>
#include <stdlib.h>

#include "calls.h"
#include "programs.h"

static CUmodule module;

static int open_driver(const char *path)
{
    CUcontext context;
    char *text = bench_text(path);
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, text));
    free(text);
    return 1;
}

// Programs keep a function that they launch again, so the time of a launch is without the search.
static CUfunction find(const char *kernel)
{
    static const char *last;
    static CUfunction f;
    if (kernel != last)
        MUST(cuModuleGetFunction(&f, module, kernel));
    last = kernel;
    return f;
}

static int has(const char *kernel)
{
    return find(kernel) != NULL;
}

static void *new_buffer(const void *bytes, size_t size_B)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, size_B));
    MUST(cuMemcpyHtoD(p, bytes, size_B));
    return (void *)(uintptr_t)p;
}

static void read_buffer(void *buffer, void *to, size_t size_B)
{
    MUST(cuMemcpyDtoH(to, (uintptr_t)buffer, size_B));
}

static void free_buffer(void *buffer)
{
    MUST(cuMemFree((uintptr_t)buffer));
}

static void launch(const struct bench_launch *l)
{
    CUdeviceptr pointers[BENCH_BUFFERS];
    int n = l->n;
    void *arguments[BENCH_BUFFERS + 1];
    for (int i = 0; i < BENCH_BUFFERS; i++) {
        pointers[i] = (uintptr_t)l->buffers[i];
        arguments[i] = &pointers[i];
    }
    arguments[BENCH_BUFFERS] = &n;
    MUST(cuLaunchKernel(find(l->kernel), l->blocks[0], l->blocks[1], 1, l->threads[0],
                        l->threads[1], 1, 0, NULL, arguments, NULL));
}

static void wait_for_all(void)
{
    MUST(cuCtxSynchronize());
}

const struct bench_machine bench_cuda = {.name = "cardless",
                                         .open = open_driver,
                                         .has = has,
                                         .buffer = new_buffer,
                                         .read = read_buffer,
                                         .free = free_buffer,
                                         .launch = launch,
                                         .wait = wait_for_all};
