// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": copies of rows, from and to pointers and arrays.
#include "copy.h"
#include "driver_twins.h"

cudaError_t rt_copy_2d(const CUDA_MEMCPY2D *rectangle, struct rt_copy_call call)
{
    if (call.async)
        return rt_error(rt_cu.cuMemcpy2DAsync(rectangle, call.stream));
    return rt_error(RT_DEFAULT(call.stream, cuMemcpy2DUnaligned_v2)(rectangle));
}

void rt_copy_from(CUDA_MEMCPY2D *rectangle, CUmemorytype type, const void *pointer, size_t pitch)
{
    rectangle->srcMemoryType = type;
    rectangle->srcHost = pointer;
    rectangle->srcDevice = (CUdeviceptr)(uintptr_t)pointer;
    rectangle->srcPitch = pitch;
}

void rt_copy_to(CUDA_MEMCPY2D *rectangle, CUmemorytype type, void *pointer, size_t pitch)
{
    rectangle->dstMemoryType = type;
    rectangle->dstHost = pointer;
    rectangle->dstDevice = (CUdeviceptr)(uintptr_t)pointer;
    rectangle->dstPitch = pitch;
}

// ---- pointers

static cudaError_t rows_copy(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    CUDA_MEMCPY2D rectangle = {.WidthInBytes = width, .Height = height};
    CUmemorytype from, to;
    if (!width || !height)
        return cudaSuccess;
    if (rt_rows_overlap(dpitch, width, height) || rt_rows_overlap(spitch, width, height))
        return rt_fail(cudaErrorInvalidPitchValue,
                       "dpitch (%zu) and spitch (%zu) must be at least width (%zu)", dpitch, spitch,
                       width);
    cudaError_t r = rt_copy_direction(kind, &from, &to);
    if (r)
        return r;
    rt_copy_from(&rectangle, from, src, spitch);
    rt_copy_to(&rectangle, to, dst, dpitch);
    return rt_copy_2d(&rectangle, call);
}

cudaError_t rt_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rows_copy(dst, dpitch, src, spitch, width, height, kind,
                     (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                 size_t width, size_t height, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return rows_copy(dst, dpitch, src, spitch, width, height, kind,
                     (struct rt_copy_call){.stream = stream, .async = true});
}

// ---- arrays

// Copies to an array, or from one. `copy` has the array, the place in it, and the size. An array is
// on the device, so a direction that has the host at the array's end is an error.
static cudaError_t rows_of_array(CUDA_MEMCPY2D *copy, bool to_array, void *pointer, size_t pitch,
                                 enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    const enum cudaMemcpyKind against = to_array ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    CUmemorytype from, to;
    if (!copy->WidthInBytes || !copy->Height)
        return cudaSuccess;
    if (to_array ? !copy->dstArray : !copy->srcArray)
        return rt_fail(cudaErrorInvalidResourceHandle, "the array of the copy is NULL");
    if (rt_rows_overlap(pitch, copy->WidthInBytes, copy->Height))
        return rt_fail(cudaErrorInvalidPitchValue, "the pitch (%zu) must be at least width (%zu)",
                       pitch, copy->WidthInBytes);
    if (kind == cudaMemcpyHostToHost || kind == against)
        return rt_copy_against(kind,
                               to_array ? "an array as its destination" : "an array as its source");
    cudaError_t r = rt_copy_direction(kind, &from, &to);
    if (r)
        return r;
    if (to_array) {
        rt_copy_from(copy, from, pointer, pitch);
        copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    } else {
        copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        rt_copy_to(copy, to, pointer, pitch);
    }
    return rt_copy_2d(copy, call);
}

static cudaError_t rows_to_array(CUDA_MEMCPY2D *to, const void *src, size_t pitch,
                                 enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    return rows_of_array(to, true, (void *)(uintptr_t)src, pitch, kind, call);
}

static cudaError_t rows_from_array(CUDA_MEMCPY2D *from, void *dst, size_t pitch,
                                   enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    return rows_of_array(from, false, dst, pitch, kind, call);
}

cudaError_t rt_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                   size_t spitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D to = {.dstArray = (CUarray)dst,
                        .dstXInBytes = wOffset,
                        .dstY = hOffset,
                        .WidthInBytes = width,
                        .Height = height};
    return rows_to_array(&to, src, spitch, kind, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                        const void *src, size_t spitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D to = {.dstArray = (CUarray)dst,
                        .dstXInBytes = wOffset,
                        .dstY = hOffset,
                        .WidthInBytes = width,
                        .Height = height};
    return rows_to_array(&to, src, spitch, kind,
                         (struct rt_copy_call){.stream = stream, .async = true});
}

cudaError_t rt_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src,
                                     size_t wOffset, size_t hOffset, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D from = {.srcArray = (CUarray)src,
                          .srcXInBytes = wOffset,
                          .srcY = hOffset,
                          .WidthInBytes = width,
                          .Height = height};
    return rows_from_array(&from, dst, dpitch, kind, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                          size_t wOffset, size_t hOffset, size_t width,
                                          size_t height, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    CUDA_MEMCPY2D from = {.srcArray = (CUarray)src,
                          .srcXInBytes = wOffset,
                          .srcY = hOffset,
                          .WidthInBytes = width,
                          .Height = height};
    return rows_from_array(&from, dst, dpitch, kind,
                           (struct rt_copy_call){.stream = stream, .async = true});
}

cudaError_t rt_cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                        cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                        size_t width, size_t height, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    CUDA_MEMCPY2D between = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = (CUarray)src,
                             .srcXInBytes = wOffsetSrc,
                             .srcY = hOffsetSrc,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = (CUarray)dst,
                             .dstXInBytes = wOffsetDst,
                             .dstY = hOffsetDst,
                             .WidthInBytes = width,
                             .Height = height};
    if (!width || !height)
        return cudaSuccess;
    if (!dst || !src)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument %s is NULL", dst ? "src" : "dst");
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return rt_copy_against(kind, "arrays at both ends");
    return rt_copy_2d(&between, (struct rt_copy_call){.stream = stream});
}
