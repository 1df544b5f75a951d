// SPDX-License-Identifier: MIT
// Views of blocks (BC1) on a level of a mipmapped array that is used as an array of its own. The
// texels of each level have a red value that names it. A line has the levels that a fetch of all
// texels finds: "level×texels", and "?" for texels of no level.
#include "record.h"

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry fetch(.param .u64 texture, .param .u64 out)\n"
                           "{\n"
                           ".reg .u64 %t, %o, %d;\n"
                           ".reg .f32 %x, %y, %v<4>;\n"
                           ".reg .u32 %i, %j, %n;\n"
                           "ld.param.u64 %t, [texture];\n"
                           "ld.param.u64 %o, [out];\n"
                           "mov.u32 %i, %tid.x;\n"
                           "mov.u32 %j, %ctaid.x;\n"
                           "mov.u32 %n, %ntid.x;\n"
                           "cvt.rn.f32.u32 %x, %i;\n"
                           "cvt.rn.f32.u32 %y, %j;\n"
                           "add.f32 %x, %x, 0f3F000000;\n"
                           "add.f32 %y, %y, 0f3F000000;\n"
                           "tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%t, {%x, %y}];\n"
                           "mad.lo.u32 %i, %j, %n, %i;\n"
                           "mul.wide.u32 %d, %i, 4;\n"
                           "add.u64 %o, %o, %d;\n"
                           "st.global.f32 [%o], %v0;\n"
                           "ret;\n"
                           "}\n";

enum { WIDEST = 65, LEVELS = 7, TEXELS = 4 * WIDEST };

static float fetched[TEXELS * TEXELS];
static uint64_t blocks[WIDEST * WIDEST];

// Fills a level with blocks of one colour, whose red is `red` / 31.
static void write_level(CUarray level, unsigned width, unsigned height, unsigned red)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = blocks,
                       .srcPitch = width * 8,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = level,
                       .WidthInBytes = width * 8,
                       .Height = height};
    for (unsigned i = 0; i < width * height; i++)
        blocks[i] = (uint64_t)red << 11 | (uint64_t)red << 27;
    NEED(cuMemcpy2D(&c));
}

static void say_levels(CUfunction kernel, CUdeviceptr out, CUarray level, unsigned width,
                       unsigned height)
{
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = level};
    const CUDA_TEXTURE_DESC sampler = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP,
                                                       CU_TR_ADDRESS_MODE_CLAMP,
                                                       CU_TR_ADDRESS_MODE_CLAMP}};
    const CUDA_RESOURCE_VIEW_DESC view = {
        .format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1, .width = width, .height = height};
    unsigned found[LEVELS + 1] = {0};
    CUtexObject texture;
    CUresult r = cuTexObjectCreate(&texture, &resource, &sampler, &view);
    if (r) {
        SAY(" %s", record_brief(r));
        return;
    }
    void *arguments[] = {&texture, &out};
    NEED(cuLaunchKernel(kernel, height, 1, 1, width, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH(fetched, out, width * height * 4));
    for (unsigned i = 0; i < width * height; i++) {
        const float red = fetched[i] * 31;
        const unsigned n = (unsigned)(red + 0.5f);
        const bool exact = n >= 1 && n <= LEVELS && red > (float)n - 0.1f && red < (float)n + 0.1f;
        found[exact ? n : 0]++;
    }
    for (unsigned n = 0; n <= LEVELS; n++)
        if (found[n] && n)
            SAY(" %ux%u", n - 1, found[n]);
        else if (found[n])
            SAY(" ?x%u", found[n]);
    NEED(cuTexObjectDestroy(texture));
}

static unsigned halved(unsigned size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

GROUP(levels)
{
    static const unsigned widths[] = {4, 5, 8, 9, 11, 17, 21, 33, 34, 37, 63, 65};
    static const unsigned heights[] = {1, 7, 17, 65};
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr out;
    record_context();
    NEED(cuModuleLoadData(&module, text));
    NEED(cuModuleGetFunction(&kernel, module, "fetch"));
    NEED(cuMemAlloc(&out, sizeof fetched));
    for (unsigned w = 0; w < sizeof widths / sizeof *widths; w++)
        for (unsigned h = 0; h <= sizeof heights / sizeof *heights; h++) {
            const unsigned width = widths[w],
                           height = h < sizeof heights / sizeof *heights ? heights[h] : width;
            CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width,
                                         .Height = height,
                                         .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                         .NumChannels = 2};
            CUmipmappedArray mipmap;
            CUarray level;
            unsigned levels = 1;
            if (!CASE("%ux%u", width, height))
                continue;
            while ((width | height) >> levels)
                levels++;
            NEED(cuMipmappedArrayCreate(&mipmap, &d, levels));
            for (unsigned n = 0; n < levels; n++) {
                NEED(cuMipmappedArrayGetLevel(&level, mipmap, n));
                write_level(level, halved(width, n), halved(height, n), n + 1);
            }
            for (unsigned n = 0; n < levels; n++) {
                NEED(cuMipmappedArrayGetLevel(&level, mipmap, n));
                SAY("%s%u:", n ? "; " : "", n);
                say_levels(kernel, out, level, 4 * halved(width, n), 4 * halved(height, n));
            }
            NEED(cuMipmappedArrayDestroy(mipmap));
        }
}

int main(int argc, char **argv)
{
    RUN(levels);
    return 0;
}
