// SPDX-License-Identifier: MIT
// The benchmark's kernels on an OpenCL platform for processors. The library is loaded when it is
// needed, so nothing of OpenCL is necessary to build this.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "programs.h"

// From the OpenCL 1.2 specification.
enum { DEVICE_TYPE_CPU = 2, MEM_READ_WRITE = 1, MEM_COPY_HOST_PTR = 32 };
#define FUNCTIONS(X)                                                                               \
    X(int, clGetPlatformIDs, unsigned, void **, unsigned *)                                        \
    X(int, clGetDeviceIDs, void *, uint64_t, unsigned, void **, unsigned *)                        \
    X(void *, clCreateContext, const intptr_t *, unsigned, void *const *, void *, void *, int *)   \
    X(void *, clCreateCommandQueue, void *, void *, uint64_t, int *)                               \
    X(void *, clCreateProgramWithSource, void *, unsigned, const char **, const size_t *, int *)   \
    X(int, clBuildProgram, void *, unsigned, void *const *, const char *, void *, void *)          \
    X(void *, clCreateKernel, void *, const char *, int *)                                         \
    X(void *, clCreateBuffer, void *, uint64_t, size_t, void *, int *)                             \
    X(int, clReleaseMemObject, void *)                                                             \
    X(int, clEnqueueReadBuffer, void *, void *, unsigned, size_t, size_t, void *, unsigned,        \
      void *, void *)                                                                              \
    X(int, clSetKernelArg, void *, unsigned, size_t, const void *)                                 \
    X(int, clEnqueueNDRangeKernel, void *, void *, unsigned, const size_t *, const size_t *,       \
      const size_t *, unsigned, void *, void *)                                                    \
    X(int, clFinish, void *)
#define DECLARE(type, name, ...) static type (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)

static void *device, *context, *queue, *program, *kernel;
static const char *kernel_name;

static void must(int result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, result);
    exit(1);
}

static int find_functions(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    int found = library != NULL;
#define FIND(type, name, ...)                                                                      \
    *(void **)&name = library ? dlsym(library, #name) : NULL;                                      \
    found = found && name;
    FUNCTIONS(FIND)
    return found;
}

static int open_platform(const char *path)
{
    enum { PLATFORMS = 8 };
    void *platforms[PLATFORMS];
    unsigned count = 0;
    int error;
    if (!find_functions() || clGetPlatformIDs(PLATFORMS, platforms, &count))
        return 0;
    for (unsigned i = 0; i < count && i < PLATFORMS && !device; i++)
        if (clGetDeviceIDs(platforms[i], DEVICE_TYPE_CPU, 1, &device, NULL))
            device = NULL;
    if (!device)
        return 0;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    must(error, "clCreateCommandQueue");
    char *text = bench_text(path);
    const char *texts[] = {text};
    program = clCreateProgramWithSource(context, 1, texts, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "-cl-mad-enable", NULL, NULL), "clBuildProgram");
    free(text);
    return 1;
}

static int has(const char *name)
{
    int error;
    kernel = clCreateKernel(program, name, &error);
    kernel_name = name;
    return !error;
}

static void *new_buffer(const void *bytes, size_t size_B)
{
    int error;
    void *b =
        clCreateBuffer(context, MEM_READ_WRITE | MEM_COPY_HOST_PTR, size_B, (void *)bytes, &error);
    must(error, "clCreateBuffer");
    return b;
}

static void read_buffer(void *buffer, void *to, size_t size_B)
{
    must(clEnqueueReadBuffer(queue, buffer, 1, 0, size_B, to, 0, NULL, NULL),
         "clEnqueueReadBuffer");
}

static void free_buffer(void *buffer)
{
    must(clReleaseMemObject(buffer), "clReleaseMemObject");
}

static void launch(const struct bench_launch *l)
{
    const size_t local[] = {l->threads[0], l->threads[1]};
    const size_t global[] = {(size_t)l->blocks[0] * local[0], (size_t)l->blocks[1] * local[1]};
    for (unsigned i = 0; i < BENCH_BUFFERS; i++)
        must(clSetKernelArg(kernel, i, sizeof l->buffers[i], &l->buffers[i]), kernel_name);
    must(clSetKernelArg(kernel, BENCH_BUFFERS, sizeof l->n, &l->n), kernel_name);
    must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), kernel_name);
}

static void wait_for_all(void)
{
    must(clFinish(queue), "clFinish");
}

const struct bench_machine bench_opencl = {.name = "OpenCL",
                                           .open = open_platform,
                                           .has = has,
                                           .buffer = new_buffer,
                                           .read = read_buffer,
                                           .free = free_buffer,
                                           .launch = launch,
                                           .wait = wait_for_all};
