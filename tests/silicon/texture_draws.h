// SPDX-License-Identifier: MIT
// Textures, samplers and fetches for recorded programs that draw them. Draws must not change.
#pragma once
#include <math.h>

#include "record.h"

enum { POINTS = 64, MOST_TEXELS_B = 1 << 20, MOST_KERNELS = 400 };

struct point { // as kernels read it
    float x[3];
    int32_t layer;
    float lod, dx[3], dy[3];
    int32_t spare;
};

struct image {
    CUarray_format format;
    unsigned channels, size[3], levels, flags;
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    size_t pitch; // of memory; 0: linear
    bool is_memory;
};

static uint64_t state;
static struct point points[8192];
static uint32_t answers[8192 * 4];
static CUdeviceptr point_memory, answer_memory;
// Texels that are drawn, and zeros for the last layers of larger images.
static unsigned char texels[4 * MOST_TEXELS_B];

static inline uint32_t next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 16);
}

static inline unsigned draw(unsigned n)
{
    return next() % n;
}

static inline float between(float from, float to)
{
    return from + (to - from) * (float)(next() >> 8) / 16777216.0f;
}

// ---- kernels ----

// The instruction of a kind (tex, level, grad, gather with a letter, offset, integer) for a
// geometry.
static inline void write_instruction(char *to, const char *kind, const char *geometry,
                                     const char *type)
{
    const bool layered = *geometry == 'a', cube = strstr(geometry, "cube");
    const int axes = cube ? 3 : geometry[layered] - '0';
    static const char *const lists[] = {"", "%c0", "%c0, %c1", "%c0, %c1, %c2"};
    char coordinates[80], gradients[80] = "";
    sprintf(coordinates, "{%s%s%s}", layered ? "%l, " : "", lists[axes],
            axes + layered == 3 ? (layered ? ", %c1" : ", %c2") : "");
    if (!strcmp(kind, "grad"))
        sprintf(gradients, axes == 1   ? "{%%g0}, {%%h0}"
                           : axes == 2 ? "{%%g0, %%g1}, {%%h0, %%h1}"
                                       : "{%%g0, %%g1, %%g2, %%g2}, {%%h0, %%h1, %%h2, %%h2}");
    if (!strncmp(kind, "gather", 6))
        sprintf(to, "tld4.%c.%s.v4.%s.f32 {%%v0, %%v1, %%v2, %%v3}, [%%t, %s];", kind[6], geometry,
                type, coordinates);
    else if (!strcmp(kind, "offset"))
        sprintf(to, "tex.%s.v4.%s.f32 {%%v0, %%v1, %%v2, %%v3}, [%%t, %s], {%s};", geometry, type,
                coordinates,
                axes == 1   ? "%r0"
                : axes == 2 ? "%r0, %r1"
                            : "%r0, %r1, %r2, %r2");
    else if (!strcmp(kind, "level"))
        sprintf(to, "tex.level.%s.v4.%s.f32 {%%v0, %%v1, %%v2, %%v3}, [%%t, %s], %%d;", geometry,
                type, coordinates);
    else if (!strcmp(kind, "grad"))
        sprintf(to, "tex.grad.%s.v4.%s.f32 {%%v0, %%v1, %%v2, %%v3}, [%%t, %s], %s;", geometry,
                type, coordinates, gradients);
    else
        sprintf(to, "tex.%s.v4.%s.%s {%%v0, %%v1, %%v2, %%v3}, [%%t, %s];", geometry, type,
                !strcmp(kind, "integer") ? "s32" : "f32", coordinates);
}

// A kernel that runs an instruction for each point.
static inline CUresult get_kernel(const char *instruction, CUfunction *function)
{
    static struct {
        char text[600];
        CUfunction function;
        CUresult result;
    } kernels[MOST_KERNELS];
    static int count;
    static char text[4000];
    for (int i = 0; i < count; i++)
        if (!strcmp(kernels[i].text, instruction)) {
            *function = kernels[i].function;
            return kernels[i].result;
        }
    snprintf(text, sizeof text,
             ".version 8.5\n.target sm_90\n.address_size 64\n"
             ".visible .entry k(.param .u64 o, .param .u64 p, .param .u64 t, .param .u32 n)\n{\n"
             ".reg .pred %%z;\n.reg .b32 %%i, %%n, %%c<3>, %%l, %%d, %%g<3>, %%h<3>, %%r<4>, "
             "%%v<4>;\n.reg .b64 %%o, %%p, %%t;\n"
             "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%tid.x;\nmad.lo.u32 %%i, %%i, 64, %%n;\n"
             "ld.param.u32 %%n, [n];\nsetp.ge.u32 %%z, %%i, %%n;\n@%%z ret;\n"
             "ld.param.u64 %%o, [o];\nld.param.u64 %%p, [p];\nld.param.u64 %%t, [t];\n"
             "mad.wide.u32 %%p, %%i, 48, %%p;\nmad.wide.u32 %%o, %%i, 16, %%o;\n"
             "ld.global.v4.b32 {%%c0, %%c1, %%c2, %%l}, [%%p];\n"
             "ld.global.v4.b32 {%%d, %%g0, %%g1, %%g2}, [%%p+16];\n"
             "ld.global.v4.b32 {%%h0, %%h1, %%h2, %%r0}, [%%p+32];\n"
             "shr.s32 %%r1, %%r0, 4;\nshr.s32 %%r2, %%r0, 8;\nmov.b32 %%v0, 0;\n"
             "mov.b32 %%v1, 0;\nmov.b32 %%v2, 0;\nmov.b32 %%v3, 0;\n%s\n"
             "st.global.v4.b32 [%%o], {%%v0, %%v1, %%v2, %%v3};\nret;\n}\n",
             instruction);
    CUmodule module;
    CUresult r = cuModuleLoadData(&module, text);
    if (!r)
        r = cuModuleGetFunction(function, module, "k");
    if (count < MOST_KERNELS) {
        snprintf(kernels[count].text, sizeof kernels[count].text, "%s", instruction);
        kernels[count].function = *function;
        kernels[count++].result = r;
    }
    return r;
}

// Runs an instruction for the first `count` points.
static inline CUresult fetch(const char *instruction, CUtexObject texture, unsigned count)
{
    CUfunction function;
    void *arguments[] = {&answer_memory, &point_memory, &texture, &count};
    CUresult r = get_kernel(instruction, &function);
    if (r)
        return r;
    NEED(cuMemcpyHtoD(point_memory, points, count * sizeof *points));
    NEED(cuMemsetD32(answer_memory, 0xabababab, count * 4));
    r = cuLaunchKernel(function, (count + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    return r ? r : cuMemcpyDtoH(answers, answer_memory, count * 16);
}

static inline void set_up(void)
{
    record_context();
    NEED(cuMemAlloc(&point_memory, sizeof points));
    NEED(cuMemAlloc(&answer_memory, sizeof answers));
}

// ---- images ----

static inline size_t element_size(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT_101010_2: // four channels in four bytes
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return 2;
    default:
        return 4;
    }
}

static inline unsigned extent(const struct image *image, int axis, unsigned level)
{
    const bool layers = axis == 2 && image->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    const unsigned size = layers ? image->size[2] : image->size[axis] >> level;
    return image->size[axis] && !size ? 1 : size;
}

static inline CUresult open_image(struct image *image)
{
    const size_t row = image->size[0] * image->channels * element_size(image->format);
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = image->size[0],
                                       .Height = image->size[1],
                                       .Depth = image->size[2],
                                       .Format = image->format,
                                       .NumChannels = image->channels,
                                       .Flags = image->flags};
    if (image->is_memory) {
        image->pitch = image->size[1] ? (row + 511) / 512 * 512 : row;
        return cuMemAlloc(&image->memory, image->pitch * (image->size[1] ? image->size[1] : 1));
    }
    if (image->levels)
        return cuMipmappedArrayCreate(&image->mipmap, &d, image->levels);
    return cuArray3DCreate(&image->array, &d);
}

static inline void close_image(struct image *image)
{
    if (image->array)
        cuArrayDestroy(image->array);
    if (image->mipmap)
        cuMipmappedArrayDestroy(image->mipmap);
    if (image->memory)
        cuMemFree(image->memory);
}

// Copies `texels` into a level.
static inline CUresult write_level(const struct image *image, unsigned level)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = texels};
    copy.WidthInBytes = extent(image, 0, level) * image->channels * element_size(image->format);
    copy.Height = image->size[1] ? extent(image, 1, level) : 1;
    copy.Depth = image->size[2] ? extent(image, 2, level) : 1;
    copy.srcPitch = copy.WidthInBytes;
    copy.srcHeight = copy.Height;
    copy.dstMemoryType = image->is_memory ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_ARRAY;
    copy.dstDevice = image->memory;
    copy.dstPitch = image->pitch;
    copy.dstHeight = copy.Height;
    copy.dstArray = image->array;
    if (image->mipmap) {
        const CUresult r = cuMipmappedArrayGetLevel(&copy.dstArray, image->mipmap, level);
        if (r)
            return r;
    }
    return cuMemcpy3D(&copy);
}

static inline uint32_t random_texel_float(bool half, unsigned kind)
{
    const uint32_t any = next(), sign = any >> 31, fraction = any & 0x7fffff;
    if (kind == 0) // any bits
        return half ? any & 0xffff : any;
    const uint32_t exponent = kind < 4 ? draw(4) : draw(kind * 4);
    if (half)
        return sign << 15 | (13 + exponent % 8) << 10 | fraction >> 13;
    return sign << 31 | (124 + exponent) << 23 | (kind & 1 ? fraction & 0x7f0000 : fraction);
}

static inline void random_texels(const struct image *image)
{
    const unsigned kind = draw(10);
    for (size_t i = 0; i < MOST_TEXELS_B; i += 4) {
        uint32_t word = next();
        if (image->format == CU_AD_FORMAT_FLOAT)
            word = random_texel_float(false, kind);
        else if (image->format == CU_AD_FORMAT_HALF)
            word = random_texel_float(true, kind) | random_texel_float(true, kind) << 16;
        memcpy(texels + i, &word, 4);
    }
}

static inline CUresult open_texture(const struct image *image, const CUDA_TEXTURE_DESC *sampler,
                                    CUtexObject *texture)
{
    CUDA_RESOURCE_DESC resource = {0};
    if (image->is_memory && image->size[1]) {
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = image->memory;
        resource.res.pitch2D.format = image->format;
        resource.res.pitch2D.numChannels = image->channels;
        resource.res.pitch2D.width = image->size[0];
        resource.res.pitch2D.height = image->size[1];
        resource.res.pitch2D.pitchInBytes = image->pitch;
    } else if (image->is_memory) {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = image->memory;
        resource.res.linear.format = image->format;
        resource.res.linear.numChannels = image->channels;
        resource.res.linear.sizeInBytes = image->pitch;
    } else if (image->mipmap) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = image->mipmap;
    } else {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = image->array;
    }
    return cuTexObjectCreate(texture, &resource, sampler, NULL);
}

static inline uint64_t hash_answers(unsigned count)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < count * 4; i++) {
        sum = (sum ^ answers[i]) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    FILE *dump = getenv("RECORD_DUMP") ? fopen(getenv("RECORD_DUMP"), "ab") : NULL;
    if (dump) {
        fwrite(answers, 16, count, dump);
        fclose(dump);
    }
    return sum;
}
