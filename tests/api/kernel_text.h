// SPDX-License-Identifier: MIT
// For tests of kernels in PTX: a context, kernels that are loaded and launched, and the output that
// the program would write meanwhile.
#pragma once
#include "../harness.h"
#include <fcntl.h>

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static inline CUcontext ptx_start(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    return context;
}

static inline CUfunction ptx_kernel(CUmodule module, const char *name)
{
    CUfunction f = NULL;
    MUST(cuModuleGetFunction(&f, module, name));
    return f;
}

static inline CUmodule ptx_load(const char *text)
{
    CUmodule module = NULL;
    MUST(cuModuleLoadData(&module, text));
    return module;
}

// Launches and waits. Returns the first error.
static inline CUresult ptx_run(CUfunction f, unsigned blocks, unsigned threads, void **parameters)
{
    CUresult r = cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
    return r ? r : cuCtxSynchronize();
}

static inline unsigned ptx_word(CUdeviceptr at)
{
    unsigned value = 0;
    EXPECT_OK(cuMemcpyDtoH(&value, at, sizeof value));
    return value;
}

// ---- output ----

struct captured {
    int number, saved, file;
};

// From now on, output to a descriptor (1 or 2) goes to a file.
static inline struct captured capture_begin(int number)
{
    struct captured c = {.number = number};
    fflush(stdout);
    c.saved = dup(number);
    c.file = memfd_create("captured", 0);
    EXPECT(dup2(c.file, number) == number);
    return c;
}

// The output since then, with a final 0. free() frees it.
static inline char *capture_end(struct captured c)
{
    fflush(stdout);
    EXPECT(dup2(c.saved, c.number) == c.number);
    close(c.saved);
    const off_t size_B = lseek(c.file, 0, SEEK_END);
    char *text = calloc(1, (size_t)size_B + 1);
    EXPECT_EQ(pread(c.file, text, (size_t)size_B, 0), size_B);
    close(c.file);
    return text;
}
