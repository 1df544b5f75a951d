// SPDX-License-Identifier: MIT
// The CUDA 3.1 forms of functions, whose sizes and device addresses have 32 bits. Each one widens
// its arguments, calls the body of today's form and narrows the results. A size that does not fit
// becomes the largest size that does; an address that does not fit is an error. Programs that look
// up a name without `_v2` get these forms. Host memory, arrays and copies between them work; device
// addresses above 4 GiB cannot.
#include "api_bodies.h"
#include "call.h"

#if API_HAS_cuDeviceTotalMem || API_HAS_cuMemGetInfo || API_HAS_cuMemGetAddressRange ||            \
    API_HAS_cuModuleGetGlobal || API_HAS_cuMemAllocPitch ||                                        \
    API_HAS_cuGraphicsResourceGetMappedPointer || API_HAS_cuTexRefSetAddress
static unsigned int narrow_size(size_t size)
{
    return size > UINT32_MAX ? UINT32_MAX : (unsigned int)size;
}
#endif

#if API_HAS_cuMemAlloc || API_HAS_cuMemAllocPitch || API_HAS_cuMemGetAddressRange ||               \
    API_HAS_cuModuleGetGlobal || API_HAS_cuMemHostGetDevicePointer ||                              \
    API_HAS_cuGraphicsResourceGetMappedPointer || API_HAS_cuTexRefGetAddress
static CUresult narrow_address(CUdeviceptr_v1 *out, CUdeviceptr address)
{
    if (address > UINT32_MAX)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "device address (0x%llx) does not fit the 32 bits of this old form of the "
                       "function; use %s_v2",
                       address, em_entry_name());
    *out = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}
#endif

#if API_HAS_cuDeviceTotalMem
CUresult api_cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
    size_t wide;
    CUresult r = api_cuDeviceTotalMem_v2(&wide, dev);
    if (!r)
        *bytes = narrow_size(wide);
    return r;
}
#endif

#if API_HAS_cuMemGetInfo
CUresult api_cuMemGetInfo(unsigned int *free, unsigned int *total)
{
    size_t wide_free, wide_total;
    CUresult r = api_cuMemGetInfo_v2(&wide_free, &wide_total);
    if (!r && free)
        *free = narrow_size(wide_free);
    if (!r && total)
        *total = narrow_size(wide_total);
    return r;
}
#endif

#if API_HAS_cuMemAlloc
CUresult api_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
    CUdeviceptr wide;
    CUresult r = api_cuMemAlloc_v2(&wide, bytesize);
    if (r)
        return r;
    r = narrow_address(dptr, wide);
    if (r)
        api_cuMemFree_v2(wide);
    return r;
}
#endif

#if API_HAS_cuMemAllocPitch
CUresult api_cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes,
                             unsigned int Height, unsigned int ElementSizeBytes)
{
    CUdeviceptr wide;
    size_t pitch;
    CUresult r = api_cuMemAllocPitch_v2(&wide, &pitch, WidthInBytes, Height, ElementSizeBytes);
    if (r)
        return r;
    r = narrow_address(dptr, wide);
    if (r)
        api_cuMemFree_v2(wide);
    else
        *pPitch = narrow_size(pitch);
    return r;
}
#endif

#if API_HAS_cuMemGetAddressRange
CUresult api_cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
    CUdeviceptr base;
    size_t size;
    CUresult r = api_cuMemGetAddressRange_v2(pbase ? &base : NULL, psize ? &size : NULL, dptr);
    if (!r && pbase)
        r = narrow_address(pbase, base);
    if (!r && psize)
        *psize = narrow_size(size);
    return r;
}
#endif

#if API_HAS_cuMemHostGetDevicePointer
CUresult api_cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags)
{
    CUdeviceptr wide;
    CUresult r = api_cuMemHostGetDevicePointer_v2(&wide, p, Flags);
    return r ? r : narrow_address(pdptr, wide);
}
#endif

#if API_HAS_cuModuleGetGlobal
CUresult api_cuModuleGetGlobal(CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod,
                               const char *name)
{
    CUdeviceptr wide;
    size_t size;
    CUresult r = api_cuModuleGetGlobal_v2(dptr ? &wide : NULL, bytes ? &size : NULL, hmod, name);
    if (!r && dptr)
        r = narrow_address(dptr, wide);
    if (!r && bytes)
        *bytes = narrow_size(size);
    return r;
}
#endif

#if API_HAS_cuGraphicsResourceGetMappedPointer
CUresult api_cuGraphicsResourceGetMappedPointer(CUdeviceptr_v1 *pDevPtr, unsigned int *pSize,
                                                CUgraphicsResource resource)
{
    CUdeviceptr wide;
    size_t size;
    CUresult r = api_cuGraphicsResourceGetMappedPointer_v2(&wide, &size, resource);
    if (!r && pDevPtr)
        r = narrow_address(pDevPtr, wide);
    if (!r && pSize)
        *pSize = narrow_size(size);
    return r;
}
#endif

#if API_HAS_cuGLMapBufferObject || API_HAS_cuGLMapBufferObjectAsync
static CUresult narrow_mapping(CUresult r, CUdeviceptr wide, size_t size, CUdeviceptr_v1 *address,
                               unsigned int *narrow)
{
    if (!r && address)
        r = narrow_address(address, wide);
    if (!r && narrow)
        *narrow = narrow_size(size);
    return r;
}
#endif

#if API_HAS_cuGLMapBufferObject
CUresult api_cuGLMapBufferObject(CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer,
                                 struct em_stream *default_stream)
{
    CUdeviceptr wide = 0;
    size_t wide_size = 0;
    CUresult r = api_cuGLMapBufferObject_v2(&wide, &wide_size, buffer, default_stream);
    return narrow_mapping(r, wide, wide_size, dptr, size);
}
#endif

#if API_HAS_cuGLMapBufferObjectAsync
CUresult api_cuGLMapBufferObjectAsync(CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer,
                                      struct em_stream *hStream)
{
    CUdeviceptr wide = 0;
    size_t wide_size = 0;
    CUresult r = api_cuGLMapBufferObjectAsync_v2(&wide, &wide_size, buffer, hStream);
    return narrow_mapping(r, wide, wide_size, dptr, size);
}
#endif

#if API_HAS_cuMemcpy2D || API_HAS_cuMemcpy2DUnaligned || API_HAS_cuMemcpy2DAsync
static CUDA_MEMCPY2D widen_2d(const CUDA_MEMCPY2D_v1 *c)
{
    return (CUDA_MEMCPY2D){
        .srcXInBytes = c->srcXInBytes,
        .srcY = c->srcY,
        .srcMemoryType = c->srcMemoryType,
        .srcHost = c->srcHost,
        .srcDevice = c->srcDevice,
        .srcArray = c->srcArray,
        .srcPitch = c->srcPitch,
        .dstXInBytes = c->dstXInBytes,
        .dstY = c->dstY,
        .dstMemoryType = c->dstMemoryType,
        .dstHost = c->dstHost,
        .dstDevice = c->dstDevice,
        .dstArray = c->dstArray,
        .dstPitch = c->dstPitch,
        .WidthInBytes = c->WidthInBytes,
        .Height = c->Height,
    };
}
#endif

#if API_HAS_cuMemcpy2D
CUresult api_cuMemcpy2D(const CUDA_MEMCPY2D_v1 *pCopy, struct em_stream *default_stream)
{
    CUDA_MEMCPY2D wide = widen_2d(pCopy);
    return api_cuMemcpy2D_v2(&wide, default_stream);
}
#endif

#if API_HAS_cuMemcpy2DUnaligned
CUresult api_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1 *pCopy, struct em_stream *default_stream)
{
    CUDA_MEMCPY2D wide = widen_2d(pCopy);
    return api_cuMemcpy2DUnaligned_v2(&wide, default_stream);
}
#endif

#if API_HAS_cuMemcpy2DAsync
CUresult api_cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1 *pCopy, struct em_stream *hStream)
{
    CUDA_MEMCPY2D wide = widen_2d(pCopy);
    return api_cuMemcpy2DAsync_v2(&wide, hStream);
}
#endif

#if API_HAS_cuMemcpy3D || API_HAS_cuMemcpy3DAsync
static CUDA_MEMCPY3D widen_3d(const CUDA_MEMCPY3D_v1 *c)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = c->srcXInBytes,
        .srcY = c->srcY,
        .srcZ = c->srcZ,
        .srcLOD = c->srcLOD,
        .srcMemoryType = c->srcMemoryType,
        .srcHost = c->srcHost,
        .srcDevice = c->srcDevice,
        .srcArray = c->srcArray,
        .reserved0 = c->reserved0,
        .srcPitch = c->srcPitch,
        .srcHeight = c->srcHeight,
        .dstXInBytes = c->dstXInBytes,
        .dstY = c->dstY,
        .dstZ = c->dstZ,
        .dstLOD = c->dstLOD,
        .dstMemoryType = c->dstMemoryType,
        .dstHost = c->dstHost,
        .dstDevice = c->dstDevice,
        .dstArray = c->dstArray,
        .reserved1 = c->reserved1,
        .dstPitch = c->dstPitch,
        .dstHeight = c->dstHeight,
        .WidthInBytes = c->WidthInBytes,
        .Height = c->Height,
        .Depth = c->Depth,
    };
}
#endif

#if API_HAS_cuMemcpy3D
CUresult api_cuMemcpy3D(const CUDA_MEMCPY3D_v1 *pCopy, struct em_stream *default_stream)
{
    CUDA_MEMCPY3D wide = widen_3d(pCopy);
    return api_cuMemcpy3D_v2(&wide, default_stream);
}
#endif

#if API_HAS_cuMemcpy3DAsync
CUresult api_cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1 *pCopy, struct em_stream *hStream)
{
    CUDA_MEMCPY3D wide = widen_3d(pCopy);
    return api_cuMemcpy3DAsync_v2(&wide, hStream);
}
#endif

#if API_HAS_cuArrayCreate || API_HAS_cuTexRefSetAddress2D
static CUDA_ARRAY_DESCRIPTOR widen_descriptor(const CUDA_ARRAY_DESCRIPTOR_v1 *d)
{
    return (CUDA_ARRAY_DESCRIPTOR){
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
}
#endif

#if API_HAS_cuArrayCreate
CUresult api_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray)
{
    CUDA_ARRAY_DESCRIPTOR wide = widen_descriptor(pAllocateArray);
    return api_cuArrayCreate_v2(pHandle, &wide);
}
#endif

#if API_HAS_cuArrayGetDescriptor
CUresult api_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY_DESCRIPTOR d; // extents of arrays fit 32 bits: the largest array is far smaller
    CUresult r = api_cuArrayGetDescriptor_v2(&d, hArray);
    if (!r)
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR_v1){
            (unsigned int)d.Width, (unsigned int)d.Height, d.Format, d.NumChannels};
    return r;
}
#endif

#if API_HAS_cuArray3DCreate
CUresult api_cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray)
{
    const CUDA_ARRAY3D_DESCRIPTOR_v1 *d = pAllocateArray;
    CUDA_ARRAY3D_DESCRIPTOR wide = {.Width = d->Width,
                                    .Height = d->Height,
                                    .Depth = d->Depth,
                                    .Format = d->Format,
                                    .NumChannels = d->NumChannels,
                                    .Flags = d->Flags};
    return api_cuArray3DCreate_v2(pHandle, &wide);
}
#endif

#if API_HAS_cuArray3DGetDescriptor
CUresult api_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = api_cuArray3DGetDescriptor_v2(&d, hArray);
    if (!r)
        *pArrayDescriptor =
            (CUDA_ARRAY3D_DESCRIPTOR_v1){(unsigned int)d.Width, (unsigned int)d.Height,
                                         (unsigned int)d.Depth, d.Format,
                                         d.NumChannels,         d.Flags};
    return r;
}
#endif

#if API_HAS_cuTexRefSetAddress
CUresult api_cuTexRefSetAddress(unsigned int *ByteOffset, CUtexref hTexRef, CUdeviceptr_v1 dptr,
                                unsigned int bytes)
{
    size_t offset;
    CUresult r = api_cuTexRefSetAddress_v2(ByteOffset ? &offset : NULL, hTexRef, dptr, bytes);
    if (!r && ByteOffset)
        *ByteOffset = narrow_size(offset);
    return r;
}
#endif

#if API_HAS_cuTexRefSetAddress2D
CUresult api_cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc,
                                  CUdeviceptr_v1 dptr, unsigned int Pitch)
{
    CUDA_ARRAY_DESCRIPTOR wide = widen_descriptor(desc);
    return api_cuTexRefSetAddress2D_v2(hTexRef, &wide, dptr, Pitch);
}
#endif

#if API_HAS_cuTexRefGetAddress
CUresult api_cuTexRefGetAddress(CUdeviceptr_v1 *pdptr, CUtexref hTexRef)
{
    CUdeviceptr wide;
    CUresult r = api_cuTexRefGetAddress_v2(&wide, hTexRef);
    return r ? r : narrow_address(pdptr, wide);
}
#endif
