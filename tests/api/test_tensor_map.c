// SPDX-License-Identifier: MIT
// Tensor maps: the rules of their arguments, and the kernels that would use them.
#include "../harness.h"

enum { MOST = 5 };

struct request {
    CUtensorMapDataType type;
    unsigned rank;
    uintptr_t address;
    cuuint64_t dim[MOST], strides[MOST];
    cuuint32_t box[MOST], steps[MOST];
    int lower[MOST], upper[MOST];
    unsigned channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
    CUtensorMapIm2ColWideMode mode;
};

// A tensor of 5 dimensions for which every form of call succeeds.
static const struct request right = {
    .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    .rank = 5,
    .address = 0x10000,
    .dim = {64, 32, 16, 8, 4},
    .strides = {128, 4096, 65536, 524288},
    .box = {64, 8, 4, 2, 1},
    .steps = {1, 1, 2, 8, 1},
    .lower = {-1, 0, -16},
    .upper = {-2, 1, -15},
    .channels = 64,
    .pixels = 1024,
    .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
};

static CUtensorMap map;

static CUresult tiled(const struct request *r)
{
    return cuTensorMapEncodeTiled(&map, r->type, r->rank, (void *)r->address, r->dim, r->strides,
                                  r->box, r->steps, r->interleave, r->swizzle, r->promotion,
                                  r->fill);
}

static CUresult im2col(const struct request *r)
{
    return cuTensorMapEncodeIm2col(&map, r->type, r->rank, (void *)r->address, r->dim, r->strides,
                                   r->lower, r->upper, r->channels, r->pixels, r->steps,
                                   r->interleave, r->swizzle, r->promotion, r->fill);
}

static CUresult wide(const struct request *r)
{
    return cuTensorMapEncodeIm2colWide(&map, r->type, r->rank, (void *)r->address, r->dim,
                                       r->strides, r->lower[0], r->upper[0], r->channels, r->pixels,
                                       r->steps, r->interleave, r->mode, r->swizzle, r->promotion,
                                       r->fill);
}

// A call with one member that differs from `right`.
#define WITH(call, member, value) (changed = right, changed.member = (value), call(&changed))
#define REFUSED(call, member, value, text)                                                         \
    EXPECT_MESSAGE(WITH(call, member, value), CUDA_ERROR_INVALID_VALUE, text)
#define TAKEN(call, member, value) EXPECT_OK(WITH(call, member, value))

// Rules of all forms.
TEST(common)
{
    struct request changed;
    CUresult (*const calls[])(const struct request *) = {tiled, im2col};
    test_context();
    for (int i = 0; i < 2; i++) {
        CUresult (*call)(const struct request *) = calls[i];
        EXPECT_OK(call(&right));
        REFUSED(call, type, (CUtensorMapDataType)16, "tensorDataType (16)");
        REFUSED(call, type, (CUtensorMapDataType)-1, "tensorDataType");
        REFUSED(call, rank, 0, "tensorRank (0)");
        REFUSED(call, rank, 6, "tensorRank (6)");
        EXPECT_ERROR(WITH(call, rank, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
        REFUSED(call, address, 0x10008, "globalAddress (0x10008)");
        REFUSED(call, dim[4], 0, "globalDim[4] (0)");
        REFUSED(call, dim[3], (UINT64_C(1) << 32) + 1, "globalDim[3]");
        TAKEN(call, dim[3], UINT64_C(1) << 32);
        REFUSED(call, strides[3], 24, "globalStrides[3] (24)");
        REFUSED(call, strides[0], UINT64_C(1) << 40, "globalStrides[0]");
        TAKEN(call, strides[0], (UINT64_C(1) << 40) - 16);
        TAKEN(call, strides[3], 16); // a transposed tensor
        TAKEN(call, strides[4], 1);  // is not read
        REFUSED(call, steps[1], 0, "elementStrides[1] (0)");
        REFUSED(call, steps[4], 9, "elementStrides[4] (9)");
        TAKEN(call, steps[0], 77); // "ignored"
        REFUSED(call, interleave, (CUtensorMapInterleave)3, "interleave (3)");
        REFUSED(call, swizzle, (CUtensorMapSwizzle)7, "swizzle (7)");
        REFUSED(call, promotion, (CUtensorMapL2promotion)4, "l2Promotion (4)");
        REFUSED(call, fill, (CUtensorMapFloatOOBfill)2, "oobFill (2)");
        TAKEN(call, fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(boxes)
{
    struct request changed;
    test_context();
    REFUSED(tiled, box[0], 0, "boxDim[0] (0)");
    REFUSED(tiled, box[4], 257, "boxDim[4] (257)");
    TAKEN(tiled, box[4], 256);
    REFUSED(tiled, box[0], 12, "multiple of 16 bytes");
    TAKEN(tiled, box[0], 8);
    REFUSED(tiled, box[0], 72, "144 bytes, but swizzle 3 takes at most 128");
    REFUSED(tiled, swizzle, CU_TENSOR_MAP_SWIZZLE_64B, "128 bytes, but swizzle 2 takes at most 64");
    REFUSED(tiled, swizzle, CU_TENSOR_MAP_SWIZZLE_32B, "at most 32");
    TAKEN(tiled, swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
    changed = right;
    changed.box[0] = 256;
    changed.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    EXPECT_OK(tiled(&changed));
    changed.rank = 1;
    EXPECT_OK(tiled(&changed));
    EXPECT_OK(cuTensorMapEncodeTiled(&map, changed.type, 1, NULL, changed.dim, NULL, changed.box,
                                     changed.steps, changed.interleave, changed.swizzle,
                                     changed.promotion, changed.fill));
}

TEST(interleaved)
{
    struct request changed = right;
    test_context();
    changed.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    changed.box[0] = 3; // neither a multiple of 16 bytes nor limited by the swizzle
    EXPECT_OK(tiled(&changed));
    changed.rank = 2;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "tensorRank (2) must be from 3");
    changed.rank = 3;
    EXPECT_OK(tiled(&changed));
    changed.steps[0] = 0;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "elementStrides[0] (0)");
    changed.steps[0] = 1;
    changed.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "swizzle (3) must be");
    changed.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    EXPECT_OK(tiled(&changed));
    changed.address += 16;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "multiple of 32");
    changed.address += 16;
    changed.strides[1] += 16;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "globalStrides[1]");
}

// Types of less than 8 bits.
TEST(packed)
{
    struct request changed = right;
    test_context();
    changed.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    changed.box[0] = 32;
    EXPECT_OK(tiled(&changed));
    changed.dim[0] = 63;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "multiple of 2");
    changed.dim[0] = 64;
    changed.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "floating-point");
    changed.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    for (int i = 0; i < 2; i++) {
        changed.type =
            i ? CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B : CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
        changed.dim[0] = 64;
        EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "multiple of 128");
        changed.dim[0] = 256;
        changed.box[0] = 64;
        EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "must be 128");
        changed.box[0] = 128;
        EXPECT_OK(tiled(&changed));
        changed.address = 0x10010;
        EXPECT_MESSAGE(tiled(&changed), CUDA_ERROR_INVALID_VALUE, "multiple of 32");
        changed.address = 0x10000;
        changed.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
        EXPECT_ERROR(tiled(&changed), i ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        changed.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
        EXPECT_ERROR(tiled(&changed), CUDA_ERROR_INVALID_VALUE);
        changed.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
        changed.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
        EXPECT_ERROR(tiled(&changed), i ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        changed.interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    }
}

TEST(columns)
{
    static const int limits[] = {16, 128, 32768};
    struct request changed;
    test_context();
    REFUSED(im2col, rank, 2, "tensorRank (2) must be from 3 to 5");
    REFUSED(im2col, channels, 257, "channelsPerPixel (257)");
    REFUSED(im2col, channels, 65, "130 bytes, but swizzle 3 takes at most 128");
    REFUSED(im2col, pixels, 1025, "pixelsPerColumn (1025)");
    TAKEN(im2col, box[0], 0); // is not an argument
    for (unsigned i = 0; i < 3; i++) {
        changed = right;
        changed.rank = 5 - i;
        for (unsigned n = 0; n < 3; n++) {
            changed.dim[1 + n] = 1000000;
            changed.lower[n] = changed.upper[n] = 0;
        }
        changed.lower[0] = -limits[i];
        changed.upper[changed.rank - 3] = limits[i] - 1;
        EXPECT_OK(im2col(&changed));
        changed.lower[0]--;
        EXPECT_MESSAGE(im2col(&changed), CUDA_ERROR_INVALID_VALUE, "pixelBoxLowerCorner");
        changed.lower[0]++;
        changed.upper[changed.rank - 3]++;
        EXPECT_MESSAGE(im2col(&changed), CUDA_ERROR_INVALID_VALUE, "pixelBoxUpperCorner");
    }
    changed = right;
    changed.rank = 3;
    changed.dim[1] = 8;
    changed.lower[0] = 7;
    changed.upper[0] = 0;
    EXPECT_OK(im2col(&changed));
    changed.upper[0] = -1;
    EXPECT_MESSAGE(im2col(&changed), CUDA_ERROR_INVALID_VALUE, "the bounding box is empty");
}

// "must be aligned to 64 bytes"; pointers that are NULL.
TEST(pointers)
{
    static _Alignas(64) char bytes[256];
    const struct request *r = &right;
    test_context();
    for (int at = 0; at <= 64; at += 16)
        EXPECT_ERROR(cuTensorMapEncodeTiled((CUtensorMap *)(void *)(bytes + at), r->type, r->rank,
                                            (void *)r->address, r->dim, r->strides, r->box,
                                            r->steps, r->interleave, r->swizzle, r->promotion,
                                            r->fill),
                     at % 64 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    for (int n = 0; n < 5; n++)
        EXPECT_ONE_SENTENCE(
            cuTensorMapEncodeTiled(n == 0 ? NULL : &map, r->type, r->rank, (void *)r->address,
                                   n == 1 ? NULL : r->dim, n == 2 ? NULL : r->strides,
                                   n == 3 ? NULL : r->box, n == 4 ? NULL : r->steps, r->interleave,
                                   r->swizzle, r->promotion, r->fill),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(replace)
{
    struct request changed = right;
    CUtensorMap first, other;
    test_context();
    EXPECT_OK(tiled(&changed));
    first = map;
    EXPECT_MESSAGE(cuTensorMapReplaceAddress(&map, (void *)0x20008), CUDA_ERROR_INVALID_VALUE,
                   "0x20008");
    EXPECT(!memcmp(&map, &first, sizeof map));
    EXPECT_OK(cuTensorMapReplaceAddress(&map, (void *)0x20010));
    EXPECT(memcmp(&map, &first, sizeof map));
    other = map;
    changed.address = 0x20010; // the same as a map with that address
    EXPECT_OK(tiled(&changed));
    EXPECT(!memcmp(&map, &other, sizeof map));
    changed.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    changed.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    changed.address = 0x20020;
    EXPECT_OK(tiled(&changed));
    EXPECT_ERROR(cuTensorMapReplaceAddress(&map, (void *)0x20010), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuTensorMapReplaceAddress(NULL, (void *)0x20010), CUDA_ERROR_INVALID_VALUE);
    memset(&map, 0, sizeof map);
    EXPECT_MESSAGE(cuTensorMapReplaceAddress(&map, (void *)0x20010), CUDA_ERROR_INVALID_VALUE,
                   "has not been written");
}

// "Only supported on devices of compute capability 9.0 or higher", and 10.0 for wide maps.
TEST(devices)
{
    CUcontext old, hopper;
    test_setting("CARDLESS_DEVICES", "h100,t4");
    MUST(cuInit(0));
    EXPECT_ERROR(tiled(&right), CUDA_ERROR_INVALID_CONTEXT);
    MUST(cuDevicePrimaryCtxRetain(&hopper, 0));
    MUST(cuDevicePrimaryCtxRetain(&old, 1));
    MUST(cuCtxSetCurrent(old));
    EXPECT_ERROR(tiled(&right), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuTensorMapReplaceAddress(&map, NULL), CUDA_ERROR_NOT_SUPPORTED);
    MUST(cuCtxSetCurrent(hopper));
    EXPECT_OK(tiled(&right));
    EXPECT_MESSAGE(wide(&right), CUDA_ERROR_NOT_SUPPORTED, "10.0");
}

// Wide maps, on a device that has them.
TEST(wide_maps)
{
    static const char profile[] = "base = h100\nattribute.compute_capability_major = 10\n";
    struct request changed;
    const char *path = test_new_file("wide.dev");
    FILE *f = fopen(path, "w");
    fputs(profile, f);
    fclose(f);
    test_setting("CARDLESS_DEVICES", path);
    MUST(cuInit(0));
    test_context();
    EXPECT_OK(wide(&right));
    REFUSED(wide, rank, 2, "tensorRank (2)");
    REFUSED(wide, mode, (CUtensorMapIm2ColWideMode)2, "mode (2)");
    REFUSED(wide, swizzle, CU_TENSOR_MAP_SWIZZLE_NONE, "swizzle (0) is not supported with");
    REFUSED(wide, swizzle, CU_TENSOR_MAP_SWIZZLE_32B, "swizzle (1) is not supported with");
    REFUSED(wide, swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, "swizzle (6)");
    REFUSED(wide, swizzle, CU_TENSOR_MAP_SWIZZLE_64B, "at most 64");
    TAKEN(wide, swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
    REFUSED(wide, lower[0], -32769, "pixelBoxLowerCorner");
    REFUSED(wide, upper[0], 32768, "pixelBoxUpperCorner");
    REFUSED(wide, upper[0], -33, "the bounding box is empty");
    TAKEN(wide, upper[0], -32);
    REFUSED(wide, pixels, 1025, "pixelsPerColumn (1025)");
    changed = right;
    changed.pixels = 1025; // "ignored"
    changed.mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    EXPECT_OK(wide(&changed));
}

static void kernel(const char *statement, const char *text)
{
    char ptx[1000];
    CUmodule m;
    CUfunction f;
    snprintf(ptx, sizeof ptx,
             ".version 8.8\n.target sm_100a\n.address_size 64\n"
             ".visible .entry k(.param .align 64 .b8 map[128])\n{\n.reg .b32 %%r<9>;\n"
             ".reg .b64 %%rd<9>;\n%s\nret;\n}\n",
             statement);
    MUST(cuModuleLoadData(&m, ptx));
    if (text)
        EXPECT_MESSAGE(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_NOT_SUPPORTED, text);
    else
        EXPECT_OK(cuModuleGetFunction(&f, m, "k"));
}

// A kernel that uses a map is refused, with the line.
TEST(kernels)
{
    static const char *const refused[] = {
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
        "[%rd1, {%r2, %r3}], [%r4];",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes"
        ".cta_group::1 [%r1], [%rd1, {%r2, %r3, %r4, %r5, %r6}], [%r4];",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%rd1, {%r2, %r3, %r4}], [%r1];",
        "cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r2}];",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r2}], "
        "[%r1];",
        "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;",
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd1], 3, %r1;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%rd1], [%rd2], 128;",
    };
    test_context();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        kernel(refused[i], "line 8: ");
    kernel("multimem.ld_reduce.global.add.u32 %r1, [%rd1];", "is not supported");
    kernel("wgmma.fence.sync.aligned;", "line 8: ");
    kernel("tcgen05.wait::ld.sync.aligned;", "line 8: ");
    kernel("prefetch.param.tensormap [map];\nprefetch.tensormap [%rd1];\ndiscard.L2 [%rd1], 128;\n"
           "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
           NULL);
}

TESTS(CASE(common), CASE(boxes), CASE(interleaved), CASE(packed), CASE(columns), CASE(pointers),
      CASE(replace), CASE(devices), CASE(wide_maps), CASE(kernels))
