// SPDX-License-Identifier: MIT
// For tests of kernels that use images of graphics APIs: a kernel that samples a texture at given
// points, one that writes a surface, and texels that say where they lie.
#pragma once

#include "../api/kernel_text.h"

// Coordinates of a fetch. Shapes use some of them.
struct point {
    float x, y, z;
    int32_t layer;
};

enum { POINTS_MAX = 4096 };

// Loads a kernel that samples a geometry of PTX at a point for each thread.
static inline CUfunction point_kernel(const char *geometry)
{
    static const struct {
        const char *geometry, *coordinates;
    } known[] = {{"1d", "{%x}"},
                 {"2d", "{%x, %y}"},
                 {"3d", "{%x, %y, %z, %z}"},
                 {"a2d", "{%l, %x, %y, %y}"},
                 {"cube", "{%x, %y, %z, %z}"}};
    const char *coordinates = NULL;
    char text[2048];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].geometry, geometry))
            coordinates = known[i].coordinates;
    EXPECT(coordinates);
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 texture, .param .u64 points, .param .u64 out, "
                      ".param .f32 level)\n{\n.reg .b32 %%i, %%x, %%y, %%z, %%l, %%v<4>;\n"
                      ".reg .f32 %%level;\n.reg .b64 %%t, %%p, %%o;\n"
                      "ld.param.u64 %%t, [texture];\nld.param.u64 %%p, [points];\n"
                      "ld.param.u64 %%o, [out];\nld.param.f32 %%level, [level];\n"
                      "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%x, %%tid.x;\nmad.lo.u32 %%i, %%i, 32, "
                      "%%x;\nmad.wide.u32 %%p, %%i, 16, %%p;\nmad.wide.u32 %%o, %%i, 16, %%o;\n"
                      "ld.global.v4.b32 {%%x, %%y, %%z, %%l}, [%%p];\n"
                      "tex.level.%s.v4.f32.f32 {%%v0, %%v1, %%v2, %%v3}, [%%t, %s], %%level;\n"
                      "st.global.v4.b32 [%%o], {%%v0, %%v1, %%v2, %%v3};\nret;\n}\n",
             geometry, coordinates ? coordinates : "");
    return ptx_kernel(ptx_load(text), "k");
}

// Samples a level of a texture at `count` points.
static inline void sample_points(CUfunction kernel, CUtexObject texture, float level,
                                 const struct point *points, unsigned count, float (*out)[4])
{
    const unsigned blocks = (count + 31) / 32;
    CUdeviceptr from, to;
    MUST(cuMemAlloc(&from, 32 * blocks * sizeof *points));
    MUST(cuMemAlloc(&to, 32 * blocks * sizeof *out));
    MUST(cuMemsetD8(from, 0, 32 * blocks * sizeof *points));
    MUST(cuMemcpyHtoD(from, points, count * sizeof *points));
    EXPECT_OK(ptx_run(kernel, blocks, 32, (void *[]){&texture, &from, &to, &level}));
    MUST(cuMemcpyDtoH(out, to, count * sizeof *out));
    MUST(cuMemFree(from));
    MUST(cuMemFree(to));
}

static const char store_text[] =
    PTX_HEAD ".visible .entry k(.param .u64 surface, .param .u64 texels, .param .u32 width)\n{\n"
             ".reg .b32 %x, %y, %w, %v;\n.reg .b64 %s, %p;\nld.param.u64 %s, [surface];\n"
             "ld.param.u64 %p, [texels];\nld.param.u32 %w, [width];\nmov.u32 %x, %tid.x;\n"
             "mov.u32 %y, %ctaid.x;\nmad.lo.u32 %v, %y, %w, %x;\nmad.wide.u32 %p, %v, 4, %p;\n"
             "ld.global.u32 %v, [%p];\nshl.b32 %x, %x, 2;\n"
             "sust.b.2d.b32.trap [%s, {%x, %y}], %v;\nret;\n}\n";

// A kernel writes texels of 4 bytes to an array of two dimensions.
static inline void store_texels(CUarray array, const uint8_t *texels, unsigned width,
                                unsigned height)
{
    CUfunction kernel = ptx_kernel(ptx_load(store_text), "k");
    CUsurfObject surface;
    CUdeviceptr from;
    MUST(cuSurfObjectCreate(&surface, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY,
                                                            .res.array.hArray = array}));
    MUST(cuMemAlloc(&from, 4 * width * height));
    MUST(cuMemcpyHtoD(from, texels, 4 * width * height));
    EXPECT_OK(ptx_run(kernel, height, width, (void *[]){&surface, &from, &width}));
    MUST(cuMemFree(from));
    MUST(cuSurfObjectDestroy(surface));
}

// A texture of all levels that clamps, reads floats, and has normalised coordinates.
static inline CUtexObject mipmapped_texture(CUmipmappedArray array, CUfilter_mode filter)
{
    CUtexObject texture;
    MUST(cuTexObjectCreate(
        &texture,
        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                              .res.mipmap.hMipmappedArray = array},
        &(CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                             CU_TR_ADDRESS_MODE_CLAMP},
                             .filterMode = filter,
                             .maxMipmapLevelClamp = 100,
                             .flags = CU_TRSF_NORMALIZED_COORDINATES},
        NULL));
    return texture;
}

// A component of a texel, from 0 to 255: different for neighbours in every direction.
static inline unsigned component_at(unsigned level, unsigned layer, unsigned y, unsigned x,
                                    unsigned channel)
{
    return (level * 83 + layer * 41 + y * 17 + x * 7 + channel * 59 + 5) & 255;
}

static inline unsigned extent_of_level(unsigned extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

// The centre of a texel of a face as a direction: s and t run from -1 to 1.
static inline struct point cube_point(unsigned face, float s, float t)
{
    switch (face) {
    case 0:
        return (struct point){1, -t, -s, 0};
    case 1:
        return (struct point){-1, -t, s, 0};
    case 2:
        return (struct point){s, 1, t, 0};
    case 3:
        return (struct point){s, -1, -t, 0};
    case 4:
        return (struct point){s, -t, 1, 0};
    default:
        return (struct point){-s, -t, -1, 0};
    }
}

// An image as tests of both APIs make it.
struct sampled_shape {
    const char *geometry;
    unsigned width, height, layers, levels; // layers: slices of level 0, layers or faces
};

static inline unsigned layers_of_level(const struct sampled_shape *s, unsigned level)
{
    return strcmp(s->geometry, "3d") ? s->layers : extent_of_level(s->layers, level);
}

// A kernel samples the centre of each texel of each level. Every texel must be component_at().
static inline void expect_all_texels(const struct sampled_shape *s, CUmipmappedArray array)
{
    static struct point points[POINTS_MAX];
    static float got[POINTS_MAX][4];
    const CUfunction kernel = point_kernel(s->geometry);
    const CUtexObject texture = mipmapped_texture(array, CU_TR_FILTER_MODE_POINT);
    for (unsigned level = 0; level < s->levels; level++) {
        const unsigned w = extent_of_level(s->width, level), h = extent_of_level(s->height, level);
        const unsigned d = layers_of_level(s, level);
        unsigned n = 0;
        for (unsigned z = 0; z < d; z++)
            for (unsigned y = 0; y < h; y++)
                for (unsigned x = 0; x < w; x++) {
                    const float u = ((float)x + 0.5f) / (float)w, v = ((float)y + 0.5f) / (float)h;
                    points[n++] = strcmp(s->geometry, "cube")
                                      ? (struct point){u, v, ((float)z + 0.5f) / (float)d, (int)z}
                                      : cube_point(z, 2 * u - 1, 2 * v - 1);
                }
        sample_points(kernel, texture, (float)level, points, n, got);
        for (unsigned i = 0; i < n * 4; i++)
            EXPECT_EQ((unsigned)(got[i / 4][i % 4] * 255 + 0.5f),
                      component_at(level, i / 4 / (w * h), i / 4 / w % h, i / 4 % w, i % 4));
    }
    EXPECT_OK(cuTexObjectDestroy(texture));
}

// Four times the mean that a linear filter finds at the lower right corner of a texel, whose
// components begin at 4 * i. `mark` stands for the level.
static inline unsigned sum_at_corner(unsigned mark, unsigned i, unsigned width, unsigned height)
{
    const unsigned x = i / 4 % width, y = i / 4 / width, c = i % 4;
    const unsigned right = x + 1 < width ? x + 1 : x, below = y + 1 < height ? y + 1 : y;
    return component_at(mark, 0, y, x, c) + component_at(mark, 0, y, right, c) +
           component_at(mark, 0, below, x, c) + component_at(mark, 0, below, right, c);
}

// Compares the result of a graphics API's linear filter, which has 8 bits in Mesa's software
// renderers, with sum_at_corner().
static inline void expect_near(float got, unsigned sum)
{
    const int of_got = (int)(got * 4 * 255 + 0.5f), difference = of_got - (int)sum;
    EXPECT_EQ(difference >= -4 && difference <= 4 ? (int)sum : of_got, (int)sum);
}

// A kernel samples the corners between four texels of a level with a linear filter.
static inline void expect_means(const struct sampled_shape *s, CUmipmappedArray array,
                                unsigned level)
{
    static struct point points[POINTS_MAX];
    static float got[POINTS_MAX][4];
    const CUtexObject texture = mipmapped_texture(array, CU_TR_FILTER_MODE_LINEAR);
    const unsigned w = extent_of_level(s->width, level), h = extent_of_level(s->height, level);
    for (unsigned i = 0; i < w * h; i++)
        points[i] =
            (struct point){(float)(i % w + 1) / (float)w, (float)(i / w + 1) / (float)h, 0, 0};
    sample_points(point_kernel(s->geometry), texture, (float)level, points, w * h, got);
    for (unsigned i = 0; i < w * h * 4; i++)
        EXPECT_EQ((unsigned)(got[i / 4][i % 4] * 4 * 255 + 0.5f), sum_at_corner(level, i, w, h));
    EXPECT_OK(cuTexObjectDestroy(texture));
}

// The texels of a level, layer after layer, and 4 bytes each.
static inline void fill_level(const struct sampled_shape *s, unsigned level, uint8_t *texels)
{
    const unsigned w = extent_of_level(s->width, level), h = extent_of_level(s->height, level);
    for (unsigned i = 0; i < w * h * layers_of_level(s, level) * 4; i++)
        texels[i] = (uint8_t)component_at(level, i / 4 / (w * h), i / 4 / w % h, i / 4 % w, i % 4);
}

// The same for one level of two dimensions, with `mark` for the level.
static inline void fill_marked(unsigned mark, unsigned width, unsigned height, uint8_t *texels)
{
    for (unsigned i = 0; i < width * height * 4; i++)
        texels[i] = (uint8_t)component_at(mark, 0, i / 4 / width, i / 4 % width, i % 4);
}
