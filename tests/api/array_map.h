// SPDX-License-Identifier: MIT
// Arrays for tests of cuMemMapArrayAsync, and the bytes of their boxes.
#pragma once
#include <pthread.h>

#include "../harness.h"

enum { MIB = 1 << 20, TILE_B = 64 << 10 };

static inline CUmemGenericAllocationHandle memory(size_t size, unsigned short usage)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                             .allocFlags.usage = usage};
    MUST(cuMemCreate(&h, size, &p, 0));
    return h;
}

static inline CUmemGenericAllocationHandle tile_pool(size_t size)
{
    return memory(size, CU_MEM_CREATE_USAGE_TILE_POOL);
}

static inline CUarray array(size_t width, size_t height, size_t depth, CUarray_format format,
                            unsigned channels, unsigned flags)
{
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width,
                                 .Height = height,
                                 .Depth = depth,
                                 .Format = format,
                                 .NumChannels = channels,
                                 .Flags = flags};
    MUST(cuArray3DCreate(&a, &d));
    return a;
}

static inline CUarrayMapInfo info(CUarray a, CUmemGenericAllocationHandle h)
{
    CUarrayMapInfo m;
    memset(&m, 0, sizeof m);
    m.resourceType = CU_RESOURCE_TYPE_ARRAY;
    m.resource.array = a;
    m.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    m.memOperationType = h ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
    m.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    m.memHandle.memHandle = h;
    m.deviceBitMask = 1;
    return m;
}

struct box {
    unsigned x, y, z, width, height, depth;
};

// Copies a box of an array, whose x and width are in bytes, to or from tightly packed host memory.
static inline CUresult move(CUarray a, void *host, struct box box, bool in)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    if (in) {
        c.srcHost = host;
        c.srcPitch = box.width;
        c.srcHeight = box.height;
        c.dstArray = a;
        c.dstXInBytes = box.x;
        c.dstY = box.y;
        c.dstZ = box.z;
    } else {
        c.dstHost = host;
        c.dstPitch = box.width;
        c.dstHeight = box.height;
        c.srcArray = a;
        c.srcXInBytes = box.x;
        c.srcY = box.y;
        c.srcZ = box.z;
    }
    c.WidthInBytes = box.width;
    c.Height = box.height;
    c.Depth = box.depth;
    return cuMemcpy3D(&c);
}

static inline unsigned char *pattern(size_t size, unsigned seed)
{
    unsigned char *p = malloc(size);
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
    return p;
}

// Writes a pattern to the whole array and reads it back.
static inline void round_trip(CUarray a, size_t width_B, size_t height, size_t depth, unsigned seed)
{
    size_t size = width_B * height * depth;
    unsigned char *want = pattern(size, seed), *got = calloc(1, size);
    EXPECT_OK(move(a, want, (struct box){0, 0, 0, width_B, height, depth}, true));
    EXPECT_OK(move(a, got, (struct box){0, 0, 0, width_B, height, depth}, false));
    EXPECT(!memcmp(want, got, size));
    free(want);
    free(got);
}
