// SPDX-License-Identifier: MIT
// The kernels of the examples, how they are launched, and their results computed on the CPU.
#include "julia.h"

#include <stdio.h>
#include <stdlib.h>

#define CU(call) julia_check((call), #call, __FILE__, __LINE__)

enum {
    STEPS = 96,    // a point that has not left the circle after so many belongs to the set
    ONE = 1 << 24, // numbers of the plane have 24 bits after the point
    TILE = 16      // threads of a block, in x and y
};

// julia_expected and julia_expected_half are these kernels in C.
static const char text[] =
    ".version 7.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    "\n"
    ".visible .entry draw(.param .u64 picture, .param .u32 width, .param .u32 height,\n"
    "                     .param .u32 cx, .param .u32 cy)\n"
    "{\n"
    "    .reg .pred %out, %more;\n"
    "    .reg .b32 %x, %y, %w, %h, %cx, %cy, %a, %b, %aa, %bb, %n, %t, %red, %green, %blue;\n"
    "    .reg .b64 %picture, %wide;\n"
    "    ld.param.u64 %picture, [picture];\n"
    "    ld.param.u32 %w, [width];\n"
    "    ld.param.u32 %h, [height];\n"
    "    ld.param.u32 %cx, [cx];\n"
    "    ld.param.u32 %cy, [cy];\n"
    "    mov.u32 %t, %tid.x;\n"
    "    mov.u32 %a, %ntid.x;\n"
    "    mov.u32 %b, %ctaid.x;\n"
    "    mad.lo.s32 %x, %a, %b, %t;\n"
    "    mov.u32 %t, %tid.y;\n"
    "    mov.u32 %a, %ntid.y;\n"
    "    mov.u32 %b, %ctaid.y;\n"
    "    mad.lo.s32 %y, %a, %b, %t;\n"
    "    setp.ge.s32 %out, %x, %w;\n"
    "    setp.ge.or.s32 %out, %y, %h, %out;\n"
    "    @%out bra END;\n"
    "//  The point of the plane: the picture is 2 high, and 0 is in its centre.\n"
    "    div.s32 %t, 16777216, %h;\n"
    "    shl.b32 %a, %x, 1;\n"
    "    add.s32 %a, %a, 1;\n"
    "    sub.s32 %a, %a, %w;\n"
    "    mul.lo.s32 %a, %a, %t;\n"
    "    shl.b32 %b, %y, 1;\n"
    "    add.s32 %b, %b, 1;\n"
    "    sub.s32 %b, %b, %h;\n"
    "    mul.lo.s32 %b, %b, %t;\n"
    "    mov.u32 %n, 0;\n"
    "STEP: // z = z * z + c, until |z| > 2\n"
    "    mul.wide.s32 %wide, %a, %a;\n"
    "    shr.s64 %wide, %wide, 24;\n"
    "    cvt.u32.u64 %aa, %wide;\n"
    "    mul.wide.s32 %wide, %b, %b;\n"
    "    shr.s64 %wide, %wide, 24;\n"
    "    cvt.u32.u64 %bb, %wide;\n"
    "    add.s32 %t, %aa, %bb;\n"
    "    setp.gt.s32 %out, %t, 67108864;\n"
    "    @%out bra WRITE;\n"
    "    mul.wide.s32 %wide, %a, %b;\n"
    "    shr.s64 %wide, %wide, 23;\n"
    "    cvt.u32.u64 %b, %wide;\n"
    "    add.s32 %b, %b, %cy;\n"
    "    sub.s32 %a, %aa, %bb;\n"
    "    add.s32 %a, %a, %cx;\n"
    "    add.s32 %n, %n, 1;\n"
    "    setp.lt.s32 %more, %n, 96;\n"
    "    @%more bra STEP;\n"
    "    mov.u32 %n, 0;\n"
    "WRITE:\n"
    "    mul.lo.s32 %red, %n, %n;\n"
    "    shr.s32 %red, %red, 4;\n"
    "    min.s32 %red, %red, 255;\n"
    "    mul.lo.s32 %green, %n, 5;\n"
    "    min.s32 %green, %green, 255;\n"
    "    mul.lo.s32 %blue, %n, 9;\n"
    "    add.s32 %blue, %blue, 32;\n"
    "    min.s32 %blue, %blue, 255;\n"
    "    shl.b32 %green, %green, 8;\n"
    "    or.b32 %red, %red, %green;\n"
    "    shl.b32 %blue, %blue, 16;\n"
    "    or.b32 %red, %red, %blue;\n"
    "    or.b32 %red, %red, 0xff000000;\n"
    "    shl.b32 %x, %x, 2;\n"
    "    sust.b.2d.b32.trap [%picture, {%x, %y}], %red;\n"
    "END:\n"
    "    ret;\n"
    "}\n"
    "\n"
    ".visible .entry halve(.param .u64 from, .param .u64 to, .param .u32 width, .param .u32 "
    "height)\n"
    "{\n"
    "    .reg .pred %out;\n"
    "    .reg .b32 %x, %y, %w, %h, %a, %b, %t, %c<4>;\n"
    "    .reg .f32 %u, %v, %size, %m<4>;\n"
    "    .reg .b64 %from, %to;\n"
    "    ld.param.u64 %from, [from];\n"
    "    ld.param.u64 %to, [to];\n"
    "    ld.param.u32 %w, [width];\n"
    "    ld.param.u32 %h, [height];\n"
    "    mov.u32 %t, %tid.x;\n"
    "    mov.u32 %a, %ntid.x;\n"
    "    mov.u32 %b, %ctaid.x;\n"
    "    mad.lo.s32 %x, %a, %b, %t;\n"
    "    mov.u32 %t, %tid.y;\n"
    "    mov.u32 %a, %ntid.y;\n"
    "    mov.u32 %b, %ctaid.y;\n"
    "    mad.lo.s32 %y, %a, %b, %t;\n"
    "    setp.ge.s32 %out, %x, %w;\n"
    "    setp.ge.or.s32 %out, %y, %h, %out;\n"
    "    @%out bra END;\n"
    "//  The middle of four texels, in coordinates from 0 to 1.\n"
    "    cvt.rn.f32.s32 %u, %x;\n"
    "    add.f32 %u, %u, 0f3f000000;\n"
    "    cvt.rn.f32.s32 %size, %w;\n"
    "    div.rn.f32 %u, %u, %size;\n"
    "    cvt.rn.f32.s32 %v, %y;\n"
    "    add.f32 %v, %v, 0f3f000000;\n"
    "    cvt.rn.f32.s32 %size, %h;\n"
    "    div.rn.f32 %v, %v, %size;\n"
    "    tex.2d.v4.f32.f32 {%m0, %m1, %m2, %m3}, [%from, {%u, %v}];\n"
    "    mul.f32 %m0, %m0, 0f437f0000;\n"
    "    cvt.rni.s32.f32 %c0, %m0;\n"
    "    mul.f32 %m1, %m1, 0f437f0000;\n"
    "    cvt.rni.s32.f32 %c1, %m1;\n"
    "    mul.f32 %m2, %m2, 0f437f0000;\n"
    "    cvt.rni.s32.f32 %c2, %m2;\n"
    "    shl.b32 %c1, %c1, 8;\n"
    "    or.b32 %c0, %c0, %c1;\n"
    "    shl.b32 %c2, %c2, 16;\n"
    "    or.b32 %c0, %c0, %c2;\n"
    "    or.b32 %c0, %c0, 0xff000000;\n"
    "    shl.b32 %x, %x, 2;\n"
    "    sust.b.2d.b32.trap [%to, {%x, %y}], %c0;\n"
    "END:\n"
    "    ret;\n"
    "}\n";

void julia_check(CUresult result, const char *what, const char *file, int line)
{
    const char *name = "?";
    if (!result)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s gives %s\n", file, line, what, name);
    exit(1);
}

void julia_open(struct julia *julia)
{
    CU(cuModuleLoadData(&julia->module, text));
    CU(cuModuleGetFunction(&julia->draw, julia->module, "draw"));
    CU(cuModuleGetFunction(&julia->halve, julia->module, "halve"));
}

void julia_close(struct julia *julia)
{
    CU(cuModuleUnload(julia->module));
}

static void size_of(CUarray array, uint32_t *width, uint32_t *height)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    CU(cuArray3DGetDescriptor(&is, array));
    *width = (uint32_t)is.Width;
    *height = (uint32_t)is.Height;
}

static CUsurfObject surface_of(CUarray array)
{
    CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUsurfObject surface;
    CU(cuSurfObjectCreate(&surface, &of));
    return surface;
}

static CUtexObject texture_of(CUarray array)
{
    CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                             CU_TR_ADDRESS_MODE_CLAMP},
                             .filterMode = CU_TR_FILTER_MODE_LINEAR,
                             .flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUtexObject texture;
    CU(cuTexObjectCreate(&texture, &of, &how, NULL));
    return texture;
}

// One thread for each texel.
static void launch(CUfunction kernel, uint32_t width, uint32_t height, void **arguments,
                   CUstream stream)
{
    CU(cuLaunchKernel(kernel, (width + TILE - 1) / TILE, (height + TILE - 1) / TILE, 1, TILE, TILE,
                      1, 0, stream, arguments, NULL));
}

// The parameter of the set.
static void parameter(uint32_t frame, int32_t *cx, int32_t *cy)
{
    static const double list[][2] = {
        {-0.7, 0.27015}, {-0.4, 0.6}, {0.285, 0.01}, {-0.70176, -0.3842}};
    const double *c = list[frame % 4];
    *cx = (int32_t)(c[0] * ONE);
    *cy = (int32_t)(c[1] * ONE);
}

void julia_draw(const struct julia *julia, CUarray array, uint32_t frame, CUstream stream)
{
    uint32_t width, height;
    int32_t cx, cy;
    CUsurfObject surface = surface_of(array);
    size_of(array, &width, &height);
    parameter(frame, &cx, &cy);
    launch(julia->draw, width, height, (void *[]){&surface, &width, &height, &cx, &cy}, stream);
    CU(cuStreamSynchronize(stream));
    CU(cuSurfObjectDestroy(surface));
}

void julia_halve(const struct julia *julia, CUarray from, CUarray to, CUstream stream)
{
    uint32_t width, height;
    CUtexObject texture = texture_of(from);
    CUsurfObject surface = surface_of(to);
    size_of(to, &width, &height);
    launch(julia->halve, width, height, (void *[]){&texture, &surface, &width, &height}, stream);
    CU(cuStreamSynchronize(stream));
    CU(cuSurfObjectDestroy(surface));
    CU(cuTexObjectDestroy(texture));
}

// ---- the same on the CPU

static int32_t product(int32_t a, int32_t b, int bits)
{
    return (int32_t)(((int64_t)a * b) >> bits);
}

// The steps that z needs to leave the circle, or 0 if it stays inside.
static uint32_t steps_of(int32_t a, int32_t b, int32_t cx, int32_t cy)
{
    for (uint32_t n = 0; n < STEPS; n++) {
        int32_t aa = product(a, a, 24), bb = product(b, b, 24);
        if (aa + bb > 4 * ONE)
            return n;
        b = product(a, b, 23) + cy;
        a = aa - bb + cx;
    }
    return 0;
}

static uint8_t clamped(uint32_t value)
{
    return value < 255 ? (uint8_t)value : 255;
}

void julia_expected(uint8_t *rgba, uint32_t width, uint32_t height, uint32_t frame)
{
    const int32_t w = (int32_t)width, h = (int32_t)height, unit = ONE / h;
    int32_t cx, cy;
    parameter(frame, &cx, &cy);
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++, rgba += 4) {
            uint32_t n = steps_of((2 * x + 1 - w) * unit, (2 * y + 1 - h) * unit, cx, cy);
            rgba[0] = clamped(n * n >> 4);
            rgba[1] = clamped(5 * n);
            rgba[2] = clamped(9 * n + 32);
            rgba[3] = 255;
        }
}

void julia_expected_half(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t height)
{
    const uint32_t w = width > 1 ? width / 2 : 1, h = height > 1 ? height / 2 : 1;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t x0 = 2 * x % width, x1 = (2 * x + 1) % width;
                uint32_t y0 = 2 * y % height, y1 = (2 * y + 1) % height;
                uint32_t sum = from[(y0 * width + x0) * 4 + i] + from[(y0 * width + x1) * 4 + i] +
                               from[(y1 * width + x0) * 4 + i] + from[(y1 * width + x1) * 4 + i];
                to[(y * w + x) * 4 + i] = (uint8_t)((sum + 2) / 4);
            }
}
