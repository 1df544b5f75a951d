// SPDX-License-Identifier: MIT
// Sums whose largest texels have small weights and cancel each other, so that what is left of the
// small texels can be seen. Each line ends with a checksum of all its answers.
#include "filter_draws.h"

enum { WIDTH = 32, HEIGHT = 64, SLICES = 8, KINDS = 8 };

static const CUarray_format floats[] = {CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_HALF};

// Large texels depend on x, y and the channel alone, but for their sign.
static uint32_t number(unsigned kind, bool half, unsigned x, unsigned y, unsigned z, unsigned c,
                       bool pairs)
{
    state = (((pairs ? x / 2 : x) * 64 + y) * 4 + c) * 1000 + 7;
    const bool large = draw(kind < 4 ? 3 : 8) == 0;
    const uint32_t any = next(), less = kind & 1 ? draw(3) : 0;
    uint32_t exponent = 140 - less, fraction = any & 0x7fffff;
    bool negative = (pairs ? x : z) & 1;
    if (!large) {
        state = ((x * 64 + y) * 64 + z * 4 + c) * 1000 + 500009;
        fraction = next() & 0x7fffff;
        negative = draw(2);
        exponent = 140 - (half ? 8 : 6) - draw(kind & 2 ? 16 : 6);
    }
    if (half)
        return (uint32_t)negative << 15 | (exponent - 112) << 10 | fraction >> 13;
    return (uint32_t)negative << 31 | exponent << 23 | fraction;
}

static void open_numbers(CUarray_format format, unsigned depth)
{
    const bool half = format == CU_AD_FORMAT_HALF;
    image = (struct image){.format = format, .channels = 4, .size = {WIDTH, HEIGHT, depth}};
    NEED(open_image(&image));
    for (unsigned i = 0; i < WIDTH * HEIGHT * (depth ? depth : 1); i++)
        for (unsigned c = 0; c < 4; c++) {
            const unsigned x = i % WIDTH, y = i / WIDTH % HEIGHT, z = i / WIDTH / HEIGHT;
            const uint32_t word = number(y * KINDS / HEIGHT, half, x, y, z, c, !depth);
            memcpy(texels + (i * 4 + c) * (half ? 2 : 4), &word, half ? 2 : 4);
        }
    NEED(write_level(&image, 0));
}

// 1/256 of a texel, often few.
static float draw_fraction(void)
{
    const unsigned kind = draw(4);
    return (float)(kind == 0 ? draw(256) : kind == 1 ? 255 - draw(20) : draw(20)) / 256;
}

static void draw_places(bool pairs)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT; i++) {
        points[i].x[0] = ((float)draw(WIDTH - 1) + 0.5f + draw_fraction()) / WIDTH;
        if (pairs)
            points[i].x[0] = (float)(2 * draw(WIDTH / 2) + 1) / WIDTH;
        points[i].x[1] = ((float)draw(HEIGHT - 1) + 0.5f + draw_fraction()) / HEIGHT;
        points[i].x[2] = (float)(1 + draw(SLICES - 1)) / SLICES;
    }
}

GROUP(weak)
{
    set_up();
    for (unsigned f = 0; f < 2; f++)
        for (unsigned depth = 0; depth <= SLICES; depth += SLICES) {
            open_numbers(floats[f], depth);
            for (unsigned seed = 0; seed < 4; seed++)
                if (CASE("%s-%u-%u", f ? "f16" : "f32", depth, seed)) {
                    const CUDA_TEXTURE_DESC s = sampler_of(0, 0);
                    state = 100 + seed;
                    draw_places(!depth);
                    fetch_points(&s, "tex", depth ? "3d" : "2d", COUNT);
                    SAY("%016" PRIx64, hash_answers(COUNT));
                    for (int i = 0; i < SHOWN * 4; i++)
                        SAY(" %" PRIx32, answers[i * 97]);
                }
            close_image(&image);
        }
}

int main(int argc, char **argv)
{
    RUN(weak);
    return 0;
}
