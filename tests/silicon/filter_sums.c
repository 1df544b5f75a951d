// SPDX-License-Identifier: MIT
// Sums of filters, one unknown at a time: samples of anisotropic filters on centres of texels and
// between them, two levels, slices, sRGB, samples near the corners of cube maps, and numbers that
// sust.p makes f16 of. Each line ends with a checksum of all its answers.
#include "filter_draws.h"

enum { WIDTH = 256, HEIGHT = 64, SLICES = 8, KINDS = 8 };

// A number of a kind. Kinds differ in how far apart exponents are.
static uint32_t number(unsigned kind, bool half)
{
    static const unsigned spread[KINDS] = {1, 3, 6, 12, 24, 4, 3, 30};
    const uint32_t any = next(), sign = kind == 6 ? 0 : any >> 31;
    const unsigned away = draw(spread[kind]);
    uint32_t fraction = any & 0x7fffff;
    if (kind == 5)
        fraction &= 0x780000;
    if (kind == 7 && !draw(4))
        return sign << 31 >> (half ? 16 : 0);
    if (half)
        return sign << 15 | (25 - away % 26) << 10 | fraction >> 13;
    return sign << 31 | (130 - away) << 23 | fraction;
}

// Writes all levels: blocks of texels are equal, and rows have numbers of different kinds.
static void write_numbers(unsigned block, unsigned seed)
{
    const bool half = image.format == CU_AD_FORMAT_HALF;
    for (unsigned level = 0; level < (image.levels ? image.levels : 1); level++) {
        const unsigned width = extent(&image, 0, level), height = extent(&image, 1, level);
        const unsigned depth = image.size[2] ? extent(&image, 2, level) : 1;
        for (unsigned i = 0; i < width * height * depth; i++) {
            const unsigned x = i % width / block, y = i / width % height, z = i / width / height;
            state = ((seed * 8 + level) * 4096 + z / block) * UINT64_C(4096) * 4096 +
                    y / block * 4096 + x;
            for (unsigned c = 0; c < 4; c++) {
                const uint32_t word = number(y * KINDS / height, half);
                if (half)
                    memcpy(texels + (i * 4 + c) * 2, &word, 2);
                else if (image.format == CU_AD_FORMAT_FLOAT)
                    memcpy(texels + (i * 4 + c) * 4, &word, 4);
                else
                    texels[i * 4 + c] = (unsigned char)(word >> 8);
            }
        }
        NEED(write_level(&image, level));
    }
}

static void say(const CUDA_TEXTURE_DESC *s, const char *kind, const char *geometry)
{
    fetch_points(s, kind, geometry, COUNT);
    SAY("%016" PRIx64, hash_answers(COUNT));
    for (int i = 0; i < SHOWN * 4; i++)
        SAY(" %" PRIx32, answers[i * 97]);
}

static void open_numbers(CUarray_format format, unsigned depth, unsigned levels, unsigned block,
                         unsigned seed)
{
    image = (struct image){.format = format,
                           .channels = 4,
                           .size = {depth ? 32 : WIDTH, HEIGHT, depth},
                           .levels = levels};
    NEED(open_image(&image));
    write_numbers(block, seed);
}

// Points anywhere, or between two texels of a row, which is where samples along the row are on
// centres of texels.
static void draw_places(bool centres)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT; i++) {
        points[i].x[0] = centres ? (float)(16 + draw(WIDTH - 32)) / WIDTH : between(0, 1);
        points[i].x[1] = centres ? ((float)draw(HEIGHT) + 0.5f) / HEIGHT : between(0, 1);
        points[i].x[2] = between(0, 1);
        points[i].lod = between(0, 2);
    }
}

static const CUarray_format floats[] = {CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_HALF};

// Gradients of whole numbers of texels along the row: that many samples, or one more.
GROUP(rows)
{
    static const unsigned ratios[] = {2, 3, 4, 6, 8, 12, 16};
    set_up();
    for (unsigned f = 0; f < 2; f++) {
        open_numbers(floats[f], 0, 0, 1, f);
        for (unsigned r = 0; r < 7; r++)
            for (int centres = 1; centres >= 0; centres--) {
                if (!CASE("%s-%u%s", f ? "f16" : "f32", ratios[r], centres ? "-centres" : ""))
                    continue;
                const CUDA_TEXTURE_DESC s = sampler_of(16, 0);
                state = ratios[r] * 2 + (unsigned)centres;
                draw_places(centres);
                for (int i = 0; i < COUNT; i++)
                    points[i].dx[0] = (float)ratios[r] / WIDTH;
                say(&s, "grad", "2d");
            }
        close_image(&image);
    }
}

// Two levels, with blocks of equal texels or without, and with samples along gradients.
GROUP(levels)
{
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned block = 1; block <= 8; block += 7) {
            open_numbers(floats[f], 0, 4, block, 10 + f);
            for (unsigned most = 0; most <= 16; most = most ? most * 4 : 1) {
                if (!CASE("%s-%u-of-%u", f ? "f16" : "f32", block, most))
                    continue;
                const CUDA_TEXTURE_DESC s = sampler_of(most, 0);
                state = 100 + block * 32 + most;
                draw_places(false);
                for (int i = 0; i < COUNT; i++) {
                    points[i].dx[0] = exp2f(between(0, 4)) / WIDTH;
                    points[i].dy[1] = exp2f(between(0, 2)) / HEIGHT;
                    points[i].dx[1] = between(-2, 2) / HEIGHT;
                }
                say(&s, most ? "grad" : "level", "2d");
            }
            close_image(&image);
        }
}

GROUP(slices)
{
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned levels = 0; levels <= 3; levels += 3)
            for (unsigned block = 1; block <= 4; block += 3) {
                open_numbers(floats[f], SLICES, levels, block, 20 + f);
                if (CASE("%s-%u-%u", f ? "f16" : "f32", levels, block)) {
                    const CUDA_TEXTURE_DESC s = sampler_of(0, 0);
                    state = 200 + block;
                    draw_places(false);
                    say(&s, levels ? "level" : "tex", "3d");
                }
                close_image(&image);
            }
}

GROUP(srgb)
{
    set_up();
    for (unsigned geometry = 0; geometry < 2; geometry++) {
        open_numbers(CU_AD_FORMAT_UNSIGNED_INT8, geometry ? SLICES : 0, 3, 1, 30);
        for (unsigned most = 0; most <= (geometry ? 0u : 16u); most = most ? most * 4 : 1) {
            if (!CASE("%s-of-%u", geometry ? "3d" : "2d", most))
                continue;
            const CUDA_TEXTURE_DESC s = sampler_of(most, CU_TRSF_SRGB);
            state = 300 + most;
            draw_places(false);
            for (int i = 0; i < COUNT; i++) {
                points[i].dx[0] = exp2f(between(0, 4)) / WIDTH;
                points[i].dy[1] = exp2f(between(0, 2)) / HEIGHT;
            }
            say(&s, most ? "grad" : "level", geometry ? "3d" : "2d");
        }
        close_image(&image);
    }
}

// Texels hold their place and their face. Samples are near the corners.
GROUP(corners)
{
    static const unsigned sides[] = {1, 2, 3, 16};
    set_up();
    for (unsigned n = 0; n < 4; n++) {
        const unsigned side = sides[n];
        image = (struct image){.format = CU_AD_FORMAT_FLOAT,
                               .channels = 4,
                               .size = {side, side, 6},
                               .flags = CUDA_ARRAY3D_CUBEMAP};
        NEED(open_image(&image));
        for (unsigned i = 0; i < side * side * 6; i++)
            for (unsigned c = 0; c < 4; c++) {
                const unsigned x = i % side, y = i / side % side, face = i / side / side;
                const unsigned all[4] = {x, y, 1u << face, (i * 2654435761u) >> 20};
                ((float *)texels)[i * 4 + c] = (float)all[c];
            }
        NEED(write_level(&image, 0));
        for (unsigned most = 2; most <= 16; most *= 2)
            for (unsigned face = 0; face < 6; face++) {
                if (!CASE("%u-of-%u-face-%u", side, most, face))
                    continue;
                const CUDA_TEXTURE_DESC s = sampler_of(most, CU_TRSF_SEAMLESS_CUBEMAP);
                const unsigned axis = face / 2;
                state = 400 + most * 8 + face;
                memset(points, 0, sizeof points);
                for (int i = 0; i < COUNT; i++)
                    for (unsigned k = 0; k < 3; k++) {
                        const float corner = draw(2) ? 1.0f : -1.0f;
                        const float inside = draw(4) ? between(0, 3) : (float)draw(7) / 2;
                        const float in = inside / (float)side < 1 ? inside / (float)side : 1;
                        points[i].x[k] = k == axis ? (face & 1 ? -1.0f : 1.0f) : corner * (1 - in);
                        points[i].dx[k] =
                            k == axis ? 0 : (draw(2) ? 1.0f : -1.0f) * in * between(0.1f, 1);
                    }
                say(&s, "grad", "cube");
            }
        close_image(&image);
    }
}

// Numbers of all exponents, as sust.p stores them in halves.
GROUP(halves)
{
    enum { ROUNDS = 16 };
    static uint16_t stored[COUNT];
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject surface;
    set_up();
    image = (struct image){.format = CU_AD_FORMAT_HALF,
                           .channels = 1,
                           .size = {COUNT},
                           .flags = CUDA_ARRAY3D_SURFACE_LDST};
    NEED(open_image(&image));
    resource.res.array.hArray = image.array;
    NEED(cuSurfObjectCreate(&surface, &resource));
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (!CASE("round-%u", round))
            continue;
        state = 500 + round;
        memset(points, 0, sizeof points);
        for (int i = 0; i < COUNT; i++) {
            uint32_t word = next() ^ next() << 16;
            if (round & 1) // beyond f16
                word = (word & 0x80000000) | (0x47000000 + (word & 0x3fffffff) % 0x38ffffff);
            if (round & 2)
                word &= 0xfffff000;
            if (round & 4)
                word = (word & 0x807fffff) | (112u + draw(36)) << 23;
            memcpy(points[i].x, &i, 4);
            memcpy(points[i].dx, &word, 4);
        }
        NEED(fetch("sust.p.1d.b32.trap [%t, {%c0}], %g0;", surface, COUNT));
        const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                    .srcArray = image.array,
                                    .dstMemoryType = CU_MEMORYTYPE_HOST,
                                    .dstHost = stored,
                                    .WidthInBytes = sizeof stored,
                                    .Height = 1};
        NEED(cuMemcpy2D(&copy));
        memset(answers, 0, sizeof answers);
        memcpy(answers, stored, sizeof stored);
        SAY("%016" PRIx64, hash_answers(COUNT / 8));
        for (int i = 0; i < SHOWN * 4; i++)
            SAY(" %x", stored[i]);
    }
    NEED(cuSurfObjectDestroy(surface));
}

int main(int argc, char **argv)
{
    RUN(rows);
    RUN(levels);
    RUN(slices);
    RUN(srgb);
    RUN(corners);
    RUN(halves);
    return 0;
}
