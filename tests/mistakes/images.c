// SPDX-License-Identifier: MIT
// Mistakes with cuExternalMemoryGetMappedMipmappedArray and the arrays that it returns (I01 to
// I11).
#include "external.h"

static CUexternalMemory memory(void)
{
    test_context();
    return import(own_fd(EXTERNAL_B), EXTERNAL_B, 0);
}

// Memory as lavapipe allocates it for exactly this image: RGBA8, rows of 64 bytes, one level after
// the other.
static CUexternalMemory dedicated(size_t width, size_t height, size_t slices, unsigned levels)
{
    uint64_t total = 0;
    for (unsigned l = 0; l < levels; l++) {
        size_t w = width >> l ? width >> l : 1, h = height >> l ? height >> l : 1;
        size_t pitch = (((w + 3) & ~(size_t)3) * 4 + 63) & ~(size_t)63;
        total += (pitch * ((h + 3) & ~(size_t)3) * slices + 63) & ~(size_t)63;
    }
    test_context();
    return import(mesa_memfd(total), total, CUDA_EXTERNAL_MEMORY_DEDICATED);
}

TEST(i01_depth_1)
{
    CUexternalMemory m = memory();
    // [I01 wrong]
    EXPECT_OK(try_image(m, image(64, 64, 1, 0, 1)));
    // [end]
    EXPECT_DIAGNOSTIC(I01);
}

TEST(i01_twin)
{
    CUexternalMemory m = memory();
    // [I01 right]
    EXPECT_OK(try_image(m, image(64, 64, 0, 0, 1)));
    EXPECT_OK(try_image(m, image(64, 64, 1, CUDA_ARRAY3D_LAYERED, 1)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i02_layers_without_flag)
{
    // [I02 wrong]
    CUexternalMemory m = dedicated(64, 64, 4, 7);
    EXPECT_OK(try_image(m, image(64, 64, 4, 0, 7)));
    // [end]
    EXPECT_DIAGNOSTIC(I02);
}

TEST(i02_twin)
{
    // [I02 right]
    CUexternalMemory m = dedicated(64, 64, 4, 7);
    EXPECT_OK(try_image(m, image(64, 64, 4, CUDA_ARRAY3D_LAYERED, 7)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i03_cubemaps)
{
    CUexternalMemory m = memory();
    // [I03 wrong]
    EXPECT_ERROR(try_image(m, image(64, 32, 6, CUDA_ARRAY3D_CUBEMAP, 1)), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(I03);
    EXPECT_ERROR(try_image(m, image(64, 64, 5, CUDA_ARRAY3D_CUBEMAP, 1)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(try_image(m, image(64, 64, 7, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 1)),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_STR(test_reported(), "I03 I03 I03");
}

TEST(i03_twin)
{
    CUexternalMemory m = memory();
    // [I03 right]
    EXPECT_OK(try_image(m, image(64, 64, 6, CUDA_ARRAY3D_CUBEMAP, 7)));
    EXPECT_OK(try_image(m, image(64, 64, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 1)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i05_other_number_of_levels)
{
    // [I05 wrong]
    CUexternalMemory m = dedicated(256, 256, 1, 9);
    EXPECT_OK(try_image(m, image(256, 256, 0, 0, 1)));
    // [end]
    EXPECT_DIAGNOSTIC(I05);
}

TEST(i05_more_levels_than_there_can_be)
{
    CUexternalMemory m = memory();
    EXPECT_ERROR(try_image(m, image(64, 64, 0, 0, 8)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(I05);
}

TEST(i05_twin)
{
    // [I05 right]
    CUexternalMemory m = dedicated(256, 256, 1, 9);
    EXPECT_OK(try_image(m, image(256, 256, 0, 0, 9)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i06_three_channels)
{
    CUexternalMemory m = memory();
    // [I06 wrong]
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    d.arrayDesc.NumChannels = 3;
    EXPECT_ERROR(try_image(m, d), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(I06);
    d.arrayDesc.NumChannels = 4;
    d.arrayDesc.Format = (CUarray_format)0x7f;
    EXPECT_ERROR(try_image(m, d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_STR(test_reported(), "I06 I06");
}

TEST(i06_twin)
{
    CUexternalMemory m = memory();
    // [I06 right]
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    d.arrayDesc.Format = CU_AD_FORMAT_FLOAT;
    EXPECT_OK(try_image(m, d));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

static CUresult surface_of_level_0(CUexternalMemory m, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, flags, 1);
    CUDA_RESOURCE_DESC r;
    CUmipmappedArray mip;
    CUsurfObject surface;
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    MUST(cuMipmappedArrayGetLevel(&r.res.array.hArray, mip, 0));
    CUresult result = cuSurfObjectCreate(&surface, &r);
    if (!result)
        MUST(cuSurfObjectDestroy(surface));
    MUST(cuMipmappedArrayDestroy(mip));
    return result;
}

TEST(i08_surface_without_flag)
{
    // [I08 wrong]
    EXPECT_OK(surface_of_level_0(memory(), 0)); // as NVIDIA's own sample does
    // [end]
    EXPECT_DIAGNOSTIC(I08);
}

TEST(i08_twin)
{
    // [I08 right]
    EXPECT_OK(surface_of_level_0(memory(), CUDA_ARRAY3D_SURFACE_LDST));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i09_level_destroyed_instead_of_parent)
{
    CUexternalMemory m = memory();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 7);
    CUmipmappedArray mip;
    CUarray level;
    // [I09 wrong]
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    MUST(cuMipmappedArrayGetLevel(&level, mip, 0));
    EXPECT_OK(cuArrayDestroy(level));
    // [end]
    EXPECT_DIAGNOSTIC(I09);
}

TEST(i10_levels)
{
    CUexternalMemory m = memory();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 7);
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUmipmappedArray mip;
    CUarray level;
    // [I10 wrong]
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    EXPECT_ERROR(cuMipmappedArrayGetLevel(&level, mip, 7), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(I10);
    MUST(cuMipmappedArrayGetLevel(&level, mip, 3));
    EXPECT_OK(cuMipmappedArrayDestroy(mip));
    EXPECT_ERROR(cuArray3DGetDescriptor(&desc, level), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_STR(test_reported(), "I10 I10");
}

TEST(i09_i10_twin)
{
    CUexternalMemory m = memory();
    // [I09 I10 right]
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 7);
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUmipmappedArray mip;
    CUarray level, again;
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    MUST(cuMipmappedArrayGetLevel(&level, mip, 6));
    MUST(cuMipmappedArrayGetLevel(&again, mip, 6));
    EXPECT(level == again);
    EXPECT_OK(cuArray3DGetDescriptor(&desc, level));
    EXPECT_EQ(desc.Width, 1);
    EXPECT_OK(cuMipmappedArrayDestroy(mip));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i11_does_not_fit)
{
    // [I11 wrong]
    CUexternalMemory m = memory();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(1024, 1024, 0, 0, 1);
    d.offset = 65536;
    EXPECT_ERROR(try_image(m, d), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(I11);
}

TEST(i11_misaligned)
{
    CUexternalMemory m = memory();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    CUmipmappedArray mip;
    CUarray level;
    static char texels[256];
    d.offset = 256;
    EXPECT_OK(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    EXPECT_DIAGNOSTIC(I11);
    EXPECT_OK(cuMipmappedArrayGetLevel(&level, mip, 0));
    EXPECT_OK(cuMemcpyAtoH(texels, level, 0, sizeof texels)); // on a card this ends the context
    EXPECT_OK(cuCtxSynchronize());
}

TEST(i11_twin)
{
    // [I11 right]
    CUexternalMemory m = memory();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(1024, 512, 0, 0, 1);
    d.offset = 65536;
    EXPECT_OK(try_image(m, d));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// Texels are copied to the places where lavapipe keeps them, and back.
TEST(in_place)
{
    test_context();
    enum { W = 100, H = 50 };
    static unsigned char texels[W * H * 4], back[W * H * 4];
    int fd = mesa_memfd(33280), mine = dup(fd);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(W, H, 0, 0, 7);
    CUexternalMemory m = import(fd, 33280, CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUmipmappedArray mip;
    CUarray level;
    CUDA_MEMCPY2D c;
    for (unsigned i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 7 + i / 251);
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    MUST(cuMipmappedArrayGetLevel(&level, mip, 0));
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = texels;
    c.srcPitch = W * 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = level;
    c.WidthInBytes = W * 4;
    c.Height = H;
    EXPECT_OK(cuMemcpy2D(&c));
    for (unsigned y = 0; y < H; y++) // rows are 448 bytes apart
        EXPECT_EQ(pread(mine, back + y * W * 4, W * 4, 4096 + y * 448), W * 4);
    EXPECT(!memcmp(texels, back, sizeof texels));
}

TESTS(CASE(i01_depth_1), CASE(i01_twin), CASE(i02_layers_without_flag), CASE(i02_twin),
      CASE(i03_cubemaps), CASE(i03_twin), CASE(i05_other_number_of_levels),
      CASE(i05_more_levels_than_there_can_be), CASE(i05_twin), CASE(i06_three_channels),
      CASE(i06_twin), CASE(i08_surface_without_flag), CASE(i08_twin),
      CASE(i09_level_destroyed_instead_of_parent), CASE(i10_levels), CASE(i09_i10_twin),
      CASE(i11_does_not_fit), CASE(i11_misaligned), CASE(i11_twin), CASE(in_place))
