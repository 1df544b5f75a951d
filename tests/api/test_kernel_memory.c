// SPDX-License-Identifier: MIT
// Kernels that use textures and surfaces over memory that others use too: mapped graphics
// resources, imported memory and sparse arrays; and the order of such launches.
#include "../mistakes/external.h"
#include "../mistakes/virtual.h"
#include "kernel_text.h"

enum { WIDTH = 16, HEIGHT = 4, TEXELS = WIDTH * HEIGHT };

static void start(void)
{
    ptx_start();
}

// Kernels of an object and a buffer: thread n has texel (n % 16, n / 16), and the word n of the
// buffer.
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 object, .param .u64 buffer)\n{\n"                        \
    ".reg .b32 %n, %x, %y, %b, %v, %u<4>;\n.reg .b64 %o, %p;\n"                                    \
    "ld.param.u64 %o, [object];\nld.param.u64 %p, [buffer];\nmov.u32 %n, %tid.x;\n"                \
    "and.b32 %x, %n, 15;\nshr.u32 %y, %n, 4;\nshl.b32 %b, %x, 2;\nmad.wide.u32 %p, %n, 4, "        \
    "%p;\n" body "ret;\n}\n"

static const char text[] =
    PTX_HEAD KERNEL("fetch", "tex.2d.v4.u32.s32 {%v, %u0, %u1, %u2}, [%o, {%x, %y}];\n"
                             "mad.lo.u32 %v, %u2, 0x1000000, %v;\nmad.lo.u32 %v, %u0, 256, %v;\n"
                             "mad.lo.u32 %v, %u1, 65536, %v;\nst.global.u32 [%p], %v;\n")
        KERNEL("load", "suld.b.2d.b32.trap %v, [%o, {%b, %y}];\nst.global.u32 [%p], %v;\n")
            KERNEL("store", "add.u32 %v, %n, 1000;\nsust.b.2d.b32.trap [%o, {%b, %y}], %v;\n")
                KERNEL("fetch_of_table",
                       "ld.global.u64 %o, [%o];\ntex.2d.v4.u32.s32 {%v, %u0, %u1, %u2}, [%o, {%x, "
                       "%y}];\nst.global.u32 [%p], %v;\n");

static CUfunction kernel(const char *name)
{
    return ptx_kernel(ptx_load(text), name);
}

static CUdeviceptr buffer(void)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4 * TEXELS));
    return p;
}

static CUresult run(const char *name, unsigned long long object, CUdeviceptr p)
{
    return ptx_run(kernel(name), 1, TEXELS, (void *[]){&object, &p});
}

static CUtexObject texture_of(CUarray a)
{
    CUtexObject t;
    MUST(cuTexObjectCreate(
        &t, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a},
        &(CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
                             .flags = CU_TRSF_READ_AS_INTEGER},
        NULL));
    return t;
}

static CUsurfObject surface_of(CUarray a)
{
    CUsurfObject s;
    MUST(cuSurfObjectCreate(
        &s, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a}));
    return s;
}

static CUarray plain_array(void)
{
    CUarray a;
    MUST(cuArray3DCreate(&a, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = WIDTH,
                                                        .Height = HEIGHT,
                                                        .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                        .NumChannels = 1,
                                                        .Flags = CUDA_ARRAY3D_SURFACE_LDST}));
    return a;
}

// ---- graphics ----

static CUarray mapped_array(CUgraphicsResource r)
{
    CUarray a;
    MUST(cuGraphicsMapResources(1, &r, NULL));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    return a;
}

static void expect_words(CUdeviceptr p, uint32_t first)
{
    uint32_t words[TEXELS];
    EXPECT_OK(cuMemcpyDtoH(words, p, sizeof words));
    for (uint32_t i = 0; i < TEXELS; i++)
        EXPECT_EQ(words[i], first + i);
}

// A kernel sees what graphics has drawn, in each mapping.
TEST(graphics_to_kernel)
{
    start();
    uint32_t drawn[TEXELS];
    const cardlessTexture picture = virtual_texture(CARDLESS_TEXTURE_2D, WIDTH, HEIGHT, 0, 0, 1);
    CUgraphicsResource r = registered_texture(picture, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    const CUdeviceptr p = buffer();
    for (uint32_t round = 1; round <= 2; round++) {
        for (uint32_t i = 0; i < TEXELS; i++)
            drawn[i] = 0x01020300 * round + i;
        EXPECT_OK(cardlessWriteTexture(picture, 0, NULL, drawn));
        const CUtexObject t = texture_of(mapped_array(r));
        EXPECT_OK(run("fetch", t, p));
        expect_words(p, 0x01020300 * round);
        EXPECT_OK(cuTexObjectDestroy(t));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    }
}

// The handle is in memory, so that the launch does not know it.
TEST(graphics_to_kernel_by_a_table)
{
    start();
    uint32_t drawn[TEXELS];
    const cardlessTexture picture = virtual_texture(CARDLESS_TEXTURE_2D, WIDTH, HEIGHT, 0, 0, 1);
    CUgraphicsResource r = registered_texture(picture, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    const CUdeviceptr p = buffer(), table = buffer();
    for (uint32_t i = 0; i < TEXELS; i++)
        drawn[i] = i;
    EXPECT_OK(cardlessWriteTexture(picture, 0, NULL, drawn));
    const CUtexObject t = texture_of(mapped_array(r));
    EXPECT_OK(cuMemcpyHtoD(table, &t, sizeof t));
    EXPECT_OK(run("fetch_of_table", table, p));
    expect_words(p, 0);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
}

// Graphics sees what a kernel has written.
TEST(kernel_to_graphics)
{
    start();
    uint32_t seen[TEXELS];
    const cardlessTexture picture = virtual_texture(CARDLESS_TEXTURE_2D, WIDTH, HEIGHT, 0, 0, 1);
    CUgraphicsResource r = registered_texture(picture, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    EXPECT_OK(run("store", surface_of(mapped_array(r)), buffer()));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cardlessReadTexture(picture, 0, NULL, seen));
    for (uint32_t i = 0; i < TEXELS; i++)
        EXPECT_EQ(seen[i], 1000 + i);
}

// The texture of a resource that has been unregistered is a fault (recorded: graphics.md).
TEST(unregistered)
{
    start();
    const cardlessTexture picture = virtual_texture(CARDLESS_TEXTURE_2D, WIDTH, HEIGHT, 0, 0, 1);
    CUgraphicsResource r = registered_texture(picture, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    const CUtexObject t = texture_of(mapped_array(r));
    const CUdeviceptr p = buffer();
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, NULL));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_ERROR(run("fetch", t, p), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// ---- imported memory ----

static void imported(int fd)
{
    CUexternalMemory m;
    CUmipmappedArray mipmap;
    CUarray a;
    const CUdeviceptr p = buffer();
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, EXTERNAL_B);
    MUST(cuImportExternalMemory(&m, &d));
    MUST(cuExternalMemoryGetMappedMipmappedArray(
        &mipmap, m,
        &(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC){
            .arrayDesc = {.Width = WIDTH,
                          .Height = HEIGHT,
                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                          .NumChannels = 1,
                          .Flags = CUDA_ARRAY3D_SURFACE_LDST},
            .numLevels = 1}));
    MUST(cuMipmappedArrayGetLevel(&a, mipmap, 0));
    EXPECT_OK(run("store", surface_of(a), p));
    EXPECT_OK(run("fetch", texture_of(a), p));
    expect_words(p, 1000);
    EXPECT_OK(run("load", surface_of(a), p));
    expect_words(p, 1000);
}

TEST(imported_memory)
{
    start();
    imported(own_fd(EXTERNAL_B)); // block-linear
}

TEST(imported_memory_of_lavapipe)
{
    start();
    imported(mesa_memfd(EXTERNAL_B)); // rows
}

// ---- sparse arrays ----

// "Reads of unmapped tiles return zero, writes to them are dropped."
TEST(unmapped_tiles)
{
    start();
    CUarray a;
    uint32_t words[TEXELS];
    const CUdeviceptr p = buffer();
    MUST(cuArray3DCreate(&a, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = 512,
                                                        .Height = 512,
                                                        .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                        .NumChannels = 1,
                                                        .Flags = CUDA_ARRAY3D_SPARSE}));
    EXPECT_OK(run("store", surface_of(a), p));
    EXPECT_OK(run("fetch", texture_of(a), p));
    EXPECT_OK(cuMemcpyDtoH(words, p, sizeof words));
    for (uint32_t i = 0; i < TEXELS; i++)
        EXPECT_EQ(words[i], 0);
}

// ---- order ----

static CUresult launch(const char *name, unsigned long long object, CUdeviceptr p, CUstream s)
{
    return cuLaunchKernel(kernel(name), 1, 1, 1, TEXELS, 1, 1, 0, s, (void *[]){&object, &p}, NULL);
}

static void order_start(void)
{
    test_setting("CARDLESS_CHECK", "order");
    start();
}

TEST(unordered_store_and_fetch)
{
    order_start();
    const CUarray a = plain_array();
    const CUstream one = stream(), two = stream();
    EXPECT_OK(launch("store", surface_of(a), buffer(), one));
    EXPECT_OK(launch("fetch", texture_of(a), buffer(), two));
    EXPECT_DIAGNOSTIC(O01);
}

TEST(ordered_store_and_fetch)
{
    order_start();
    const CUarray a = plain_array();
    const CUstream one = stream(), two = stream();
    CUevent stored;
    EXPECT_OK(cuEventCreate(&stored, CU_EVENT_DISABLE_TIMING));
    EXPECT_OK(launch("store", surface_of(a), buffer(), one));
    EXPECT_OK(cuEventRecord(stored, one));
    EXPECT_OK(cuStreamWaitEvent(two, stored, 0));
    EXPECT_OK(launch("fetch", texture_of(a), buffer(), two));
    EXPECT_NO_DIAGNOSTIC();
}

// Two kernels read the same array, through a texture and a surface.
TEST(reads_need_no_order)
{
    order_start();
    const CUarray a = plain_array();
    const CUstream one = stream(), two = stream();
    EXPECT_OK(launch("load", surface_of(a), buffer(), one));
    EXPECT_OK(launch("fetch", texture_of(a), buffer(), two));
    EXPECT_NO_DIAGNOSTIC();
}

// The number of an argument that is no handle may be that of a texture.
TEST(numbers_are_no_handles)
{
    order_start();
    static const char count[] = PTX_HEAD KERNEL("count", "cvt.u32.u64 %v, %o;\n"
                                                         "st.global.u32 [%p], %v;\n");
    const CUarray a = plain_array();
    const CUtexObject t = texture_of(a);
    const CUdeviceptr p = buffer();
    const CUstream one = stream(), two = stream();
    unsigned long long number = t;
    EXPECT_OK(launch("store", surface_of(a), buffer(), one));
    EXPECT_OK(cuLaunchKernel(ptx_kernel(ptx_load(count), "count"), 1, 1, 1, TEXELS, 1, 1, 0, two,
                             (void *[]){&number, (void *)&p}, NULL));
    EXPECT_NO_DIAGNOSTIC();
}

// A launch keeps the texture, as programs expect that destroy it at once.
TEST(destroyed_before_it_runs)
{
    test_setting("CARDLESS_POLICY", "lazy");
    start();
    const CUarray a = plain_array();
    const CUtexObject t = texture_of(a);
    const CUdeviceptr p = buffer();
    const CUstream s = stream();
    EXPECT_OK(run("store", surface_of(a), p));
    EXPECT_OK(launch("fetch", t, p, s));
    EXPECT_OK(cuTexObjectDestroy(t));
    EXPECT_OK(cuStreamSynchronize(s));
    expect_words(p, 1000);
}

TESTS(CASE(graphics_to_kernel), CASE(graphics_to_kernel_by_a_table), CASE(kernel_to_graphics),
      CASE(unregistered), CASE(imported_memory), CASE(imported_memory_of_lavapipe),
      CASE(unmapped_tiles), CASE(unordered_store_and_fetch), CASE(ordered_store_and_fetch),
      CASE(reads_need_no_order), CASE(numbers_are_no_handles), CASE(destroyed_before_it_runs))
