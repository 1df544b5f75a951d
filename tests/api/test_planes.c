// SPDX-License-Identifier: MIT
// Video formats on mapped external memory: which descriptors are valid, the shape of the planes,
// and copies that reach their bytes.
#include "../harness.h"

enum { MEMORY_B = 4 << 20 };

// Imports memory that the driver exported, and maps a buffer over all of it.
static CUexternalMemory import_memory(CUdeviceptr *bytes)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
    };
    CUmemGenericAllocationHandle physical;
    CUexternalMemory memory;
    int fd;
    test_context();
    MUST(cuMemCreate(&physical, MEMORY_B, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = MEMORY_B};
    MUST(cuImportExternalMemory(&memory, &desc));
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = MEMORY_B};
    MUST(cuExternalMemoryGetMappedBuffer(bytes, memory, &buffer));
    MUST(cuMemsetD8(*bytes, 0, MEMORY_B));
    return memory;
}

struct shape {
    size_t width, height, depth;
    CUarray_format format;
    unsigned channels, flags, levels;
};

static CUresult map(CUexternalMemory memory, struct shape shape, CUmipmappedArray *out)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .arrayDesc = {.Width = shape.width,
                      .Height = shape.height,
                      .Depth = shape.depth,
                      .Format = shape.format,
                      .NumChannels = shape.channels,
                      .Flags = shape.flags},
        .numLevels = shape.levels,
    };
    return cuExternalMemoryGetMappedMipmappedArray(out, memory, &desc);
}

#define EXPECT_DESC(array, width, height, format, channels)                                        \
    do {                                                                                           \
        CUDA_ARRAY3D_DESCRIPTOR desc_;                                                             \
        EXPECT_OK(cuArray3DGetDescriptor(&desc_, (array)));                                        \
        EXPECT_EQ(desc_.Width, (width));                                                           \
        EXPECT_EQ(desc_.Height, (height));                                                         \
        EXPECT_EQ(desc_.Format, (format));                                                         \
        EXPECT_EQ(desc_.NumChannels, (channels));                                                  \
    } while (0)

TEST(descriptors)
{
    CUdeviceptr bytes;
    CUmipmappedArray m;
    CUexternalMemory memory = import_memory(&bytes);
    const unsigned video = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    EXPECT_OK(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m));
    EXPECT_OK(map(memory,
                  (struct shape){2, 2, 0, CU_AD_FORMAT_NV12, 3, CUDA_ARRAY3D_SURFACE_LDST, 1}, &m));
    EXPECT_OK(
        map(memory, (struct shape){64, 64, 6, CU_AD_FORMAT_NV12, 3, CUDA_ARRAY3D_LAYERED, 1}, &m));
    EXPECT_OK(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_P010, 3, video, 1}, &m));
    EXPECT_OK(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_AYUV, 4, video, 1}, &m));
    EXPECT_ERROR(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_P010, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE); // valid only for the video units
    EXPECT_ERROR(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_NV12, 4, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(map(memory, (struct shape){63, 64, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE); // half of an odd extent
    EXPECT_ERROR(map(memory, (struct shape){64, 64, 8, CU_AD_FORMAT_NV12, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(
        map(memory, (struct shape){64, 64, 6, CU_AD_FORMAT_NV12, 3, CUDA_ARRAY3D_CUBEMAP, 1}, &m),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(map(memory, (struct shape){64, 0, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_NV12, 3, 0, 2}, &m),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(map(memory, (struct shape){2048, 2048, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE); // exceeds the memory
    EXPECT_ERROR(map(memory, (struct shape){64, 64, 0, (CUarray_format)0x101, 4, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE); // not a CUarray_format
}

// Arrays in device memory can have video formats only for the video units.
TEST(created)
{
    CUarray a, plane;
    CUmipmappedArray m;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_NV12, .NumChannels = 3};
    test_context();
    EXPECT_ERROR(cuArray3DCreate(&a, &d), CUDA_ERROR_INVALID_VALUE);
    d.Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    EXPECT_OK(cuArray3DCreate(&a, &d));
    EXPECT_OK(cuArrayGetPlane(&plane, a, 1));
    EXPECT_DESC(plane, 32, 32, CU_AD_FORMAT_UNSIGNED_INT8, 2);
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_OK(cuMipmappedArrayCreate(&m, &d, 1));
    d.Height = 63;
    EXPECT_ERROR(cuArray3DCreate(&a, &d), CUDA_ERROR_INVALID_VALUE);
    d.Height = 64;
    static const struct {
        CUarray_format format;
        unsigned channels;
    } packed[] = {{CU_AD_FORMAT_YUY2, 4}, {CU_AD_FORMAT_Y210, 2}, {CU_AD_FORMAT_Y216, 2},
                  {CU_AD_FORMAT_AYUV, 4}, {CU_AD_FORMAT_Y410, 1}, {CU_AD_FORMAT_Y416, 4}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        d.Format = packed[i].format;
        for (d.NumChannels = 0; d.NumChannels < 6; d.NumChannels++)
            EXPECT_EQ(cuArray3DCreate(&a, &d), d.NumChannels == packed[i].channels
                                                   ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE);
    }
}

// Under `driver-580`, higher bits of the format's number are ignored.
TEST(low_byte)
{
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = (CUarray_format)0x101, .NumChannels = 4};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    EXPECT_OK(cuArray3DCreate(&a, &d));
    EXPECT_DESC(a, 64, 64, 0x101, 4);
    d.Format = (CUarray_format)0x1ff;
    EXPECT_ERROR(cuArray3DCreate(&a, &d), CUDA_ERROR_INVALID_VALUE);
}

TEST(objects)
{
    CUarray a, plane;
    CUtexObject t;
    CUsurfObject s;
    CUDA_TEXTURE_DESC how = {0};
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64,
                                 .Height = 64,
                                 .Format = CU_AD_FORMAT_P010,
                                 .NumChannels = 3,
                                 .Flags =
                                     CUDA_ARRAY3D_VIDEO_ENCODE_DECODE | CUDA_ARRAY3D_SURFACE_LDST};
    test_context();
    MUST(cuArray3DCreate(&a, &d));
    MUST(cuArrayGetPlane(&plane, a, 0));
    CUDA_RESOURCE_DESC whole = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
                       luma = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plane};
    EXPECT_ERROR(cuTexObjectCreate(&t, &whole, &how, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuSurfObjectCreate(&s, &whole), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexObjectCreate(&t, &luma, &how, NULL));
    EXPECT_OK(cuSurfObjectCreate(&s, &luma));
}

// The driver wants CLAMP for unnormalised coordinates of NV12's planes. Others clamp in any case.
static void nv12_textures(const char *personality, CUresult wrapped)
{
    CUarray a, plane;
    CUtexObject t;
    CUDA_TEXTURE_DESC wrap = {0};
    CUDA_TEXTURE_DESC clamp = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64,
                                 .Height = 64,
                                 .Format = CU_AD_FORMAT_NV12,
                                 .NumChannels = 3,
                                 .Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE};
    test_setting("CARDLESS_PERSONALITY", personality);
    test_context();
    MUST(cuArray3DCreate(&a, &d));
    for (unsigned i = 0; i < 2; i++) {
        MUST(cuArrayGetPlane(&plane, a, i));
        const CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plane};
        EXPECT_ERROR(cuTexObjectCreate(&t, &r, &wrap, NULL), wrapped);
        EXPECT_OK(cuTexObjectCreate(&t, &r, &clamp, NULL));
    }
}

TEST(nv12_textures_of_the_driver)
{
    nv12_textures("driver-580", CUDA_ERROR_INVALID_VALUE);
}

TEST(nv12_textures_of_the_manual)
{
    nv12_textures("manual", CUDA_SUCCESS);
}

TEST(planes)
{
    CUdeviceptr bytes;
    CUmipmappedArray m;
    CUarray whole, luma, chroma, again;
    CUexternalMemory memory = import_memory(&bytes);
    MUST(map(memory, (struct shape){64, 32, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m));
    MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
    EXPECT_DESC(whole, 64, 32, CU_AD_FORMAT_NV12, 3);
    EXPECT_OK(cuArrayGetPlane(&luma, whole, 0));
    EXPECT_DESC(luma, 64, 32, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    EXPECT_OK(cuArrayGetPlane(&chroma, whole, 1));
    EXPECT_DESC(chroma, 32, 16, CU_AD_FORMAT_UNSIGNED_INT8, 2);
    EXPECT_OK(cuArrayGetPlane(&again, whole, 1));
    EXPECT(again == chroma);
    EXPECT_ERROR(cuArrayGetPlane(&again, whole, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuArrayGetPlane(&again, luma, 0),
                 CUDA_ERROR_INVALID_VALUE); // a plane has no planes of its own
    EXPECT_ERROR(cuArrayGetPlane(NULL, whole, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuArrayDestroy(chroma)); // borrowed, so it is not destroyed
    EXPECT_DESC(chroma, 32, 16, CU_AD_FORMAT_UNSIGNED_INT8, 2);
    EXPECT_OK(cuMipmappedArrayDestroy(m));
    CUDA_ARRAY3D_DESCRIPTOR desc;
    EXPECT_ERROR(cuArray3DGetDescriptor(&desc, chroma), CUDA_ERROR_INVALID_HANDLE);
}

static CUresult copy(CUarray array, void *host, size_t width_B, size_t height, bool in)
{
    CUDA_MEMCPY2D c = {.WidthInBytes = width_B, .Height = height};
    if (in) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = host, c.srcPitch = width_B;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array;
    } else {
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = array;
        c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = host, c.dstPitch = width_B;
    }
    return cuMemcpy2D(&c);
}

// Bytes that are written to one plane should be read back from it, and should not appear in another
// plane.
TEST(contents)
{
    static const CUarray_format formats[] = {CU_AD_FORMAT_NV12, CU_AD_FORMAT_P010,
                                             CU_AD_FORMAT_NV16, CU_AD_FORMAT_Y444_PLANAR8,
                                             CU_AD_FORMAT_YUV444_8bit_SemiPlanar};
    static unsigned char data[3][256 * 128], back[256 * 128];
    CUdeviceptr bytes;
    CUexternalMemory memory = import_memory(&bytes);
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        CUmipmappedArray m;
        CUarray whole, plane[3];
        size_t width_B[3], height[3];
        unsigned count = 0;
        MUST(map(memory,
                 (struct shape){60, 100, 0, formats[f], 3, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, 1},
                 &m));
        MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
        while (count < 3 && !cuArrayGetPlane(&plane[count], whole, count))
            count++;
        EXPECT_EQ(count, formats[f] == CU_AD_FORMAT_Y444_PLANAR8 ? 3 : 2);
        for (unsigned i = 0; i < count; i++) {
            CUDA_ARRAY3D_DESCRIPTOR d;
            MUST(cuArray3DGetDescriptor(&d, plane[i]));
            width_B[i] =
                d.Width * d.NumChannels * (d.Format == CU_AD_FORMAT_UNSIGNED_INT16 ? 2 : 1);
            height[i] = d.Height;
            memset(data[i], (int)(16 * (f + 1) + i), sizeof data[i]);
            EXPECT_OK(copy(plane[i], data[i], width_B[i], height[i], true));
        }
        for (unsigned i = 0; i < count; i++) {
            EXPECT_OK(copy(plane[i], back, width_B[i], height[i], false));
            EXPECT(!memcmp(back, data[i], width_B[i] * height[i]));
        }
        EXPECT_OK(cuMipmappedArrayDestroy(m));
    }
}

// The driver checks the size of the first plane only. Copies detect planes that lie past the end.
TEST(past_the_end)
{
    CUdeviceptr bytes;
    CUmipmappedArray m;
    CUarray whole, plane;
    unsigned char texel[2] = {1, 2};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUexternalMemory memory = import_memory(&bytes);
    MUST(map(memory, (struct shape){2048, 2048, 0, CU_AD_FORMAT_NV12, 3, 0, 1},
             &m)); // 4 MiB of luma
    MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
    MUST(cuArrayGetPlane(&plane, whole, 0));
    EXPECT_OK(copy(plane, texel, 2, 1, true));
    MUST(cuArrayGetPlane(&plane, whole, 1));
    EXPECT_ERROR(map(memory, (struct shape){2048, 2050, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m),
                 CUDA_ERROR_INVALID_VALUE);
}

// Planes after the first are not mapped. A read fails at once, but a write from pageable memory
// leaves the error to the next call.
TEST(later_planes)
{
    CUdeviceptr bytes;
    CUmipmappedArray m;
    CUarray whole, plane;
    unsigned char texel[2];
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUexternalMemory memory = import_memory(&bytes);
    MUST(map(memory, (struct shape){64, 64, 0, CU_AD_FORMAT_NV12, 3, 0, 1}, &m));
    MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
    MUST(cuArrayGetPlane(&plane, whole, 1));
    EXPECT_DESC(plane, 32, 32, CU_AD_FORMAT_UNSIGNED_INT8, 2);
    EXPECT_ERROR(copy(plane, texel, 2, 1, false), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(later_planes_written)
{
    CUdeviceptr bytes;
    CUmipmappedArray m;
    CUarray whole, plane;
    unsigned char texel[2] = {1, 2};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    CUexternalMemory memory = import_memory(&bytes);
    MUST(map(memory,
             (struct shape){64, 64, 0, CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 3,
                            CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, 1},
             &m));
    MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
    MUST(cuArrayGetPlane(&plane, whole, 1));
    EXPECT_OK(copy(plane, texel, 2, 1, true));
    EXPECT_ERROR(copy(plane, texel, 2, 1, true), CUDA_ERROR_LAUNCH_FAILED);
}

// Blocks of video formats cover the image's height, with at least 4 GOBs. Blocks of mapped NV12 are
// 2 GOBs high but reported as 4 (recorded: planes).
TEST(placement)
{
    static const struct {
        CUarray_format format;
        size_t width, height, x, y;
        unsigned at; // offset of the byte at (x, y) of the first plane
    } cases[] = {
        {CU_AD_FORMAT_NV12, 66, 34, 64, 0, 0x400},
        {CU_AD_FORMAT_NV12, 66, 34, 0, 16, 0x800},
        {CU_AD_FORMAT_NV12, 256, 100, 0, 16, 0x1000},
        {CU_AD_FORMAT_NV12, 256, 100, 255, 99, 0x6d7f},
        {CU_AD_FORMAT_NV16, 66, 34, 64, 0, 0x1000},
        {CU_AD_FORMAT_NV16, 66, 34, 0, 32, 0x800},
        {CU_AD_FORMAT_NV16, 256, 100, 64, 0, 0x2000},
        {CU_AD_FORMAT_NV16, 256, 100, 255, 99, 0x797f},
        {CU_AD_FORMAT_NV16, 128, 20, 64, 0, 0x800},
    };
    static unsigned char all[1 << 16];
    CUdeviceptr bytes;
    CUexternalMemory memory = import_memory(&bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUmipmappedArray m;
        CUarray whole, plane;
        MUST(map(memory,
                 (struct shape){cases[i].width, cases[i].height, 0, cases[i].format, 3,
                                CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, 1},
                 &m));
        MUST(cuMipmappedArrayGetLevel(&whole, m, 0));
        MUST(cuArrayGetPlane(&plane, whole, 0));
        MUST(cuMemsetD8(bytes, 0, sizeof all));
        CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = "\xff",
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = plane,
                           .dstXInBytes = cases[i].x,
                           .dstY = cases[i].y,
                           .WidthInBytes = 1,
                           .Height = 1};
        EXPECT_OK(cuMemcpy2D(&c));
        MUST(cuMemcpyDtoH(all, bytes, sizeof all));
        const unsigned char *found = memchr(all, 0xff, sizeof all);
        EXPECT_EQ(found ? found - all : -1, cases[i].at);
        MUST(cuMipmappedArrayDestroy(m));
    }
}

// Without a mapping, every plane begins on its own page.
TEST(requirements)
{
    static const struct {
        CUarray_format format;
        size_t width, height, depth, need;
    } cases[] = {
        {CU_AD_FORMAT_NV12, 64, 64, 0, 0x20000},
        {CU_AD_FORMAT_NV12, 1920, 1080, 0, 0x350000},
        {CU_AD_FORMAT_NV12, 4096, 2160, 0, 0xd00000},
        {CU_AD_FORMAT_NV12, 256, 100, 3, 0x30000},
        {CU_AD_FORMAT_P010, 1920, 1080, 0, 0x6a0000},
        {CU_AD_FORMAT_NV16, 1920, 1080, 3, 0xcc0000},
        {CU_AD_FORMAT_Y444_PLANAR8, 64, 64, 0, 0x30000},
        {CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 640, 480, 0, 0xf0000},
    };
    test_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = cases[i].width,
                                     .Height = cases[i].height,
                                     .Depth = cases[i].depth,
                                     .Format = cases[i].format,
                                     .NumChannels = 3,
                                     .Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE |
                                              CUDA_ARRAY3D_DEFERRED_MAPPING};
        if (d.Depth)
            d.Flags |= CUDA_ARRAY3D_LAYERED;
        CUDA_ARRAY_MEMORY_REQUIREMENTS need;
        CUarray a;
        MUST(cuArray3DCreate(&a, &d));
        EXPECT_OK(cuArrayGetMemoryRequirements(&need, a, 0));
        EXPECT_EQ(need.size, cases[i].need);
        EXPECT_EQ(need.alignment, 65536);
    }
}

TEST(sparse)
{
    static const struct {
        CUarray_format format;
        unsigned channels, width, height;
        size_t tail;
    } cases[] = {{CU_AD_FORMAT_NV12, 3, 256, 256, 0x20000},
                 {CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 3, 256, 256, 0x20000},
                 {CU_AD_FORMAT_Y444_PLANAR8, 3, 256, 256, 0x30000},
                 {CU_AD_FORMAT_YUY2, 4, 128, 128, 0x10000}};
    test_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64,
                                     .Height = 64,
                                     .Format = cases[i].format,
                                     .NumChannels = cases[i].channels,
                                     .Flags =
                                         CUDA_ARRAY3D_VIDEO_ENCODE_DECODE | CUDA_ARRAY3D_SPARSE};
        CUDA_ARRAY_SPARSE_PROPERTIES s;
        CUarray a;
        MUST(cuArray3DCreate(&a, &d));
        EXPECT_OK(cuArrayGetSparseProperties(&s, a));
        EXPECT_EQ(s.tileExtent.width, cases[i].width);
        EXPECT_EQ(s.tileExtent.height, cases[i].height);
        EXPECT_EQ(s.miptailSize, cases[i].tail);
        EXPECT_EQ(s.flags, CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL);
    }
}

TESTS(CASE(descriptors), CASE(created), CASE(low_byte), CASE(objects),
      CASE(nv12_textures_of_the_driver), CASE(nv12_textures_of_the_manual), CASE(planes),
      CASE(contents), CASE(past_the_end), CASE(later_planes), CASE(later_planes_written),
      CASE(placement), CASE(requirements), CASE(sparse))
