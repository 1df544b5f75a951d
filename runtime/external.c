// SPDX-License-Identifier: MIT
// Memory and semaphores of other APIs and processes.
#include <stddef.h>
#include <string.h>

#include "channel.h"

#define SAME_MEMBER(a, b, member)                                                                  \
    (offsetof(a, member) == offsetof(b, member) && sizeof((a *)0)->member == sizeof((b *)0)->member)
#define SAME_STRUCT(a, b, first, last)                                                             \
    _Static_assert(sizeof(a) == sizeof(b) && SAME_MEMBER(a, b, first) && SAME_MEMBER(a, b, last),  \
                   #a " has the layout of " #b)

_Static_assert(SAME_MEMBER(struct cudaExternalSemaphoreHandleDesc,
                           CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, handle) &&
                   SAME_MEMBER(struct cudaExternalSemaphoreHandleDesc,
                               CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, flags),
               "descriptors of semaphores");
SAME_STRUCT(struct cudaExternalSemaphoreSignalParams, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, params,
            flags);
SAME_STRUCT(struct cudaExternalSemaphoreWaitParams, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, params,
            flags);

// The driver refuses descriptors with bytes in `reserved`, the runtime ignores them (recorded:
// extmem/import-reserved, extmem/buffer-reserved), so those members are left out.

// The checks of null arguments come before the context (recorded: lazy/ImportExternalMemory-null).
cudaError_t rt_cudaImportExternalMemory(cudaExternalMemory_t *extMem_out,
                                        const struct cudaExternalMemoryHandleDesc *memHandleDesc)
{
    if (memHandleDesc->type < cudaExternalMemoryHandleTypeOpaqueFd ||
        memHandleDesc->type > cudaExternalMemoryHandleTypeNvSciBuf)
        return rt_fail(cudaErrorInvalidValue, "type (%d) is not a cudaExternalMemoryHandleType",
                       (int)memHandleDesc->type);
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = (CUexternalMemoryHandleType)memHandleDesc->type,
        .handle.win32 = {memHandleDesc->handle.win32.handle, memHandleDesc->handle.win32.name},
        .size = memHandleDesc->size,
        .flags = memHandleDesc->flags,
    };
    return rt_error(rt_cu.cuImportExternalMemory((CUexternalMemory *)extMem_out, &desc));
}

cudaError_t
rt_cudaExternalMemoryGetMappedBuffer(void **devPtr, cudaExternalMemory_t extMem,
                                     const struct cudaExternalMemoryBufferDesc *bufferDesc)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {
        .offset = bufferDesc->offset, .size = bufferDesc->size, .flags = bufferDesc->flags};
    CUdeviceptr address;
    RT_TRY(rt_cu.cuExternalMemoryGetMappedBuffer(&address, (CUexternalMemory)extMem, &desc));
    *devPtr = (void *)address;
    return cudaSuccess;
}

cudaError_t rt_cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t *mipmap, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryMipmappedArrayDesc *mipmapDesc)
{
    struct rt_element element;
    const cudaError_t error = rt_element_of(&mipmapDesc->formatDesc, &element);
    if (error != cudaSuccess)
        return error;
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .offset = mipmapDesc->offset,
        .arrayDesc = {.Width = mipmapDesc->extent.width,
                      .Height = mipmapDesc->extent.height,
                      .Depth = mipmapDesc->extent.depth,
                      .Format = element.format,
                      .NumChannels = element.channels,
                      .Flags = mipmapDesc->flags},
        .numLevels = mipmapDesc->numLevels,
    };
    return rt_error(rt_cu.cuExternalMemoryGetMappedMipmappedArray((CUmipmappedArray *)mipmap,
                                                                  (CUexternalMemory)extMem, &desc));
}

cudaError_t rt_cudaDestroyExternalMemory(cudaExternalMemory_t extMem)
{
    return rt_error(rt_cu.cuDestroyExternalMemory((CUexternalMemory)extMem));
}

cudaError_t
rt_cudaImportExternalSemaphore(cudaExternalSemaphore_t *extSem_out,
                               const struct cudaExternalSemaphoreHandleDesc *semHandleDesc)
{
    // Version 12 has no reserved bytes after the flags.
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {0};
    memcpy(&desc, semHandleDesc, sizeof *semHandleDesc);
    return rt_error(rt_cu.cuImportExternalSemaphore((CUexternalSemaphore *)extSem_out, &desc));
}

cudaError_t
rt_cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray,
                                     const struct cudaExternalSemaphoreSignalParams *paramsArray,
                                     unsigned int numExtSems, cudaStream_t stream)
{
    return rt_error(rt_cu.cuSignalExternalSemaphoresAsync(
        (const CUexternalSemaphore *)extSemArray,
        (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)paramsArray, numExtSems, stream));
}

cudaError_t
rt_cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray,
                                   const struct cudaExternalSemaphoreWaitParams *paramsArray,
                                   unsigned int numExtSems, cudaStream_t stream)
{
    return rt_error(rt_cu.cuWaitExternalSemaphoresAsync(
        (const CUexternalSemaphore *)extSemArray,
        (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)paramsArray, numExtSems, stream));
}

cudaError_t rt_cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem)
{
    return rt_error(rt_cu.cuDestroyExternalSemaphore((CUexternalSemaphore)extSem));
}
