// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": fills.
#include "copy.h"
#include "driver_twins.h"

static CUdeviceptr device_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

// Manual: "the specified value (converted to unsigned char)".
cudaError_t rt_cudaMemset(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    if (!count)
        return cudaSuccess;
    return rt_error(
        RT_DEFAULT(stream, cuMemsetD8_v2)(device_address(devPtr), (unsigned char)value, count));
}

cudaError_t rt_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    if (!count)
        return cudaSuccess;
    return rt_error(
        rt_cu.cuMemsetD8Async(device_address(devPtr), (unsigned char)value, count, stream));
}

static CUresult memset_rows(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                            size_t height, struct rt_copy_call call)
{
    if (call.async)
        return rt_cu.cuMemsetD2D8Async(address, pitch, value, width, height, call.stream);
    return RT_DEFAULT(call.stream, cuMemsetD2D8_v2)(address, pitch, value, width, height);
}

static cudaError_t memset_2d(void *pointer, size_t pitch, int value, size_t width, size_t height,
                             struct rt_copy_call call)
{
    if (!width || !height)
        return cudaSuccess;
    return rt_error(
        memset_rows(device_address(pointer), pitch, (unsigned char)value, width, height, call));
}

cudaError_t rt_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                            cudaStream_t stream)
{
    return memset_2d(devPtr, pitch, value, width, height, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream)
{
    return memset_2d(devPtr, pitch, value, width, height,
                     (struct rt_copy_call){.stream = stream, .async = true});
}

// Slices that follow each other without a gap are one rectangle. Others are filled one by one.
static cudaError_t memset_3d(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                             struct rt_copy_call call)
{
    CUdeviceptr address = device_address(p.ptr);
    size_t slice_bytes, rows;
    if (!extent.width || !extent.height || !extent.depth)
        return cudaSuccess;
    if (p.ysize < extent.height || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return rt_fail(cudaErrorInvalidValue,
                       "the extent has %zu rows of %zu slices, but ysize is %zu", extent.height,
                       extent.depth, p.ysize);
    // The pitch of a single slice is the driver's to check (recorded:
    // copy_ranges/memset3d-width-huge).
    if (extent.depth == 1)
        slice_bytes = 0;
    else if (p.pitch < extent.width || __builtin_mul_overflow(p.pitch, p.ysize, &slice_bytes))
        return rt_fail(cudaErrorInvalidValue, "pitch (%zu) does not suit rows of %zu bytes",
                       p.pitch, extent.width);
    if (extent.height == p.ysize)
        return rt_error(
            memset_rows(address, p.pitch, (unsigned char)value, extent.width, rows, call));
    for (size_t z = 0; z < extent.depth; z++, address += slice_bytes)
        RT_TRY(
            memset_rows(address, p.pitch, (unsigned char)value, extent.width, extent.height, call));
    return cudaSuccess;
}

cudaError_t rt_cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value,
                            struct cudaExtent extent, cudaStream_t stream)
{
    return memset_3d(pitchedDevPtr, value, extent, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                                 struct cudaExtent extent, cudaStream_t stream)
{
    return memset_3d(pitchedDevPtr, value, extent,
                     (struct rt_copy_call){.stream = stream, .async = true});
}
