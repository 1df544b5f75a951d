// SPDX-License-Identifier: MIT
// Kernel launches.
#include <stdatomic.h>

#include "entry.h"
#include "fat_binary.h"
#include "launch.h"
#include "own_memory.h"
#include "rt_exports.h"

// The compiler turns kernel<<<grid, block, shared, stream>>>(arguments) into a call that keeps the
// configuration, the evaluation of the arguments, and a call of the kernel's host function, which
// takes the configuration back. An argument may launch kernels itself, so the configurations of a
// thread are a stack.
struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    struct configuration *outer;
};

// The innermost launch needs no allocation.
static __thread struct {
    struct configuration first;
    struct configuration *top;
} configurations;

// Fails in a function that has no beginning and end of its own, such as those of rt_begin and
// rt_end.
static cudaError_t configuration_fail(const struct rt_entry *entry, cudaError_t error,
                                      const char *text)
{
    struct rt_thread *self = rt_thread();
    const struct rt_entry *outer = rt_begin(self, entry);
    return rt_end(self, outer, rt_fail(error, "%s", text));
}

unsigned rt___cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                        cudaStream_t stream)
{
    struct configuration *c = &configurations.first;
    if (configurations.top) {
        if (rt_interrupts(rt_thread())) {
            (void)rt_refuse(rt_thread(), "__cudaPushCallConfiguration");
            return 1;
        }
        c = rt_alloc(sizeof *c);
        static const struct rt_entry entry = {.name = "__cudaPushCallConfiguration"};
        if (!c) {
            configuration_fail(&entry, cudaErrorMemoryAllocation,
                               "out of host memory for a launch");
            return 1; // the caller does not launch
        }
    }
    // First, so that a launch of a signal handler takes another one.
    struct configuration *outer = configurations.top;
    configurations.top = c;
    atomic_signal_fence(memory_order_seq_cst);
    *c = (struct configuration){gridDim, blockDim, sharedMem, stream, outer};
    return 0;
}

// Manual, cudaErrorMissingConfiguration: "The device function being invoked (usually via
// cudaLaunchKernel()) was not previously configured via the cudaConfigureCall() function."
cudaError_t rt___cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                          void *stream)
{
    static const struct rt_entry entry = {.name = "__cudaPopCallConfiguration"};
    struct configuration *c = configurations.top;
    if (!c)
        return configuration_fail(&entry, cudaErrorMissingConfiguration,
                                  "a kernel's host function was called without a configuration; "
                                  "launch it by <<<…>>>");
    *gridDim = c->grid;
    *blockDim = c->block;
    *sharedMem = c->shared;
    *(cudaStream_t *)stream = c->stream;
    configurations.top = c->outer;
    if (c != &configurations.first)
        rt_free(c);
    return cudaSuccess;
}

static atomic_bool some_are_addresses; // kernels of __cudaGetKernel

// Compiled code ignores an error, and keeps the result as long as the program runs. So a refused
// call returns the address of the host function, which every launch then looks up. Otherwise a
// launch of NULL returns the error once.
cudaError_t rt___cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    const cudaError_t error = cudaGetKernel(kernelPtr, entryFuncAddr);
    if (error == cudaErrorNotPermitted && kernelPtr) {
        atomic_store_explicit(&some_are_addresses, true, memory_order_relaxed);
        *kernelPtr = (cudaKernel_t)(uintptr_t)entryFuncAddr;
    } else {
        rt_thread()->missing = error;
    }
    return error;
}

// The driver takes kernels as functions, and the dynamic shared memory as 32 bits (recorded:
// launch/shared-4g).
static cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream)
{
    CUresult result;
    RT_IN_CONTEXT(result, rt_cu.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                               block.z, (unsigned)shared, stream, args, NULL));
    return rt_error(result);
}

// A context starts even then (recorded: lazy/LaunchKernel-null).
static cudaError_t launch_nothing(void)
{
    struct rt_thread *self = rt_thread();
    const cudaError_t error = rt_need_context(self), missing = self->missing;
    self->missing = cudaSuccess;
    if (error != cudaSuccess)
        return error;
    if (missing != cudaSuccess)
        return missing;
    return rt_fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
}

cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                  size_t sharedMem, cudaStream_t stream)
{
    CUfunction function = (CUfunction)kernel;
    if (!kernel)
        return launch_nothing();
    if (atomic_load_explicit(&some_are_addresses, memory_order_relaxed)) {
        const cudaError_t error = rt_launchable(kernel, &function);
        if (error != cudaSuccess)
            return error;
    }
    return launch(function, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t rt_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                size_t sharedMem, cudaStream_t stream)
{
    if (!func)
        return launch_nothing();
    CUfunction function;
    const cudaError_t error = rt_launchable(func, &function);
    if (error != cudaSuccess)
        return error;
    return launch(function, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t rt_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                           void **args, size_t sharedMem, cudaStream_t stream)
{
    CUfunction function;
    const cudaError_t error = rt_launchable(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuLaunchCooperativeKernel(function, gridDim.x, gridDim.y, gridDim.z,
                                                    blockDim.x, blockDim.y, blockDim.z,
                                                    (unsigned)sharedMem, stream, args));
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute),
               "launch attributes are passed on as they are");

CUlaunchConfig rt_launch_config(const cudaLaunchConfig_t *config, cudaStream_t stream)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
}

cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args,
                                   cudaStream_t default_stream)
{
    CUfunction function;
    const cudaError_t error = rt_launchable(func, &function);
    if (error != cudaSuccess)
        return error;
    if (!config)
        return rt_fail(cudaErrorInvalidValue, "argument config is NULL");
    const CUlaunchConfig c =
        rt_launch_config(config, config->stream ? config->stream : default_stream);
    return rt_error(rt_cu.cuLaunchKernelEx(&c, function, args, NULL));
}
