// SPDX-License-Identifier: MIT
// Pictures of how one slice or layer of a level lies in memory: as text, and as PNG through libpng.
#include "layout_picture.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#if HAVE_LIBPNG
#include <png.h>
#endif

enum { COLUMNS_MAX = 12, ROWS_MAX = 40, PNG_MAX_PX = 2048, PNG_SCALE_MAX = 16 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The position in memory, in GOBs from the start of the level, of the GOB at column x, row y.
static uint64_t gob_number(const struct dm_layout *l, uint32_t level, uint64_t x, uint64_t y,
                           uint64_t z)
{
    uint64_t first =
        l->level[level].offset_B + (l->layered ? z * l->level[level].layer_stride_B : 0);

    return (dm_layout_locate_B(l, level, x * DM_GOB_WIDTH_B, y * DM_GOB_HEIGHT, z) - first) /
           DM_GOB_B;
}

static void text_block_linear(FILE *to, const struct dm_layout *l, uint32_t level, uint64_t z)
{
    const struct dm_layout_level *v = &l->level[level];
    uint64_t rows_gob = (v->height_el + DM_GOB_HEIGHT - 1) / DM_GOB_HEIGHT;
    uint64_t columns = smaller(v->width_gob, COLUMNS_MAX), rows = smaller(rows_gob, ROWS_MAX);
    unsigned block_rows = 1u << v->block_height_log2_gob;

    fprintf(to, "\nlevel %u, %s %" PRIu64 ": the order of its GOBs in memory\n\n", level,
            l->layered ? "layer" : "slice", z);
    for (uint64_t y = 0; y < rows; y++) {
        if (y && y % block_rows == 0)
            fputc('\n', to);
        fprintf(to, "%6" PRIu64 " |", y * DM_GOB_HEIGHT);
        for (uint64_t x = 0; x < columns; x++)
            fprintf(to, " %7" PRIu64, gob_number(l, level, x, y, z));
        fprintf(to, "%s\n", columns < v->width_gob ? " ..." : "");
    }
    if (rows < rows_gob)
        fprintf(to, "   ... %" PRIu64 " more rows of GOBs\n", rows_gob - rows);
    fprintf(to, "\ninside a GOB: the order of its 16-byte cells\n\n");
    for (uint64_t y = 0; y < DM_GOB_HEIGHT; y++) {
        fprintf(to, "%6" PRIu64 " |", y);
        for (unsigned x = 0; x < 4; x++) // bit 8: x5, 7: y2, 6: x4, 5: y1, 4: y0
            fprintf(to, " %3" PRIu64,
                    (uint64_t)((x & 2) << 3 | (y & 4) << 1 | (x & 1) << 2 | (y & 3)));
        fputc('\n', to);
    }
}

static void text_linear(FILE *to, const struct dm_layout *l, uint32_t level, uint64_t z)
{
    const struct dm_layout_level *v = &l->level[level];
    uint64_t rows = smaller(v->height_el, ROWS_MAX), row_B = (uint64_t)v->width_el * l->element_B;

    fprintf(to,
            "\nlevel %u, %s %" PRIu64 ": rows of %" PRIu64 " bytes and %" PRIu64
            " bytes of padding\n\n",
            level, l->layered ? "layer" : "slice", z, row_B, v->pitch_B - row_B);
    for (uint64_t y = 0; y < rows; y++)
        fprintf(to, "%6" PRIu64 " | %" PRIu64 "\n", y, dm_layout_locate(l, level, 0, y, z));
    if (rows < v->height_el)
        fprintf(to, "   ... %" PRIu64 " more rows\n", v->height_el - rows);
}

void layout_picture_text(FILE *to, const struct dm_layout *l, uint32_t level, uint64_t z)
{
    if (l->kind == DM_LAYOUT_BLOCK_LINEAR)
        text_block_linear(to, l, level, z);
    else
        text_linear(to, l, level, z);
}

#if HAVE_LIBPNG
const bool layout_picture_has_png = true;

// From blue through green to red as `part` goes from 0 to 1.
static void colour(double part, double bright, uint8_t rgb[3])
{
    double r = part < 0.5 ? 0 : 2 * part - 1, b = part < 0.5 ? 1 - 2 * part : 0, g = 1 - r - b;

    rgb[0] = (uint8_t)(bright * (40 + 215 * r));
    rgb[1] = (uint8_t)(bright * (40 + 175 * g));
    rgb[2] = (uint8_t)(bright * (40 + 215 * b));
}

// Brightness of a pixel: it grows towards the end of a GOB, is low at the left and upper edge of a
// GOB, and lowest at the upper edge of a block.
static double light(const struct dm_layout *l, const struct dm_layout_level *v, uint64_t x,
                    uint64_t y, uint64_t at_B, bool left, bool top)
{
    uint64_t x_B = x * l->element_B,
             block_rows = (uint64_t)DM_GOB_HEIGHT << v->block_height_log2_gob;

    if (l->kind != DM_LAYOUT_BLOCK_LINEAR)
        return 1;
    if (top && y % block_rows == 0)
        return 0.1;
    if ((left && x_B % DM_GOB_WIDTH_B == 0) || (top && y % DM_GOB_HEIGHT == 0))
        return 0.35;
    return 0.6 + 0.4 * (double)(at_B % DM_GOB_B) / DM_GOB_B;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

// libpng is loaded when it is needed, because few machines that run programs have it. Returns 0 or
// a negative errno: -ELIBACC if it is missing.
static int write_png(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};

    static const char name[] = "libpng" TEXT(PNG_LIBPNG_VER_MAJOR)
        TEXT(PNG_LIBPNG_VER_MINOR) ".so." TEXT(PNG_LIBPNG_VER_SONUM);
    void *library = dlopen(name, RTLD_NOW);
    __typeof__(&png_image_write_to_file) write_to_file =
        library ? (__typeof__(&png_image_write_to_file))dlsym(library, "png_image_write_to_file")
                : NULL;
    if (!write_to_file)
        return -ELIBACC;
    errno = 0;
    if (write_to_file(&png, path, 0, rgb, 0, NULL))
        return 0;
    return errno ? -errno : -EIO;
}

int layout_picture_png(const char *path, const struct dm_layout *l, uint32_t level, uint64_t z)
{
    const struct dm_layout_level *v = &l->level[level];
    uint64_t scale = PNG_SCALE_MAX, columns = smaller(v->width_el, PNG_MAX_PX),
             rows = smaller(v->height_el, PNG_MAX_PX);
    uint64_t first_B = UINT64_MAX, last_B = 0, width, height;
    uint8_t *rgb;
    int r;

    while (scale > 1 && (columns * scale > PNG_MAX_PX || rows * scale > PNG_MAX_PX))
        scale--;
    width = columns * scale;
    height = rows * scale;
    rgb = calloc(width * height, 3);
    if (!rgb)
        return -ENOMEM;
    // If the level is larger than the picture, only its upper left part is drawn.
    for (uint64_t y = 0; y < rows; y++)
        for (uint64_t x = 0; x < columns; x++) {
            uint64_t at_B = dm_layout_locate(l, level, x, y, z);

            first_B = at_B < first_B ? at_B : first_B;
            last_B = at_B > last_B ? at_B : last_B;
        }
    for (uint64_t py = 0; py < height; py++)
        for (uint64_t px = 0; px < width; px++) {
            uint64_t x = px / scale, y = py / scale;
            uint64_t at_B = dm_layout_locate(l, level, x, y, z);
            double part =
                last_B > first_B ? (double)(at_B - first_B) / (double)(last_B - first_B) : 0;

            colour(part, light(l, v, x, y, at_B, px % scale == 0, py % scale == 0),
                   rgb + (py * width + px) * 3);
        }
    r = write_png(path, (uint32_t)width, (uint32_t)height, rgb);
    free(rgb);
    return r;
}
#else
const bool layout_picture_has_png = false;

int layout_picture_png(const char *path, const struct dm_layout *l, uint32_t level, uint64_t z)
{
    (void)path, (void)l, (void)level, (void)z;
    return -ENOTSUP;
}
#endif
