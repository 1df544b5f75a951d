// SPDX-License-Identifier: MIT
// The weight of each texel in anisotropic samples near corners of a cube map. Two texels near a
// corner are 1 and 4096 in each channel, and all others are 0: an answer holds the weights of eight
// texels. Each line ends with a checksum of all its answers.
#include "filter_draws.h"

enum { SIDE = 16, NEAR = 8, LIT = NEAR * NEAR * 3 / 8, FETCHES = COUNT / 4 };

// Directions beside a corner of a face, and gradients that lead inside and stay on the face.
static void draw_corner(const int corner[3], unsigned axis)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < FETCHES; i++)
        for (unsigned k = 0; k < 3; k++) {
            const float texel = 2.0f / SIDE, in = draw(4) ? between(0, 3) : (float)draw(7) / 2;
            const bool inside = draw(3);
            const float far = inside ? between(0, 10) : in * between(-1, 0);
            points[i].x[k] = (float)corner[k];
            if (k == axis)
                continue;
            points[i].x[k] *= 1 - in * texel;
            points[i].dx[k] = -(float)corner[k] * far * texel;
            points[i].dy[k] = i & 1 ? 0 : -(float)corner[k] * between(-0.2f, 1) * in * texel;
        }
}

// Texel number `lit` * 8 + 0 to 7 of those near the corner, or -1.
static int number_of(const int corner[3], int face, int x, int y)
{
    // Signs with which s and t of a face grow along the axes of the cube.
    static const int s_axis[6] = {2, 2, 0, 0, 0, 0}, s_sign[6] = {-1, 1, 1, 1, 1, -1};
    static const int t_axis[6] = {1, 1, 2, 2, 1, 1}, t_sign[6] = {-1, -1, 1, -1, -1, -1};
    const int s = corner[s_axis[face]] * s_sign[face] > 0 ? SIDE - 1 - x : x;
    const int t = corner[t_axis[face]] * t_sign[face] > 0 ? SIDE - 1 - y : y;
    if ((face & 1 ? -1 : 1) != corner[face / 2] || s >= NEAR || t >= NEAR)
        return -1;
    return (face / 2 * NEAR + t) * NEAR + s;
}

GROUP(weights)
{
    static const int corners[][3] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}};
    static const unsigned mosts[] = {4, 16};
    set_up();
    image = (struct image){.format = CU_AD_FORMAT_FLOAT,
                           .channels = 4,
                           .size = {SIDE, SIDE, 6},
                           .flags = CUDA_ARRAY3D_CUBEMAP};
    NEED(open_image(&image));
    for (unsigned n = 0; n < 3; n++)
        for (int lit = 0; lit < LIT; lit++) {
            memset(texels, 0, SIDE * SIDE * 6 * 16);
            for (int i = 0; i < SIDE * SIDE * 6; i++) {
                const int number =
                    number_of(corners[n], i / SIDE / SIDE, i % SIDE, i / SIDE % SIDE);
                if (number >= 0 && number / 8 == lit)
                    ((float *)texels)[i * 4 + number % 4] = number & 4 ? 4096 : 1;
            }
            NEED(write_level(&image, 0));
            for (unsigned m = 0; m < 2; m++)
                for (unsigned axis = 0; axis < 3; axis++) {
                    if (!CASE("%u-%d-of-%u-axis-%u", n, lit, mosts[m], axis))
                        continue;
                    const CUDA_TEXTURE_DESC s = sampler_of(mosts[m], CU_TRSF_SEAMLESS_CUBEMAP);
                    state = n * 100 + m * 10 + axis;
                    draw_corner(corners[n], axis);
                    fetch_points(&s, "grad", "cube", FETCHES);
                    SAY("%016" PRIx64, hash_answers(FETCHES));
                }
        }
}

int main(int argc, char **argv)
{
    RUN(weights);
    return 0;
}
