// SPDX-License-Identifier: MIT
// Random surfaces: loads, stores and reductions of all sizes, inside and outside. Each line has a
// sum of what was loaded and, after stores, of the array.
#include <inttypes.h>

#include "texture_draws.h"

#ifndef SEED
#define SEED 0
#endif

enum { CASES = 1500, MOST_SIZE = 40 };

static const char *const geometries[] = {"1d", "2d", "3d", "a1d", "a2d"};
static const char *const coordinates[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2, %c2}",
                                          "{%l, %c0}", "{%l, %c0, %c1, %c1}"};
static const char *const modes[] = {"trap", "clamp", "zero"};
enum { TRAP, CLAMP, ZERO };

struct access {
    int geometry, parts, size_B, mode;
    bool in_texels; // formatted: coordinates count texels, not bytes
    char text[400];
};

static void draw_image(struct image *image, int geometry)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
        CU_AD_FORMAT_SIGNED_INT8,   CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT};
    memset(image, 0, sizeof *image);
    image->format = formats[draw(8)];
    image->channels = 1u << draw(3);
    image->flags = CUDA_ARRAY3D_SURFACE_LDST | (geometry >= 3 ? CUDA_ARRAY3D_LAYERED : 0);
    image->size[0] = 1 + draw(MOST_SIZE);
    if (geometry != 0 && geometry != 3)
        image->size[1] = 1 + draw(MOST_SIZE);
    if (geometry >= 2)
        image->size[2] = 1 + draw(6);
}

static void list(char *to, const char *letter, int parts)
{
    to += sprintf(to, "{");
    for (int i = 0; i < parts; i++)
        to += sprintf(to, "%s%%%s%d", i ? ", " : "", letter, i);
    sprintf(to, "}");
}

static void draw_load_or_store(struct access *a, bool stores)
{
    const int bits = 8 << draw(4);
    const int log_parts = (int)draw(bits == 64 ? 2 : 3);
    static const char *const vectors[] = {"", ".v2", ".v4"};
    char registers[80];
    a->parts = 1 << log_parts;
    a->size_B = bits / 8 * a->parts;
    list(registers, bits == 64 ? "q" : stores ? "w" : "v", a->parts);
    const char *wide = bits == 64 ? ".reg .b64 %q<2>; " : "";
    if (stores)
        sprintf(a->text,
                "{ .reg .b32 %%w<4>; mov.b32 %%w0, %%g0; mov.b32 %%w1, %%g1; mov.b32 %%w2, %%g2; "
                "mov.b32 %%w3, %%h0; %s%s sust.b.%s%s.b%d.%s [%%t, %s], %s; }",
                wide, bits == 64 ? "mov.b64 %q0, {%w0, %w1}; mov.b64 %q1, {%w2, %w3};" : "",
                geometries[a->geometry], vectors[log_parts], bits, modes[a->mode],
                coordinates[a->geometry], registers);
    else
        sprintf(a->text, "{ %s suld.b.%s%s.b%d.%s %s, [%%t, %s]; %s}", wide,
                geometries[a->geometry], vectors[log_parts], bits, modes[a->mode], registers,
                coordinates[a->geometry],
                bits < 64        ? ""
                : log_parts == 0 ? "mov.b64 {%v0, %v1}, %q0; "
                                 : "mov.b64 {%v0, %v1}, %q0; mov.b64 {%v2, %v3}, %q1; ");
}

static void draw_formatted(struct access *a, const struct image *image)
{
    static const char *const vectors[] = {"", ".v2", "", ".v4"};
    char registers[80];
    a->parts = (int)image->channels;
    a->size_B = 1;
    a->in_texels = true;
    list(registers, "w", a->parts);
    sprintf(a->text,
            "{ .reg .b32 %%w<4>; mov.b32 %%w0, %%g0; mov.b32 %%w1, %%g1; mov.b32 %%w2, %%g2; "
            "mov.b32 %%w3, %%h0; sust.p.%s%s.b32.%s [%%t, %s], %s; }",
            geometries[a->geometry], vectors[a->parts - 1], modes[a->mode],
            coordinates[a->geometry], registers);
}

static void draw_reduction(struct access *a)
{
    static const char *const operations[] = {"add.u32", "add.s32", "add.u64", "min.u32", "max.s32",
                                             "min.s64", "max.u64", "and.b32", "or.b32"};
    const char *operation = operations[draw(9)];
    const bool wide = strstr(operation, "64");
    a->parts = 1;
    a->size_B = wide ? 8 : 4;
    sprintf(a->text,
            "{ .reg .b64 %%q; mov.b64 %%q, {%%g0, %%g1}; sured.b.%.3s.%s%s.%s [%%t, %s], %s; }",
            operation, geometries[a->geometry], strchr(operation, '.'), modes[a->mode],
            coordinates[a->geometry], wide ? "%q" : "%g0");
    if (!strncmp(operation, "or", 2))
        sprintf(a->text, "sured.b.or.%s.b32.%s [%%t, %s], %%g0;", geometries[a->geometry],
                modes[a->mode], coordinates[a->geometry]);
}

// Points inside, and outside unless that ends the kernel. Stores have different places, or the same
// value where clamps bring them together.
static void draw_points(const struct image *image, const struct access *a, bool stores)
{
    const size_t texel_B = image->channels * element_size(image->format);
    const int unit = a->in_texels ? 1 : a->size_B;
    const int row = a->in_texels ? (int)image->size[0] : (int)(image->size[0] * texel_B) / unit;
    const int height = image->size[1] ? (int)image->size[1] : 1;
    const int depth = image->size[2] ? (int)image->size[2] : 1;
    const int beyond = a->mode == TRAP ? 0 : 2;
    const uint32_t first[4] = {next(), next(), next(), next()};
    memset(points, 0, sizeof points);
    for (int i = 0; i < POINTS; i++) {
        int at[3] = {(int)draw((unsigned)(row + 2 * beyond)) - beyond,
                     (int)draw((unsigned)(height + 2 * beyond)) - beyond,
                     (int)draw((unsigned)(depth + 2 * beyond)) - beyond};
        if (stores && a->mode != CLAMP) {
            at[0] = i % row;
            at[1] = i / row % height;
            at[2] = i / row / height % depth;
            if (i / row / height >= depth) // all places are taken
                at[0] = a->mode == ZERO ? row + i : 0;
        }
        uint32_t value[4] = {next(), next(), next(), next()};
        if (stores && (a->mode == CLAMP || i / row / height >= depth))
            memcpy(value, first, sizeof value);
        if (stores && a->mode == TRAP && row * height * depth < POINTS)
            memcpy(value, first, sizeof value);
        at[0] *= unit;
        memcpy(points[i].x, at, sizeof at);
        points[i].layer = at[2];
        memcpy(points[i].dx, value, 12);
        memcpy(points[i].dy, value + 3, 4);
    }
}

static void say_array(const struct image *image)
{
    const size_t row = image->size[0] * image->channels * element_size(image->format);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = image->array,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = texels,
                          .dstPitch = row,
                          .WidthInBytes = row};
    copy.Height = copy.dstHeight = image->size[1] ? image->size[1] : 1;
    copy.Depth = image->size[2] ? image->size[2] : 1;
    NEED(cuMemcpy3D(&copy));
    uint64_t sum = 1;
    for (size_t i = 0; i < row * copy.Height * copy.Depth; i++)
        sum = (sum ^ texels[i]) * UINT64_C(0x100000001b3);
    SAY(" %016" PRIx64, sum);
}

static void use(struct image *image, const struct access *a)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject surface;
    NEED(open_image(image));
    random_texels(image);
    NEED(write_level(image, 0));
    resource.res.array.hArray = image->array;
    NEED(cuSurfObjectCreate(&surface, &resource));
    const CUresult r = fetch(a->text, surface, POINTS);
    if (r)
        SAY("%s", record_brief(r));
    if (r && r != CUDA_ERROR_INVALID_PTX)
        _exit(2);
    if (!r) {
        SAY("%016" PRIx64, hash_answers(POINTS));
        say_array(image);
    }
    NEED(cuSurfObjectDestroy(surface));
    close_image(image);
}

static void group(unsigned seed, bool stores)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        struct access a = {0};
        struct image image;
        state = seed * UINT64_C(1000003) + i + SEED;
        a.geometry = (int)draw(5);
        a.mode = (int)draw(3);
        draw_image(&image, a.geometry);
        const unsigned kind = draw(4);
        const bool reduces = stores && kind == 0;
        if (stores && kind == 1)
            draw_formatted(&a, &image);
        else if (reduces)
            draw_reduction(&a);
        else
            draw_load_or_store(&a, stores);
        if (image.size[0] * image.channels * element_size(image.format) < (size_t)a.size_B)
            continue;
        draw_points(&image, &a, stores && !reduces);
        if (CASE("%u format-%x %u %ux%ux%u %.12s v%d.b%d.%s", i, (unsigned)image.format,
                 image.channels, image.size[0], image.size[1], image.size[2], strstr(a.text, "su"),
                 a.parts, a.size_B * 8 / a.parts, modes[a.mode]))
            use(&image, &a);
    }
}

GROUP(loads)
{
    group(1, false);
}

GROUP(stores)
{
    group(2, true);
}

int main(int argc, char **argv)
{
    RUN(loads);
    RUN(stores);
    return 0;
}
