// SPDX-License-Identifier: MIT
// Memory to import without a graphics API: the driver's own exports, plain memfds, and files with
// the layout of lavapipe's.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>

#include "../harness.h"

enum { EXTERNAL_B = 4 << 20 };

static inline CUDA_EXTERNAL_MEMORY_HANDLE_DESC opaque(int fd, unsigned long long size)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = fd;
    d.size = size;
    return d;
}

// Returns a descriptor of the driver's own memory.
static inline int own_fd(size_t size)
{
    CUmemAllocationProp p;
    CUmemGenericAllocationHandle h;
    int fd = -1;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MUST(cuMemCreate(&h, size, &p, 0));
    MUST(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemRelease(h));
    return fd;
}

static inline int plain_memfd(off_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, size)) {
        perror("memfd");
        exit(1);
    }
    return fd;
}

// Creates a file with the layout of lavapipe's exports: a header of 32 bytes, and the payload at
// 4096.
static inline int mesa_memfd(uint64_t payload_B)
{
    static const unsigned char uuid[16] = {0x6c, 0xb9, 0xee, 0x07, 0x4a, 0x0b, 0xad, 0x7b,
                                           0x01, 0x2e, 0x1b, 0xe9, 0x69, 0x7e, 0x53, 0x0f};
    struct {
        uint64_t size, offset;
        unsigned char uuid[16];
    } header = {payload_B + 4096, 4096, {0}};
    memcpy(header.uuid, uuid, sizeof uuid);
    int fd = plain_memfd((off_t)header.size);
    if (pwrite(fd, &header, sizeof header, 0) != sizeof header)
        exit(1);
    return fd;
}

static inline CUexternalMemory import(int fd, unsigned long long size, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, size);
    CUexternalMemory m;
    d.flags = flags;
    MUST(cuImportExternalMemory(&m, &d));
    return m;
}

static inline CUdeviceptr map_buffer(CUexternalMemory m, unsigned long long offset,
                                     unsigned long long size)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d;
    CUdeviceptr p;
    memset(&d, 0, sizeof d);
    d.offset = offset;
    d.size = size;
    MUST(cuExternalMemoryGetMappedBuffer(&p, m, &d));
    return p;
}

static inline CUresult try_buffer(CUexternalMemory m, unsigned long long offset,
                                  unsigned long long size, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d;
    CUdeviceptr p;
    memset(&d, 0, sizeof d);
    d.offset = offset;
    d.size = size;
    d.flags = flags;
    CUresult r = cuExternalMemoryGetMappedBuffer(&p, m, &d);
    if (!r)
        MUST(cuMemFree(p));
    return r;
}

static inline CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
image(size_t width, size_t height, size_t depth, unsigned flags, unsigned levels)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d;
    memset(&d, 0, sizeof d);
    d.arrayDesc.Width = width;
    d.arrayDesc.Height = height;
    d.arrayDesc.Depth = depth;
    d.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    d.arrayDesc.NumChannels = 4;
    d.arrayDesc.Flags = flags;
    d.numLevels = levels;
    return d;
}

static inline CUresult try_image(CUexternalMemory m, CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d)
{
    CUmipmappedArray a;
    CUresult r = cuExternalMemoryGetMappedMipmappedArray(&a, m, &d);
    if (!r)
        MUST(cuMipmappedArrayDestroy(a));
    return r;
}
