// SPDX-License-Identifier: MIT
// For the programs of docs/learn: checks calls, starts CUDA, and exports and imports memory.
#pragma once
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Ends the program if a call fails.
#define CU(call) learn_check((call), #call, __FILE__, __LINE__)

static inline void learn_check(CUresult result, const char *call, const char *file, int line)
{
    const char *name = "an unknown error";
    if (!result)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, name);
    exit(1);
}

// Makes the context of the first device current.
static inline void learn_start(void)
{
    CUcontext context;
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
}

// Returns a descriptor of new device memory, as another API would export it.
static inline int learn_export(size_t size)
{
    CUmemAllocationProp properties;
    CUmemGenericAllocationHandle handle;
    int fd;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CU(cuMemCreate(&handle, size, &properties, 0));
    CU(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CU(cuMemRelease(handle)); // the descriptor keeps the memory
    return fd;
}

// Imports memory, and takes the descriptor over.
static inline CUexternalMemory learn_import(int fd, size_t size)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    CUexternalMemory memory;
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = fd;
    desc.size = size;
    CU(cuImportExternalMemory(&memory, &desc));
    return memory;
}

static inline CUdeviceptr learn_map(CUexternalMemory memory, size_t offset, size_t size)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc;
    CUdeviceptr pointer;
    memset(&desc, 0, sizeof desc);
    desc.offset = offset;
    desc.size = size;
    CU(cuExternalMemoryGetMappedBuffer(&pointer, memory, &desc));
    return pointer;
}

// Whether the program was asked to make the lesson's mistake.
static inline int learn_wrong(int argc, char **argv)
{
    return argc > 1 && !strcmp(argv[1], "wrong");
}
