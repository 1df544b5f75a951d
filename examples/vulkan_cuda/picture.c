// SPDX-License-Identifier: MIT
// The expected pixels and the PNG files of the examples.
#include "picture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t smaller(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}

uint64_t picture_level_offset_B(uint32_t width, uint32_t height, uint32_t level)
{
    uint64_t offset = 0;
    for (uint32_t l = 0; l < level; l++)
        offset += (uint64_t)smaller(width, l) * smaller(height, l) * 4;
    return offset;
}

uint64_t picture_chain_B(uint32_t width, uint32_t height, uint32_t levels)
{
    return picture_level_offset_B(width, height, levels);
}

void picture_drawn(uint8_t *chain, uint32_t width, uint32_t height, uint32_t levels)
{
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t w = smaller(width, level), h = smaller(height, level);
        for (uint32_t y = 0; y < h; y++) {
            for (uint32_t x = 0; x < w; x++, chain += 4) {
                uint32_t dark = ((x | y) & 7) == 0 ? 2 : 1;
                chain[0] = (uint8_t)(x * 255 / w / dark);
                chain[1] = (uint8_t)(y * 255 / h / dark);
                chain[2] = (uint8_t)(level * 28);
                chain[3] = 255;
            }
        }
    }
}

void picture_expected(uint8_t *chain, const uint8_t *drawn, uint32_t width, uint32_t height,
                      uint32_t levels)
{
    memcpy(chain, drawn, picture_chain_B(width, height, levels));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t from_x = (x + width / 2) % width, from_y = (y + height / 2) % height;
            memcpy(chain + ((uint64_t)y * width + x) * 4,
                   drawn + ((uint64_t)from_y * width + from_x) * 4, 4);
        }
    }
    static const uint8_t red[4] = {255, 0, 0, 255};
    uint32_t w = smaller(width, 2), h = smaller(height, 2), x0 = (width - w) / 2,
             y0 = (height - h) / 2;
    const uint8_t *stamp = drawn + picture_level_offset_B(width, height, 2);
    for (uint32_t y = y0 - 2; y < y0 + h + 2; y++) {
        for (uint32_t x = x0 - 2; x < x0 + w + 2; x++) {
            int inside = x >= x0 && x < x0 + w && y >= y0 && y < y0 + h;
            memcpy(chain + ((uint64_t)y * width + x) * 4,
                   inside ? stamp + ((uint64_t)(y - y0) * w + (x - x0)) * 4 : red, 4);
        }
    }
}

uint64_t picture_compare(const char *what, const uint8_t *got, const uint8_t *want, uint32_t width,
                         uint32_t height, uint32_t levels)
{
    uint64_t wrong = 0;
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t w = smaller(width, level), h = smaller(height, level);
        for (uint64_t i = 0; i < (uint64_t)w * h; i++, got += 4, want += 4) {
            if (memcmp(got, want, 4) && !wrong++)
                fprintf(stderr,
                        "%s: level %u (%u,%u) is %02x%02x%02x%02x, expected %02x%02x%02x%02x\n",
                        what, level, (unsigned)(i % w), (unsigned)(i / w), got[0], got[1], got[2],
                        got[3], want[0], want[1], want[2], want[3]);
        }
    }
    return wrong;
}

// Places a mip chain in `canvas`: level 0 at x0, and the others in a column to its right.
static void lay_out(uint8_t *canvas, uint32_t canvas_width, uint32_t x0, const uint8_t *chain,
                    uint32_t width, uint32_t height, uint32_t levels)
{
    uint32_t column_y = 0;
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t w = smaller(width, level), h = smaller(height, level);
        uint32_t x = level ? x0 + width + 4 : x0, y = level ? column_y : 0;
        for (uint32_t row = 0; row < h; row++, chain += (uint64_t)w * 4)
            memcpy(canvas + ((uint64_t)(y + row) * canvas_width + x) * 4, chain, (size_t)w * 4);
        column_y += level ? h : 0;
    }
}

int picture_write_png(const char *path, const uint8_t *left, const uint8_t *right, uint32_t width,
                      uint32_t height, uint32_t levels)
{
    uint32_t side = width + 4 + width / 2, canvas_width = 2 * side + 12,
             canvas_height = height + levels;
    uint8_t *canvas = malloc((size_t)canvas_width * canvas_height * 4);
    if (!canvas)
        return -1;
    memset(canvas, 0xff, (size_t)canvas_width * canvas_height * 4);
    lay_out(canvas, canvas_width, 0, left, width, height, levels);
    lay_out(canvas, canvas_width, side + 12, right, width, height, levels);
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = canvas_width,
                     .height = canvas_height,
                     .format = PNG_FORMAT_RGBA};
    int good = png_image_write_to_file(&png, path, 0, canvas, 0, NULL);
    if (!good)
        fprintf(stderr, "%s: %s\n", path, png.message);
    free(canvas);
    return good ? 0 : -1;
}
