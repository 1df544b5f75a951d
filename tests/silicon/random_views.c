// SPDX-License-Identifier: MIT
// Random fetches that random_textures does not have: views of arrays with another format (blocks
// too), some of the levels or layers; packed formats; offsets of levels, gradients and gathers;
// results of 16 bits; levels as integers. A sum of all answers, and some of them.
#include <inttypes.h>

#include "texture_draws.h"

#ifndef SEED
#define SEED 0
#endif

enum { CASES = 320 };

static const struct {
    const char *name;
    int axes;
    unsigned flags;
} geometries[] = {{"1d", 1, 0},
                  {"2d", 2, 0},
                  {"3d", 3, 0},
                  {"a1d", 1, CUDA_ARRAY3D_LAYERED},
                  {"a2d", 2, CUDA_ARRAY3D_LAYERED},
                  {"cube", 3, CUDA_ARRAY3D_CUBEMAP},
                  {"acube", 3, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};
enum { D1, D2, D3, A1D, A2D, CUBE, ACUBE };

static const CUarray_format plain_formats[] = {
    CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
    CU_AD_FORMAT_SIGNED_INT8,   CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
    CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT};

static const struct {
    CUarray_format format;
    unsigned channels;
} packed_formats[] = {{CU_AD_FORMAT_UNORM_INT8X1, 1},      {CU_AD_FORMAT_UNORM_INT8X2, 2},
                      {CU_AD_FORMAT_UNORM_INT8X4, 4},      {CU_AD_FORMAT_UNORM_INT16X1, 1},
                      {CU_AD_FORMAT_UNORM_INT16X2, 2},     {CU_AD_FORMAT_UNORM_INT16X4, 4},
                      {CU_AD_FORMAT_SNORM_INT8X1, 1},      {CU_AD_FORMAT_SNORM_INT8X2, 2},
                      {CU_AD_FORMAT_SNORM_INT8X4, 4},      {CU_AD_FORMAT_SNORM_INT16X1, 1},
                      {CU_AD_FORMAT_SNORM_INT16X2, 2},     {CU_AD_FORMAT_SNORM_INT16X4, 4},
                      {CU_AD_FORMAT_UNORM_INT_101010_2, 4}};

// Formats that views may have, by the array's bits of a channel (8, 16, 32) and its channels.
static const CUresourceViewFormat view_formats[3][3][3] = {
    {{CU_RES_VIEW_FORMAT_UINT_1X8, CU_RES_VIEW_FORMAT_SINT_1X8, CU_RES_VIEW_FORMAT_UINT_1X8},
     {CU_RES_VIEW_FORMAT_UINT_2X8, CU_RES_VIEW_FORMAT_SINT_2X8, CU_RES_VIEW_FORMAT_UINT_2X8},
     {CU_RES_VIEW_FORMAT_UINT_4X8, CU_RES_VIEW_FORMAT_SINT_4X8, CU_RES_VIEW_FORMAT_UINT_4X8}},
    {{CU_RES_VIEW_FORMAT_UINT_1X16, CU_RES_VIEW_FORMAT_SINT_1X16, CU_RES_VIEW_FORMAT_FLOAT_1X16},
     {CU_RES_VIEW_FORMAT_UINT_2X16, CU_RES_VIEW_FORMAT_SINT_2X16, CU_RES_VIEW_FORMAT_FLOAT_2X16},
     {CU_RES_VIEW_FORMAT_UINT_4X16, CU_RES_VIEW_FORMAT_SINT_4X16, CU_RES_VIEW_FORMAT_FLOAT_4X16}},
    {{CU_RES_VIEW_FORMAT_UINT_1X32, CU_RES_VIEW_FORMAT_SINT_1X32, CU_RES_VIEW_FORMAT_FLOAT_1X32},
     {CU_RES_VIEW_FORMAT_UINT_2X32, CU_RES_VIEW_FORMAT_SINT_2X32, CU_RES_VIEW_FORMAT_FLOAT_2X32},
     {CU_RES_VIEW_FORMAT_UINT_4X32, CU_RES_VIEW_FORMAT_SINT_4X32, CU_RES_VIEW_FORMAT_FLOAT_4X32}}};
static const CUresourceViewFormat block_formats[2][4] = {
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC1, CU_RES_VIEW_FORMAT_UNSIGNED_BC4,
     CU_RES_VIEW_FORMAT_SIGNED_BC4, CU_RES_VIEW_FORMAT_UNSIGNED_BC1},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC2, CU_RES_VIEW_FORMAT_UNSIGNED_BC3,
     CU_RES_VIEW_FORMAT_UNSIGNED_BC5, CU_RES_VIEW_FORMAT_SIGNED_BC5}};
static const CUresourceViewFormat other_blocks[3] = {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
                                                     CU_RES_VIEW_FORMAT_SIGNED_BC6H,
                                                     CU_RES_VIEW_FORMAT_UNSIGNED_BC7};

// One fetch of many, as it was drawn.
struct drawn {
    struct image image;
    CUDA_TEXTURE_DESC sampler;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view, blocks;
    int geometry;
    char kind[16], instruction[600];
};

static void draw_shape(struct drawn *d, bool mipmap)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 64};
    struct image *image = &d->image;
    image->flags = geometries[d->geometry].flags;
    for (int i = 0; i < 3; i++)
        image->size[i] = i < geometries[d->geometry].axes ? sizes[draw(12)] : 0;
    if (d->geometry == D3)
        image->size[2] = 1 + draw(12);
    if (d->geometry == A1D || d->geometry == A2D)
        image->size[2] = 1 + draw(6);
    if (d->geometry >= CUBE) {
        image->size[1] = image->size[0];
        image->size[2] = d->geometry == CUBE ? 6 : 6 * (1 + draw(3));
    }
    if (mipmap) {
        unsigned most = 1, largest = image->size[0];
        for (int i = 1; i < geometries[d->geometry].axes && d->geometry < CUBE; i++)
            largest = image->size[i] > largest ? image->size[i] : largest;
        while (largest >> most)
            most++;
        image->levels = draw(3) ? most : 1 + draw(most);
    }
}

static void draw_sampler(struct drawn *d, bool floats)
{
    CUDA_TEXTURE_DESC *s = &d->sampler;
    const bool integers = !floats && d->image.format < CU_AD_FORMAT_HALF;
    const bool wide = integers && element_size(d->image.format) == 4;
    for (int i = 0; i < 3; i++)
        s->addressMode[i] = (CUaddress_mode)draw(4);
    if (draw(4) || d->image.levels || d->geometry >= CUBE)
        s->flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (integers && (wide || !draw(3)))
        s->flags |= CU_TRSF_READ_AS_INTEGER;
    if (!(s->flags & CU_TRSF_READ_AS_INTEGER) && draw(3))
        s->filterMode = CU_TR_FILTER_MODE_LINEAR;
    if (!draw(4) && d->image.channels == 4 && element_size(d->image.format) == 1)
        s->flags |= CU_TRSF_SRGB;
    if (d->geometry >= CUBE && draw(2))
        s->flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    if (!draw(4))
        s->flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    s->mipmapFilterMode = draw(2) ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    if (d->image.levels) {
        s->mipmapLevelBias = draw(3) ? 0 : between(-3, 3);
        s->minMipmapLevelClamp = draw(3) ? 0 : between(0, 3);
        s->maxMipmapLevelClamp = draw(3) ? 20 : between(0, 6);
        s->maxAnisotropy = draw(4) ? 0 : 1 + draw(16);
    }
    for (int i = 0; i < 4; i++)
        s->borderColor[i] = draw(2) ? between(-0.5f, 1.5f) : between(-300, 300);
}

static float draw_coordinate(unsigned size)
{
    const float n = (float)size;
    switch (draw(8)) {
    case 0:
        return between(-3 * n, 4 * n);
    case 1:
        return (float)draw(size + 1) + (float)((int)draw(5) - 2) / 512;
    case 2:
        return (float)draw(size + 1) + 0.5f + (float)((int)draw(5) - 2) / 512;
    case 3:
        return (float)draw(256 * size + 1) / 256;
    case 4:
        return between(-0.6f * n, 1.6f * n);
    default:
        return between(0, n);
    }
}

static void draw_points(const struct drawn *d, bool integer)
{
    const bool cube = d->geometry >= CUBE;
    const bool normalized = d->sampler.flags & CU_TRSF_NORMALIZED_COORDINATES;
    memset(points, 0, sizeof points);
    for (int i = 0; i < POINTS; i++) {
        struct point *p = &points[i];
        const float reach = exp2f(between(-3, 5));
        for (int axis = 0; axis < 3; axis++) {
            unsigned size = d->image.size[axis] ? d->image.size[axis] : 1;
            if (d->blocks && axis < 2)
                size *= 4;
            const float unit = normalized ? (float)size : 1;
            const int32_t index = (int32_t)draw(size + 4) - 2;
            p->x[axis] = cube ? between(-1, 1) : draw_coordinate(size) / unit;
            if (integer)
                memcpy(&p->x[axis], &index, 4);
            p->dx[axis] = reach * between(-1, 1) / (cube ? unit / 2 : unit);
            p->dy[axis] = reach * between(-1, 1) / (cube ? unit / 2 : unit);
        }
        p->layer = (int32_t)draw(d->image.size[2] + 4) - 2;
        p->lod = between(-1.5f, (float)d->image.levels + 1);
        const int32_t level = (int32_t)draw(d->image.levels + 3) - 1;
        if (integer)
            memcpy(&p->lod, &level, 4);
        p->spare = (int32_t)next();
    }
}

// ---- instructions ----

static const char *result_type(const struct drawn *d, const char *floats)
{
    if (!(d->sampler.flags & CU_TRSF_READ_AS_INTEGER))
        return floats;
    const CUresourceViewFormat f = d->view.format;
    const bool is_signed = d->has_view && f ? f >= CU_RES_VIEW_FORMAT_SINT_1X8 &&
                                                  (f - CU_RES_VIEW_FORMAT_UINT_1X8) / 3 % 2
                                            : d->image.format >= CU_AD_FORMAT_SIGNED_INT8;
    return is_signed ? "s32" : "u32";
}

// Fetches with offsets, of integers as levels, or with results of 16 bits.
static void write_other(struct drawn *d, bool offsets, bool integer, const char *halves)
{
    const char *g = geometries[d->geometry].name;
    const bool layered = *g == 'a', cube = d->geometry >= CUBE;
    const int axes = geometries[d->geometry].axes;
    static const char *const lists[] = {"", "%c0", "%c0, %c1", "%c0, %c1, %c2"};
    char coordinates[80], gradients[80] = "", before[60] = "", after[80] = "";
    const char *vector = "v4", *result = "{%v0, %v1, %v2, %v3}", *type = halves;
    if (!*halves)
        type = result_type(d, "f32");
    if (!strcmp(halves, "f16x2")) {
        vector = "v2";
        result = "{%v0, %v1}";
    } else if (*halves) {
        strcpy(before, ".reg .b16 %q<4>; ");
        result = "{%q0, %q1, %q2, %q3}";
        strcpy(after, " mov.b32 %v0, {%q0, %q1}; mov.b32 %v1, {%q2, %q3};");
    }
    sprintf(coordinates, "{%s%s%s}", layered ? "%l, " : "", lists[axes],
            axes + layered == 3 ? (layered ? ", %c1" : ", %c2") : "");
    sprintf(gradients, axes == 1   ? "{%%g0}, {%%h0}"
                       : axes == 2 ? "{%%g0, %%g1}, {%%h0, %%h1}"
                                   : "{%%g0, %%g1, %%g2, %%g2}, {%%h0, %%h1, %%h2, %%h2}");
    const char *moved = !offsets || cube ? ""
                        : axes == 1      ? ", {%r0}"
                        : axes == 2      ? ", {%r0, %r1}"
                                         : ", {%r0, %r1, %r2, %r2}";
    if (!strncmp(d->kind, "gather", 6))
        sprintf(d->instruction, "{ %stld4.%c.%s.%s.%s.f32 %s, [%%t, %s]%s;%s }", before, d->kind[6],
                g, vector, type, result, coordinates, moved, after);
    else
        sprintf(d->instruction, "{ %stex%s%s.%s.%s.%s.%s %s, [%%t, %s]%s%s%s;%s }", before,
                *d->kind ? "." : "", d->kind, g, vector, type, integer ? "s32" : "f32", result,
                coordinates,
                !strcmp(d->kind, "level")  ? ", %d"
                : !strcmp(d->kind, "grad") ? ", "
                                           : "",
                !strcmp(d->kind, "grad") ? gradients : "", moved, after);
}

static void draw_kind(struct drawn *d, bool gathers, bool levels)
{
    static const char *const kinds[] = {"", "level", "grad"};
    strcpy(d->kind, kinds[levels ? 1 + draw(2) : draw(3)]);
    const int g = d->geometry;
    if (gathers && (g == D2 || g == A2D) && !draw(2))
        sprintf(d->kind, "gather%c", "rgba"[draw(4)]);
}

// ---- cases ----

static CUresult open_view(const struct drawn *d, CUtexObject *texture)
{
    CUDA_RESOURCE_DESC resource = {0};
    if (d->image.mipmap) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = d->image.mipmap;
    } else {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = d->image.array;
    }
    return cuTexObjectCreate(texture, &resource, &d->sampler, d->has_view ? &d->view : NULL);
}

static void answer(struct drawn *d)
{
    CUtexObject texture = 0;
    CUresult r = open_image(&d->image);
    if (r) {
        SAY("image %s", record_brief(r));
        return;
    }
    random_texels(&d->image);
    const unsigned first = draw(4096) & ~3u;
    for (unsigned level = 0; level < (d->image.levels ? d->image.levels : 1) && !r; level++) {
        memmove(texels, texels + first + level * 12, MOST_TEXELS_B - first - level * 12);
        r = write_level(&d->image, level);
    }
    if (!r)
        r = open_view(d, &texture);
    if (r)
        SAY("texture %s", record_brief(r));
    else {
        r = fetch(d->instruction, texture, POINTS);
        if (r)
            SAY("fetch %s", record_brief(r));
        if (r && r != CUDA_ERROR_INVALID_PTX)
            _exit(2);
        if (!r) {
            SAY("%016" PRIx64, hash_answers(POINTS));
            for (int i = 0; i < 4; i++)
                SAY(" %" PRIx32, answers[i * 4]);
        }
        NEED(cuTexObjectDestroy(texture));
    }
    close_image(&d->image);
}

static void say_case(unsigned i, struct drawn *d)
{
    const CUDA_TEXTURE_DESC *s = &d->sampler;
    const struct image *image = &d->image;
    if (CASE("%u %s.%s format-%x %u %ux%ux%u levels-%u view-%d-%x %u-%u %u-%u modes-%d%d%d%s%s "
             "flags-%x most-%u",
             i, d->kind, geometries[d->geometry].name, (unsigned)image->format, image->channels,
             image->size[0], image->size[1], image->size[2], image->levels, d->has_view,
             (unsigned)d->view.format, d->view.firstMipmapLevel, d->view.lastMipmapLevel,
             d->view.firstLayer, d->view.lastLayer, (int)s->addressMode[0], (int)s->addressMode[1],
             (int)s->addressMode[2], s->filterMode ? " linear" : "",
             s->mipmapFilterMode ? " linear-levels" : "", s->flags, s->maxAnisotropy))
        answer(d);
}

// The size of a view, and a part of its levels and layers.
static void draw_view(struct drawn *d)
{
    CUDA_RESOURCE_VIEW_DESC *v = &d->view;
    d->has_view = true;
    v->width = d->image.size[0] * (d->blocks ? 4 : 1);
    v->height = d->image.size[1] * (d->blocks ? 4 : 1);
    v->depth = d->geometry == D3 ? d->image.size[2] : 0;
    if (d->image.levels) {
        v->firstMipmapLevel = draw(d->image.levels);
        v->lastMipmapLevel = v->firstMipmapLevel + draw(d->image.levels - v->firstMipmapLevel);
    }
    if (d->geometry == A1D || d->geometry == A2D) {
        v->firstLayer = draw(d->image.size[2]);
        v->lastLayer = v->firstLayer + draw(d->image.size[2] - v->firstLayer);
    }
    if (d->geometry >= CUBE) {
        v->firstLayer = 6 * draw(d->image.size[2] / 6);
        v->lastLayer = v->firstLayer + 5 + 6 * draw((d->image.size[2] - v->firstLayer) / 6);
    }
}

GROUP(views)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(21000063) + i + SEED;
        d.geometry = (int)draw(7);
        d.image.format = plain_formats[draw(8)];
        d.image.channels = 1u << draw(3);
        draw_shape(&d, draw(2));
        draw_view(&d);
        if (draw(3)) {
            const int size = (int)element_size(d.image.format);
            d.view.format = view_formats[size / 2][d.image.channels / 2][draw(3)];
        }
        draw_sampler(&d, d.view.format >= CU_RES_VIEW_FORMAT_FLOAT_1X16);
        draw_kind(&d, true, d.image.levels);
        draw_points(&d, false);
        write_other(&d, false, false, "");
        say_case(i, &d);
    }
}

GROUP(blocks)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(22000066) + i + SEED;
        d.geometry = draw(3) ? D2 : draw(2) ? A2D : CUBE;
        d.image.format = CU_AD_FORMAT_UNSIGNED_INT32;
        d.image.channels = 2u << draw(2);
        d.blocks = true;
        draw_shape(&d, draw(2));
        draw_view(&d);
        d.view.format = draw(3) || d.image.channels == 2
                            ? block_formats[d.image.channels / 4][draw(4)]
                            : other_blocks[draw(3)];
        draw_sampler(&d, true);
        draw_kind(&d, true, d.image.levels);
        draw_points(&d, false);
        write_other(&d, false, false, "");
        say_case(i, &d);
    }
}

GROUP(packed)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(23000069) + i + SEED;
        const unsigned f = draw(sizeof packed_formats / sizeof *packed_formats);
        d.geometry = (int)draw(7);
        d.image.format = packed_formats[f].format;
        d.image.channels = packed_formats[f].channels;
        draw_shape(&d, draw(2));
        draw_sampler(&d, true);
        draw_kind(&d, true, d.image.levels);
        draw_points(&d, false);
        write_other(&d, false, false, "");
        say_case(i, &d);
    }
}

GROUP(offsets)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(24000072) + i + SEED;
        d.geometry = (int)draw(5);
        d.image.format = plain_formats[draw(8)];
        d.image.channels = 1u << draw(3);
        draw_shape(&d, draw(3));
        draw_sampler(&d, false);
        draw_kind(&d, true, true);
        draw_points(&d, false);
        write_other(&d, true, false, "");
        say_case(i, &d);
    }
}

GROUP(halves)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(25000075) + i + SEED;
        d.geometry = (int)draw(7);
        d.image.format = plain_formats[draw(4) ? 6 + draw(2) : 3 * draw(2) + draw(2)];
        d.image.channels = 1u << draw(3);
        draw_shape(&d, draw(2));
        draw_sampler(&d, false);
        d.sampler.flags &= ~(unsigned)CU_TRSF_READ_AS_INTEGER;
        draw_kind(&d, false, d.image.levels);
        draw_points(&d, false);
        write_other(&d, draw(2), false, draw(2) ? "f16" : "f16x2");
        say_case(i, &d);
    }
}

GROUP(integers)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct drawn d = {0};
        state = UINT64_C(26000078) + i + SEED;
        d.geometry = (int)draw(5);
        d.image.format = plain_formats[draw(8)];
        d.image.channels = 1u << draw(3);
        draw_shape(&d, true);
        draw_sampler(&d, false);
        strcpy(d.kind, draw(4) ? "level" : "");
        draw_points(&d, true);
        write_other(&d, draw(2), true, "");
        say_case(i, &d);
    }
}

int main(int argc, char **argv)
{
    RUN(views);
    RUN(blocks);
    RUN(packed);
    RUN(offsets);
    RUN(halves);
    RUN(integers);
    return 0;
}
