// SPDX-License-Identifier: MIT
// The colour formats of cudaEGL.h in ranges of formats that are alike.
#include "egl_color.h"

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum {
    U8 = 1,
    U16 = 2,
    U32 = 4,
    S8 = 8,
    S16 = 16,
    S32 = 32,
    HALF = 64,
    FLOAT = 128,
    ANY = 255,
};

// Measured (recorded: presenting a frame of every format with 1 to 3 planes, 1 to 4 channels and
// eight array formats).
static const struct {
    uint8_t first, last, planes, channels, formats;
} rows[] = {
    {0x00, 0x00, 3, 0, U8 | U16},                               // YUV420 planar
    {0x01, 0x01, 2, 0, U8 | U16},                               // YUV420 semi-planar
    {0x02, 0x02, 3, 0, U8 | U16},                               // YUV422 planar
    {0x03, 0x03, 2, 0, U8 | U16},                               // YUV422 semi-planar
    {0x04, 0x05, 1, 3, U8},                                     // RGB, BGR
    {0x06, 0x07, 1, 4, U8},                                     // ARGB, RGBA
    {0x08, 0x08, 1, 1, U16 | U32},                              // L
    {0x09, 0x09, 1, 1, U8 | U16},                               // R
    {0x0a, 0x0a, 3, 0, U8 | U16},                               // YUV444 planar
    {0x0b, 0x0b, 2, 0, U8 | U16},                               // YUV444 semi-planar
    {0x0c, 0x0d, 1, 1, U16},                                    // YUYV, UYVY
    {0x0e, 0x0e, 1, 4, U8 | U16 | S16 | HALF},                  // ABGR
    {0x0f, 0x0f, 1, 4, U8},                                     // BGRA
    {0x10, 0x10, 1, 1, U8 | U16 | U32 | S8 | S16 | S32 | HALF}, // A
    {0x11, 0x11, 1, 2, U16 | S16 | HALF},                       // RG
    {0x12, 0x12, 1, 4, U8 | U16},                               // AYUV
    {0x13, 0x15, 2, 0, U8 | U16},                               // YVU semi-planar
    {0x16, 0x19, 2, 0, U16},                                    // 10 and 12 bits, semi-planar
    {0x1a, 0x1d, 1, 1, U16},                                    // packed 4:2:2, extended range
    {0x1e, 0x1e, 1, 3, U8},                                     // YUV, extended range
    {0x1f, 0x20, 1, 4, U8},                                     // YUVA, AYUV, extended range
    {0x21, 0x23, 3, 0, U8},                                     // YUV planar, extended range
    {0x24, 0x26, 2, 0, U8},                                     // YUV semi-planar, extended range
    {0x27, 0x29, 3, 0, U8},                                     // YVU planar, extended range
    {0x2a, 0x2c, 2, 0, U8},                                     // YVU semi-planar, extended range
    {0x2d, 0x30, 1, 1, U8 | U16 | S16},                         // Bayer
    {0x31, 0x3c, 1, 1, U16},                                    // Bayer of 10, 12 and 14 bits
    {0x3d, 0x40, 1, 1, U32},                                    // Bayer of 20 bits
    {0x41, 0x43, 3, 0, U8 | U16},                               // YVU planar
    {0x44, 0x51, 1, 1, U16},      // Bayer after an image processor, and with clear filters
    {0x52, 0x52, 1, 1, U8 | U16}, // Y
    {0x53, 0x54, 2, 0, ANY},
    {0x55, 0x56, 3, 0, ANY}, // BT.2020
    {0x57, 0x58, 2, 0, ANY},
    {0x59, 0x5a, 3, 0, ANY}, // BT.709
    {0x5b, 0x5d, 2, 0, ANY},
    {0x5e, 0x5e, 2, 0, U16},
    {0x5f, 0x5f, 2, 0, ANY}, // 10 bits, semi-planar
    {0x60, 0x61, 1, 1, U8},  // Y, extended range
    {0x62, 0x65, 1, 1, U16}, // Y of 10 and 12 bits, extended range
    {0x66, 0x66, 1, 4, U8},  // YUVA
    {0x67, 0x67, 1, 3, U8},  // YUV
    {0x68, 0x69, 1, 1, U16}, // YVYU, VYUY
    {0x6a, 0x71, 2, 0, U16}, // 10 and 12 bits, semi-planar, extended range
    {0x72, 0x74, 1, 1, U16}, // UYVY of BT.709 and BT.2020
};
enum { NONE = sizeof rows / sizeof *rows };

static size_t row_of(unsigned color)
{
    size_t i = 0;
    while (i < NONE && (color < rows[i].first || color > rows[i].last))
        i++;
    return i;
}

unsigned em_egl_color_planes(unsigned color)
{
    size_t i = row_of(color);
    return i == NONE ? 0 : rows[i].planes;
}

bool em_egl_color_has_channels(unsigned color, unsigned channels)
{
    size_t i = row_of(color);
    return i != NONE && channels >= 1 && channels <= 4 &&
           (!rows[i].channels || channels == rows[i].channels);
}

bool em_egl_color_takes(unsigned color, unsigned format)
{
    static const struct {
        CUarray_format format;
        uint8_t bit;
    } formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, U8},   {CU_AD_FORMAT_UNSIGNED_INT16, U16},
        {CU_AD_FORMAT_UNSIGNED_INT32, U32}, {CU_AD_FORMAT_SIGNED_INT8, S8},
        {CU_AD_FORMAT_SIGNED_INT16, S16},   {CU_AD_FORMAT_SIGNED_INT32, S32},
        {CU_AD_FORMAT_HALF, HALF},          {CU_AD_FORMAT_FLOAT, FLOAT},
    };
    size_t row = row_of(color);
    for (size_t i = 0; row != NONE && i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format)
            return rows[row].formats & formats[i].bit;
    return false;
}

bool em_egl_color_can_be_acquired(unsigned color, unsigned format)
{
    enum { COLOR_R = 0x09, COLOR_RG = 0x11 };
    return !(color == COLOR_R && format == CU_AD_FORMAT_UNSIGNED_INT8) &&
           !(color == COLOR_RG && format == CU_AD_FORMAT_HALF);
}

void em_egl_color_as_reported(unsigned *color, unsigned *format)
{
    // Pairs of formats with two planes that differ in the order of chroma.
    static const struct {
        uint8_t first, other, count;
    } orders[] = {{0x01, 0x15, 1}, {0x03, 0x14, 1}, {0x0b, 0x13, 1},
                  {0x24, 0x2a, 3}, {0x53, 0x54, 1}, {0x57, 0x58, 1}};
    size_t row = row_of(*color);
    // Color formats that take samples of any kind report the kind that they stand for.
    if (row != NONE && rows[row].formats == ANY)
        *format = *color >= 0x5b ? CU_AD_FORMAT_UNSIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT8;
    if (*format != CU_AD_FORMAT_UNSIGNED_INT8)
        return;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        unsigned first = orders[i].first, other = orders[i].other, count = orders[i].count;
        if (*color >= first && *color < first + count) {
            *color += other - first;
            return;
        }
        if (*color >= other && *color < other + count) {
            *color -= other - first;
            return;
        }
    }
}
