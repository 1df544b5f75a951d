// SPDX-License-Identifier: MIT
// Copies from and to arrays.
#include "../harness.h"

enum { WIDTH = 24, HEIGHT = 10, DEPTH = 5, ROW_B = WIDTH * 4, SIZE = ROW_B * HEIGHT * DEPTH };
static unsigned char a[SIZE], b[SIZE], want[SIZE];

static uint32_t seed = 7;
static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static CUarray fresh(size_t width, size_t height, size_t depth)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = width,
                                    .Height = height,
                                    .Depth = depth,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                    .NumChannels = 4};
    CUarray array;
    test_context();
    MUST(cuArray3DCreate(&array, &desc));
    for (unsigned i = 0; i < SIZE; i++)
        a[i] = (unsigned char)(i * 5 + (i >> 8) + 1);
    return array;
}

static CUDA_MEMCPY3D whole(CUarray array, bool up)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = ROW_B, .Height = HEIGHT, .Depth = DEPTH};
    c.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = up ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcArray = c.dstArray = array;
    c.srcHost = a, c.dstHost = b;
    c.srcPitch = c.dstPitch = ROW_B, c.srcHeight = c.dstHeight = HEIGHT;
    return c;
}

// Boxes into, out of and between arrays, compared with a plain copy of the same bytes.
TEST(random_boxes)
{
    CUarray array = fresh(WIDTH, HEIGHT, DEPTH), other = fresh(WIDTH, HEIGHT, DEPTH);
    CUDA_MEMCPY3D up = whole(array, true), down = whole(other, false);
    MUST(cuMemcpy3D(&up));
    for (unsigned i = 0; i < 200; i++) {
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = other};
        c.WidthInBytes = 4 * (1 + below(WIDTH)), c.Height = 1 + below(HEIGHT),
        c.Depth = 1 + below(DEPTH);
        c.srcXInBytes = 4 * below(WIDTH - c.WidthInBytes / 4 + 1),
        c.dstXInBytes = 4 * below(WIDTH - c.WidthInBytes / 4 + 1);
        c.srcY = below(HEIGHT - c.Height + 1), c.dstY = below(HEIGHT - c.Height + 1);
        c.srcZ = below(DEPTH - c.Depth + 1), c.dstZ = below(DEPTH - c.Depth + 1);
        CUDA_MEMCPY3D clear = whole(other, true);
        memset(want, 0, SIZE);
        clear.srcHost = want;
        MUST(cuMemcpy3D(&clear));
        for (size_t z = 0; z < c.Depth; z++)
            for (size_t y = 0; y < c.Height; y++)
                for (size_t x = 0; x < c.WidthInBytes; x++)
                    want[((z + c.dstZ) * HEIGHT + y + c.dstY) * ROW_B + x + c.dstXInBytes] =
                        a[((z + c.srcZ) * HEIGHT + y + c.srcY) * ROW_B + x + c.srcXInBytes];
        EXPECT_OK(cuMemcpy3D(&c));
        MUST(cuMemcpy3D(&down));
        EXPECT(!memcmp(b, want, SIZE));
    }
}

TEST(runs)
{
    CUarray array = fresh(WIDTH, 0, 0), other = fresh(WIDTH, 0, 0);
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, ROW_B));
    EXPECT_OK(cuMemcpyHtoA(array, 0, a, ROW_B));
    EXPECT_OK(cuMemcpyAtoA(other, 0, array, 0, ROW_B));
    EXPECT_OK(cuMemcpyAtoD(p, other, 0, ROW_B));
    EXPECT_OK(cuMemcpyDtoH(b, p, ROW_B));
    EXPECT(!memcmp(a, b, ROW_B));
    EXPECT_OK(cuMemcpyDtoA(array, 8, p, 16));
    EXPECT_OK(cuMemcpyAtoH(b, array, 8, 16));
    EXPECT(!memcmp(a, b, 16));
    EXPECT_ERROR(cuMemcpyHtoA(array, 4, a, ROW_B), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyAtoH(b, array, SIZE_MAX - 3, 8), CUDA_ERROR_INVALID_VALUE);
}

TEST(outside)
{
    CUarray array = fresh(WIDTH, HEIGHT, DEPTH);
    const CUDA_MEMCPY3D good = whole(array, true);
    CUDA_MEMCPY3D c = good;
    EXPECT_OK(cuMemcpy3D(&c));
    c.dstZ = 1;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstY = 1;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstXInBytes = 4;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstZ = SIZE_MAX;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstLOD = 1;
    EXPECT_ERROR(cuMemcpy3D(&c), CUDA_ERROR_INVALID_VALUE);
    c = good, c.dstArray = NULL;
    EXPECT(cuMemcpy3D(&c) != CUDA_SUCCESS);
    MUST(cuArrayDestroy(array));
    EXPECT(cuMemcpy3D(&good) != CUDA_SUCCESS);
}

TESTS(CASE(random_boxes), CASE(runs), CASE(outside))
