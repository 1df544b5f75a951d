// SPDX-License-Identifier: MIT
// Fails each allocation, and each system call that allocates, once in every call that creates
// arrays, textures and texture references, maps memory into them, or imports and maps external
// memory. Each failure should be CUDA_ERROR_OUT_OF_MEMORY and should change nothing, and the call
// should succeed afterwards.
#include "../harness.h"

#include "fail_each.h"

static CUarray array, target;
static CUmipmappedArray mipmap;
static CUtexObject texture;
static CUsurfObject surface;
static CUtexref reference;
static CUexternalMemory memory;
static CUdeviceptr buffer;
static CUmemGenericAllocationHandle pool;
static int source = -1;
static const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 256,
                                             .Height = 256,
                                             .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                             .NumChannels = 4,
                                             .Flags = CUDA_ARRAY3D_SURFACE_LDST};

static CUresult create_array(void)
{
    return cuArray3DCreate(&array, &desc);
}

static CUresult create_sparse(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = desc;
    d.Flags = CUDA_ARRAY3D_SPARSE;
    return cuArray3DCreate(&array, &d);
}

static void destroy_array(void)
{
    EXPECT_OK(cuArrayDestroy(array));
}

static CUresult create_mipmap(void)
{
    return cuMipmappedArrayCreate(&mipmap, &desc, 9);
}

static void destroy_mipmap(void)
{
    EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

static CUresult get_level(void)
{
    CUresult r = create_mipmap();
    if (r)
        return r;
    if ((r = cuMipmappedArrayGetLevel(&array, mipmap, 3)))
        destroy_mipmap();
    return r;
}

static CUresult create_texture(void)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = target};
    CUDA_TEXTURE_DESC t;
    memset(&t, 0, sizeof t);
    return cuTexObjectCreate(&texture, &r, &t, NULL);
}

static void destroy_texture(void)
{
    EXPECT_OK(cuTexObjectDestroy(texture));
}

static CUresult create_surface(void)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = target};
    return cuSurfObjectCreate(&surface, &r);
}

static void destroy_surface(void)
{
    EXPECT_OK(cuSurfObjectDestroy(surface));
}

static CUresult create_reference(void)
{
    return cuTexRefCreate(&reference);
}

static void destroy_reference(void)
{
    EXPECT_OK(cuTexRefDestroy(reference));
}

// If the import fails, the caller still owns the descriptor.
static CUresult import(void)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .handle.fd = dup(source),
                                          .size = 4 << 20};
    CUresult r = cuImportExternalMemory(&memory, &d);
    if (r)
        EXPECT_EQ(close(d.handle.fd), 0);
    return r;
}

static void destroy_memory(void)
{
    EXPECT_OK(cuDestroyExternalMemory(memory));
}

static CUresult map_buffers(void)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.size = 1 << 20};
    CUdeviceptr second;
    CUresult r = cuExternalMemoryGetMappedBuffer(&buffer, memory, &d);
    if (r)
        return r;
    if ((r = cuExternalMemoryGetMappedBuffer(&second, memory,
                                             &d))) // at other addresses than the first
        EXPECT_OK(cuMemFree(buffer));
    else
        EXPECT_OK(cuMemFree(second));
    return r;
}

static void free_buffer(void)
{
    EXPECT_OK(cuMemFree(buffer));
}

static CUresult map_mipmap(void)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {.arrayDesc = desc, .numLevels = 9};
    return cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &d);
}

// A command that fails later leaves its error in the stream. This call returns it.
static CUresult tiles(CUmemOperationType operation, CUmemGenericAllocationHandle from)
{
    CUarrayMapInfo m;
    memset(&m, 0, sizeof m);
    m.resourceType = CU_RESOURCE_TYPE_ARRAY;
    m.resource.array = array;
    m.subresource.sparseLevel.extentWidth = m.subresource.sparseLevel.extentHeight = 256;
    m.subresource.sparseLevel.extentDepth = 1;
    m.memOperationType = operation;
    m.memHandle.memHandle = from;
    m.deviceBitMask = 1;
    CUresult r = cuMemMapArrayAsync(&m, 1, NULL), later = cuStreamSynchronize(NULL);
    return r ? r : later;
}

static CUresult map_tiles(void)
{
    return tiles(CU_MEM_OPERATION_TYPE_MAP, pool);
}

static void unmap_tiles(void)
{
    EXPECT_OK(tiles(CU_MEM_OPERATION_TYPE_UNMAP, 0));
}

TEST(arrays)
{
    test_context();
    fail_each("cuArray3DCreate", create_array, destroy_array);
    fail_each("a sparse array", create_sparse, destroy_array);
    fail_each("cuMipmappedArrayCreate", create_mipmap, destroy_mipmap);
    fail_each("cuMipmappedArrayGetLevel", get_level, destroy_mipmap);
}

TEST(textures)
{
    test_context();
    MUST(cuArray3DCreate(&target, &desc));
    fail_each("cuTexObjectCreate", create_texture, destroy_texture);
    fail_each("cuSurfObjectCreate", create_surface, destroy_surface);
    fail_each("cuTexRefCreate", create_reference, destroy_reference);
}

TEST(tiles)
{
    test_context();
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                             .allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL};
    MUST(cuMemCreate(&pool, 2 << 20, &p, 0));
    MUST(create_sparse());
    fail_each("cuMemMapArrayAsync", map_tiles, unmap_tiles);
}

TEST(external_memory)
{
    test_context();
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle h;
    MUST(cuMemCreate(&h, 4 << 20, &p, 0));
    MUST(cuMemExportToShareableHandle(&source, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    fail_each("cuImportExternalMemory", import, destroy_memory);
    MUST(import());
    fail_each("cuExternalMemoryGetMappedBuffer", map_buffers, free_buffer);
    fail_each("cuExternalMemoryGetMappedMipmappedArray", map_mipmap, destroy_mipmap);
}

TESTS(CASE(arrays), CASE(textures), CASE(tiles), CASE(external_memory))
