// SPDX-License-Identifier: MIT
// Texture references: default values, valid bindings and invalid calls. The driver accepts more
// than the manual allows. These tests run under `manual`, which rejects it.
#include "../harness.h"

static CUtexref start(void)
{
    CUtexref t;
    test_context();
    MUST(cuTexRefCreate(&t));
    return t;
}

TEST(defaults)
{
    CUtexref t = start();
    CUdeviceptr address = 5;
    CUarray array;
    CUaddress_mode mode;
    CUarray_format format;
    int channels;
    float least = 7, most = 7;
    EXPECT_ERROR(cuTexRefGetAddress(&address, t), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(address, 0);
    EXPECT_ERROR(cuTexRefGetArray(&array, t), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefGetAddressMode(&mode, t, 2));
    EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_CLAMP);
    EXPECT_ERROR(cuTexRefGetAddressMode(&mode, t, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefGetFormat(&format, &channels, t));
    EXPECT_EQ(format, CU_AD_FORMAT_FLOAT);
    EXPECT_EQ(channels, 1);
    EXPECT_OK(cuTexRefGetMipmapLevelClamp(&least, &most, t));
    EXPECT(least == 0 && most == 0);
    EXPECT_OK(cuTexRefDestroy(t));
    EXPECT_ERROR(cuTexRefDestroy(t), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuTexRefDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuTexRefGetArray(&array, (CUtexref)0x1234), CUDA_ERROR_INVALID_HANDLE);
}

TEST(linear)
{
    CUtexref t = start();
    CUdeviceptr p, bound;
    size_t offset = 9;
    MUST(cuMemAlloc(&p, 1 << 20));
    EXPECT_OK(cuTexRefSetAddress(&offset, t, p, 4096));
    EXPECT_EQ(offset, 0);
    EXPECT_OK(
        cuTexRefSetAddress(&offset, t, p + 100, 4096)); // bound at the preceding aligned address
    EXPECT_EQ(offset, 100);
    EXPECT_OK(cuTexRefGetAddress(&bound, t));
    EXPECT_EQ(bound, p);
    EXPECT_OK(cuTexRefSetAddress(NULL, t, p, 4096));
    EXPECT_ERROR(cuTexRefSetAddress(NULL, t, p + 100, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetAddress(&offset, t, p, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
}

TEST(pitched)
{
    CUtexref t = start();
    CUdeviceptr p;
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 64, .Height = 32, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    CUresult (*before_4_1)(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t);
    MUST(cuMemAlloc(&p, 1 << 20));
    MUST(cuGetProcAddress("cuTexRefSetAddress2D", (void **)&before_4_1, 3020, 0, NULL));
    EXPECT_OK(cuTexRefSetAddress2D(t, &d, p, 256));
    EXPECT_OK(cuTexRefSetAddress2D(t, &d, p, 288));
    EXPECT_ERROR(cuTexRefSetAddress2D(t, &d, p, 272),
                 CUDA_ERROR_INVALID_VALUE); // not a multiple of 32
    EXPECT_OK(before_4_1(t, &d, p, 272));
    EXPECT_ERROR(before_4_1(t, &d, p, 224), CUDA_ERROR_INVALID_VALUE); // less than a row
    EXPECT_ERROR(cuTexRefSetAddress2D(t, &d, p + 256, 256), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetAddress2D(t, NULL, p, 256), CUDA_ERROR_INVALID_VALUE);
    d.Height = 1 << 20;
    EXPECT_ERROR(cuTexRefSetAddress2D(t, &d, p, 256), CUDA_ERROR_INVALID_VALUE);
    d = (CUDA_ARRAY_DESCRIPTOR){
        .Width = SIZE_MAX, .Height = 1, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    EXPECT_ERROR(cuTexRefSetAddress2D(t, &d, p, 256), CUDA_ERROR_INVALID_VALUE);
}

// Each binding replaces the previous one. An array also sets the format.
TEST(arrays)
{
    CUtexref t = start();
    CUarray array, got;
    CUmipmappedArray mipmap, got_mipmap;
    CUdeviceptr p;
    CUarray_format format;
    int channels;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 16, .Height = 16, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    MUST(cuArray3DCreate(&array, &d));
    MUST(cuMipmappedArrayCreate(&mipmap, &d, 3));
    EXPECT_OK(cuTexRefSetArray(t, array, CU_TRSA_OVERRIDE_FORMAT));
    EXPECT_OK(cuTexRefGetArray(&got, t));
    EXPECT(got == array);
    EXPECT_OK(cuTexRefGetFormat(&format, &channels, t));
    EXPECT_EQ(format, CU_AD_FORMAT_UNSIGNED_INT8);
    EXPECT_EQ(channels, 4);
    EXPECT_ERROR(cuTexRefSetArray(t, array, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetArray(t, array, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetArray(t, NULL, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuTexRefSetMipmappedArray(t, mipmap, CU_TRSA_OVERRIDE_FORMAT));
    EXPECT_ERROR(cuTexRefGetArray(&got, t), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefGetMipmappedArray(&got_mipmap, t));
    EXPECT(got_mipmap == mipmap);
    MUST(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuTexRefSetAddress(NULL, t, p, 4096));
    EXPECT_ERROR(cuTexRefGetMipmappedArray(&got_mipmap, t), CUDA_ERROR_INVALID_VALUE);
    MUST(cuArrayDestroy(array));
    EXPECT_ERROR(cuTexRefSetArray(t, array, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
}

TEST(reading)
{
    CUtexref t = start();
    CUfilter_mode filter;
    int anisotropy;
    unsigned flags;
    float border[4] = {1, -2, 3, 0.5f}, got[4];
    EXPECT_OK(cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_LINEAR));
    EXPECT_ERROR(cuTexRefSetFilterMode(t, (CUfilter_mode)2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefGetFilterMode(&filter, t));
    EXPECT_EQ(filter, CU_TR_FILTER_MODE_LINEAR);
    EXPECT_ERROR(cuTexRefSetMipmapFilterMode(t, (CUfilter_mode)2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefSetMaxAnisotropy(t, 16));
    EXPECT_OK(cuTexRefGetMaxAnisotropy(&anisotropy, t));
    EXPECT_EQ(anisotropy, 16);
    EXPECT_OK(cuTexRefSetFlags(t, CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB));
    EXPECT_ERROR(cuTexRefSetFlags(t, CU_TRSF_SEAMLESS_CUBEMAP), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefGetFlags(&flags, t));
    EXPECT_EQ(flags, CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB);
    EXPECT_OK(cuTexRefSetBorderColor(t, border));
    EXPECT_OK(cuTexRefGetBorderColor(got, t));
    EXPECT(!memcmp(got, border, sizeof border));
    EXPECT_ERROR(cuTexRefSetFormat(t, CU_AD_FORMAT_FLOAT, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetAddressMode(t, 0, (CUaddress_mode)4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTexRefSetAddressMode(t, -1, CU_TR_ADDRESS_MODE_WRAP), CUDA_ERROR_INVALID_VALUE);
}

// Destroying an array or memory unbinds it. A NULL address counts as bound.
TEST(ends)
{
    CUtexref t = start();
    CUarray a, bound;
    CUdeviceptr address = 7;
    CUarray_format format;
    int channels;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    MUST(cuArray3DCreate(&a, &d));
    EXPECT_OK(cuTexRefSetArray(t, a, CU_TRSA_OVERRIDE_FORMAT));
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_ERROR(cuTexRefGetArray(&bound, t), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuTexRefSetAddress(NULL, t, 0, 0));
    EXPECT_OK(cuTexRefGetAddress(&address, t));
    EXPECT_EQ(address, 0);
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4096));
    CUDA_ARRAY_DESCRIPTOR rows = {
        .Width = 8, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT16, .NumChannels = 2};
    EXPECT_OK(cuTexRefSetAddress2D(t, &rows, p, 512)); // also sets the format
    EXPECT_OK(cuTexRefGetFormat(&format, &channels, t));
    EXPECT_EQ(format, CU_AD_FORMAT_UNSIGNED_INT16);
    EXPECT_EQ(channels, 2);
}

// Without modules there are no surface references, so every handle is invalid and is explained.
TEST(surface_references)
{
    CUtexref t = start();
    CUarray a, bound;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16,
                                 .Height = 16,
                                 .Format = CU_AD_FORMAT_FLOAT,
                                 .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    MUST(cuArray3DCreate(&a, &d));
    EXPECT_ERROR(cuSurfRefSetArray(NULL, a, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuSurfRefSetArray((CUsurfref)t, a, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuSurfRefGetArray(&bound, (CUsurfref)0x1234), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuSurfRefGetArray(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

TESTS(CASE(defaults), CASE(linear), CASE(pitched), CASE(arrays), CASE(reading), CASE(ends),
      CASE(surface_references))
