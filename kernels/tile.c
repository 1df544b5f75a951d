// SPDX-License-Identifier: MIT
// The tile family: entry points, and the references in C.
#include "kn_tile.h"
#include "kn_dsp.h"
#include "small.h"

// Sixteen bytes of a row stay together in a GOB: the C reference moves those. Whole GOBs are 8 x 4
// such pieces.
KN_INLINE unsigned piece_B(unsigned column, unsigned row)
{
    return (column & 2) << 7 | (row & 4) << 5 | (column & 1) << 6 | (row & 3) << 4;
}

KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, int stream)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 4; column++)
            memcpy(gob + piece_B(column, row), linear + row * pitch_B + column * 16, 16);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, int stream)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 4; column++)
            memcpy(linear + row * pitch_B + column * 16, gob + piece_B(column, row), 16);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, int stream)
{
    memcpy(dst, src, KN_GOB_B);
}

#define TILE_STREAM 0
#include "tile_strip.h"
#define TILE_FENCE() ((void)0)
#define TILE_SUFFIX(name) name##_c
#include "tile_template.h"

void kn_tile_box(void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y, uint64_t z,
                 const void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B,
                 uint64_t rows, uint64_t slices)
{
    if (width_B && rows && slices)
        kn_dsp()->tile.tile(tiled, desc, x_B, y, z, linear, pitch_B, slice_B, width_B, rows,
                            slices);
}

void kn_untile_box(const void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y,
                   uint64_t z, void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B,
                   uint64_t rows, uint64_t slices)
{
    if (width_B && rows && slices)
        kn_dsp()->tile.untile(tiled, desc, x_B, y, z, linear, pitch_B, slice_B, width_B, rows,
                              slices);
}

void kn_retile_box(void *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B, uint64_t dst_y,
                   uint64_t dst_z, const void *src, const struct kn_tiled *src_desc,
                   uint64_t src_x_B, uint64_t src_y, uint64_t src_z, uint64_t width_B,
                   uint64_t rows, uint64_t slices)
{
    if (width_B && rows && slices)
        kn_dsp()->tile.retile(dst, dst_desc, dst_x_B, dst_y, dst_z, src, src_desc, src_x_B, src_y,
                              src_z, width_B, rows, slices);
}
