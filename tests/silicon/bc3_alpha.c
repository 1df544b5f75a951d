// SPDX-License-Identifier: MIT
// The alpha of BC3 for all pairs of ends. A line is one index of blocks with eight or with six
// values: a hash of the values, and those of some pairs.
#include "record.h"

enum { ENDS = 256, PAIRS = ENDS * ENDS, ROW = 4 * ENDS, STEP = 4999 };

static const char text[] =
    ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 "
    "p)\n"
    "{\n.reg .b64 %t, %p;\n.reg .b32 %x, %y, %n;\n.reg .f32 %u, %v, %r<4>;\n"
    "ld.param.u64 %t, [t];\nld.param.u64 %p, [p];\nmov.u32 %x, %tid.x;\nmov.u32 %y, %ctaid.x;\n"
    "cvt.rn.f32.u32 %u, %x;\ncvt.rn.f32.u32 %v, %y;\nadd.f32 %u, %u, 0f3F000000;\n"
    "add.f32 %v, %v, 0f3F000000;\n"
    "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%u, %v}];\n"
    "mad.lo.u32 %n, %y, 1024, %x;\nmad.wide.u32 %p, %n, 4, %p;\nst.global.f32 [%p], "
    "%r3;\nret;\n}\n";

static unsigned char blocks[PAIRS * 16];
static float alpha[ROW * ROW];

// The block at (x, y) has the ends x and y, and each index in turn.
static void fill_blocks(void)
{
    uint64_t indices = 0;
    for (unsigned i = 0; i < 16; i++)
        indices |= (uint64_t)(i & 7) << 3 * i;
    for (unsigned i = 0; i < PAIRS; i++) {
        blocks[16 * i] = (unsigned char)(i % ENDS);
        blocks[16 * i + 1] = (unsigned char)(i / ENDS);
        memcpy(blocks + 16 * i + 2, &indices, 6);
    }
}

static void fetch_all(void)
{
    CUarray array;
    CUdeviceptr memory;
    CUmodule module;
    CUfunction function;
    CUtexObject texture;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = ROW, .Height = ROW, .Format = CU_AD_FORMAT_BC3_UNORM, .NumChannels = 4};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampler = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                                 CU_TR_ADDRESS_MODE_CLAMP}};
    NEED(cuArray3DCreate(&array, &d));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = blocks,
                          .srcPitch = ENDS * 16,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = ENDS * 16,
                          .Height = ENDS};
    NEED(cuMemcpy2D(&copy));
    resource.res.array.hArray = array;
    NEED(cuTexObjectCreate(&texture, &resource, &sampler, NULL));
    NEED(cuMemAlloc(&memory, sizeof alpha));
    NEED(cuModuleLoadData(&module, text));
    NEED(cuModuleGetFunction(&function, module, "k"));
    void *arguments[] = {&texture, &memory};
    NEED(cuLaunchKernel(function, ROW, 1, 1, ROW, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(alpha, memory, sizeof alpha));
}

static uint32_t value(unsigned x, unsigned y, unsigned index)
{
    uint32_t bits;
    memcpy(&bits, &alpha[(4 * y + index / 4) * ROW + 4 * x + index % 4], sizeof bits);
    return bits;
}

GROUP(alpha)
{
    record_context();
    fill_blocks();
    fetch_all();
    for (int six = 0; six < 2; six++)
        for (unsigned index = 0; index < 8; index++) {
            uint64_t sum = UINT64_C(0xcbf29ce484222325);
            unsigned shown = 0;
            if (!CASE("%s-%u", six ? "six" : "eight", index))
                continue;
            for (unsigned pair = 0; pair < PAIRS; pair++) {
                const unsigned x = pair % ENDS, y = pair / ENDS;
                if ((x <= y) != six)
                    continue;
                sum = (sum ^ value(x, y, index)) * UINT64_C(0x100000001b3);
                if (shown++ % STEP == 0)
                    SAY(" %u,%u:%x", x, y, value(x, y, index));
            }
            SAY(" %016llx", (unsigned long long)sum);
        }
}

int main(int argc, char **argv)
{
    RUN(alpha);
    return 0;
}
