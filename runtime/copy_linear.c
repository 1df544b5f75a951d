// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management [DEPRECATED]": copies that fill an array row by row, as
// if its rows lay one after the other.
#include "channel.h"
#include "copy.h"

// A position in the bytes of an array.
struct linear_place {
    CUarray array;
    size_t x, y, row_bytes;
};

static cudaError_t linear_open(struct linear_place *place, cudaArray_const_t array, size_t x,
                               size_t y)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!array)
        return rt_fail(cudaErrorInvalidResourceHandle, "the array of the copy is NULL");
    RT_TRY(rt_cu.cuArray3DGetDescriptor(&d, (CUarray)array));
    place->array = (CUarray)array;
    place->row_bytes = d.Width * rt_element_bytes((struct rt_element){d.Format, d.NumChannels});
    if (!place->row_bytes)
        return rt_fail(cudaErrorInvalidValue, "the array has no elements that can be copied");
    // A position after the end of a row is in a later one (recorded:
    // copy_arrays/linear-64-0-1).
    place->x = x % place->row_bytes;
    place->y = y + x / place->row_bytes;
    return cudaSuccess;
}

static void linear_advance(struct linear_place *place, size_t bytes)
{
    place->y += (place->x + bytes) / place->row_bytes;
    place->x = (place->x + bytes) % place->row_bytes;
}

// The largest rectangle that begins at the place: whole rows, or part of one.
static void linear_rectangle(const struct linear_place *place, size_t left,
                             CUDA_MEMCPY2D *rectangle)
{
    if (!place->x && left >= place->row_bytes) {
        rectangle->WidthInBytes = place->row_bytes;
        rectangle->Height = left / place->row_bytes;
        return;
    }
    const size_t in_row = place->row_bytes - place->x;
    rectangle->WidthInBytes = left < in_row ? left : in_row;
    rectangle->Height = 1;
}

// Directions that contradict the array are errors; a number that is no direction means
// cudaMemcpyDefault (recorded: copy_arrays/linear-kind-1, linear-kind5).
static cudaError_t linear_type(enum cudaMemcpyKind kind, bool to_array, CUmemorytype *type)
{
    CUmemorytype from, to;
    const enum cudaMemcpyKind against = to_array ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (kind == cudaMemcpyHostToHost || kind == against)
        return rt_copy_against(kind,
                               to_array ? "an array as its destination" : "an array as its source");
    if ((unsigned)kind > cudaMemcpyDefault)
        kind = cudaMemcpyDefault;
    cudaError_t r = rt_copy_direction(kind, &from, &to);
    if (r)
        return r;
    *type = to_array ? from : to;
    return cudaSuccess;
}

static cudaError_t linear_rows(struct linear_place place, bool to_array, char *pointer,
                               size_t count, enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    cudaError_t r = linear_type(kind, to_array, &type);
    while (!r && count) {
        CUDA_MEMCPY2D rectangle = {0};
        linear_rectangle(&place, count, &rectangle);
        if (to_array) {
            rt_copy_from(&rectangle, type, pointer, rectangle.WidthInBytes);
            rectangle.dstMemoryType = CU_MEMORYTYPE_ARRAY;
            rectangle.dstArray = place.array;
            rectangle.dstXInBytes = place.x;
            rectangle.dstY = place.y;
        } else {
            rectangle.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            rectangle.srcArray = place.array;
            rectangle.srcXInBytes = place.x;
            rectangle.srcY = place.y;
            rt_copy_to(&rectangle, type, pointer, rectangle.WidthInBytes);
        }
        r = rt_copy_2d(&rectangle, call);
        if (r)
            break;
        const size_t bytes = rectangle.WidthInBytes * rectangle.Height;
        linear_advance(&place, bytes);
        pointer += bytes;
        count -= bytes;
    }
    return r;
}

static cudaError_t linear_to_array(struct linear_place place, const char *src, size_t count,
                                   enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    return linear_rows(place, true, (char *)(uintptr_t)src, count, kind, call);
}

static cudaError_t linear_from_array(char *dst, struct linear_place place, size_t count,
                                     enum cudaMemcpyKind kind, struct rt_copy_call call)
{
    return linear_rows(place, false, dst, count, kind, call);
}

static cudaError_t linear_between(struct linear_place dst, struct linear_place src, size_t count,
                                  struct rt_copy_call call)
{
    cudaError_t r = cudaSuccess;
    while (!r && count) {
        CUDA_MEMCPY2D rectangle = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                   .srcArray = src.array,
                                   .srcXInBytes = src.x,
                                   .srcY = src.y,
                                   .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                   .dstArray = dst.array,
                                   .dstXInBytes = dst.x,
                                   .dstY = dst.y};
        CUDA_MEMCPY2D other;
        linear_rectangle(&dst, count, &rectangle);
        linear_rectangle(&src, count, &other);
        // Several rows only if both arrays have as many of this width.
        if (other.WidthInBytes != rectangle.WidthInBytes)
            rectangle.Height = 1;
        else if (other.Height < rectangle.Height)
            rectangle.Height = other.Height;
        if (other.WidthInBytes < rectangle.WidthInBytes)
            rectangle.WidthInBytes = other.WidthInBytes;
        r = rt_copy_2d(&rectangle, call);
        if (r)
            break;
        const size_t bytes = rectangle.WidthInBytes * rectangle.Height;
        linear_advance(&dst, bytes);
        linear_advance(&src, bytes);
        count -= bytes;
    }
    return r;
}

cudaError_t rt_cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                 size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct linear_place place;
    if (!count)
        return cudaSuccess;
    cudaError_t r = linear_open(&place, dst, wOffset, hOffset);
    return r ? r
             : linear_to_array(place, src, count, kind, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                      const void *src, size_t count, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    struct linear_place place;
    if (!count)
        return cudaSuccess;
    cudaError_t r = linear_open(&place, dst, wOffset, hOffset);
    return r ? r
             : linear_to_array(place, src, count, kind,
                               (struct rt_copy_call){.stream = stream, .async = true});
}

cudaError_t rt_cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                   size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct linear_place place;
    if (!count)
        return cudaSuccess;
    cudaError_t r = linear_open(&place, src, wOffset, hOffset);
    return r ? r
             : linear_from_array(dst, place, count, kind, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                        size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    struct linear_place place;
    if (!count)
        return cudaSuccess;
    cudaError_t r = linear_open(&place, src, wOffset, hOffset);
    return r ? r
             : linear_from_array(dst, place, count, kind,
                                 (struct rt_copy_call){.stream = stream, .async = true});
}

cudaError_t rt_cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                      cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                      size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct linear_place to, from;
    if (!count)
        return cudaSuccess;
    cudaError_t r = linear_open(&to, dst, wOffsetDst, hOffsetDst);
    if (!r)
        r = linear_open(&from, src, wOffsetSrc, hOffsetSrc);
    if (!r && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        r = rt_copy_against(kind, "arrays at both ends");
    return r ? r : linear_between(to, from, count, (struct rt_copy_call){.stream = stream});
}
