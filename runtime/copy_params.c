// SPDX-License-Identifier: MIT
// The driver's form of a copy.
#include "copy_params.h"

#include "channel.h"

cudaError_t rt_copy_direction(enum cudaMemcpyKind kind, CUmemorytype *source,
                              CUmemorytype *destination)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        *source = *destination = CU_MEMORYTYPE_HOST;
        return cudaSuccess;
    case cudaMemcpyHostToDevice:
        *source = CU_MEMORYTYPE_HOST;
        *destination = CU_MEMORYTYPE_DEVICE;
        return cudaSuccess;
    case cudaMemcpyDeviceToHost:
        *source = CU_MEMORYTYPE_DEVICE;
        *destination = CU_MEMORYTYPE_HOST;
        return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
        *source = *destination = CU_MEMORYTYPE_DEVICE;
        return cudaSuccess;
    case cudaMemcpyDefault:
        *source = *destination = CU_MEMORYTYPE_UNIFIED;
        return cudaSuccess;
    default:
        return rt_copy_direction_fail(kind);
    }
}

cudaError_t rt_copy_direction_fail(enum cudaMemcpyKind kind)
{
    return rt_fail(cudaErrorInvalidMemcpyDirection,
                   "kind (%d) is not a cudaMemcpyKind, which are 0 to 4", (int)kind);
}

cudaError_t rt_copy_against(enum cudaMemcpyKind kind, const char *memory)
{
    return rt_fail(cudaErrorInvalidMemcpyDirection,
                   "kind (%d) contradicts the copy, which has %s; use that direction or "
                   "cudaMemcpyDefault",
                   (int)kind, memory);
}

// The direction that these memory types came from. An array is memory of the device.
static enum cudaMemcpyKind direction_of(CUmemorytype source, CUmemorytype destination)
{
    if (source == CU_MEMORYTYPE_UNIFIED || destination == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (source == CU_MEMORYTYPE_HOST)
        return destination == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return destination == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

cudaError_t rt_array_element_size(cudaArray_const_t array, size_t *size_B)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    RT_TRY(rt_cu.cuArray3DGetDescriptor(&desc, (CUarray)array));
    *size_B = rt_element_bytes((struct rt_element){desc.Format, desc.NumChannels});
    return cudaSuccess;
}

// Manual, cudaMemcpy3D: the source and the destination are one array or one pointer each.
static cudaError_t check_operand(const struct cudaPitchedPtr *pointer, const void *array)
{
    if (!pointer->ptr != !array)
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidValue,
                   array ? "one end of the copy is a pointer and an array; one of them must be NULL"
                         : "one end of the copy is neither a pointer nor an array");
}

// Manual, cudaMemcpy3D: the pitch must be at least the width. The width is compared in elements,
// not in bytes (recorded: copy_arrays/3d-device-to-float-array-pitch-15).
static cudaError_t check_pitch(const struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    if (!pointer->ptr || (pointer->pitch >= extent.width && pointer->ysize >= extent.height))
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidPitchValue,
                   "pitch (%zu) and ysize (%zu) must be at least the extent, %zu x %zu",
                   pointer->pitch, pointer->ysize, extent.width, extent.height);
}

cudaError_t rt_copy_3d_params(const struct cudaMemcpy3DParms *in, CUDA_MEMCPY3D *out)
{
    CUmemorytype source = 0, destination = 0;
    size_t source_B = 1, destination_B = 1;
    cudaError_t r = rt_copy_direction(in->kind, &source, &destination);
    if (!r)
        r = check_operand(&in->srcPtr, in->srcArray);
    if (!r)
        r = check_operand(&in->dstPtr, in->dstArray);
    // The host has no arrays. A destination may be one all the same (recorded:
    // copy_arrays/3d-kind0-host-to-array3d).
    if (!r && in->srcArray && source == CU_MEMORYTYPE_HOST)
        r = rt_fail(cudaErrorInvalidValue,
                    "kind (%d) says that the source is host memory, but srcArray is an array",
                    (int)in->kind);
    if (!r && in->extent.width && in->extent.height && in->extent.depth) {
        r = check_pitch(&in->srcPtr, in->extent);
        if (!r)
            r = check_pitch(&in->dstPtr, in->extent);
    }
    if (!r && in->srcArray)
        r = rt_array_element_size(in->srcArray, &source_B);
    if (!r && in->dstArray)
        r = rt_array_element_size(in->dstArray, &destination_B);
    if (r)
        return r;
    // Manual: two arrays must have "the same element size". If one takes part, its elements are the
    // unit of positions and extents, also beside a pointer (recorded:
    // copy_arrays/3d-device-to-float-array-srcpos-x-1).
    if (in->srcArray && in->dstArray && source_B != destination_B)
        return rt_fail(
            cudaErrorInvalidValue,
            "the elements of srcArray have %zu bytes and those of dstArray %zu; they must "
            "have the same size",
            source_B, destination_B);
    const size_t unit_B = in->srcArray ? source_B : destination_B;
    size_t source_x_B, destination_x_B, width_B;
    if (__builtin_mul_overflow(in->srcPos.x, unit_B, &source_x_B) ||
        __builtin_mul_overflow(in->dstPos.x, unit_B, &destination_x_B) ||
        __builtin_mul_overflow(in->extent.width, unit_B, &width_B))
        return rt_fail(cudaErrorInvalidValue, "the copy exceeds the address space");
    *out = (CUDA_MEMCPY3D){
        .srcXInBytes = source_x_B,
        .srcY = in->srcPos.y,
        .srcZ = in->srcPos.z,
        .srcMemoryType = in->srcArray ? CU_MEMORYTYPE_ARRAY : source,
        .srcHost = in->srcPtr.ptr,
        .srcDevice = (CUdeviceptr)in->srcPtr.ptr,
        .srcArray = (CUarray)in->srcArray,
        .srcPitch = in->srcPtr.pitch,
        .srcHeight = in->srcPtr.ysize,
        .dstXInBytes = destination_x_B,
        .dstY = in->dstPos.y,
        .dstZ = in->dstPos.z,
        .dstMemoryType = in->dstArray ? CU_MEMORYTYPE_ARRAY : destination,
        .dstHost = in->dstPtr.ptr,
        .dstDevice = (CUdeviceptr)in->dstPtr.ptr,
        .dstArray = (CUarray)in->dstArray,
        .dstPitch = in->dstPtr.pitch,
        .dstHeight = in->dstPtr.ysize,
        .WidthInBytes = width_B,
        .Height = in->extent.height,
        .Depth = in->extent.depth,
    };
    return cudaSuccess;
}

static void *pointer_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    switch (type) {
    case CU_MEMORYTYPE_ARRAY:
        return NULL;
    case CU_MEMORYTYPE_HOST:
        return (void *)host;
    default:
        return (void *)device;
    }
}

cudaError_t rt_copy_3d_parms_of(const CUDA_MEMCPY3D *in, struct cudaMemcpy3DParms *out)
{
    size_t source_B = 1, destination_B = 1;
    cudaError_t r = cudaSuccess;
    if (in->srcMemoryType == CU_MEMORYTYPE_ARRAY)
        r = rt_array_element_size((cudaArray_t)in->srcArray, &source_B);
    if (!r && in->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        r = rt_array_element_size((cudaArray_t)in->dstArray, &destination_B);
    if (r)
        return r;
    const size_t unit_B = in->srcMemoryType == CU_MEMORYTYPE_ARRAY ? source_B : destination_B;
    *out = (struct cudaMemcpy3DParms){
        .srcArray = in->srcMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)in->srcArray : NULL,
        .srcPos = {in->srcXInBytes / unit_B, in->srcY, in->srcZ},
        .srcPtr = {pointer_of(in->srcMemoryType, in->srcHost, in->srcDevice), in->srcPitch, 0,
                   in->srcHeight},
        .dstArray = in->dstMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)in->dstArray : NULL,
        .dstPos = {in->dstXInBytes / unit_B, in->dstY, in->dstZ},
        .dstPtr = {pointer_of(in->dstMemoryType, in->dstHost, in->dstDevice), in->dstPitch, 0,
                   in->dstHeight},
        .extent = {in->WidthInBytes / unit_B, in->Height, in->Depth},
        .kind = direction_of(in->srcMemoryType, in->dstMemoryType),
    };
    return cudaSuccess;
}
