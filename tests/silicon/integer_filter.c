// SPDX-License-Identifier: MIT
// Textures of integers that are read as integers with a linear filter: the card filters them. A
// line has the first words of each format, memory, address mode and kind of coordinates, and a sum
// of all.
#include "record.h"

enum { WIDTH = 8, HEIGHT = 8, COUNT = 4096, FEWER = 600, SHOWN = 24, LINE = 512 };

static const char kernel[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 t, .param .u64 c, .param .u64 o, .param .u32 n) {\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd0, [t]; ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [o];\n"
    "ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "mul.wide.u32 %rd3, %r1, 8; add.u64 %rd1, %rd1, %rd3;\n"
    "mul.wide.u32 %rd3, %r1, 16; add.u64 %rd2, %rd2, %rd3;\n"
    "ld.global.v2.f32 {%f0, %f1}, [%rd1];\n"
    "tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd0, {%f0, %f1}];\n"
    "st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7}; ret; }\n";

struct variant {
    CUarray_format format;
    const char *name;
    unsigned size_B; // of a channel
    unsigned channels;
    bool pitch; // else an array
    CUaddress_mode mode;
    bool normalised;
};

static float points[COUNT][2];
static unsigned words[COUNT][4];

// A row, a column, and points that look random.
static void make_points(bool normalised)
{
    for (unsigned i = 0; i < COUNT; i++) {
        const unsigned x = i * 2654435761u;
        points[i][0] = i < LINE       ? -1 + (float)i / 40.f
                       : i < 2 * LINE ? 2.5f
                                      : (float)((x >> 16) % 2560) / 256.f - 1;
        points[i][1] = i < LINE       ? 2.5f
                       : i < 2 * LINE ? -1 + (float)(i - LINE) / 40.f
                                      : (float)((x & 0xffff) % 2560) / 256.f - 1;
        points[i][0] /= normalised ? WIDTH : 1;
        points[i][1] /= normalised ? HEIGHT : 1;
    }
}

static void must(CUresult r)
{
    if (r)
        SAY(" %s", record_name(r));
}

static void make_resource(const struct variant *v, CUDA_RESOURCE_DESC *r)
{
    static unsigned char data[WIDTH * HEIGHT * 16];
    const unsigned row_B = WIDTH * v->channels * v->size_B;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = data,
                          .srcPitch = row_B,
                          .WidthInBytes = row_B,
                          .Height = HEIGHT};
    for (unsigned i = 0; i < row_B * HEIGHT; i++)
        data[i] = (unsigned char)((i + 1) * 2246822519u >> 24);
    memset(r, 0, sizeof *r);
    if (v->pitch) {
        size_t pitch_B = 0;
        r->resType = CU_RESOURCE_TYPE_PITCH2D;
        must(cuMemAllocPitch(&r->res.pitch2D.devPtr, &pitch_B, row_B, HEIGHT, 16));
        r->res.pitch2D.format = v->format;
        r->res.pitch2D.numChannels = v->channels;
        r->res.pitch2D.width = WIDTH;
        r->res.pitch2D.height = HEIGHT;
        r->res.pitch2D.pitchInBytes = pitch_B;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = r->res.pitch2D.devPtr;
        copy.dstPitch = pitch_B;
    } else {
        const CUDA_ARRAY_DESCRIPTOR d = {WIDTH, HEIGHT, v->format, v->channels};
        r->resType = CU_RESOURCE_TYPE_ARRAY;
        must(cuArrayCreate(&r->res.array.hArray, &d));
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = r->res.array.hArray;
    }
    must(cuMemcpy2D(&copy));
}

static void fetch(CUtexObject texture)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr from, to;
    int count = COUNT;
    void *arguments[] = {&texture, &from, &to, &count};
    must(cuModuleLoadData(&module, kernel));
    must(cuModuleGetFunction(&f, module, "k"));
    must(cuMemAlloc(&from, sizeof points));
    must(cuMemAlloc(&to, sizeof words));
    must(cuMemcpyHtoD(from, points, sizeof points));
    must(cuLaunchKernel(f, COUNT / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    must(cuMemcpyDtoH(words, to, sizeof words));
    must(cuMemFree(from));
    must(cuMemFree(to));
    must(cuModuleUnload(module));
}

static void say_words(const struct variant *v)
{
    const bool all =
        v->channels == 1 || (v->pitch && v->mode == CU_TR_ADDRESS_MODE_CLAMP && !v->normalised);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < (all ? COUNT : FEWER); i++)
        for (unsigned c = 0; c < v->channels; c++)
            for (unsigned b = 0; b < 4; b++)
                sum = (sum ^ (words[i][c] >> 8 * b & 0xff)) * UINT64_C(0x100000001b3);
    SAY(" sum=%llx", (unsigned long long)sum);
    for (unsigned i = 0; i < SHOWN; i++)
        SAY(" %x", words[i * 20][0]);
}

static void run(const struct variant *v)
{
    CUDA_RESOURCE_DESC r;
    CUtexObject texture = 0;
    CUDA_TEXTURE_DESC t = {.addressMode = {v->mode, v->mode, v->mode},
                           .filterMode = CU_TR_FILTER_MODE_LINEAR,
                           .flags = CU_TRSF_READ_AS_INTEGER |
                                    (v->normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0)};
    make_points(v->normalised);
    make_resource(v, &r);
    must(cuTexObjectCreate(&texture, &r, &t, NULL));
    fetch(texture);
    say_words(v);
    must(cuTexObjectDestroy(texture));
    must(v->pitch ? cuMemFree(r.res.pitch2D.devPtr) : cuArrayDestroy(r.res.array.hArray));
}

GROUP(filtered)
{
    static const struct variant formats[] = {
        {.format = CU_AD_FORMAT_UNSIGNED_INT8, .name = "u8", .size_B = 1},
        {.format = CU_AD_FORMAT_SIGNED_INT8, .name = "s8", .size_B = 1},
        {.format = CU_AD_FORMAT_UNSIGNED_INT16, .name = "u16", .size_B = 2},
        {.format = CU_AD_FORMAT_SIGNED_INT16, .name = "s16", .size_B = 2},
        {.format = CU_AD_FORMAT_UNSIGNED_INT32, .name = "u32", .size_B = 4},
        {.format = CU_AD_FORMAT_SIGNED_INT32, .name = "s32", .size_B = 4},
    };
    record_context();
    for (unsigned i = 0; i < 6 * 3 * 2 * 4 * 2; i++) {
        struct variant v = formats[i / 48];
        v.channels = 1u << i / 16 % 3;
        v.pitch = i / 8 % 2;
        v.mode = (CUaddress_mode)(i / 2 % 4);
        v.normalised = i % 2;
        if (!v.normalised && v.mode != CU_TR_ADDRESS_MODE_CLAMP &&
            v.mode != CU_TR_ADDRESS_MODE_BORDER)
            continue;
        if (CASE("%s-x%u-%s-%d-%d", v.name, v.channels, v.pitch ? "pitch" : "array", (int)v.mode,
                 v.normalised))
            run(&v);
    }
}

int main(int argc, char **argv)
{
    RUN(filtered);
    return 0;
}
