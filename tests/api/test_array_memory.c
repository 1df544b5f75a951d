// SPDX-License-Identifier: MIT
// The memory of arrays: a fresh chunk is zero after arrays that were written in any way, and the
// memory of a context goes back when it ends.
#include "kernel_text.h"
#include "resident.h"

enum { WIDTH = 64, HEIGHT = 32, TEXELS = WIDTH * HEIGHT };

static uint32_t words[TEXELS];

static const char store[] = PTX_HEAD
    ".visible .entry store(.param .u64 table)\n{\n.reg .b64 %t, %s;\n.reg .b32 %x, %y, %v;\n"
    "ld.param.u64 %t, [table];\nld.global.u64 %s, [%t];\nmov.u32 %x, %tid.x;\nshl.b32 %x, %x, 2;\n"
    "mov.u32 %y, %ctaid.x;\nmov.u32 %v, 0xabababab;\nsust.b.2d.b32.trap [%s, {%x, %y}], %v;\n"
    "ret;\n}\n";

static CUDA_ARRAY3D_DESCRIPTOR shape(CUarray_format format, unsigned channels)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = WIDTH,
                                     .Height = HEIGHT,
                                     .Format = format,
                                     .NumChannels = channels,
                                     .Flags = CUDA_ARRAY3D_SURFACE_LDST};
}

static CUarray array_of_words(void)
{
    CUarray a;
    const CUDA_ARRAY3D_DESCRIPTOR d = shape(CU_AD_FORMAT_UNSIGNED_INT32, 1);
    MUST(cuArray3DCreate(&a, &d));
    return a;
}

static void copy(CUarray a, size_t row_B, size_t rows, bool in)
{
    EXPECT_OK(
        cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                                    .srcHost = words,
                                    .srcPitch = row_B,
                                    .srcArray = a,
                                    .dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                                    .dstHost = words,
                                    .dstPitch = row_B,
                                    .dstArray = a,
                                    .WidthInBytes = row_B,
                                    .Height = rows}));
}

static void write_words(CUarray a)
{
    memset(words, 0xab, sizeof words);
    copy(a, WIDTH * 4, HEIGHT, true);
}

static void expect_zero(CUarray a)
{
    unsigned set = 0;
    memset(words, 0xff, sizeof words);
    copy(a, WIDTH * 4, HEIGHT, false);
    for (unsigned i = 0; i < TEXELS; i++)
        set += words[i] != 0;
    EXPECT_EQ(set, 0);
}

// Destroys the only array of its chunk, and expects the next one there to be zero.
static void expect_zero_after(CUarray a)
{
    EXPECT_OK(cuArrayDestroy(a));
    a = array_of_words();
    expect_zero(a);
    EXPECT_OK(cuArrayDestroy(a));
}

TEST(after_a_copy)
{
    ptx_start();
    CUarray a = array_of_words();
    write_words(a);
    expect_zero_after(a);
}

// The launch does not know which array it writes.
TEST(after_a_surface_in_a_table)
{
    ptx_start();
    CUarray a = array_of_words();
    CUsurfObject surface;
    CUdeviceptr table;
    MUST(cuSurfObjectCreate(
        &surface, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a}));
    MUST(cuMemAlloc(&table, sizeof surface));
    MUST(cuMemcpyHtoD(table, &surface, sizeof surface));
    EXPECT_OK(ptx_run(ptx_kernel(ptx_load(store), "store"), HEIGHT, WIDTH, (void *[]){&table}));
    EXPECT_OK(cuSurfObjectDestroy(surface));
    expect_zero_after(a);
}

TEST(after_a_level)
{
    ptx_start();
    CUmipmappedArray m;
    CUarray level;
    const CUDA_ARRAY3D_DESCRIPTOR d = shape(CU_AD_FORMAT_UNSIGNED_INT32, 1);
    MUST(cuMipmappedArrayCreate(&m, &d, 2));
    MUST(cuMipmappedArrayGetLevel(&level, m, 0));
    write_words(level);
    EXPECT_OK(cuMipmappedArrayDestroy(m));
    CUarray a = array_of_words();
    expect_zero_after(a);
}

// The planes of an image have a storage of their own, but its memory.
TEST(after_a_plane)
{
    ptx_start();
    CUarray image, plane, a;
    MUST(cuArray3DCreate(&image,
                         &(CUDA_ARRAY3D_DESCRIPTOR){.Width = WIDTH,
                                                    .Height = HEIGHT,
                                                    .Format = CU_AD_FORMAT_NV12,
                                                    .NumChannels = 3,
                                                    .Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE}));
    MUST(cuArrayGetPlane(&plane, image, 0));
    memset(words, 0xab, sizeof words);
    copy(plane, WIDTH, HEIGHT, true);
    EXPECT_OK(cuArrayDestroy(image));
    const CUDA_ARRAY3D_DESCRIPTOR d = shape(CU_AD_FORMAT_UNSIGNED_INT8, 1);
    MUST(cuArray3DCreate(&a, &d));
    memset(words, 0xff, sizeof words);
    copy(a, WIDTH, HEIGHT, false);
    for (unsigned i = 0; i < TEXELS / 4; i++)
        EXPECT_EQ(words[i], 0);
    EXPECT_OK(cuArrayDestroy(a));
}

// An array that was not written needs no clearing, but an older one in its place may.
TEST(after_an_array_that_was_not_written)
{
    ptx_start();
    CUarray beside = array_of_words(), first = array_of_words();
    write_words(first);
    EXPECT_OK(cuArrayDestroy(first));
    EXPECT_OK(cuArrayDestroy(array_of_words())); // in the same place
    expect_zero_after(beside);
    CUarray a = array_of_words(), b = array_of_words();
    expect_zero(a);
    expect_zero(b);
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_OK(cuArrayDestroy(b));
}

// A command that still runs keeps the heap of a context that has ended.
TEST(after_a_context_that_ended)
{
    CUcontext first, second;
    CUarray from, to, a;
    size_t free_before, free_after, all;
    CUstream s;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&second, NULL, 0, 0));
    MUST(cuMemGetInfo(&free_before, &all));
    MUST(cuCtxCreate(&first, NULL, 0, 0));
    from = array_of_words();
    write_words(from);
    MUST(cuCtxSetCurrent(second));
    to = array_of_words();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuMemcpy2DAsync(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                               .srcArray = from,
                                               .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                               .dstArray = to,
                                               .WidthInBytes = WIDTH * 4,
                                               .Height = HEIGHT},
                              s));
    EXPECT_OK(cuCtxDestroy(first));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(cuStreamDestroy(s));
    EXPECT_OK(cuArrayDestroy(to));
    EXPECT_OK(cuMemGetInfo(&free_after, &all));
    EXPECT_EQ(free_after, free_before);
    MUST(cuCtxCreate(&first, NULL, 0, 0)); // uses the heap again
    a = array_of_words();
    expect_zero(a);
    EXPECT_OK(cuCtxDestroy(first));
}

// Freed memory may stay resident, to be used again, but no longer than the last context lives.
TEST(host_memory_goes_back)
{
    enum { ARRAYS = 16, MIB = 1024 }; // in KiB
    static char megabyte[1 << 20];
    CUcontext context;
    CUarray arrays[ARRAYS];
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    memset(megabyte, 1, sizeof megabyte);
    const long before = touched_KiB();
    for (unsigned channels = 1; channels <= 4; channels *= 2) {
        for (int i = 0; i < ARRAYS; i++) {
            MUST(cuArray3DCreate(&arrays[i],
                                 &(CUDA_ARRAY3D_DESCRIPTOR){.Width = 1024 / channels,
                                                            .Height = 1024,
                                                            .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                            .NumChannels = channels}));
            MUST(cuMemcpyHtoA(arrays[i], 0, megabyte, 1024));
            MUST(cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                             .srcHost = megabyte,
                                             .srcPitch = 1024,
                                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                             .dstArray = arrays[i],
                                             .WidthInBytes = 1024,
                                             .Height = 1024}));
        }
        for (int i = 0; i < ARRAYS; i++)
            EXPECT_OK(cuArrayDestroy(arrays[i]));
    }
    EXPECT(touched_KiB() - before <= 3 * ARRAYS * MIB);
    EXPECT_OK(cuCtxDestroy(context));
    EXPECT(touched_KiB() - before <= MIB);
}

TESTS(CASE(after_a_copy), CASE(after_a_surface_in_a_table), CASE(after_a_level),
      CASE(after_a_plane), CASE(after_an_array_that_was_not_written),
      CASE(after_a_context_that_ended), CASE(host_memory_goes_back))
