// SPDX-License-Identifier: MIT
// Levels and samples of anisotropic filters, one unknown at a time: the bias, the samples of the
// lower and of the upper of two levels, the level of cube maps and the samples on their faces.
// Texels are numbers of levels, or distances from a centre. Lines have a sum of all answers.
#include "filter_draws.h"

enum { FETCHES = 4, BIASES = COUNT / FETCHES, SIDE = 256, FACE = 64 };

static const unsigned mosts[] = {1, 2, 4, 6, 8, 10, 12, 16};

// Writes all levels: `texel` makes four channels of a level's texel.
static void write_texels(void (*texel)(float to[4], unsigned level, int x, int y, int z))
{
    for (unsigned level = 0; level < (image.levels ? image.levels : 1); level++) {
        float *to = (float *)texels;
        const int width = (int)extent(&image, 0, level), height = (int)extent(&image, 1, level);
        for (int z = 0; z < (int)(image.size[2] ? image.size[2] : 1); z++)
            for (int y = 0; y < (height ? height : 1); y++)
                for (int x = 0; x < width; x++, to += 4)
                    texel(to, level, x, y, z);
        NEED(write_level(&image, level));
    }
}

static void number_of_level(float to[4], unsigned level, int x, int y, int z)
{
    (void)x, (void)y, (void)z;
    to[0] = to[1] = to[2] = to[3] = (float)level;
}

static void say(unsigned count)
{
    SAY("%016" PRIx64, hash_answers(count));
    for (int i = 0; i < SHOWN * 4; i++)
        SAY(" %g", (double)((float *)answers)[i]);
}

// Biases from -1 to 1 in steps of 1/1024, with four LODs each.
GROUP(bias)
{
    static const float lengths[FETCHES] = {8.5f, 10.3f, 12.7f, 14.9f};
    static uint32_t all[COUNT * 4];
    set_up();
    image = (struct image){.format = CU_AD_FORMAT_FLOAT,
                           .channels = 4,
                           .size = {SIDE, 0, 1},
                           .levels = 9,
                           .flags = CUDA_ARRAY3D_LAYERED};
    NEED(open_image(&image));
    write_texels(number_of_level);
    for (int kind = 0; kind < 2; kind++)
        for (unsigned m = 0; m < 8; m++) {
            if (!CASE("%s-%u", kind ? "level" : "gradient", mosts[m]))
                continue;
            memset(points, 0, sizeof points);
            for (int i = 0; i < FETCHES; i++) {
                points[i].x[0] = 0.4f;
                points[i].dx[0] = lengths[i] / SIDE;
                points[i].lod = 2 + lengths[i] / 16;
            }
            for (int i = 0; i < BIASES; i++) {
                CUDA_TEXTURE_DESC s = sampler_of(mosts[m], 0);
                s.mipmapLevelBias = (float)(i - BIASES / 2) / 1024;
                fetch_points(&s, kind ? "level" : "grad", "a1d", FETCHES);
                memcpy(all + i * FETCHES * 4, answers, FETCHES * 16);
            }
            memcpy(answers, all, sizeof all);
            say(COUNT);
        }
}

// ---- two levels ----

static unsigned lit; // the level that is not 0

static void distance(float to[4], unsigned level, int x, int y, int z)
{
    const int half = SIDE >> level >> 1;
    const float from_x = (float)(x - half), from_y = (float)(y - half);
    (void)z;
    memset(to, 0, 16);
    if (level != lit)
        return;
    to[0] = fabsf(from_x);
    to[1] = fabsf(from_y);
    to[2] = from_x * from_y;
    to[3] = 1;
}

// Gradients in texels: dx has a length from 1 to 32; dy is 0, short and perpendicular, or any.
static void draw_plane(void)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT / 2; i++) {
        float *dx = points[i].dx, *dy = points[i].dy;
        const float angle = between(0, 6.2831853f), far = exp2f(between(0, 5));
        dx[0] = roundf(far * cosf(angle) * 64) / 64;
        dx[1] = roundf(far * sinf(angle) * 64) / 64;
        const unsigned kind = draw(3);
        if (kind == 1) {
            dy[0] = -dx[1] / (float)(2 << draw(4));
            dy[1] = -dx[0] / dx[1] * dy[0];
        }
        if (kind == 2)
            for (int axis = 0; axis < 2; axis++)
                dy[axis] = (float)((int)draw(513) - 256) / 64;
        for (int axis = 0; axis < 2; axis++) {
            const float half = (float)(SIDE >> lit >> 1);
            points[i].x[axis] = (half + 0.5f) / (half * 2);
            dx[axis] /= SIDE;
            dy[axis] = dy[axis] == dy[axis] ? dy[axis] / SIDE : 0;
        }
    }
}

static void two_levels(unsigned which)
{
    static const unsigned fractions[] = {0, 1, 16, 66, 122, 166, 199, 254}; // 0: no limit
    set_up();
    lit = which;
    image = (struct image){
        .format = CU_AD_FORMAT_FLOAT, .channels = 4, .size = {SIDE, SIDE}, .levels = 9};
    NEED(open_image(&image));
    write_texels(distance);
    for (unsigned m = 1; m < 8; m += 2)
        for (unsigned f = 0; f < 8; f++) {
            if (!CASE("%u-%u", mosts[m], fractions[f]))
                continue;
            CUDA_TEXTURE_DESC s = sampler_of(mosts[m], 0);
            if (fractions[f])
                s.minMipmapLevelClamp = 1 + (float)fractions[f] / 256;
            state = m * 100 + f;
            draw_plane();
            fetch_points(&s, "grad", "2d", COUNT / 2);
            say(COUNT / 2);
        }
}

GROUP(lower)
{
    two_levels(1);
}

GROUP(upper)
{
    two_levels(2);
}

// ---- cube maps ----

static void place_on_face(float to[4], unsigned level, int x, int y, int z)
{
    (void)level;
    to[0] = (float)x;
    to[1] = (float)y;
    to[2] = (float)(x * x + y * y);
    to[3] = (float)(x * y + z * FACE * FACE);
}

// Directions inside a face or near its edges, and gradients of up to `most` texels.
static void draw_cube(bool edges, bool both, float most)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT; i++) {
        struct point *p = &points[i];
        const unsigned axis = draw(3);
        const float length = exp2f(between(-3, log2f(most))) / (FACE / 2);
        for (unsigned k = 0; k < 3; k++) {
            p->x[k] = between(-0.6f, 0.6f);
            if (edges)
                p->x[k] = (draw(2) ? 1.0f : -1.0f) * (1 - (float)draw(65) / 512);
            p->dx[k] = length * between(-1, 1);
            p->dy[k] = both ? length * between(-1, 1) : 0;
        }
        p->x[axis] = draw(2) ? 1.0f : -1.0f;
        const float scale = draw(2) ? 1 : between(0.5f, 3);
        for (unsigned k = 0; k < 3; k++) {
            p->x[k] *= scale;
            p->dx[k] *= draw(4) && k == axis ? 0 : scale;
            p->dy[k] *= scale;
        }
    }
}

static void cubes(bool levels)
{
    static const float lengths[] = {2, 8, 40};
    set_up();
    image = (struct image){.format = CU_AD_FORMAT_FLOAT,
                           .channels = 4,
                           .size = {FACE, FACE, 6},
                           .levels = levels ? 7 : 0,
                           .flags = CUDA_ARRAY3D_CUBEMAP};
    NEED(open_image(&image));
    write_texels(levels ? number_of_level : place_on_face);
    for (unsigned m = levels ? 0 : 1; m < 8; m += m ? 5 : 2)
        for (unsigned kind = 0; kind < 12; kind++) {
            const bool edges = kind & 1, both = kind & 2;
            if (!CASE("%u-%s-%s-%g", mosts[m], edges ? "edges" : "inside", both ? "both" : "dx",
                      (double)lengths[kind / 4]))
                continue;
            CUDA_TEXTURE_DESC s = sampler_of(mosts[m], 0);
            if (m % 2 == 0 || kind & 1)
                s.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
            state = 1000 + kind;
            draw_cube(edges, both, lengths[kind / 4]);
            fetch_points(&s, "grad", "cube", COUNT);
            say(COUNT);
        }
}

GROUP(cube_levels)
{
    cubes(true);
}

GROUP(cube_samples)
{
    cubes(false);
}

int main(int argc, char **argv)
{
    RUN(bias);
    RUN(lower);
    RUN(upper);
    RUN(cube_levels);
    RUN(cube_samples);
    return 0;
}
