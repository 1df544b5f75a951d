// SPDX-License-Identifier: MIT
// Arrays, mipmapped arrays, textures and surfaces of the runtime.
#include "expect.h"

static const struct cudaChannelFormatDesc byte_element = {8, 0, 0, 0,
                                                          cudaChannelFormatKindUnsigned};
static const struct cudaChannelFormatDesc float_element = {32, 0, 0, 0, cudaChannelFormatKindFloat};

static bool same_element(struct cudaChannelFormatDesc a, struct cudaChannelFormatDesc b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

// An array keeps the description of its elements, for all kinds and sizes that exist.
TEST(elements)
{
    static const int sizes[][4] = {{8, 0, 0, 0},   {8, 8, 0, 0},     {8, 8, 8, 8},    {16, 0, 0, 0},
                                   {16, 16, 0, 0}, {16, 16, 16, 16}, {16, 16, 16, 0}, {32, 0, 0, 0},
                                   {32, 32, 0, 0}, {32, 32, 32, 32}, {10, 10, 10, 2}, {8, 8, 8, 0},
                                   {24, 0, 0, 0},  {8, 16, 0, 0},    {8, 0, 8, 0},    {0, 0, 0, 0},
                                   {64, 0, 0, 0},  {-8, 0, 0, 0}};
    int arrays = 0;
    for (int kind = -1; kind <= cudaChannelFormatKindUnsignedNormalized1010102 + 1; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const int *s = sizes[i];
            struct cudaChannelFormatDesc found,
                element = {s[0], s[1], s[2], s[3], (enum cudaChannelFormatKind)kind};
            struct cudaExtent extent;
            cudaArray_t array = (cudaArray_t)&found;
            unsigned flags = 9;
            cudaError_t r = cudaMallocArray(&array, &element, 16, 8, cudaArrayDefault);
            if (r) {
                EXPECT(!array);
                EXPECT(r == cudaErrorInvalidChannelDescriptor || kind == cudaChannelFormatKindNV12);
                continue;
            }
            RT_OK(cudaArrayGetInfo(&found, &extent, &flags, array));
            EXPECT(same_element(found, element));
            EXPECT(extent.width == 16 && extent.height == 8 && extent.depth == 0 && flags == 0);
            RT_OK(cudaGetChannelDesc(&found, array));
            EXPECT(same_element(found, element));
            RT_OK(cudaFreeArray(array));
            arrays++;
        }
    // Signed, unsigned and float elements, and one size for each of the fixed kinds but NV12.
    EXPECT_EQ(arrays, 9 + 9 + 6 + 27);
}

TEST(array_errors)
{
    struct cudaChannelFormatDesc found = {.x = -7};
    cudaArray_t array;
    cudaMipmappedArray_t levels;
    RT_ERROR(cudaMallocArray(NULL, &byte_element, 4, 4, 0), cudaErrorInvalidValue);
    RT_ERROR(cudaMallocArray(&array, NULL, 4, 4, 0), cudaErrorInvalidValue);
    RT_ERROR(cudaMallocArray(&array, &byte_element, 0, 4, 0), cudaErrorInvalidValue);
    RT_ERROR(cudaGetChannelDesc(&found, NULL), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(found.x, -7);
    RT_ERROR(cudaArrayGetInfo(&found, NULL, NULL, NULL), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(found.x, 0);
    RT_OK(cudaFreeArray(NULL));
    RT_OK(cudaFreeMipmappedArray(NULL));

    RT_OK(cudaMallocMipmappedArray(&levels, &byte_element, (struct cudaExtent){16, 8, 0}, 99, 0));
    RT_OK(cudaGetMipmappedArrayLevel(&array, levels, 4));
    RT_ERROR(cudaGetMipmappedArrayLevel(&array, levels, 5), cudaErrorInvalidValue);
    RT_ERROR(cudaGetMipmappedArrayLevel(&array, NULL, 0), cudaErrorInvalidResourceHandle);
    RT_OK(cudaFreeMipmappedArray(levels));
}

TEST(requirements)
{
    struct cudaArrayMemoryRequirements needs = {.size = 1};
    struct cudaArraySparseProperties sparse = {.miptailSize = 1};
    cudaArray_t array;
    RT_OK(cudaMallocArray(&array, &float_element, 256, 256, cudaArrayDeferredMapping));
    RT_OK(cudaArrayGetMemoryRequirements(&needs, array, 0));
    EXPECT_EQ(needs.size, 262144);
    EXPECT_EQ(needs.alignment, 65536);
    RT_ERROR(cudaArrayGetSparseProperties(&sparse, array), cudaErrorInvalidValue);
    EXPECT_EQ(sparse.miptailSize, 0);
    RT_OK(cudaFreeArray(array));
    RT_OK(cudaMallocArray(&array, &float_element, 256, 256, cudaArraySparse));
    RT_OK(cudaArrayGetSparseProperties(&sparse, array));
    EXPECT_EQ(sparse.tileExtent.width, 128);
    RT_ERROR(cudaArrayGetMemoryRequirements(&needs, array, 0), cudaErrorInvalidValue);
    EXPECT_EQ(needs.size, 0);
    RT_OK(cudaFreeArray(array));
}

// ---- copies

static cudaArray_t byte_array(size_t width, size_t height)
{
    cudaArray_t array = NULL;
    RT_MUST(cudaMallocArray(&array, &byte_element, width, height, 0));
    return array;
}

TEST(rows)
{
    unsigned char host[4][16], back[4][16] = {0};
    cudaArray_t array = byte_array(16, 4), other = byte_array(16, 4);
    for (int i = 0; i < 64; i++)
        host[i / 16][i % 16] = (unsigned char)i;
    RT_OK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 4, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpy2DArrayToArray(other, 2, 1, array, 3, 2, 5, 2, cudaMemcpyDeviceToDevice));
    RT_OK(cudaMemcpy2DFromArray(back, 16, other, 2, 1, 5, 2, cudaMemcpyDefault));
    EXPECT_EQ(back[0][0], 2 * 16 + 3);
    EXPECT_EQ(back[1][4], 3 * 16 + 7);
    RT_ERROR(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 4, cudaMemcpyDeviceToHost),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 4, cudaMemcpyHostToDevice),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 1, 1, cudaMemcpyHostToDevice),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpy2DToArray(array, 0, 0, host, 8, 16, 4, cudaMemcpyDefault),
             cudaErrorInvalidPitchValue);
    RT_ERROR(cudaMemcpy2DToArray(array, 1, 0, host, 16, 16, 4, cudaMemcpyDefault),
             cudaErrorInvalidValue);
    RT_ERROR(cudaMemcpy2DToArray(NULL, 0, 0, host, 16, 16, 4, cudaMemcpyDefault),
             cudaErrorInvalidResourceHandle);
    RT_OK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 0, 4, cudaMemcpyDeviceToHost));
}

// Deprecated copies take an array for one row after the other.
TEST(linear)
{
    unsigned char host[48], back[48];
    cudaArray_t wide = byte_array(16, 3), narrow = byte_array(12, 4);
    for (int i = 0; i < 48; i++)
        host[i] = (unsigned char)(i + 1);
    RT_OK(cudaMemcpyToArray(wide, 0, 0, host, 48, cudaMemcpyHostToDevice));
    for (size_t at = 0; at < 48; at++)
        for (size_t size = 1; size <= 48 - at; size++) {
            memset(back, 0, sizeof back);
            RT_OK(cudaMemcpyFromArray(back, wide, at % 16, at / 16, size, cudaMemcpyDeviceToHost));
            EXPECT(!memcmp(back, host + at, size));
        }
    // A position behind the end of a row continues in the next one.
    RT_OK(cudaMemcpyFromArray(back, wide, 17, 0, 1, cudaMemcpyDeviceToHost));
    EXPECT_EQ(back[0], host[17]);
    RT_ERROR(cudaMemcpyFromArray(back, wide, 0, 0, 49, cudaMemcpyDeviceToHost),
             cudaErrorInvalidValue);
    RT_OK(cudaMemcpyArrayToArray(narrow, 5, 0, wide, 3, 0, 40, cudaMemcpyDeviceToDevice));
    RT_OK(cudaMemcpyFromArray(back, narrow, 5, 0, 40, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(back, host + 3, 40));
    RT_ERROR(cudaMemcpyToArray(wide, 0, 0, host, 1, cudaMemcpyDeviceToHost),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpyToArray(NULL, 0, 0, host, 1, cudaMemcpyHostToDevice),
             cudaErrorInvalidResourceHandle);
    RT_OK(cudaMemcpyToArray(NULL, 0, 0, NULL, 0, cudaMemcpyHostToDevice));
}

// Random copies between three arrays of different widths, compared with plain bytes.
TEST(random_linear)
{
    static const size_t widths[] = {16, 12, 7}, heights[] = {5, 8, 11};
    unsigned char model[3][96] = {{0}}, host[96];
    cudaArray_t arrays[3];
    uint32_t state = 1;
    for (int i = 0; i < 3; i++) {
        arrays[i] = byte_array(widths[i], heights[i]);
        RT_MUST(cudaMemcpyToArray(arrays[i], 0, 0, model[i], widths[i] * heights[i],
                                  cudaMemcpyHostToDevice));
    }
    for (int round = 0; round < 400; round++) {
        unsigned number[6];
        for (int i = 0; i < 6; i++) {
            state = state * 1664525 + 1013904223;
            number[i] = state >> 8;
        }
        const unsigned to = number[0] % 3, from = number[1] % 3;
        const size_t to_bytes = widths[to] * heights[to], from_bytes = widths[from] * heights[from];
        const size_t to_at = number[2] % to_bytes, from_at = number[3] % from_bytes;
        const size_t most =
            to_bytes - to_at < from_bytes - from_at ? to_bytes - to_at : from_bytes - from_at;
        const size_t count = number[4] % (most + 1);
        if (to != from && number[5] % 2) {
            RT_OK(cudaMemcpyArrayToArray(arrays[to], to_at % widths[to], to_at / widths[to],
                                         arrays[from], from_at % widths[from],
                                         from_at / widths[from], count, cudaMemcpyDefault));
            memcpy(model[to] + to_at, model[from] + from_at, count);
        } else {
            memset(host, (int)round, count);
            RT_OK(cudaMemcpyToArray(arrays[to], to_at % widths[to], to_at / widths[to], host, count,
                                    cudaMemcpyHostToDevice));
            memcpy(model[to] + to_at, host, count);
        }
        RT_OK(cudaMemcpyFromArray(host, arrays[to], 0, 0, to_bytes, cudaMemcpyDeviceToHost));
        EXPECT(!memcmp(host, model[to], to_bytes));
    }
}

// Positions and extents are elements of the array, also those of the pointer.
TEST(boxes_of_elements)
{
    float host[2][4][8], back[2][4][8] = {{{0}}};
    cudaArray_t array, bytes = byte_array(8, 4);
    RT_MUST(cudaMalloc3DArray(&array, &float_element, (struct cudaExtent){8, 4, 2}, 0));
    for (int i = 0; i < 64; i++)
        (&host[0][0][0])[i] = (float)i;
    struct cudaMemcpy3DParms p = {
        .srcPtr = {host, sizeof host[0][0], 8, 4},
        .srcPos = {1, 2, 0},
        .dstArray = array,
        .dstPos = {3, 0, 1},
        .extent = {4, 2, 1},
        .kind = cudaMemcpyHostToDevice,
    };
    RT_OK(cudaMemcpy3D(&p));
    RT_OK(cudaMemcpy3D(&(struct cudaMemcpy3DParms){
        .srcArray = array,
        .dstPtr = {back, sizeof back[0][0], 8, 4},
        .extent = {8, 4, 2},
        .kind = cudaMemcpyDeviceToHost,
    }));
    EXPECT(back[1][0][3] == host[0][2][1]);
    EXPECT(back[1][1][6] == host[0][3][4]);
    p.dstPos.x = 5;
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.dstPos.x = SIZE_MAX / 2;
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p = (struct cudaMemcpy3DParms){.srcArray = array,
                                   .dstArray = bytes,
                                   .extent = {1, 1, 1},
                                   .kind = cudaMemcpyDeviceToDevice};
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.dstArray = array;
    RT_OK(cudaMemcpy3D(&p));
    p.kind = cudaMemcpyHostToHost;
    RT_ERROR(cudaMemcpy3D(&p), cudaErrorInvalidValue);
}

// ---- textures and surfaces

static struct cudaResourceDesc resource_of(cudaArray_t array)
{
    return (struct cudaResourceDesc){.resType = cudaResourceTypeArray, .res.array.array = array};
}

TEST(textures)
{
    cudaArray_t array = byte_array(16, 4);
    struct cudaResourceDesc resource = resource_of(array), found;
    struct cudaTextureDesc sampling = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeWrap},
        .filterMode = cudaFilterModeLinear,
        .readMode = cudaReadModeNormalizedFloat,
        .sRGB = 1,
        .normalizedCoords = 1,
        .maxAnisotropy = 4,
        .mipmapFilterMode = cudaFilterModeLinear,
        .mipmapLevelBias = 1.5f,
        .maxMipmapLevelClamp = 3,
    };
    struct cudaTextureDesc back = {0};
    cudaTextureObject_t texture;
    RT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    RT_OK(cudaGetTextureObjectResourceDesc(&found, texture));
    EXPECT(found.resType == cudaResourceTypeArray && found.res.array.array == array);
    RT_OK(cudaGetTextureObjectTextureDesc(&back, texture));
    EXPECT(!memcmp(&back, &sampling, sizeof back));
    RT_OK(cudaDestroyTextureObject(texture));
    RT_OK(cudaDestroyTextureObject(0));

    // Integers cannot be filtered unless they are read as numbers up to 1.
    sampling.readMode = cudaReadModeElementType;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, NULL),
             cudaErrorInvalidFilterSetting);
    sampling.filterMode = cudaFilterModePoint;
    RT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    RT_OK(cudaDestroyTextureObject(texture));
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, NULL, NULL),
             cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaCreateTextureObject(&texture, NULL, &sampling, NULL), cudaErrorInvalidValue);
    resource.res.array.array = NULL;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, NULL),
             cudaErrorInvalidResourceHandle);
}

TEST(linear_textures)
{
    struct cudaTextureDesc sampling = {.readMode = cudaReadModeElementType};
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear}, found;
    cudaTextureObject_t texture;
    void *memory;
    RT_MUST(cudaMalloc(&memory, 4096));
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = float_element;
    resource.res.linear.sizeInBytes = 4096;
    RT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    RT_OK(cudaGetTextureObjectResourceDesc(&found, texture));
    EXPECT(found.res.linear.devPtr == memory && found.res.linear.sizeInBytes == 4096);
    EXPECT(same_element(found.res.linear.desc, float_element));
    RT_OK(cudaDestroyTextureObject(texture));
    sampling.readMode = cudaReadModeNormalizedFloat;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, NULL),
             cudaErrorInvalidNormSetting);
    resource.res.linear.desc.x = 24;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, NULL),
             cudaErrorInvalidChannelDescriptor);
    resource.resType = (enum cudaResourceType)9;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, NULL), cudaErrorInvalidValue);
}

TEST(views)
{
    cudaArray_t array;
    struct cudaTextureDesc sampling = {.readMode = cudaReadModeElementType};
    struct cudaResourceViewDesc view = {
        .format = cudaResViewFormatUnsignedInt1, .width = 16, .height = 4};
    struct cudaResourceViewDesc found = {.width = 1};
    cudaTextureObject_t texture;
    RT_MUST(cudaMallocArray(&array, &float_element, 16, 4, 0));
    struct cudaResourceDesc resource = resource_of(array);
    RT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, &view));
    RT_OK(cudaGetTextureObjectResourceViewDesc(&found, texture));
    EXPECT(found.format == view.format && found.width == 16 && found.height == 4);
    RT_OK(cudaDestroyTextureObject(texture));
    view.format = cudaResViewFormatUnsignedInt2;
    RT_ERROR(cudaCreateTextureObject(&texture, &resource, &sampling, &view), cudaErrorInvalidValue);
}

TEST(surfaces)
{
    cudaArray_t array;
    struct cudaResourceDesc found;
    cudaSurfaceObject_t surface;
    RT_MUST(cudaMallocArray(&array, &float_element, 16, 4, cudaArraySurfaceLoadStore));
    struct cudaResourceDesc resource = resource_of(array);
    RT_OK(cudaCreateSurfaceObject(&surface, &resource));
    RT_OK(cudaGetSurfaceObjectResourceDesc(&found, surface));
    EXPECT(found.res.array.array == array);
    RT_OK(cudaDestroySurfaceObject(surface));
    RT_OK(cudaDestroySurfaceObject(0));
    resource.resType = cudaResourceTypeLinear;
    RT_ERROR(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidValue);
    resource = resource_of(NULL);
    RT_ERROR(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidResourceHandle);
}

TESTS(CASE(elements), CASE(array_errors), CASE(requirements), CASE(rows), CASE(linear),
      CASE(random_linear), CASE(boxes_of_elements), CASE(textures), CASE(linear_textures),
      CASE(views), CASE(surfaces))
