// SPDX-License-Identifier: MIT
// `cardless layout`: prints the layout of an array (levels, layers, rows) and draws the tiling of a
// level.
#include "commands.h"

#include "arithmetic.h"
#include "format.h"
#include "layout.h"
#include "layout_picture.h"
#include "sparse.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct alias {
    const char *name;
    enum dm_format format;
    uint32_t channels;
} aliases[] = {
    {"r8", DM_FORMAT_UNSIGNED_INT8, 1},
    {"rg8", DM_FORMAT_UNSIGNED_INT8, 2},
    {"rgba8", DM_FORMAT_UNSIGNED_INT8, 4},
    {"r16", DM_FORMAT_UNSIGNED_INT16, 1},
    {"rg16", DM_FORMAT_UNSIGNED_INT16, 2},
    {"rgba16", DM_FORMAT_UNSIGNED_INT16, 4},
    {"r32", DM_FORMAT_UNSIGNED_INT32, 1},
    {"rg32", DM_FORMAT_UNSIGNED_INT32, 2},
    {"rgba32", DM_FORMAT_UNSIGNED_INT32, 4},
    {"r16f", DM_FORMAT_HALF, 1},
    {"rg16f", DM_FORMAT_HALF, 2},
    {"rgba16f", DM_FORMAT_HALF, 4},
    {"r32f", DM_FORMAT_FLOAT, 1},
    {"rg32f", DM_FORMAT_FLOAT, 2},
    {"rgba32f", DM_FORMAT_FLOAT, 4},
    {"rgb10a2", DM_FORMAT_UNORM_INT_101010_2, 4},
    {"bc1", DM_FORMAT_BC1_UNORM, 4},
    {"bc2", DM_FORMAT_BC2_UNORM, 4},
    {"bc3", DM_FORMAT_BC3_UNORM, 4},
    {"bc4", DM_FORMAT_BC4_UNORM, 1},
    {"bc5", DM_FORMAT_BC5_UNORM, 2},
    {"bc6h", DM_FORMAT_BC6H_UF16, 3},
    {"bc7", DM_FORMAT_BC7_UNORM, 4},
};

static const struct kind {
    const char *name;
    enum dm_layout_kind kind;
    const char *summary;
} kinds[] = {
    {"block-linear", DM_LAYOUT_BLOCK_LINEAR,
     "NVIDIA's, from Turing to Hopper (measured on an H100)"},
    {"pitch", DM_LAYOUT_PITCH, "linear rows"},
    {"llvmpipe", DM_LAYOUT_LLVMPIPE, "Mesa's llvmpipe and lavapipe"},
    {"swiftshader", DM_LAYOUT_SWIFTSHADER, "SwiftShader's Vulkan"},
};

struct request {
    struct dm_layout_desc desc;
    const struct dm_format_info *info;
    uint32_t channels;       // of the format, or asked_channels
    uint32_t asked_channels; // --channels; 0 if not given
    uint32_t level;
    uint64_t z;
    const char *png;
    bool whole_chain, picture;
};

static void usage(FILE *to)
{
    fprintf(to,
            "usage: cardless layout WIDTH[xHEIGHT[xDEPTH]] [OPTION...]\n\n"
            "  --format F      element format (rgba8); see the list below\n"
            "  --channels N    number of channels, if the format has several choices\n"
            "  --levels N|all  number of mip levels (1)\n"
            "  --layers N      number of layers of a layered array\n"
            "  --cubemap       the layers are cube faces, six for each cube (6)\n"
            "  --layout KIND   the layout; see the list below (block-linear)\n"
            "  --pitch BYTES   distance between rows of a pitch layout (the length of a row)\n"
            "  --level N       level to draw (0)\n"
            "  --slice N       slice or layer to draw (0)\n"
            "  --no-picture    print only the table\n"
            "  --png FILE      also draw the level to a PNG file: the colour shows the place in "
            "memory%s\n\nlayouts:\n",
            layout_picture_has_png ? "" : " (not in this build: it has no libpng)");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(to, "  %-14s  %s\n", kinds[i].name, kinds[i].summary);
    fprintf(to, "formats:");
    for (unsigned i = 0; i < sizeof aliases / sizeof *aliases; i++)
        fprintf(to, " %s", aliases[i].name);
    fprintf(to, ",\n  and the driver API's names without CU_AD_FORMAT_, such as SNORM_INT16X2\n");
}

// Reports an invalid value of an option, and the values that are valid.
static int refuse_value(const char *option, const char *value)
{
    fprintf(stderr, "cardless layout: --%s does not take '%s'", option, value);
    if (!strcmp(option, "format"))
        fprintf(stderr, "; `cardless layout --help` lists the formats\n");
    else if (!strcmp(option, "layout"))
        fprintf(stderr, ": block-linear, pitch, llvmpipe or swiftshader\n");
    else if (!strcmp(option, "levels"))
        fprintf(stderr, ": all, or 1 to %u\n", DM_LAYOUT_LEVELS_MAX);
    else if (!strcmp(option, "channels"))
        fprintf(stderr, ": 1, 2, 3 or 4\n");
    else
        fprintf(stderr, ": a whole number in range\n");
    return 2;
}

static int refuse_argument(const char *what, const char *value)
{
    fprintf(stderr, "cardless layout: %s: '%s'\n", what, value);
    return 2;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *number <= most;
}

// WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH.
static bool parse_extent(const char *text, struct dm_layout_desc *d)
{
    uint64_t *to[3] = {&d->width_px, &d->height_px, &d->depth};
    char copy[64], *save = NULL;
    unsigned count = 0;

    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    for (char *word = strtok_r(copy, "x", &save); word; word = strtok_r(NULL, "x", &save), count++)
        if (count == 3 || !parse_number(word, DM_LAYOUT_EXTENT_MAX, to[count]))
            return false;
    return count > 0;
}

static bool parse_format(const char *text, struct request *r)
{
    for (unsigned i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcasecmp(text, aliases[i].name)) {
            r->info = dm_format_info(aliases[i].format);
            r->channels = aliases[i].channels;
            return true;
        }
    if (!strncasecmp(text, "CU_AD_FORMAT_", 13))
        text += 13;
    r->info = dm_format_by_name(text);
    r->channels = 0;
    for (uint32_t n = 4; r->info && n; n--)
        if (dm_format_channels_legal(r->info, n))
            r->channels = n;
    return r->info != NULL;
}

static bool parse_kind(const char *text, enum dm_layout_kind *kind)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcasecmp(text, kinds[i].name)) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

enum {
    FORMAT = 256,
    CHANNELS,
    LEVELS,
    LAYERS,
    CUBEMAP,
    LAYOUT,
    PITCH,
    LEVEL,
    SLICE,
    NO_PICTURE,
    PNG
};
static const struct option options[] = {
    {"format", required_argument, NULL, FORMAT},
    {"channels", required_argument, NULL, CHANNELS},
    {"levels", required_argument, NULL, LEVELS},
    {"layers", required_argument, NULL, LAYERS},
    {"cubemap", no_argument, NULL, CUBEMAP},
    {"layout", required_argument, NULL, LAYOUT},
    {"pitch", required_argument, NULL, PITCH},
    {"level", required_argument, NULL, LEVEL},
    {"slice", required_argument, NULL, SLICE},
    {"no-picture", no_argument, NULL, NO_PICTURE},
    {"png", required_argument, NULL, PNG},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// Stores the value of an option (optarg). Returns false if it is not a value for this option.
static bool read_option(int option, struct request *r)
{
    uint64_t number = 0;
    bool good = true;

    switch (option) {
    case FORMAT:
        good = parse_format(optarg, r);
        break;
    case CHANNELS:
        good = parse_number(optarg, 4, &number) && number;
        r->asked_channels = (uint32_t)number;
        break;
    case LEVELS:
        r->whole_chain = !strcmp(optarg, "all");
        good = r->whole_chain || (parse_number(optarg, DM_LAYOUT_LEVELS_MAX, &number) && number);
        r->desc.levels = (uint32_t)number;
        break;
    case LAYERS:
        good = parse_number(optarg, DM_LAYOUT_EXTENT_MAX, &r->desc.layers) && r->desc.layers;
        break;
    case CUBEMAP:
        r->desc.cube = true;
        break;
    case LAYOUT:
        good = parse_kind(optarg, &r->desc.kind);
        break;
    case PITCH:
        good = parse_number(optarg, INT64_MAX, &r->desc.pitch_B);
        break;
    case LEVEL:
        good = parse_number(optarg, DM_LAYOUT_LEVELS_MAX, &number);
        r->level = (uint32_t)number;
        break;
    case SLICE:
        good = parse_number(optarg, DM_LAYOUT_EXTENT_MAX, &r->z);
        break;
    case NO_PICTURE:
        r->picture = false;
        break;
    case PNG:
        r->png = optarg;
        break;
    }
    return good;
}

// Completes the description from the format and the options. Returns 0 or the exit status.
static int complete_request(struct request *r, const char *extent)
{
    if (r->asked_channels)
        r->channels = r->asked_channels;
    r->desc.element_B = dm_format_element_B(r->info, r->channels);
    r->desc.block_px = r->info->block_px;
    if (!r->desc.element_B) {
        fprintf(stderr,
                "cardless layout: --channels %u: no card has arrays of format %s with "
                "this number of channels\n",
                r->channels, r->info->name);
        return 2;
    }
    if (r->desc.cube && !r->desc.layers)
        r->desc.layers = 6;
    if (r->desc.cube && (r->desc.layers % 6 || r->desc.width_px != r->desc.height_px))
        return refuse_argument(
            "--cubemap needs equal width and height and a multiple of six layers", extent);
    if (r->whole_chain)
        r->desc.levels = dm_layout_levels_most(r->desc.width_px, r->desc.height_px, r->desc.depth);
    return 0;
}

// Returns 0, or the exit status; -1 if the user asked for help.
static int parse_arguments(int argc, char **argv, struct request *r)
{
    int option, index = 0;

    r->desc.levels = 1;
    r->picture = true;
    parse_format("rgba8", r);
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", options, &index)) != -1) {
        if (option == 'h') {
            usage(stdout);
            return -1;
        }
        if (option == '?') {
            usage(stderr);
            return 2;
        }
        if (option == PNG && !layout_picture_has_png) {
            fprintf(stderr, "cardless layout: --png needs libpng, and this build has none: "
                            "install libpng-dev, then configure and build again\n");
            return 2;
        }
        if (!read_option(option, r))
            return refuse_value(options[index].name, optarg);
    }
    if (optind + 1 != argc) {
        usage(stderr);
        return 2;
    }
    if (!parse_extent(argv[optind], &r->desc))
        return refuse_argument("not an extent such as 640x480", argv[optind]);
    return complete_request(r, argv[optind]);
}

static const char *kind_name(enum dm_layout_kind kind)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "?";
}

static void print_table(const struct dm_layout *l)
{
    bool tiled = l->kind == DM_LAYOUT_BLOCK_LINEAR;

    printf("\n%5s  %-16s %12s %9s %12s", "level", "extent", "offset", "pitch", "bytes");
    printf(tiled ? "  %-10s %s\n" : "  %s\n", tiled ? "block" : "slice", "GOBs");
    for (uint32_t i = 0; i < l->levels; i++) {
        const struct dm_layout_level *v = &l->level[i];
        char extent[48], block[24];

        snprintf(extent, sizeof extent,
                 l->dimensions == 1   ? "%u"
                 : l->dimensions == 2 ? "%ux%u"
                                      : "%ux%ux%u",
                 v->width_px, v->height_px, v->depth);
        printf("%5u  %-16s %12" PRIu64 " %9" PRIu64 " %12" PRIu64, i, extent, v->offset_B,
               v->pitch_B, v->size_B);
        if (!tiled) {
            printf("  %" PRIu64 "\n", v->slice_B);
            continue;
        }
        snprintf(block, sizeof block, "1x%ux%u", 1u << v->block_height_log2_gob,
                 1u << v->block_depth_log2_gob);
        printf("  %-10s %ux%ux%" PRIu64 " = %" PRIu64 "\n", block, v->width_gob, v->height_gob,
               v->size_B / v->slice_B, v->size_B / DM_GOB_B);
    }
}

static void print_totals(const struct dm_layout *l, const struct dm_layout_desc *desc)
{
    struct dm_layout_desc tiled_desc = *desc;
    struct dm_layout tiled;
    struct dm_sparse s;

    printf("\n");
    if (l->layered && l->kind == DM_LAYOUT_LLVMPIPE)
        printf("layers         %u, inside each level\n", l->layers);
    else if (l->layered)
        printf("layers         %u, %" PRIu64 " bytes apart\n", l->layers,
               l->level[0].layer_stride_B);
    printf("bytes in use   %" PRIu64, l->total_B);
    if (l->kind == DM_LAYOUT_BLOCK_LINEAR)
        printf(" = %" PRIu64 " GOBs of 64 bytes by 8 rows", l->total_B / DM_GOB_B);
    printf("\nmemory         %" PRIu64 ", aligned to %" PRIu64 "\n", l->size_B, l->alignment_B);
    tiled_desc.sparse = true;
    if (!dm_layout_init(&tiled, &tiled_desc) && !dm_sparse_init(&s, &tiled)) {
        printf("as sparse      tiles of %ux%ux%u", s.tile_width_px, s.tile_height_px, s.tile_depth);
        if (s.miptail_B)
            printf(", tail of %" PRIu64 " bytes%s from level %u", s.miptail_B,
                   l->layered && !s.single_miptail ? " a layer" : "", s.miptail_first_level);
        printf("\n");
    }
}

// Reports the one rule that a description breaks.
static void explain_no_layout(const struct dm_layout_desc *d)
{
    uint32_t most = dm_layout_levels_most(d->width_px, d->height_px, d->depth);
    uint64_t row_B = dm_div_up(d->width_px, d->block_px ? d->block_px : 1) * d->element_B;

    fprintf(stderr, "cardless layout: ");
    if (!d->width_px)
        fprintf(stderr, "the width is 0, but must be at least 1\n");
    else if (d->depth && !d->height_px)
        fprintf(stderr,
                "the height is 0, but must be at least 1, because the depth is %" PRIu64 "\n",
                d->depth);
    else if (d->depth && d->layers)
        fprintf(stderr,
                "the depth is %" PRIu64 ", but must be left out, because an array with layers "
                "(--layers, --cubemap) has no depth\n",
                d->depth);
    else if (d->levels > most)
        fprintf(stderr, "--levels %u: an array of this extent has at most %u levels\n", d->levels,
                most);
    else if (d->kind == DM_LAYOUT_PITCH && d->levels > 1)
        fprintf(stderr, "--levels %u: a pitch layout has only one level\n", d->levels);
    else if (d->kind == DM_LAYOUT_PITCH && d->pitch_B && d->pitch_B < row_B)
        fprintf(stderr,
                "--pitch %" PRIu64 ": the pitch must be at least the length of a row (%" PRIu64
                " bytes)\n",
                d->pitch_B, row_B);
    else
        fprintf(stderr, "the array is too large: its size must be less than 2^63 bytes\n");
}

int cmd_layout(int argc, char **argv)
{
    struct request r = {0};
    struct dm_layout layout;
    int status = parse_arguments(argc, argv, &r);

    if (status)
        return status < 0 ? 0 : status;
    if (dm_layout_init(&layout, &r.desc)) {
        explain_no_layout(&r.desc);
        return 1;
    }
    if (r.level >= layout.levels || r.z >= dm_layout_depth(&layout, r.level)) {
        fprintf(stderr,
                "cardless layout: --level %u --slice %" PRIu64 ": the array has %u levels%s\n",
                r.level, r.z, layout.levels,
                r.level < layout.levels ? ", and this one has fewer slices or layers" : "");
        return 1;
    }
    printf("%s, %s with %u channel%s: %u bytes for %ux%u texel%s\n", kind_name(layout.kind),
           r.info->name, r.channels, r.channels == 1 ? "" : "s", layout.element_B, layout.block_px,
           layout.block_px, layout.block_px == 1 ? "" : "s");
    print_table(&layout);
    print_totals(&layout, &r.desc);
    if (r.picture)
        layout_picture_text(stdout, &layout, r.level, r.z);
    if (r.png) {
        status = layout_picture_png(r.png, &layout, r.level, r.z);
        if (status) {
            fprintf(stderr, "cardless layout: %s: %s\n", r.png, strerror(-status));
            return 1;
        }
        printf("\nlevel %u drawn to %s\n", r.level, r.png);
    }
    return 0;
}
