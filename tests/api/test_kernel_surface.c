// SPDX-License-Identifier: MIT
// Kernels that read, write and reduce elements of arrays through surface objects.
#include "../harness.h"

enum { WIDTH = 20, HEIGHT = 12, DEPTH = 5, WORDS = WIDTH * HEIGHT * DEPTH };

static void start(void)
{
    CUcontext context;
    CUdevice device;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
    EXPECT_OK(cuCtxSetCurrent(context));
}

// A kernel of the surface and a buffer, whose threads have the numbers x, y and z. %b is 4 * x, and
// %p the address of a word of the thread in the buffer.
static CUfunction kernel(const char *body)
{
    static const char format[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 surface, .param .u64 buffer)\n{\n"
        ".reg .b32 %%x, %%y, %%z, %%b, %%n, %%m, %%v;\n.reg .b64 %%s, %%p;\n.reg .pred %%q;\n"
        "mov.u32 %%x, %%tid.x;\nmov.u32 %%y, %%tid.y;\nmov.u32 %%z, %%ctaid.x;\n"
        "ld.param.u64 %%s, [surface];\nld.param.u64 %%p, [buffer];\nshl.b32 %%b, %%x, 2;\n"
        "mov.u32 %%n, %%ntid.y;\nmad.lo.u32 %%m, %%z, %%n, %%y;\nmov.u32 %%n, %%ntid.x;\n"
        "mad.lo.u32 %%m, %%m, %%n, %%x;\nmad.wide.u32 %%p, %%m, 4, %%p;\n%s\nret;\n}\n";
    char text[2000];
    CUmodule module;
    CUfunction f;
    snprintf(text, sizeof text, format, body);
    EXPECT_OK(cuModuleLoadData(&module, text));
    EXPECT_OK(cuModuleGetFunction(&f, module, "k"));
    return f;
}

static CUresult run(CUfunction f, CUsurfObject surface, CUdeviceptr buffer, unsigned width,
                    unsigned height, unsigned depth)
{
    void *parameters[] = {&surface, &buffer};
    CUresult r = cuLaunchKernel(f, depth, 1, 1, width, height, 1, 0, NULL, parameters, NULL);
    return r ? r : cuCtxSynchronize();
}

static CUarray array(unsigned width, unsigned height, unsigned depth, unsigned flags)
{
    CUarray a;
    EXPECT_OK(cuArray3DCreate(
        &a, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                       .Height = height,
                                       .Depth = depth,
                                       .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                       .NumChannels = 1,
                                       .Flags = flags | CUDA_ARRAY3D_SURFACE_LDST}));
    return a;
}

static CUsurfObject surface_of(CUarray a)
{
    CUsurfObject surface;
    EXPECT_OK(cuSurfObjectCreate(&surface, &(CUDA_RESOURCE_DESC){
                                               .resType = CU_RESOURCE_TYPE_ARRAY,
                                               .res.array.hArray = a,
                                           }));
    return surface;
}

// Copies an array of words to or from `words`, without gaps.
static void copy(CUarray a, uint32_t *words, unsigned width, unsigned height, unsigned depth,
                 bool to_array)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = 4 * width, .Height = height, .Depth = depth};
    c.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = words;
    c.srcArray = c.dstArray = a;
    c.srcPitch = c.dstPitch = 4 * width;
    c.srcHeight = c.dstHeight = height;
    EXPECT_OK(cuMemcpy3D(&c));
}

// Writes 1000 z + 10 y + x, reads it back in another kernel, and compares both with copies.
static void write_and_read(unsigned height, unsigned depth, unsigned flags, const char *geometry,
                           const char *coordinates)
{
    start();
    static uint32_t words[WORDS];
    char text[400];
    CUdeviceptr buffer;
    const CUarray a = array(WIDTH, height, depth, flags);
    const CUsurfObject s = surface_of(a);
    const unsigned h = height ? height : 1, d = depth ? depth : 1;
    EXPECT_OK(cuMemAlloc(&buffer, sizeof words));
    snprintf(text, sizeof text,
             "mad.lo.u32 %%v, %%z, 1000, %%x;\nmad.lo.u32 %%v, %%y, 10, %%v;\n"
             "sust.b.%s.b32.trap [%%s, {%s}], %%v;",
             geometry, coordinates);
    EXPECT_OK(run(kernel(text), s, buffer, WIDTH, h, d));
    copy(a, words, WIDTH, h, d, false);
    for (unsigned i = 0; i < WIDTH * h * d; i++) {
        const unsigned want = i / (WIDTH * h) * 1000 + i / WIDTH % h * 10 + i % WIDTH;
        EXPECT_EQ(words[i], want);
        words[i] = 3 * want + 1;
    }
    copy(a, words, WIDTH, h, d, true);
    snprintf(text, sizeof text, "suld.b.%s.b32.trap %%v, [%%s, {%s}];\nst.global.u32 [%%p], %%v;",
             geometry, coordinates);
    EXPECT_OK(run(kernel(text), s, buffer, WIDTH, h, d));
    memset(words, 0, sizeof words);
    EXPECT_OK(cuMemcpyDtoH(words, buffer, 4 * WIDTH * h * d));
    for (unsigned i = 0; i < WIDTH * h * d; i++)
        EXPECT_EQ(words[i], 3 * (i / (WIDTH * h) * 1000 + i / WIDTH % h * 10 + i % WIDTH) + 1);
    EXPECT_OK(cuSurfObjectDestroy(s));
    EXPECT_OK(cuArrayDestroy(a));
}

TEST(write_and_read_1d)
{
    write_and_read(0, 0, 0, "1d", "%b");
}

TEST(write_and_read_2d)
{
    write_and_read(HEIGHT, 0, 0, "2d", "%b, %y");
}

TEST(write_and_read_3d)
{
    write_and_read(HEIGHT, DEPTH, 0, "3d", "%b, %y, %z, %z");
}

TEST(write_and_read_layers)
{
    write_and_read(HEIGHT, DEPTH, CUDA_ARRAY3D_LAYERED, "a2d", "%z, %b, %y, %y");
}

TEST(write_and_read_layers_1d)
{
    write_and_read(0, DEPTH, CUDA_ARRAY3D_LAYERED, "a1d", "%z, %b");
}

// A level of a mipmapped array: 8 by 8 elements.
TEST(level)
{
    start();
    CUmipmappedArray mipmap;
    CUarray a;
    CUdeviceptr buffer;
    uint32_t words[64];
    EXPECT_OK(
        cuMipmappedArrayCreate(&mipmap,
                               &(CUDA_ARRAY3D_DESCRIPTOR){.Width = 32,
                                                          .Height = 32,
                                                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                          .NumChannels = 1,
                                                          .Flags = CUDA_ARRAY3D_SURFACE_LDST},
                               4));
    EXPECT_OK(cuMipmappedArrayGetLevel(&a, mipmap, 2));
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    const CUsurfObject s = surface_of(a);
    EXPECT_OK(run(kernel("mad.lo.u32 %v, %y, 10, %x;\nsust.b.2d.b32.zero [%s, {%b, %y}], %v;"), s,
                  buffer, 16, 16, 1));
    copy(a, words, 8, 8, 1, false);
    for (unsigned i = 0; i < 64; i++)
        EXPECT_EQ(words[i], i / 8 * 10 + i % 8);
}

// Eight threads see elements -2 to 5 of a row of four.
static void outside(const char *boundary, const uint32_t *want)
{
    start();
    char text[200];
    uint32_t words[8] = {10, 11, 12, 13};
    CUdeviceptr buffer;
    const CUarray a = array(4, 0, 0, 0);
    EXPECT_OK(cuMemAlloc(&buffer, sizeof words));
    copy(a, words, 4, 1, 1, true);
    snprintf(text, sizeof text,
             "sub.s32 %%b, %%b, 8;\nsuld.b.1d.b32.%s %%v, [%%s, {%%b}];\nst.global.u32 [%%p], %%v;",
             boundary);
    EXPECT_OK(run(kernel(text), surface_of(a), buffer, 8, 1, 1));
    EXPECT_OK(cuMemcpyDtoH(words, buffer, sizeof words));
    for (unsigned i = 0; i < 8; i++)
        EXPECT_EQ(words[i], want[i]);
}

TEST(clamp)
{
    outside("clamp", (const uint32_t[]){10, 10, 10, 11, 12, 13, 13, 13});
}

TEST(zero)
{
    outside("zero", (const uint32_t[]){0, 0, 10, 11, 12, 13, 0, 0});
}

// All threads add their numbers to one element.
TEST(reduction)
{
    start();
    uint32_t words[4] = {1, 2, 3, 4};
    CUdeviceptr buffer;
    const CUarray a = array(4, 0, 0, 0);
    EXPECT_OK(cuMemAlloc(&buffer, 4096));
    copy(a, words, 4, 1, 1, true);
    EXPECT_OK(run(kernel("mov.u32 %b, 8;\nsured.b.add.1d.u32.trap [%s, {%b}], %m;"), surface_of(a),
                  buffer, 16, 16, 4));
    copy(a, words, 4, 1, 1, false);
    EXPECT_EQ(words[1], 2);
    EXPECT_EQ(words[2], 3 + 1023 * 1024 / 2);
}

// x must be a multiple of the access's size, whatever the boundary mode is.
TEST(misaligned)
{
    start();
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    const CUsurfObject s = surface_of(array(4, 0, 0, 0));
    EXPECT_ERROR(
        run(kernel("add.u32 %b, %b, 2;\nsuld.b.1d.b32.zero %v, [%s, {%b}];"), s, buffer, 4, 1, 1),
        CUDA_ERROR_MISALIGNED_ADDRESS);
}

// Values of bytes in registers of 32 bits, and the sizes of a surface.
TEST(wide_registers_and_sizes)
{
    start();
    uint32_t words[4] = {0x04030201, 0x14131211, 0x24232221, 0x34333231}, got[4];
    CUdeviceptr buffer;
    const CUarray a = array(4, 0, 0, 0);
    const CUsurfObject s = surface_of(a);
    EXPECT_OK(cuMemAlloc(&buffer, sizeof got));
    copy(a, words, 4, 1, 1, true);
    EXPECT_OK(run(kernel("add.u32 %n, %b, 1;\nsuld.b.1d.b8.trap %v, [%s, {%n}];\n"
                         "suq.width.b32 %m, [%s];\nmad.lo.u32 %v, %m, 1000, %v;\n"
                         "st.global.u32 [%p], %v;\nsust.b.1d.b8.trap [%s, {%b}], %v;"),
                  s, buffer, 4, 1, 1));
    EXPECT_OK(cuMemcpyDtoH(got, buffer, sizeof got));
    copy(a, words, 4, 1, 1, false);
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t want = 4000 + 16 * i + 2;
        EXPECT_EQ(got[i], want);
        EXPECT_EQ(words[i], (0x04030200 + 0x10101000 * i) | (want & 0xff));
    }
}

// x counts elements, and values are converted to the format: halves here.
TEST(formatted)
{
    start();
    CUarray a;
    CUdeviceptr buffer;
    uint16_t halves[8];
    EXPECT_OK(cuArrayCreate(
        &a, &(CUDA_ARRAY_DESCRIPTOR){.Width = 4, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2}));
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    EXPECT_OK(run(kernel("cvt.rn.f32.u32 %n, %x;\n"
                         "sust.p.1d.v2.b32.trap [%s, {%x}], {%n, 0f3fc00000};"),
                  surface_of(a), buffer, 4, 1, 1));
    EXPECT_OK(cuMemcpyAtoH(halves, a, 0, sizeof halves));
    static const uint16_t want[4] = {0, 0x3c00, 0x4000, 0x4200};
    for (unsigned i = 0; i < 4; i++) {
        EXPECT_EQ(halves[2 * i], want[i]);
        EXPECT_EQ(halves[2 * i + 1], 0x3e00);
    }
}

static const char one_read[] = "suld.b.1d.b32.trap %v, [%s, {%b}];\nst.global.u32 [%p], %v;";

static void bad_handle(CUsurfObject handle)
{
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    EXPECT_ERROR(run(kernel(one_read), handle, buffer, 4, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
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
    const CUsurfObject s = surface_of(array(4, 0, 0, 0));
    EXPECT_OK(cuSurfObjectDestroy(s));
    bad_handle(s);
}

TEST(handle_of_an_array)
{
    start();
    bad_handle((uintptr_t)array(4, 0, 0, 0));
}

TEST(trap)
{
    start();
    CUdeviceptr buffer;
    EXPECT_OK(cuMemAlloc(&buffer, 64));
    const CUsurfObject s = surface_of(array(4, 0, 0, 0));
    EXPECT_OK(run(kernel(one_read), s, buffer, 4, 1, 1));
    EXPECT_ERROR(run(kernel(one_read), s, buffer, 5, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(write_and_read_1d), CASE(write_and_read_2d), CASE(write_and_read_3d),
      CASE(write_and_read_layers), CASE(write_and_read_layers_1d), CASE(level), CASE(clamp),
      CASE(zero), CASE(reduction), CASE(misaligned), CASE(wide_registers_and_sizes),
      CASE(formatted), CASE(no_handle), CASE(destroyed_handle), CASE(handle_of_an_array),
      CASE(trap))
