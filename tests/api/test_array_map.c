// SPDX-License-Identifier: MIT
// cuMemMapArrayAsync for tiles and mip tails of sparse arrays, and invalid calls.
#include "array_map.h"

static CUarrayMapInfo tiles(CUarray a, CUmemGenericAllocationHandle h, struct box box,
                            unsigned long long offset)
{
    CUarrayMapInfo m = info(a, h);
    m.subresource.sparseLevel.offsetX = box.x;
    m.subresource.sparseLevel.offsetY = box.y;
    m.subresource.sparseLevel.offsetZ = box.z;
    m.subresource.sparseLevel.extentWidth = box.width;
    m.subresource.sparseLevel.extentHeight = box.height;
    m.subresource.sparseLevel.extentDepth = box.depth;
    m.offset = offset;
    return m;
}

// For each element size and shape, maps every tile, the last one first.
static void sparse(size_t width, size_t height, size_t depth, CUarray_format format,
                   unsigned channels, unsigned element_B, unsigned flags)
{
    CUarray a = array(width, height, depth, format, channels, CUDA_ARRAY3D_SPARSE | flags);
    CUDA_ARRAY_SPARSE_PROPERTIES p;
    MUST(cuArrayGetSparseProperties(&p, a));
    unsigned tw = p.tileExtent.width, th = p.tileExtent.height, td = flags ? 1 : p.tileExtent.depth;
    unsigned nx = ((unsigned)width + tw - 1) / tw, ny = ((unsigned)height + th - 1) / th,
             nz = depth ? ((unsigned)depth + td - 1) / td : 1, n = nx * ny * nz, at = 0;
    CUmemGenericAllocationHandle h =
        tile_pool(((size_t)n * TILE_B + 2 * MIB - 1) / (2 * MIB) * (2 * MIB));
    for (unsigned z = 0; z < nz; z++)
        for (unsigned y = 0; y < ny; y++)
            for (unsigned x = 0; x < nx; x++, at++) {
                unsigned w = (unsigned)width - x * tw < tw ? (unsigned)width - x * tw : tw,
                         hh = (unsigned)height - y * th < th ? (unsigned)height - y * th : th;
                unsigned d = !depth || flags                 ? 1
                             : (unsigned)depth - z * td < td ? (unsigned)depth - z * td
                                                             : td;
                CUarrayMapInfo m =
                    tiles(a, h, (struct box){x * tw, y * th, flags ? 0 : z * td, w, hh, d},
                          (unsigned long long)(n - 1 - at) * TILE_B);
                m.subresource.sparseLevel.layer = flags ? z : 0;
                EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
            }
    round_trip(a, width * element_B, height, depth ? depth : 1, element_B);
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_OK(cuMemRelease(h));
}

TEST(sparse_shapes)
{
    test_context();
    sparse(512, 512, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, 0);
    sparse(700, 300, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1, 2, 0);
    sparse(1000, 777, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 0);
    sparse(300, 200, 0, CU_AD_FORMAT_FLOAT, 2, 8, 0);
    sparse(100, 70, 0, CU_AD_FORMAT_FLOAT, 4, 16, 0);
    sparse(256, 256, 3, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, CUDA_ARRAY3D_LAYERED);
    sparse(100, 50, 40, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 0);
    sparse(64, 64, 64, CU_AD_FORMAT_FLOAT, 4, 16, 0);
    sparse(130, 66, 33, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, 0);
}

// A tile of memory should have the same contents at every place that it is mapped to.
TEST(tile_moves)
{
    test_context();
    CUarray a = array(512, 512, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE),
            b = array(256, 384, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    CUmemGenericAllocationHandle h = tile_pool(2 * MIB);
    CUarrayMapInfo m[2] = {tiles(a, h, (struct box){256, 128, 0, 128, 128, 1}, 3 * TILE_B),
                           tiles(b, h, (struct box){128, 256, 0, 128, 128, 1}, 3 * TILE_B)};
    unsigned char *want = pattern(TILE_B, 9), *got = calloc(1, TILE_B);
    EXPECT_OK(cuMemMapArrayAsync(m, 2, NULL));
    EXPECT_OK(move(a, want, (struct box){1024, 128, 0, 512, 128, 1}, true));
    EXPECT_OK(move(b, got, (struct box){512, 256, 0, 512, 128, 1}, false));
    EXPECT(!memcmp(want, got, TILE_B));
    free(want);
    free(got);
}

static bool all_zero(const unsigned char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i])
            return false;
    return true;
}

// "Reads of unmapped tiles return zero, writes are dropped."
TEST(null_tiles)
{
    test_context();
    CUarray a = array(256, 128, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    CUmemGenericAllocationHandle h = tile_pool(2 * MIB);
    CUarrayMapInfo m = tiles(a, h, (struct box){128, 0, 0, 128, 128, 1}, 0);
    unsigned char *want = pattern(2 * TILE_B, 5), *got = malloc(2 * TILE_B);
    memset(got, 0xee, 2 * TILE_B);
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    EXPECT_OK(move(a, want, (struct box){0, 0, 0, 1024, 128, 1}, true));
    EXPECT_OK(move(a, got, (struct box){0, 0, 0, 1024, 128, 1}, false));
    for (int y = 0; y < 128; y++)
        EXPECT(all_zero(got + y * 1024, 512) &&
               !memcmp(got + y * 1024 + 512, want + y * 1024 + 512, 512));
    m = tiles(a, 0, (struct box){128, 0, 0, 128, 128, 1}, 0);
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    EXPECT_OK(move(a, got, (struct box){0, 0, 0, 1024, 128, 1}, false));
    EXPECT(all_zero(got, 2 * TILE_B));
    free(want);
    free(got);
}

// Both copies wait in the stream after submission, so the second one should see the bytes that
// exist when it runs.
TEST(null_tiles_in_stream_order)
{
    enum { ROW = 512, ROWS = 128 };
    test_context();
    CUarray a = array(128, ROWS, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    CUstream stream;
    CUdeviceptr word, bytes;
    static unsigned char got[ROW * ROWS];
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&word, 4));
    MUST(cuMemAlloc(&bytes, 2 * sizeof got));
    MUST(cuMemsetD32(word, 0, 1));
    MUST(cuMemsetD8(bytes, 7, 2 * sizeof got));
    CUDA_MEMCPY3D to = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = bytes,
                        .srcPitch = ROW,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = a,
                        .WidthInBytes = ROW,
                        .Height = ROWS,
                        .Depth = 1};
    CUDA_MEMCPY3D from = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = a,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = bytes + sizeof got,
                          .dstPitch = ROW,
                          .WidthInBytes = ROW,
                          .Height = ROWS,
                          .Depth = 1};
    EXPECT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuMemcpy3DAsync(&to, stream));
    EXPECT_OK(cuMemcpy3DAsync(&from, stream));
    EXPECT_OK(cuMemsetD32(word, 1, 1));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cuMemcpyDtoH(got, bytes + sizeof got, sizeof got));
    EXPECT(all_zero(got, sizeof got));
}

struct reader {
    CUarray array;
    CUcontext context;
    pthread_barrier_t *start;
    unsigned wrong;
};

static void *read_null_tiles(void *argument)
{
    struct reader *r = argument;
    static __thread unsigned char got[1024 * 256];
    cuCtxSetCurrent(r->context);
    pthread_barrier_wait(r->start);
    r->wrong += move(r->array, got, (struct box){0, 0, 0, 1024, 256, 1}, false) ||
                !all_zero(got, sizeof got);
    return NULL;
}

// The second one should not read bytes that the first one is clearing.
TEST(null_tiles_for_two_readers)
{
    test_context();
    struct reader readers[2];
    pthread_barrier_t start;
    pthread_t threads[2];
    CUcontext context;
    CUarray a = array(256, 256, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    unsigned char *want = pattern(1024 * 256, 3);
    cuCtxGetCurrent(&context);
    pthread_barrier_init(&start, NULL, 2);
    for (int round = 0; round < 100; round++) {
        EXPECT_OK(move(a, want, (struct box){0, 0, 0, 1024, 256, 1}, true));
        for (int i = 0; i < 2; i++) {
            readers[i] = (struct reader){a, context, &start, 0};
            EXPECT_EQ(pthread_create(&threads[i], NULL, read_null_tiles, &readers[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            EXPECT_EQ(readers[i].wrong, 0);
        }
    }
    pthread_barrier_destroy(&start);
    free(want);
}

TEST(mip_tail)
{
    test_context();
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY_SPARSE_PROPERTIES p;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 256,
                                 .Height = 256,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = 4,
                                 .Flags = CUDA_ARRAY3D_SPARSE};
    MUST(cuMipmappedArrayCreate(&mipmap, &d, 9));
    MUST(cuMipmappedArrayGetSparseProperties(&p, mipmap));
    CUmemGenericAllocationHandle h = tile_pool(2 * MIB);
    CUarrayMapInfo m = tiles(NULL, h, (struct box){0, 0, 0, 256, 256, 1}, 0);
    m.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    m.resource.mipmap = mipmap;
    EXPECT_EQ(p.miptailFirstLevel, 2);
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    m.subresource.sparseLevel.level = 2;
    m.subresource.sparseLevel.extentWidth = m.subresource.sparseLevel.extentHeight = 64;
    EXPECT_ERROR(cuMemMapArrayAsync(&m, 1, NULL),
                 CUDA_ERROR_INVALID_VALUE); // the level belongs to the mip tail
    memset(&m.subresource, 0, sizeof m.subresource);
    m.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    m.offset = 8 * TILE_B;
    EXPECT_ERROR(cuMemMapArrayAsync(&m, 1, NULL), CUDA_ERROR_INVALID_VALUE); // size 0
    m.subresource.miptail.size = p.miptailSize + TILE_B;
    EXPECT_ERROR(cuMemMapArrayAsync(&m, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    m.subresource.miptail.size = p.miptailSize;
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    for (unsigned l = 0; l < 9; l++) {
        if (l == 1)
            continue; // leave this tile unmapped
        MUST(cuMipmappedArrayGetLevel(&level, mipmap, l));
        round_trip(level, (256u >> l) * 4, 256u >> l, 1, l);
    }
    EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

static CUresult unmap_with_memory(void)
{
    test_context();
    CUarray a = array(1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    CUmemGenericAllocationHandle h = tile_pool(4 * MIB);
    CUarrayMapInfo m = tiles(a, h, (struct box){0, 0, 0, 128, 128, 1}, 0);
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    m.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    return cuMemMapArrayAsync(&m, 1, NULL);
}

// "memHandle must be NULL."
TEST(unmapping_with_memory)
{
    EXPECT_MESSAGE(unmap_with_memory(), CUDA_ERROR_INVALID_VALUE, "it must be 0 with");
}

TEST(unmapping_with_memory_on_the_card)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    EXPECT_OK(unmap_with_memory());
}

TEST(sparse_refused)
{
    test_context();
    CUarray a = array(1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SPARSE);
    CUmemGenericAllocationHandle h = tile_pool(4 * MIB);
    static const unsigned bad[][6] = {{0, 0, 0, 0, 128, 1},
                                      {0, 0, 0, 128, 0, 1},
                                      {0, 0, 0, 128, 128, 0},
                                      {0, 0, 0, 128, 128, 2},
                                      {0, 0, 0, 64, 128, 1},
                                      {1, 0, 0, 128, 128, 1},
                                      {0, 64, 0, 128, 128, 1},
                                      {1024, 0, 0, 128, 128, 1},
                                      {0, 0, 0, 1152, 128, 1},
                                      {0, 0, 1, 128, 128, 1},
                                      {0xffffff80u, 0, 0, 128, 128, 1},
                                      {0, 0, 0, 0xffffff80u, 128, 1}};
    CUarrayMapInfo m[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m[0] = tiles(a, h,
                     (struct box){bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], bad[i][5]},
                     0);
        EXPECT_ERROR(cuMemMapArrayAsync(m, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    }
    m[0] = tiles(a, h, (struct box){0, 0, 0, 1024, 1024, 1}, 0);
    m[0].subresource.sparseLevel.layer = 1;
    EXPECT_ERROR(cuMemMapArrayAsync(m, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    m[0] = tiles(a, h, (struct box){0, 0, 0, 1024, 1024, 1},
                 TILE_B); // one tile more than the memory holds
    EXPECT_ERROR(cuMemMapArrayAsync(m, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    // A list with one bad entry does nothing.
    m[0] = tiles(a, h, (struct box){0, 0, 0, 128, 128, 1}, 0);
    m[1] = m[0];
    m[1].flags = 1;
    EXPECT_ERROR(cuMemMapArrayAsync(m, 2, NULL), CUDA_ERROR_INVALID_VALUE);
    unsigned char one = 7;
    EXPECT_OK(move(a, &one, (struct box){0, 0, 0, 1, 1, 1}, true));
    EXPECT_OK(move(a, &one, (struct box){0, 0, 0, 1, 1, 1}, false));
    EXPECT_EQ(one, 0);
}

// Mapping runs in stream order, so later copies in the stream find the memory.
TEST(in_stream_order)
{
    test_context();
    CUarray a = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_DEFERRED_MAPPING);
    CUmemGenericAllocationHandle h = tile_pool(2 * MIB);
    CUarrayMapInfo m = info(a, h);
    CUdeviceptr gate, data;
    CUstream s;
    unsigned char byte = 0;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&gate, 4096));
    MUST(cuMemsetD32(gate, 0, 1));
    data = gate + 64;
    MUST(cuMemsetD8(data, 0x5c, 64));
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = data,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .WidthInBytes = 64,
                       .Height = 1};
    MUST(cuStreamWaitValue32(s, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, s));
    EXPECT_OK(cuMemcpy2DAsync(&c, s));
    EXPECT_OK(cuMemRelease(h));
    MUST(cuMemsetD32(gate, 1, 1));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(move(a, &byte, (struct box){63, 0, 0, 1, 1, 1}, false));
    EXPECT_EQ(byte, 0x5c);
}

TEST(use_before_map)
{
    test_context();
    CUarray a = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_DEFERRED_MAPPING);
    unsigned char byte = 1;
    EXPECT_ERROR(move(a, &byte, (struct box){0, 0, 0, 1, 1, 1}, true), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

// A call that fails because of the context's error should leave its stream as it was.
TEST(streams_of_a_failed_context)
{
    test_context();
    CUarray a = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_DEFERRED_MAPPING);
    unsigned char byte = 1;
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_ERROR(move(a, &byte, (struct box){0, 0, 0, 1, 1, 1}, true), CUDA_ERROR_LAUNCH_FAILED);
    for (int i = 0; i < 3; i++)
        EXPECT_ERROR(cuStreamSynchronize(s), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    EXPECT_ERROR(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
}

TESTS(CASE(sparse_shapes), CASE(tile_moves), CASE(null_tiles), CASE(null_tiles_in_stream_order),
      CASE(null_tiles_for_two_readers), CASE(mip_tail), CASE(unmapping_with_memory),
      CASE(unmapping_with_memory_on_the_card), CASE(sparse_refused), CASE(in_stream_order),
      CASE(use_before_map), CASE(streams_of_a_failed_context))
