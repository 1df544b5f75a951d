// SPDX-License-Identifier: MIT
// Directions of anisotropic filters: texels hold their distance from the centre along each axis, so
// that an answer is how far the samples reach. Lines have a sum of all answers and some of them.
#include <inttypes.h>

#include "texture_draws.h"

enum { SIDE = 256, SIDE_3D = 64, COUNT = 8192, SHOWN = 4 };

static struct image image;
static float centre[3], per_texel;
static bool moved; // points are beside the centre: lod columns, layer rows of a quarter of a texel

// Texels: distances from the centre along each axis, and their product or a square.
static void write_texels(unsigned side, bool volume, bool cube)
{
    float *to = (float *)texels;
    const unsigned half = side / 2;
    image = (struct image){
        .format = CU_AD_FORMAT_FLOAT, .channels = 4, .size = {side, side, volume ? side : 0}};
    if (cube) {
        image.size[2] = 6;
        image.flags = CUDA_ARRAY3D_CUBEMAP;
    }
    NEED(open_image(&image));
    for (unsigned slice = 0; slice < (image.size[2] ? image.size[2] : 1); slice++) {
        to = (float *)texels;
        for (unsigned y = 0; y < side; y++)
            for (unsigned x = 0; x < side; x++, to += 4) {
                const float from_x = (float)x - (float)half, from_y = (float)y - (float)half;
                to[0] = fabsf(from_x);
                to[1] = fabsf(from_y);
                to[2] = volume ? fabsf((float)slice - (float)half) : from_x * from_y;
                to[3] = cube ? (float)slice : from_x * from_x;
            }
        CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = texels};
        copy.WidthInBytes = copy.srcPitch = side * 16;
        copy.Height = copy.srcHeight = side;
        copy.Depth = 1;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = image.array;
        copy.dstZ = slice;
        NEED(cuMemcpy3D(&copy));
    }
    for (int i = 0; i < 3; i++)
        centre[i] = ((float)half + 0.5f) / (float)side;
    per_texel = 1 / (float)side;
    if (cube) {
        centre[0] = 1;
        centre[1] = centre[2] = -1 / (float)side;
        per_texel = 2 / (float)side;
    }
}

static void say(const char *geometry, unsigned most)
{
    const CUDA_TEXTURE_DESC s = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                                 CU_TR_ADDRESS_MODE_CLAMP},
                                 .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                 .maxAnisotropy = most,
                                 .flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUtexObject texture;
    char instruction[300];
    NEED(open_texture(&image, &s, &texture));
    write_instruction(instruction, "grad", geometry, "f32");
    for (int i = 0; i < COUNT; i++)
        for (int axis = 0; axis < 3; axis++) {
            points[i].x[axis] = centre[axis];
            points[i].dx[axis] *= per_texel;
            points[i].dy[axis] *= per_texel;
        }
    for (int i = 0; i < COUNT && moved; i++) {
        points[i].x[0] += points[i].lod;
        points[i].x[1] += (float)points[i].layer / 4 / SIDE;
    }
    NEED(fetch(instruction, texture, COUNT));
    SAY("%016" PRIx64, hash_answers(COUNT));
    for (int i = 0; i < SHOWN; i++)
        SAY(" %g,%g,%g,%g", (double)((float *)answers)[i * 4],
            (double)((float *)answers)[i * 4 + 1], (double)((float *)answers)[i * 4 + 2],
            (double)((float *)answers)[i * 4 + 3]);
    NEED(cuTexObjectDestroy(texture));
}

// Gradients in texels.
enum { ALONE, SWEPT, PERPENDICULAR, OPPOSITE, PARALLEL, ANY, KINDS };

static void draw_gradients(unsigned kind, float length, int axes)
{
    memset(points, 0, sizeof points);
    for (int i = 0; i < COUNT; i++) {
        float *dx = points[i].dx, *dy = points[i].dy;
        const float angle = kind == SWEPT ? (float)i * 6.2831853f / COUNT : between(0, 6.2831853f);
        const float far = kind == SWEPT ? length : exp2f(between(0, log2f(length)));
        dx[0] = far * cosf(angle);
        dx[1] = far * sinf(angle);
        // Multiples of 1/64, so that the numbers do not depend on a mathematical library.
        dx[0] = roundf(dx[0] * 64) / 64;
        dx[1] = roundf(dx[1] * 64) / 64;
        if (axes == 3)
            dx[2] = (float)((int)draw(1025) - 512) / 64;
        const int share = 8 << draw(5);
        if (kind == PERPENDICULAR || kind == OPPOSITE) {
            dy[0] = -dx[1] / (float)share;
            dy[1] = dx[0] / (float)share;
        }
        if (kind == OPPOSITE)
            dy[0] = -dy[0];
        if (kind == PARALLEL) {
            dy[0] = dx[0] / (float)share;
            dy[1] = dx[1] / (float)share;
        }
        if (kind == ANY)
            for (int axis = 0; axis < axes; axis++)
                dy[axis] = (float)((int)draw(257) - 128) / 64;
        if (draw(2) && kind != SWEPT)
            for (int axis = 0; axis < 3; axis++) {
                const float was = dx[axis];
                dx[axis] = dy[axis];
                dy[axis] = was;
            }
    }
}

static void all(const char *geometry, int axes)
{
    static const char *const names[] = {"alone",    "swept",    "perpendicular",
                                        "opposite", "parallel", "any"};
    static const unsigned most[] = {2, 4, 16};
    static const float lengths[] = {2, 8, 16};
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned m = 0; m < 3; m++)
            for (unsigned l = 0; l < 3; l++) {
                if (!CASE("%s-up-to-%u-of-%u", names[kind], (unsigned)lengths[l], most[m]))
                    continue;
                state = kind * 100 + l;
                draw_gradients(kind, lengths[l], axes);
                if (axes == 3 && !strcmp(geometry, "cube"))
                    for (int i = 0; i < COUNT; i++) { // along the face +x
                        points[i].dx[2] = points[i].dx[0];
                        points[i].dx[0] = 0;
                        points[i].dy[2] = points[i].dy[0];
                        points[i].dy[0] = 0;
                    }
                say(geometry, most[m]);
            }
}

GROUP(plane)
{
    set_up();
    write_texels(SIDE, false, false);
    all("2d", 2);
}

GROUP(volume)
{
    set_up();
    write_texels(SIDE_3D, true, false);
    all("3d", 3);
}

GROUP(face)
{
    set_up();
    write_texels(SIDE, false, true);
    all("cube", 3);
}

// The weight of each place around one texel.
GROUP(impulse)
{
    static const float gradients[][4] = {{4, 2, 0, 0},     {8, 2, 0, 0},     {8, 3, -0.5f, 1},
                                         {2, 1, 0, 0},     {6, 5, 0, 0},     {1.5f, 0.5f, 0, 0},
                                         {3, 1, 0, 0},     {7, -3, 0, 0},    {-2, 5, 0.25f, 0.5f},
                                         {12, 1, 0, 0.5f}, {5, 4, 1, -0.5f}, {9, 7, -0.5f, 1}};
    enum { AROUND = 90 };
    set_up();
    write_texels(SIDE, false, false);
    memset(texels, 0, sizeof texels);
    for (int i = 0; i < 4; i++)
        ((float *)texels)[(SIDE / 2 * SIDE + SIDE / 2) * 4 + i] = 65536;
    NEED(write_level(&image, 0));
    for (unsigned g = 0; g < sizeof gradients / sizeof *gradients; g++)
        if (CASE("gradient-%u", g)) {
            memset(points, 0, sizeof points);
            for (int i = 0; i < COUNT; i++) {
                points[i].lod = (float)(i % AROUND - AROUND / 2) / 4 / SIDE;
                points[i].layer = i / AROUND - AROUND / 2;
                for (int axis = 0; axis < 2; axis++) {
                    points[i].dx[axis] = gradients[g][axis];
                    points[i].dy[axis] = gradients[g][2 + axis];
                }
            }
            moved = true;
            say("2d", 16);
        }
}

int main(int argc, char **argv)
{
    RUN(plane);
    RUN(volume);
    RUN(face);
    RUN(impulse);
    return 0;
}
