// SPDX-License-Identifier: MIT
// Kernels that fetch from textures over every kind of memory.
#include "../harness.h"

enum { WIDTH = 16, HEIGHT = 8, LAYERS = 3, WORDS = WIDTH * HEIGHT * LAYERS };

static CUdevice start(void)
{
    CUcontext context;
    CUdevice device;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
    return device;
}

// A kernel of a texture and a buffer, whose threads have the numbers x, y and z. It writes %v to
// the word of the thread. %fx, %fy and %fz are the middle of texel x, y, z.
static CUmodule load(const char *declarations, const char *body)
{
    static const char format[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n%s\n"
        ".visible .entry k(.param .u64 texture, .param .u64 buffer)\n{\n"
        ".reg .b32 %%x, %%y, %%z, %%n, %%m, %%v, %%u<4>;\n.reg .f32 %%fx, %%fy, %%fz;\n"
        ".reg .b64 %%t, %%p;\n"
        "mov.u32 %%x, %%tid.x;\nmov.u32 %%y, %%tid.y;\nmov.u32 %%z, %%ctaid.x;\n"
        "cvt.rn.f32.u32 %%fx, %%x;\nadd.f32 %%fx, %%fx, 0f3f000000;\n"
        "cvt.rn.f32.u32 %%fy, %%y;\nadd.f32 %%fy, %%fy, 0f3f000000;\n"
        "cvt.rn.f32.u32 %%fz, %%z;\nadd.f32 %%fz, %%fz, 0f3f000000;\n"
        "ld.param.u64 %%t, [texture];\nld.param.u64 %%p, [buffer];\n"
        "mov.u32 %%n, %%ntid.y;\nmad.lo.u32 %%m, %%z, %%n, %%y;\nmov.u32 %%n, %%ntid.x;\n"
        "mad.lo.u32 %%m, %%m, %%n, %%x;\nmad.wide.u32 %%p, %%m, 4, %%p;\n%s\n"
        "st.global.u32 [%%p], %%v;\nret;\n}\n";
    char text[2500];
    CUmodule module;
    snprintf(text, sizeof text, format, declarations, body);
    EXPECT_OK(cuModuleLoadData(&module, text));
    return module;
}

static CUfunction function_of(CUmodule module)
{
    CUfunction f;
    EXPECT_OK(cuModuleGetFunction(&f, module, "k"));
    return f;
}

static CUfunction kernel(const char *body)
{
    return function_of(load("", body));
}

static CUresult run(CUfunction f, CUtexObject texture, CUdeviceptr buffer, unsigned width,
                    unsigned height, unsigned depth)
{
    void *parameters[] = {&texture, &buffer};
    CUresult r = cuLaunchKernel(f, depth, 1, 1, width, height, 1, 0, NULL, parameters, NULL);
    return r ? r : cuCtxSynchronize();
}

// Runs a kernel, and returns what it wrote.
static const uint32_t *fetch(CUfunction f, CUtexObject texture, unsigned width, unsigned height,
                             unsigned depth)
{
    static uint32_t words[WORDS];
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, sizeof words));
    EXPECT_OK(run(f, texture, buffer, width, height, depth));
    EXPECT_OK(cuMemcpyDtoH(words, buffer, 4 * width * height * depth));
    EXPECT_OK(cuMemFree(buffer));
    return words;
}

#define TEX(geometry, coordinates)                                                                 \
    "tex." geometry ".v4.u32.f32 {%v, %u1, %u2, %u3}, [%t, {" coordinates "}];"

static CUtexObject texture_of(const CUDA_RESOURCE_DESC *resource, unsigned flags,
                              const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject texture;
    CUDA_TEXTURE_DESC d = {.flags = flags, .maxMipmapLevelClamp = 20};
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    EXPECT_OK(cuTexObjectCreate(&texture, resource, &d, view));
    return texture;
}

static CUarray array(unsigned width, unsigned height, unsigned depth, unsigned flags)
{
    CUarray a;
    EXPECT_OK(cuArray3DCreate(&a, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                                             .Height = height,
                                                             .Depth = depth,
                                                             .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                             .NumChannels = 1,
                                                             .Flags = flags}));
    return a;
}

// Word n of an array is n + first.
static void fill(CUarray a, unsigned width, unsigned height, unsigned depth, uint32_t first)
{
    uint32_t words[WORDS];
    for (unsigned i = 0; i < width * height * depth; i++)
        words[i] = first + i;
    EXPECT_OK(cuMemcpy3D(&(CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                          .srcHost = words,
                                          .srcPitch = 4 * width,
                                          .srcHeight = height,
                                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                          .dstArray = a,
                                          .WidthInBytes = 4 * width,
                                          .Height = height,
                                          .Depth = depth}));
}

static CUtexObject texture_of_array(CUarray a)
{
    return texture_of(
        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
        CU_TRSF_READ_AS_INTEGER, NULL);
}

static void fetch_all(unsigned height, unsigned depth, unsigned flags, const char *instruction)
{
    start();
    const unsigned h = height ? height : 1, d = depth ? depth : 1;
    const CUarray a = array(WIDTH, height, depth, flags);
    fill(a, WIDTH, h, d, 1000);
    const CUtexObject t = texture_of_array(a);
    const uint32_t *got = fetch(kernel(instruction), t, WIDTH, h, d);
    for (unsigned i = 0; i < WIDTH * h * d; i++)
        EXPECT_EQ(got[i], 1000 + i);
    EXPECT_OK(cuTexObjectDestroy(t));
    EXPECT_OK(cuArrayDestroy(a));
}

TEST(fetch_1d)
{
    fetch_all(0, 0, 0, TEX("1d", "%fx"));
}

TEST(fetch_2d)
{
    fetch_all(HEIGHT, 0, 0, TEX("2d", "%fx, %fy"));
}

TEST(fetch_3d)
{
    fetch_all(HEIGHT, LAYERS, 0, TEX("3d", "%fx, %fy, %fz, %fz"));
}

TEST(fetch_layers)
{
    fetch_all(HEIGHT, LAYERS, CUDA_ARRAY3D_LAYERED, TEX("a2d", "%z, %fx, %fy, %fy"));
}

TEST(fetch_layers_1d)
{
    fetch_all(0, LAYERS, CUDA_ARRAY3D_LAYERED, TEX("a1d", "%z, %fx"));
}

// Integer coordinates, and one more column to the right than there is: 0 outside.
TEST(integer_coordinates)
{
    start();
    const CUarray a = array(WIDTH, HEIGHT, 0, 0);
    fill(a, WIDTH, HEIGHT, 1, 1);
    const uint32_t *got = fetch(kernel("tex.2d.v4.u32.s32 {%v, %u1, %u2, %u3}, [%t, {%x, %y}];"),
                                texture_of_array(a), WIDTH + 1, HEIGHT, 1);
    for (unsigned i = 0; i < (WIDTH + 1) * HEIGHT; i++) {
        const unsigned x = i % (WIDTH + 1), y = i / (WIDTH + 1);
        EXPECT_EQ(got[i], x < WIDTH ? 1 + WIDTH * y + x : 0);
    }
}

static CUmipmappedArray mipmap(void)
{
    CUmipmappedArray m;
    CUarray level;
    EXPECT_OK(
        cuMipmappedArrayCreate(&m,
                               &(CUDA_ARRAY3D_DESCRIPTOR){.Width = WIDTH,
                                                          .Height = HEIGHT,
                                                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                          .NumChannels = 1},
                               3));
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_OK(cuMipmappedArrayGetLevel(&level, m, i));
        fill(level, WIDTH >> i, HEIGHT >> i, 1, 1000 * i);
    }
    return m;
}

// Level z, at texel (x, y) of it.
#define TEX_LEVEL                                                                                  \
    "cvt.rn.f32.u32 %fz, %z;\n"                                                                    \
    "tex.level.2d.v4.u32.f32 {%v, %u1, %u2, %u3}, [%t, {%fx, %fy}], %fz;"

static void fetch_levels(const CUDA_RESOURCE_VIEW_DESC *view, unsigned first)
{
    const CUtexObject t =
        texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                         .res.mipmap.hMipmappedArray = mipmap()},
                   CU_TRSF_READ_AS_INTEGER, view);
    const uint32_t *got = fetch(kernel(TEX_LEVEL), t, 4, 2, 2);
    for (unsigned i = 0; i < 16; i++) {
        const unsigned level = first + i / 8;
        EXPECT_EQ(got[i], 1000 * level + i / 4 % 2 * (WIDTH >> level) + i % 4);
    }
}

TEST(levels)
{
    start();
    fetch_levels(NULL, 0);
}

TEST(view_of_levels)
{
    start();
    fetch_levels(&(CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UINT_1X32,
                                            .width = WIDTH,
                                            .height = HEIGHT,
                                            .firstMipmapLevel = 1,
                                            .lastMipmapLevel = 2},
                 1);
}

TEST(view_of_layers)
{
    start();
    const CUarray a = array(WIDTH, HEIGHT, LAYERS, CUDA_ARRAY3D_LAYERED);
    fill(a, WIDTH, HEIGHT, LAYERS, 0);
    const CUtexObject t =
        texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
                   CU_TRSF_READ_AS_INTEGER,
                   &(CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UINT_1X32,
                                              .width = WIDTH,
                                              .height = HEIGHT,
                                              .depth = LAYERS,
                                              .firstLayer = 1,
                                              .lastLayer = 2});
    const uint32_t *got = fetch(kernel(TEX("a2d", "%z, %fx, %fy, %fy")), t, WIDTH, HEIGHT, LAYERS);
    for (unsigned i = 0; i < WORDS; i++) // the last layer again, because layers are clamped
        EXPECT_EQ(got[i], i / (WIDTH * HEIGHT) < 2 ? i + WIDTH * HEIGHT : i);
}

// Four bytes of a word as channels.
TEST(view_of_another_format)
{
    start();
    const CUarray a = array(WIDTH, HEIGHT, 0, 0);
    fill(a, WIDTH, HEIGHT, 1, 0x01020300);
    const CUtexObject t =
        texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
                   CU_TRSF_READ_AS_INTEGER,
                   &(CUDA_RESOURCE_VIEW_DESC){
                       .format = CU_RES_VIEW_FORMAT_UINT_4X8, .width = WIDTH, .height = HEIGHT});
    const uint32_t *got =
        fetch(kernel(TEX("2d", "%fx, %fy") "\nmad.lo.u32 %v, %u3, 256, %v;"), t, WIDTH, HEIGHT, 1);
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        EXPECT_EQ(got[i], 0x100 + i);
}

TEST(linear_memory)
{
    start();
    uint32_t words[WIDTH];
    CUdeviceptr p;
    for (unsigned i = 0; i < WIDTH; i++)
        words[i] = 7 * i;
    EXPECT_OK(cuMemAlloc(&p, sizeof words));
    EXPECT_OK(cuMemcpyHtoD(p, words, sizeof words));
    const CUtexObject t =
        texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                         .res.linear = {.devPtr = p,
                                                        .format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                        .numChannels = 1,
                                                        .sizeInBytes = sizeof words}},
                   CU_TRSF_READ_AS_INTEGER, NULL);
    const uint32_t *got =
        fetch(kernel("tex.1d.v4.u32.s32 {%v, %u1, %u2, %u3}, [%t, {%x}];"), t, WIDTH, 1, 1);
    for (unsigned i = 0; i < WIDTH; i++)
        EXPECT_EQ(got[i], 7 * i);
}

static CUresult create_with_unknown_modes(CUtexObject *t, CUdeviceptr p, bool address, bool filter)
{
    const CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                  .res.linear = {.devPtr = p,
                                                 .format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                 .numChannels = 1,
                                                 .sizeInBytes = 4 * WIDTH}};
    CUDA_TEXTURE_DESC d = {.flags = CU_TRSF_READ_AS_INTEGER};
    if (address)
        d.addressMode[0] = (CUaddress_mode)77;
    if (filter)
        d.filterMode = (CUfilter_mode)77;
    return cuTexObjectCreate(t, &r, &d, NULL);
}

// Of linear memory: "This is ignored if resType is CU_RESOURCE_TYPE_LINEAR."
TEST(linear_memory_ignores_modes)
{
    start();
    CUtexObject t;
    CUdeviceptr p;
    CUDA_TEXTURE_DESC d;
    EXPECT_OK(cuMemAlloc(&p, 4 * WIDTH));
    EXPECT_OK(cuMemsetD32(p, 5, WIDTH));
    EXPECT_OK(create_with_unknown_modes(&t, p, true, true));
    const uint32_t *got =
        fetch(kernel("tex.1d.v4.u32.s32 {%v, %u1, %u2, %u3}, [%t, {%x}];"), t, WIDTH, 1, 1);
    for (unsigned i = 0; i < WIDTH; i++)
        EXPECT_EQ(got[i], 5);
    EXPECT_OK(cuTexObjectGetTextureDesc(&d, t));
    EXPECT_EQ(d.addressMode[0], CU_TR_ADDRESS_MODE_CLAMP);
}

TEST(linear_memory_with_modes_on_the_card)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    start();
    CUtexObject t;
    CUdeviceptr p;
    EXPECT_OK(cuMemAlloc(&p, 4 * WIDTH));
    EXPECT_ERROR(create_with_unknown_modes(&t, p, true, false), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(create_with_unknown_modes(&t, p, false, true), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(create_with_unknown_modes(&t, p, false, false));
}

// Rows of floats, halfway between two columns with the linear filter.
TEST(pitched_memory)
{
    start();
    float words[WIDTH * HEIGHT], got;
    CUdeviceptr p, buffer;
    CUtexObject t;
    size_t pitch_B;
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        words[i] = (float)i;
    EXPECT_OK(cuMemAllocPitch(&p, &pitch_B, 4 * WIDTH, HEIGHT, 4));
    EXPECT_OK(cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                          .srcHost = words,
                                          .srcPitch = 4 * WIDTH,
                                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                          .dstDevice = p,
                                          .dstPitch = pitch_B,
                                          .WidthInBytes = 4 * WIDTH,
                                          .Height = HEIGHT}));
    EXPECT_OK(cuTexObjectCreate(
        &t,
        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                              .res.pitch2D = {.devPtr = p,
                                              .format = CU_AD_FORMAT_FLOAT,
                                              .numChannels = 1,
                                              .width = WIDTH,
                                              .height = HEIGHT,
                                              .pitchInBytes = pitch_B}},
        &(CUDA_TEXTURE_DESC){.filterMode = CU_TR_FILTER_MODE_LINEAR,
                             .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}},
        NULL));
    EXPECT_OK(cuMemAlloc(&buffer, 4096));
    const CUfunction f = kernel("add.f32 %fx, %fx, 0f3f000000;\n"
                                "tex.2d.v4.f32.f32 {%v, %u1, %u2, %u3}, [%t, {%fx, %fy}];");
    EXPECT_OK(run(f, t, buffer, WIDTH, HEIGHT, 1));
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        EXPECT_OK(cuMemcpyDtoH(&got, buffer + 4 * i, 4));
        EXPECT_EQ((int)(2 * got), i % WIDTH == WIDTH - 1 ? 2 * i : 2 * i + 1);
    }
}

// A warp whose lanes use two textures.
TEST(two_handles)
{
    start();
    CUtexObject t[2];
    CUdeviceptr table;
    for (unsigned i = 0; i < 2; i++) {
        const CUarray a = array(WIDTH, 0, 0, 0);
        fill(a, WIDTH, 1, 1, 1000 * i);
        t[i] = texture_of_array(a);
    }
    EXPECT_OK(cuMemAlloc(&table, sizeof t));
    EXPECT_OK(cuMemcpyHtoD(table, t, sizeof t));
    const uint32_t *got = fetch(
        kernel("and.b32 %n, %x, 1;\nmad.wide.u32 %t, %n, 8, %t;\nld.global.u64 %t, [%t];\n" TEX(
            "1d", "%fx")),
        table, WIDTH, 1, 1);
    for (unsigned i = 0; i < WIDTH; i++)
        EXPECT_EQ(got[i], i % 2 * 1000 + i);
}

static uint32_t first_word(CUfunction f)
{
    return fetch(f, 0, 1, 1, 1)[0];
}

// A kernel uses what its reference was bound to when it was launched.
TEST(reference)
{
    start();
    CUtexref reference;
    const CUarray one = array(WIDTH, HEIGHT, 0, 0), two = array(WIDTH, HEIGHT, 0, 0);
    const CUmodule m = load(".visible .global .texref tx;",
                            "tex.2d.v4.u32.f32 {%v, %u1, %u2, %u3}, [tx, {%fx, %fy}];");
    const CUfunction f = function_of(m);
    fill(one, WIDTH, HEIGHT, 1, 100);
    fill(two, WIDTH, HEIGHT, 1, 200);
    EXPECT_OK(cuModuleGetTexRef(&reference, m, "tx"));
    EXPECT_OK(cuTexRefSetFlags(reference, CU_TRSF_READ_AS_INTEGER));
    EXPECT_OK(cuTexRefSetArray(reference, one, CU_TRSA_OVERRIDE_FORMAT));
    EXPECT_EQ(first_word(f), 100);
    EXPECT_OK(cuTexRefSetArray(reference, two, CU_TRSA_OVERRIDE_FORMAT));
    EXPECT_EQ(first_word(f), 200);
    CUdeviceptr p;
    const uint32_t words[2] = {300, 301};
    EXPECT_OK(cuMemAlloc(&p, 512));
    EXPECT_OK(cuMemcpyHtoD(p, words, sizeof words));
    EXPECT_OK(cuTexRefSetAddress2D(
        reference,
        &(CUDA_ARRAY_DESCRIPTOR){
            .Width = 2, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1},
        p, 512));
    EXPECT_EQ(first_word(f), 300);
    EXPECT_OK(cuModuleUnload(m));
}

TEST(reference_that_is_not_bound)
{
    start();
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    const CUmodule m = load(".visible .global .texref tx;",
                            "tex.2d.v4.u32.f32 {%v, %u1, %u2, %u3}, [tx, {%fx, %fy}];");
    EXPECT_ERROR(run(function_of(m), 0, buffer, 1, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// The texture of an array that has been destroyed still shows its memory.
TEST(destroyed_array)
{
    start();
    const CUarray a = array(WIDTH, HEIGHT, 0, 0);
    fill(a, WIDTH, HEIGHT, 1, 500);
    const CUtexObject t = texture_of_array(a);
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_EQ(fetch(kernel(TEX("2d", "%fx, %fy")), t, 1, 1, 1)[0], 500);
}

static void bad_handle(CUtexObject handle)
{
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, 4096));
    EXPECT_ERROR(run(kernel(TEX("2d", "%fx, %fy")), handle, buffer, 4, 4, 1),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS); // a sticky error
}

TEST(no_handle)
{
    start();
    bad_handle(0);
}

TEST(destroyed_handle)
{
    start();
    const CUtexObject t = texture_of_array(array(WIDTH, HEIGHT, 0, 0));
    EXPECT_OK(cuTexObjectDestroy(t));
    bad_handle(t);
}

TEST(handle_of_a_surface)
{
    start();
    CUsurfObject s;
    EXPECT_OK(cuSurfObjectCreate(
        &s, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY,
                                  .res.array.hArray =
                                      array(WIDTH, HEIGHT, 0, CUDA_ARRAY3D_SURFACE_LDST)}));
    bad_handle(s);
}

// Queries that a card answers, and one that its compiler does not take.
TEST(queries)
{
    start();
    const CUtexObject t = texture_of_array(array(WIDTH, HEIGHT, 0, 0));
    const uint32_t *got = fetch(kernel("txq.width.b32 %v, [%t];\ntxq.height.b32 %u1, [%t];\n"
                                       "mad.lo.u32 %v, %v, 1000, %u1;"),
                                t, 1, 1, 1);
    EXPECT_EQ(got[0], 1000 * WIDTH + HEIGHT);
    CUfunction f;
    EXPECT_ERROR(cuModuleGetFunction(&f, load("", "txq.num_samples.b32 %v, [%t];"), "k"),
                 CUDA_ERROR_NOT_SUPPORTED);
}

TESTS(CASE(fetch_1d), CASE(fetch_2d), CASE(fetch_3d), CASE(fetch_layers), CASE(fetch_layers_1d),
      CASE(integer_coordinates), CASE(levels), CASE(view_of_levels), CASE(view_of_layers),
      CASE(view_of_another_format), CASE(linear_memory), CASE(linear_memory_ignores_modes),
      CASE(linear_memory_with_modes_on_the_card), CASE(pitched_memory), CASE(two_handles),
      CASE(reference), CASE(reference_that_is_not_bound), CASE(destroyed_array), CASE(no_handle),
      CASE(destroyed_handle), CASE(handle_of_a_surface), CASE(queries))
