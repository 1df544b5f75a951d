// SPDX-License-Identifier: MIT
// Anisotropic filters: the levels that they read for many gradients, and the places and weights of
// their samples. Lines have a sum of all answers and some of them.
#include "record.h"

enum { SIDE = 256, LEVELS = 9, COUNT = 8192, ALONG = 321, AROUND = 57 };

static const char kernel[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 t, .param .u64 c, .param .u64 o, .param .u32 n) {\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p;\n"
    "ld.param.u64 %rd0, [t]; ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [o];\n"
    "ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "mul.wide.u32 %rd3, %r1, 24; add.u64 %rd1, %rd1, %rd3;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;\n"
    "ld.global.v2.f32 {%f0, %f1}, [%rd1]; ld.global.v2.f32 {%f2, %f3}, [%rd1+8];\n"
    "ld.global.v2.f32 {%f4, %f5}, [%rd1+16];\n"
    "tex.grad.2d.v4.f32.f32 {%f6, %f7, %f8, _}, [%rd0, {%f0, %f1}], {%f2, %f3}, {%f4, %f5};\n"
    "st.global.f32 [%rd2], %f6; ret; }\n";

static struct point {
    float x, y, dx[2], dy[2];
} points[COUNT];
static float answers[COUNT], texels[SIDE * SIDE];
static CUmipmappedArray array;
static CUtexObject texture;
static CUfunction function;
static CUdeviceptr from, to;

static void set_up(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = SIDE, .Height = SIDE, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUmodule module;
    record_context();
    NEED(cuModuleLoadData(&module, kernel));
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemAlloc(&from, sizeof points));
    NEED(cuMemAlloc(&to, sizeof answers));
    NEED(cuMipmappedArrayCreate(&array, &d, LEVELS));
}

static void write_level(unsigned level)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = (SIDE >> level) * sizeof *texels,
                          .Height = SIDE >> level};
    NEED(cuMipmappedArrayGetLevel(&copy.dstArray, array, level));
    NEED(cuMemcpy2D(&copy));
}

// Each texel is the number of its level.
static void write_numbers(void)
{
    for (unsigned level = 0; level < LEVELS; level++) {
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            texels[i] = (float)level;
        write_level(level);
    }
}

// Level 0 has a texel of 65536, or a column of them; everything else is 0.
static void write_impulse(bool column)
{
    memset(texels, 0, sizeof texels);
    for (unsigned level = 1; level < LEVELS; level++)
        write_level(level);
    for (unsigned y = 0; y < SIDE; y++)
        texels[y * SIDE + 128] = column || y == 128 ? 65536 : 0;
    write_level(0);
}

static void open_texture(unsigned most)
{
    const CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                  .res.mipmap.hMipmappedArray = array};
    const CUDA_TEXTURE_DESC t = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                                 CU_TR_ADDRESS_MODE_CLAMP},
                                 .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                 .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                                 .maxMipmapLevelClamp = 100,
                                 .maxAnisotropy = most,
                                 .flags = CU_TRSF_NORMALIZED_COORDINATES};
    if (texture)
        NEED(cuTexObjectDestroy(texture));
    NEED(cuTexObjectCreate(&texture, &r, &t, NULL));
}

// Fetches the first `count` points, and says `scale` times some answers.
static void fetch(unsigned count, float scale, unsigned first, unsigned step, unsigned shown)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    void *arguments[] = {&texture, &from, &to, &count};
    NEED(cuMemcpyHtoD(from, points, sizeof points));
    NEED(cuLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(answers, to, sizeof answers));
    for (unsigned i = 0; i < count; i++)
        sum = (sum ^ (uint64_t)(int64_t)(answers[i] * scale)) * UINT64_C(0x100000001b3);
    SAY("sum=%llx", (unsigned long long)sum);
    for (unsigned i = 0; i < shown; i++)
        SAY(" %d", (int)(answers[first + i * step] * scale));
}

// ---- levels ----

static uint64_t state;

static uint32_t next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 16);
}

// A number of either sign from 2^-8 to 2^-2, each power of two equally often.
static float random_component(void)
{
    const uint32_t sign_and_mantissa = next() & 0x807fffff;
    const uint32_t bits = sign_and_mantissa | (119 + next() % 6) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void clear_points(void)
{
    memset(points, 0, sizeof points);
    for (unsigned i = 0; i < COUNT; i++)
        points[i].x = points[i].y = 0.4f;
}

GROUP(levels)
{
    set_up();
    write_numbers();
    for (unsigned most = 1; most <= 16; most++) {
        open_texture(most);
        clear_points();
        if (CASE("along-axes-%u", most)) {
            state = 8000 + most;
            for (unsigned i = 0; i < COUNT; i++) {
                points[i].dx[0] = random_component();
                points[i].dx[0] = points[i].dx[0] < 0 ? -points[i].dx[0] : points[i].dx[0];
                points[i].dy[1] = random_component();
                points[i].dy[1] = points[i].dy[1] < 0 ? -points[i].dy[1] : points[i].dy[1];
            }
            fetch(COUNT, 256, 0, 1, 24);
        }
        clear_points();
        if (CASE("any-direction-%u", most)) {
            state = 8100 + most;
            for (unsigned i = 0; i < COUNT; i++)
                for (unsigned j = 0; j < 2; j++) {
                    points[i].dx[j] = random_component();
                    points[i].dy[j] = random_component();
                }
            fetch(COUNT, 256, 0, 1, 24);
        }
    }
}

// ---- samples ----

// Points move across the column while the gradient is `eighths` / 8 texels long: 16 points a texel.
static void cross(unsigned eighths)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < ALONG; i++) {
        points[i].x = (128.5f + (float)(i - 160) / 16.0f) / SIDE;
        points[i].y = 0.5f;
        points[i].dx[0] = (float)eighths / 8.0f / SIDE;
        points[i].dy[1] = 1.0f / SIDE;
    }
    fetch(ALONG, 1, 0, 8, 41);
}

GROUP(column)
{
    set_up();
    write_impulse(true);
    for (unsigned most = 2; most <= 16; most += 2) {
        open_texture(most);
        for (unsigned eighths = 8; eighths < 136; eighths++)
            if (CASE("%u-of-%u-eighths", most, eighths))
                cross(eighths);
    }
}

GROUP(texel)
{
    static const float gradients[][4] = {
        {4, 4, 0.7f, -0.7f}, {4, 2, -0.3f, 0.6f}, {-4, 2, 0.3f, 0.6f}, {1, 0, 0, 6},
        {1, 0, 0.5f, 6},     {6, 1, 6, -1},       {3, 3, 3, -2}};
    set_up();
    write_impulse(false);
    open_texture(16);
    for (unsigned g = 0; g < sizeof gradients / sizeof *gradients; g++) {
        if (!CASE("gradient-%u", g))
            continue;
        memset(points, 0, sizeof points);
        for (int i = 0; i < AROUND * AROUND; i++) {
            points[i].x = (128.5f + (float)(i % AROUND - 28) / 4.0f) / SIDE;
            points[i].y = (128.5f + (float)(i / AROUND - 28) / 4.0f) / SIDE;
            for (unsigned j = 0; j < 2; j++) {
                points[i].dx[j] = gradients[g][j] / SIDE;
                points[i].dy[j] = gradients[g][2 + j] / SIDE;
            }
        }
        fetch(AROUND * AROUND, 1, 28 * AROUND, 1, AROUND);
    }
}

int main(int argc, char **argv)
{
    RUN(levels);
    RUN(column);
    RUN(texel);
    return 0;
}
