// SPDX-License-Identifier: MIT
// The manual's chapter "External Resource Interoperability", memory half.
#include "api_bodies.h"
#include "external_memory.h"

CUresult api_cuImportExternalMemory(CUexternalMemory *extMem_out,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
    return em_external_import(memHandleDesc, extMem_out);
}

CUresult api_cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
                                             const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)
{
    return em_external_map_buffer(extMem, bufferDesc, devPtr);
}

CUresult api_cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray *mipmap, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc)
{
    return em_external_map_mipmap(extMem, mipmapDesc, mipmap);
}

CUresult api_cuDestroyExternalMemory(CUexternalMemory extMem)
{
    return em_external_destroy(extMem);
}
