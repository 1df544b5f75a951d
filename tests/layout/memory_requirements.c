// SPDX-License-Identifier: MIT
// Sizes, alignments and sparse properties of layouts against those that an H100 reported, line by
// line.
#include "check.h"
#include "format.h"
#include "layout.h"
#include "sparse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERED = 1, CUBEMAP = 4, COLOR_ATTACHMENT = 0x20 };

static struct dm_layout_desc describe(uint64_t width, uint64_t height, uint64_t depth,
                                      unsigned flags, uint32_t levels)
{
    bool layered = flags & (LAYERED | CUBEMAP);
    uint32_t most = dm_layout_levels_most(width, height, layered ? 0 : depth);

    return (struct dm_layout_desc){
        .kind = DM_LAYOUT_BLOCK_LINEAR,
        .width_px = width,
        .height_px = height,
        .depth = layered ? 0 : depth,
        .layers = layered ? depth : 0,
        .cube = flags & CUBEMAP,
        .levels = levels < most ? levels : most,
    };
}

static void check_memory(struct dm_layout_desc desc, uint64_t size_B, uint64_t alignment_B,
                         const char *where)
{
    struct dm_layout layout;
    uint64_t got_size = 0, got_alignment = 0;

    CHECK_EQ(dm_layout_init(&layout, &desc) == 0, true, "%s", where);
    dm_layout_memory_requirements(&layout, &got_size, &got_alignment);
    CHECK_EQ(got_size, size_B, "%s", where);
    CHECK_EQ(got_alignment, alignment_B, "%s", where);
}

static void memreq(FILE *f)
{
    char line[512], result[64];
    unsigned lines = 0, refused = 0;

    while (fgets(line, sizeof line, f)) {
        struct dm_layout_desc desc;
        unsigned long long w, h, d, size, alignment;
        unsigned element_B, flags, levels = 1;
        int at = 0;

        lines++;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%*s %llux%llux%llu es %u fl %x%n", &w, &h, &d, &element_B, &flags, &at) !=
            5) {
            CHECK_EQ(0, 1, "unreadable: %s", line);
            continue;
        }
        sscanf(line + at, " L %u%n", &levels, &at);
        if (sscanf(strchr(line, ':'), ": %63s %*s size %llu align %llu", result, &size,
                   &alignment) != 3) {
            CHECK_EQ(0, 1, "unreadable: %s", line);
            continue;
        }
        if (strcmp(result, "CUDA_SUCCESS")) {
            // Colour attachments cannot have deferred mapping; this says nothing about their
            // layout.
            CHECK_EQ(flags, COLOR_ATTACHMENT, "%s", line);
            refused++;
            continue;
        }
        desc = describe(w, h, d, flags, levels);
        desc.element_B = element_B;
        check_memory(desc, size, alignment, line);
    }
    printf("memreq: %u lines, %u of them refusals\n", lines, refused);
    CHECK_EQ(lines, 3060, "lines of memreq.txt");
}

// Elements as the probe names them: a number of bytes, or a compressed format.
static void set_element(struct dm_layout_desc *desc, const char *name)
{
    const struct dm_format_info *info = NULL;

    if (!strcmp(name, "bc1"))
        info = dm_format_info(DM_FORMAT_BC1_UNORM);
    if (!strcmp(name, "bc7"))
        info = dm_format_info(DM_FORMAT_BC7_UNORM);
    desc->element_B = info ? dm_format_element_B(info, 4) : (uint32_t)atoi(name);
    desc->block_px = info ? info->block_px : 1;
}

// memory/KIND-WxHxD | [SECTION:] ELEMENT:SIZE/ALIGNMENT ...
static void memory_line(const char *name, char *outcome)
{
    char kind[16], section[32] = "", where[160], *save = NULL;
    unsigned long long v[3] = {0, 0, 0};

    sscanf(name, "memory/%15[^-]-%llux%llux%llu", kind, &v[0], &v[1], &v[2]);
    for (char *word = strtok_r(outcome, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *colon = strchr(word, ':');
        struct dm_layout_desc desc;
        unsigned long long w = v[0], h = v[1], d = v[2], size, alignment;
        unsigned flags = 0;

        if (!colon[1]) {
            snprintf(section, sizeof section, "%.*s", (int)(colon - word), word);
            continue;
        }
        if (sscanf(colon, ":%llu/%llu", &size, &alignment) != 2)
            continue;
        *colon = 0;
        if (!strcmp(kind, "1Dlayered")) {
            h = 0;
            d = v[1];
            flags = LAYERED;
        } else if (!strcmp(kind, "cube")) {
            h = w;
            d = strcmp(section, "18") ? 6 : 18;
            flags = CUBEMAP;
        } else if (!strncmp(section, "layered", 7))
            flags = LAYERED;
        desc = describe(w, h, d, flags, strstr(section, "mips") ? 99 : 1);
        set_element(&desc, word);
        snprintf(where, sizeof where, "%.60s %.30s %.30s", name, section, word);
        check_memory(desc, size, alignment, where);
    }
}

// mip/SHAPE-WxHxD-memory | fF,cC LEVELS:SIZE/ALIGNMENT ...
static void mip_line(const char *name, char *outcome)
{
    char kind[24], where[160], *save = NULL;
    unsigned long long v[3] = {0, 0, 0};
    unsigned format = 0, channels = 0;

    sscanf(name, "mip/%23[^-]-%llux%llux%llu", kind, &v[0], &v[1], &v[2]);
    for (char *word = strtok_r(outcome, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        struct dm_layout_desc desc;
        unsigned long long w = v[0], h = v[1], d = v[2], size, alignment;
        unsigned levels, flags = 0;

        if (sscanf(word, "f%x,c%u", &format, &channels) == 2)
            continue;
        if (sscanf(word, "%u:%llu/%llu", &levels, &size, &alignment) != 3)
            continue;
        if (!strcmp(kind, "1Dlayered")) {
            h = 0;
            d = v[1];
        } else if (!strncmp(kind, "cube", 4)) {
            d = v[1] ? v[1] : 6;
            h = w;
            flags = CUBEMAP;
        }
        if (strstr(kind, "layered"))
            flags |= LAYERED;
        desc = describe(w, h, d, flags, levels);
        desc.element_B = dm_format_element_B(dm_format_info(format), channels);
        snprintf(where, sizeof where, "%.60s f%x,c%u levels %u", name, format, channels, levels);
        check_memory(desc, size, alignment, where);
    }
}

static const struct sparse_element {
    const char *name;
    unsigned format, channels;
} sparse_elements[] = {
    {"u8", DM_FORMAT_UNSIGNED_INT8, 1},
    {"u8x2", DM_FORMAT_UNSIGNED_INT8, 2},
    {"u8x4", DM_FORMAT_UNSIGNED_INT8, 4},
    {"u16", DM_FORMAT_UNSIGNED_INT16, 1},
    {"u16x4", DM_FORMAT_UNSIGNED_INT16, 4},
    {"f32", DM_FORMAT_FLOAT, 1},
    {"f32x2", DM_FORMAT_FLOAT, 2},
    {"f32x4", DM_FORMAT_FLOAT, 4},
    {"half", DM_FORMAT_HALF, 1},
    {"half4", DM_FORMAT_HALF, 4},
    {"s32x4", DM_FORMAT_SIGNED_INT32, 4},
    {"unorm8x4", DM_FORMAT_UNORM_INT8X4, 4},
    {"bc1", DM_FORMAT_BC1_UNORM, 4},
    {"bc3", DM_FORMAT_BC3_UNORM, 4},
    {"bc4", DM_FORMAT_BC4_UNORM, 1},
    {"bc5", DM_FORMAT_BC5_UNORM, 2},
    {"bc7", DM_FORMAT_BC7_UNORM, 4},
    {"rgb10a2", DM_FORMAT_UNORM_INT_101010_2, 4},
    {"nv12", DM_FORMAT_NV12, 3},
    {"u8x3", DM_FORMAT_UNSIGNED_INT8, 3},
};

static const struct sparse_shape {
    const char *name;
    unsigned width, height, depth, flags;
} sparse_shapes[] = {
    {"1D", 4096, 0, 0, 0},
    {"2D", 1024, 1024, 0, 0},
    {"2Dsmall", 16, 16, 0, 0},
    {"2Dodd", 1000, 77, 0, 0},
    {"3D", 256, 256, 64, 0},
    {"3Dflat", 256, 256, 1, 0},
    {"layered", 512, 512, 4, LAYERED},
    {"1Dlayered", 512, 0, 4, LAYERED},
    {"cube", 256, 256, 6, CUBEMAP},
    {"cubelayered", 256, 256, 12, CUBEMAP | LAYERED},
};

static void check_sparse(struct dm_layout_desc desc, bool mip, const char *outcome,
                         const char *where)
{
    struct dm_layout layout;
    struct dm_sparse s = {0};
    unsigned tile[3], first, single;
    unsigned long long tail;
    bool possible = dm_layout_init(&layout, &desc) == 0 && dm_sparse_init(&s, &layout) == 0;

    if (sscanf(outcome, "tile=%ux%ux%u first=%u tail=%llu fl=%x", &tile[0], &tile[1], &tile[2],
               &first, &tail, &single) != 6) {
        CHECK_EQ(possible, false, "%s", where);
        return;
    }
    CHECK_EQ(possible, true, "%s", where);
    CHECK_EQ(s.tile_width_px, tile[0], "%s", where);
    CHECK_EQ(s.tile_height_px, tile[1], "%s", where);
    CHECK_EQ(s.tile_depth, tile[2], "%s", where);
    CHECK_EQ(mip || s.miptail_B ? s.miptail_first_level : 0, first, "%s", where);
    CHECK_EQ(s.miptail_B, tail, "%s", where);
    CHECK_EQ(s.single_miptail, single, "%s", where);
}

// sparse/{array,mip}-ELEMENT | SHAPE:OUTCOME ..., and sparse/mip-levels-N | WxHxD:OUTCOME ... for
// u8x4
static void sparse_line(const char *name, const char *outcome)
{
    bool mip = !strncmp(name, "sparse/mip-", 11);
    const char *element = name + (mip ? 11 : 13);
    unsigned levels = 0;

    if (!strcmp(name, "sparse/errors"))
        return;
    if (sscanf(element, "levels-%u", &levels) == 1) {
        unsigned w, h, d;
        int at = 0;

        // "1024x1024x0:tile=... first=... tail=... fl=..." and so on: a shape is the word with a
        // colon.
        for (const char *p = outcome; p; p = strchr(p + 1, ' ')) {
            struct dm_layout_desc desc;

            if (sscanf(p, " %ux%ux%u:%n", &w, &h, &d, &at) != 3)
                continue;
            desc = describe(w, h, d, d == 3 ? LAYERED : 0, levels);
            desc.element_B = 4;
            check_sparse(desc, true, p + at, name);
        }
        return;
    }
    for (unsigned k = 0; k < sizeof sparse_shapes / sizeof *sparse_shapes; k++) {
        const struct sparse_shape *shape = &sparse_shapes[k];
        const struct dm_format_info *info = NULL;
        struct dm_layout_desc desc;
        char key[32], where[96];
        const char *at;
        unsigned channels = 0;

        snprintf(key, sizeof key, " %s:", shape->name);
        at = strstr(outcome, key);
        CHECK_EQ(at != NULL, true, "%s has no %s", name, key);
        if (!at)
            continue;
        for (unsigned i = 0; i < sizeof sparse_elements / sizeof *sparse_elements; i++)
            if (!strcmp(sparse_elements[i].name, element)) {
                info = dm_format_info(sparse_elements[i].format);
                channels = sparse_elements[i].channels;
            }
        desc = describe(shape->width, shape->height, shape->depth, shape->flags,
                        mip ? shape->width < 100 ? 4 : 8 : 1);
        desc.element_B = dm_format_element_B(info, channels);
        desc.block_px = info->block_px;
        snprintf(where, sizeof where, "%.60s %.30s", name, shape->name);
        check_sparse(desc, mip, at + strlen(key), where);
    }
}

static void x_arrays(FILE *f)
{
    static char line[65536];

    while (fgets(line, sizeof line, f)) {
        char *bar = strstr(line, " | ");

        line[strcspn(line, "\n")] = 0;
        *bar = 0;
        if (!strncmp(line, "memory/", 7))
            memory_line(line, bar + 3);
        else if (!strncmp(line, "mip/", 4))
            mip_line(line, bar + 3);
        else {
            bar[2] = ' '; // so that every word of the outcome follows a space
            sparse_line(line, bar + 2);
        }
    }
}

int main(int argc, char **argv)
{
    FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL, *g = argc > 2 ? fopen(argv[2], "r") : NULL;

    if (!f || !g) {
        fprintf(stderr, "usage: %s memreq.txt x_arrays-layout.txt\n", argv[0]);
        return 2;
    }
    memreq(f);
    x_arrays(g);
    fclose(f);
    fclose(g);
    return check_result("memory requirements");
}
