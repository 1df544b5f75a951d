// SPDX-License-Identifier: MIT
// Random textures, samplers and fetches (texture_draws.h): a sum of all answers, and some of them.
#include <inttypes.h>

#include "texture_draws.h"

#ifndef SEED
#define SEED 0
#endif

enum { CASES = 400, ALONG_AXIS = 4, DIAGONAL };

static const struct {
    const char *name;
    int axes; // of coordinates
    unsigned flags;
} geometries[] = {{"1d", 1, 0},
                  {"2d", 2, 0},
                  {"3d", 3, 0},
                  {"a1d", 1, CUDA_ARRAY3D_LAYERED},
                  {"a2d", 2, CUDA_ARRAY3D_LAYERED},
                  {"cube", 3, CUDA_ARRAY3D_CUBEMAP},
                  {"acube", 3, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};
enum { D1, D2, D3, A1D, A2D, CUBE, ACUBE };

static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                                         CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                                         CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                                         CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

static unsigned draw_size(void)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 64};
    return draw(3) ? sizes[draw(12)] : 1 + draw(70);
}

static void draw_image(struct image *image, int geometry, bool mipmap, bool memory)
{
    memset(image, 0, sizeof *image);
    image->format = formats[draw(8)];
    image->channels = 1u << draw(3);
    image->flags = geometries[geometry].flags;
    for (int i = 0; i < 3; i++)
        image->size[i] = i < geometries[geometry].axes ? draw_size() : 0;
    if (geometry == D3)
        image->size[2] = 1 + draw(16);
    if (geometry == A1D || geometry == A2D)
        image->size[2] = 1 + draw(5);
    if (geometry >= CUBE) {
        image->size[1] = image->size[0];
        image->size[2] = geometry == CUBE ? 6 : 6 * (1 + draw(3));
    }
    if (geometry <= D2 && !draw(8))
        image->size[0] = 100 + draw(4000);
    image->is_memory = memory;
    if (mipmap) {
        unsigned most = 1, largest = image->size[0];
        for (int i = 1; i < geometries[geometry].axes && geometry < CUBE; i++)
            largest = image->size[i] > largest ? image->size[i] : largest;
        while (largest >> most)
            most++;
        image->levels = draw(3) ? most : 1 + draw(most);
    }
}

static void draw_sampler(CUDA_TEXTURE_DESC *s, const struct image *image, bool cube)
{
    memset(s, 0, sizeof *s);
    const bool integers = image->format < CU_AD_FORMAT_HALF;
    const bool wide = integers && element_size(image->format) == 4;
    for (int i = 0; i < 3; i++)
        s->addressMode[i] = (CUaddress_mode)draw(4);
    if (draw(3))
        s->flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (image->levels || cube)
        s->flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (integers && (wide || !draw(3)))
        s->flags |= CU_TRSF_READ_AS_INTEGER;
    if (!(s->flags & CU_TRSF_READ_AS_INTEGER) && draw(3))
        s->filterMode = CU_TR_FILTER_MODE_LINEAR;
    if (image->format == CU_AD_FORMAT_UNSIGNED_INT8 && image->channels == 4 && !draw(3))
        s->flags |= CU_TRSF_SRGB;
    if (cube && draw(2))
        s->flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    s->mipmapFilterMode = draw(2) ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    if (image->levels) {
        s->mipmapLevelBias = draw(3) ? 0 : between(-3, 3);
        s->minMipmapLevelClamp = draw(3) ? 0 : between(0, 3);
        s->maxMipmapLevelClamp = draw(3) ? 20 : between(0, 6);
    }
    for (int i = 0; i < 4; i++)
        s->borderColor[i] = draw(2) ? between(-0.5f, 1.5f) : between(-300, 300);
}

// A coordinate in texels of an axis of `size`.
static float draw_coordinate(unsigned size)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 1e10f, -3e9f, -0.0f, 1e-40f, 3e38f};
    const float n = (float)size;
    switch (draw(12)) {
    case 0:
        return draw(8) ? between(-3 * n, 4 * n) : special[draw(8)];
    case 1:
    case 2:
        return (float)draw(size + 1) + (float)((int)draw(5) - 2) / 512;
    case 3:
        return (float)draw(size + 1) + 0.5f + (float)((int)draw(5) - 2) / 512;
    case 4:
    case 5:
        return between(-0.6f * n, 1.6f * n);
    case 6:
        return (float)draw(256 * size + 1) / 256;
    default:
        return between(0, n);
    }
}

static void draw_direction(float to[3])
{
    const unsigned kind = draw(8);
    for (int i = 0; i < 3; i++)
        to[i] = between(-1, 1);
    if (kind < 2) // near an edge or a corner
        for (int i = 0; i < 3 - (int)draw(2); i++)
            to[i] = (draw(2) ? 1.0f : -1.0f) * (1 - (float)draw(9) / 64);
    if (kind == 2) {
        to[0] = to[1] = to[2] = 0;
        to[draw(3)] = draw(2) ? 1.0f : -1.0f;
    }
    const float scale = draw(3) ? 1 : between(0.01f, 100);
    for (int i = 0; i < 3; i++)
        to[i] *= scale;
}

// A gradient in texels, of up to `most`.
static void draw_gradient(float to[3], float most)
{
    const unsigned kind = draw(8);
    const float length = exp2f(between(-4, log2f(most)));
    for (int i = 0; i < 3; i++)
        to[i] = length * between(-1, 1);
    if (kind == ALONG_AXIS) {
        to[0] = to[1] = to[2] = 0;
        to[draw(3)] = draw(2) ? length : -length;
    }
    if (kind == DIAGONAL)
        for (int i = 0; i < 3; i++)
            to[i] = draw(2) ? length : -length;
    if (kind == DIAGONAL + 1)
        to[0] = to[1] = to[2] = 0;
}

static void draw_points(const struct image *image, const CUDA_TEXTURE_DESC *s, int geometry,
                        bool integer)
{
    const bool cube = geometry >= CUBE, normalized = s->flags & CU_TRSF_NORMALIZED_COORDINATES;
    memset(points, 0, sizeof points);
    for (int i = 0; i < POINTS; i++) {
        struct point *p = &points[i];
        for (int axis = 0; axis < 3; axis++) {
            const unsigned size = image->size[axis] ? image->size[axis] : 1;
            p->x[axis] = draw_coordinate(size) / (normalized ? (float)size : 1);
            const int32_t index = (int32_t)draw(size + 4) - 2;
            if (integer)
                memcpy(&p->x[axis], &index, 4);
        }
        if (cube)
            draw_direction(p->x);
        p->layer = (int32_t)draw(image->size[2] + 4) - 2;
        p->lod = draw(16) ? between(-1.5f, (float)image->levels + 1)
                          : (float)((int)draw(512) - 128) / 64;
        draw_gradient(p->dx, 30);
        draw_gradient(p->dy, draw(2) ? 30 : 4);
        for (int axis = 0; axis < 3 && normalized; axis++) {
            const float size = (float)(image->size[axis] ? image->size[axis] : 1);
            p->dx[axis] /= cube ? size / 2 : size;
            p->dy[axis] /= cube ? size / 2 : size;
        }
        p->spare = (int32_t)next();
    }
}

static const char *result_type(const struct image *image, const CUDA_TEXTURE_DESC *s)
{
    if (!(s->flags & CU_TRSF_READ_AS_INTEGER))
        return "f32";
    return image->format >= CU_AD_FORMAT_SIGNED_INT8 ? "s32" : "u32";
}

static void answer(struct image *image, const CUDA_TEXTURE_DESC *s, const char *kind,
                   const char *geometry)
{
    CUtexObject texture = 0;
    char instruction[300];
    CUresult r = open_image(image);
    if (r) {
        SAY("image %s", record_brief(r));
        return;
    }
    random_texels(image);
    const unsigned first = draw(4096) & ~3u;
    for (unsigned level = 0; level < (image->levels ? image->levels : 1) && !r; level++) {
        memmove(texels, texels + first + level * 12, MOST_TEXELS_B - first - level * 12);
        r = write_level(image, level);
    }
    if (!r)
        r = open_texture(image, s, &texture);
    if (r)
        SAY("texture %s", record_brief(r));
    else {
        write_instruction(instruction, kind, geometry, result_type(image, s));
        r = fetch(instruction, texture, POINTS);
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
    close_image(image);
}

// Each kind of fetch draws its own textures. `most` is the largest anisotropy, or 0.
static void group(const char *kind, unsigned seed, const int of[], int count, unsigned most)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct image image;
        CUDA_TEXTURE_DESC s;
        char name[16];
        state = seed * UINT64_C(1000003) + i + SEED;
        const int geometry = of[draw((unsigned)count)];
        const bool levels = !strcmp(kind, "level") || !strcmp(kind, "grad");
        const bool memory = geometry <= D2 && !levels && !draw(6);
        draw_image(&image, geometry, levels && draw(10), memory);
        draw_sampler(&s, &image, geometry >= CUBE);
        if (most) {
            s.maxAnisotropy = 2 + draw(most - 1);
            if (!(s.flags & CU_TRSF_READ_AS_INTEGER))
                s.filterMode = CU_TR_FILTER_MODE_LINEAR;
        }
        snprintf(name, sizeof name, "%s", kind);
        if (!strcmp(kind, "gather"))
            name[6] = "rgba"[draw(4)], name[7] = 0;
        draw_points(&image, &s, geometry, !strcmp(kind, "integer"));
        if (!CASE("%u %s.%s format-%x %u %ux%ux%u levels-%u%s modes-%d%d%d%s%s flags-%x most-%u", i,
                  name, geometries[geometry].name, (unsigned)image.format, image.channels,
                  image.size[0], image.size[1], image.size[2], image.levels,
                  memory ? " memory" : "", (int)s.addressMode[0], (int)s.addressMode[1],
                  (int)s.addressMode[2], s.filterMode ? " linear" : "",
                  s.mipmapFilterMode ? " linear-levels" : "", s.flags, s.maxAnisotropy))
            continue;
        answer(&image, &s, name, geometries[geometry].name);
    }
}

#define FETCHES(name, kind, seed, most, ...)                                                       \
    GROUP(name)                                                                                    \
    {                                                                                              \
        static const int of[] = {__VA_ARGS__};                                                     \
        group(kind, seed, of, sizeof of / sizeof *of, most);                                       \
    }
FETCHES(plain, "tex", 1, 0, D1, D2, D3, A1D, A2D)
FETCHES(integer, "integer", 2, 0, D1, D2, D3, A1D, A2D)
FETCHES(cube, "tex", 3, 0, CUBE, ACUBE)
FETCHES(cube_level, "level", 4, 0, CUBE, ACUBE)
FETCHES(level, "level", 5, 0, D1, D2, D3, A1D, A2D)
FETCHES(gradient, "grad", 6, 0, D1, D2, D3, A1D, A2D)
FETCHES(cube_gradient, "grad", 7, 0, CUBE, ACUBE)
FETCHES(gather, "gather", 8, 0, D2, A2D, CUBE, ACUBE)
FETCHES(offset, "offset", 9, 0, D1, D2, D3, A1D, A2D)
FETCHES(anisotropic, "grad", 10, 16, D2, A2D)
FETCHES(anisotropic_3d, "grad", 11, 16, D1, A1D, D3)
FETCHES(anisotropic_cube, "grad", 12, 16, CUBE, ACUBE)

int main(int argc, char **argv)
{
    RUN(plain);
    RUN(integer);
    RUN(cube);
    RUN(cube_level);
    RUN(level);
    RUN(gradient);
    RUN(cube_gradient);
    RUN(gather);
    RUN(offset);
    RUN(anisotropic);
    RUN(anisotropic_3d);
    RUN(anisotropic_cube);
    return 0;
}
