// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": device and managed memory.
#include "rt.h"

static CUdeviceptr device_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

// An allocation of no bytes succeeds without an address. If an allocation fails, the address is
// NULL.
cudaError_t rt_cudaMalloc(void **devPtr, size_t size)
{
    CUdeviceptr address = 0;
    CUresult result;
    *devPtr = NULL;
    if (!size)
        return rt_need_context(rt_thread());
    RT_IN_CONTEXT(result, rt_cu.cuMemAlloc(&address, size));
    RT_TRY(result);
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t rt_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CUdeviceptr address = 0;
    RT_TRY(rt_cu.cuMemAllocManaged(&address, size, flags));
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

// The widest access of a kernel for which rows are aligned. The pitch does not depend on it.
enum { PITCHED_ELEMENT_BYTES = 4 };

// The pitch of an allocation that fails for want of memory is still returned (recorded:
// malloc/pitch-10000000000-1).
static cudaError_t memory_pitched(void **pointer, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    *pointer = NULL;
    *pitch = 0;
    if (!width || !height)
        return cudaSuccess;
    RT_TRY(rt_cu.cuMemAllocPitch(&address, pitch, width, height, PITCHED_ELEMENT_BYTES));
    *pointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t rt_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    return memory_pitched(devPtr, pitch, width, height);
}

cudaError_t rt_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        rows = SIZE_MAX;
    cudaError_t r = memory_pitched(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
    if (r)
        return r;
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cudaSuccess;
}

// Manual: "If devPtr is 0, no operation is performed." The driver does the same, but returns the
// context's sticky error, and obeys the rules about capture (recorded: sticky/trap-then-everything,
// capture/free-null-mode0).
cudaError_t rt_cudaFree(void *devPtr)
{
    CUresult result;
    RT_IN_CONTEXT(result, rt_cu.cuMemFree(device_address(devPtr)));
    return rt_error(result);
}

cudaError_t rt_cudaMemGetInfo(size_t *free, size_t *total)
{
    return rt_error(rt_cu.cuMemGetInfo(free, total));
}
