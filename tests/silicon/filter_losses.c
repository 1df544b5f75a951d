// SPDX-License-Identifier: MIT
// Sums of texels that nearly cancel, so that the last bits of the sums can be seen: of one texture
// level, of two levels, of slices, and of anisotropic samples. Signs alternate between neighbours,
// slices and levels. Each line ends with a checksum of all its answers.
#include "filter_draws.h"

enum { WIDTH = 256, HEIGHT = 64, SLICES = 8, KINDS = 8 };

static const CUarray_format floats[] = {CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_HALF};

// A number whose sign is given. Kinds differ in the last bits and in how many numbers are small.
static uint32_t number(unsigned kind, bool half, bool negative)
{
    const uint32_t any = next(), noise = next();
    const unsigned low = kind < 2 ? kind * 8 : kind * 2 + 4; // bits of noise
    const bool small = kind != 1 && !(any & 3);
    const unsigned away = small ? 1 + (any >> 2) % (kind & 1 ? 24 : 8) : 0;
    uint32_t fraction = small ? noise & 0x7fffff : 0x335a00 ^ (noise & ((1u << low) - 1));
    if (kind == 7)
        negative ^= any >> 31;
    if (half)
        return (uint32_t)negative << 15 | (25 - away) << 10 | fraction >> 13;
    return (uint32_t)negative << 31 | (130 - away) << 23 | fraction;
}

static void open_numbers(CUarray_format format, unsigned channels, unsigned depth, unsigned levels)
{
    const bool half = format == CU_AD_FORMAT_HALF;
    image = (struct image){.format = format,
                           .channels = channels,
                           .size = {depth ? 32 : WIDTH, HEIGHT, depth},
                           .levels = levels};
    NEED(open_image(&image));
    for (unsigned level = 0; level < (levels ? levels : 1); level++) {
        const unsigned width = extent(&image, 0, level), height = extent(&image, 1, level);
        const unsigned slices = depth ? extent(&image, 2, level) : 1;
        state = channels * 100 + level;
        for (unsigned i = 0; i < width * height * slices; i++) {
            const unsigned x = i % width, y = i / width % height, z = i / width / height;
            for (unsigned c = 0; c < channels; c++) {
                const uint32_t word = number(y * KINDS / height, half, (x + z + level) & 1);
                memcpy(texels + (i * channels + c) * (half ? 2 : 4), &word, half ? 2 : 4);
            }
        }
        NEED(write_level(&image, level));
    }
}

static void draw_places(void)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT; i++) {
        points[i].x[0] = (float)draw(WIDTH * 32) / (WIDTH * 32);
        points[i].x[1] = between(0, 1);
        points[i].x[2] = draw(4) ? (float)draw(SLICES * 16) / (SLICES * 16) : between(0, 1);
        points[i].lod = draw(4) ? (float)draw(16) / 8 : between(0, 2);
    }
}

static void say(unsigned most, const char *kind, const char *geometry)
{
    const CUDA_TEXTURE_DESC s = sampler_of(most, 0);
    fetch_points(&s, kind, geometry, COUNT);
    SAY("%016" PRIx64, hash_answers(COUNT));
    for (int i = 0; i < SHOWN * 4; i++)
        SAY(" %" PRIx32, answers[i * 97]);
}

GROUP(planes)
{
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned levels = 0; levels <= 4; levels += 4)
            for (unsigned channels = 1; channels <= 4; channels *= 4) {
                open_numbers(floats[f], channels, 0, levels);
                if (CASE("%s-%u-%u", f ? "f16" : "f32", levels, channels)) {
                    state = 100 + levels;
                    draw_places();
                    say(0, levels ? "level" : "tex", "2d");
                }
                close_image(&image);
            }
}

GROUP(slices)
{
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned levels = 0; levels <= 3; levels += 3)
            for (unsigned channels = 1; channels <= 4; channels *= 4) {
                open_numbers(floats[f], channels, SLICES, levels);
                if (CASE("%s-%u-%u", f ? "f16" : "f32", levels, channels)) {
                    state = 200 + levels;
                    draw_places();
                    say(0, levels ? "level" : "tex", "3d");
                }
                close_image(&image);
            }
}

// Gradients of whole numbers of texels along the row, and a line of two levels.
GROUP(samples)
{
    static const unsigned ratios[] = {2, 3, 4, 5, 6, 8, 12, 16};
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned levels = 0; levels <= 4; levels += 4) {
            open_numbers(floats[f], 4, 0, levels);
            for (unsigned r = 0; r < 8; r++) {
                if (!CASE("%s-%u-of-%u", f ? "f16" : "f32", levels, ratios[r]))
                    continue;
                state = 300 + ratios[r];
                draw_places();
                for (int i = 0; i < COUNT; i++) {
                    const float length = levels ? exp2f((float)draw(16) / 8) : 1;
                    points[i].dx[0] = length * (float)ratios[r] / WIDTH;
                    points[i].dy[1] = length / HEIGHT;
                }
                say(16, "grad", "2d");
            }
            close_image(&image);
        }
}

int main(int argc, char **argv)
{
    RUN(planes);
    RUN(slices);
    RUN(samples);
    return 0;
}
