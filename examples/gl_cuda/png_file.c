// SPDX-License-Identifier: MIT
// Comparison of pictures, and PNG files.
#include "png_file.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

uint64_t pixels_differ(const uint8_t *got, const uint8_t *want, uint32_t width, uint32_t height)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < (uint64_t)width * height; i++, got += 4, want += 4)
        if (memcmp(got, want, 4) && !wrong++)
            fprintf(stderr, "pixel (%u,%u) is %02x%02x%02x%02x, expected %02x%02x%02x%02x\n",
                    (unsigned)(i % width), (unsigned)(i / width), got[0], got[1], got[2], got[3],
                    want[0], want[1], want[2], want[3]);
    return wrong;
}

int png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height)
{
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
    if (png_image_write_to_file(&png, path, 0, pixels, -(png_int_32)(width * 4), NULL))
        return 0;
    fprintf(stderr, "%s: %s\n", path, png.message);
    return -1;
}
