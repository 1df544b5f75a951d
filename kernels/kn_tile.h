// SPDX-License-Identifier: MIT
// Copies between linear memory and NVIDIA's block-linear layout (Turing to Hopper byte order), and
// between two block-linear surfaces.
//
// A GOB is 64 bytes x 8 rows = 512 bytes; byte (x, y) of a GOB lies at  x5 y2 x4 y1 y0 x3 x2 x1 x0
// (most significant bit first). A block is 1 GOB wide, 2^block_height_log2 GOBs high and
// 2^block_depth_log2 slices deep; GOBs inside a block run y then z, blocks run x, then y, then z. x
// is in bytes (element position times element size), y in rows, z in slices.
#pragma once

#include <stdint.h>

#define KN_GOB_WIDTH_B 64u
#define KN_GOB_HEIGHT 8u
#define KN_GOB_B 512u

// One block-linear surface: a level of one layer, or of a 3D array. Its depth is not needed to find
// a byte.
struct kn_tiled {
    uint32_t width_gob;  // width in GOBs (= blocks)
    uint32_t height_gob; // height in GOBs, rounded up to whole blocks
    uint8_t block_height_log2;
    uint8_t block_depth_log2;
};

// Where byte x_B of row y, slice z lies, from the surface's start.
static inline uint64_t kn_tiled_offset_B(const struct kn_tiled *t, uint64_t x_B, uint64_t y,
                                         uint64_t z)
{
    unsigned a = t->block_height_log2, b = t->block_depth_log2;
    uint64_t gy = y >> 3;
    uint64_t block = ((z >> b) * (t->height_gob >> a) + (gy >> a)) * t->width_gob + (x_B >> 6);
    uint64_t gob = (z & ((1u << b) - 1)) << a | (gy & ((1u << a) - 1));

    return block << (9 + a + b) | gob << 9 | (x_B & 32) << 3 | (y & 4) << 5 | (x_B & 16) << 2 |
           (y & 3) << 4 | (x_B & 15);
}

// Bytes of `slices` slices, rounded up to whole blocks.
static inline uint64_t kn_tiled_size_B(const struct kn_tiled *t, uint64_t slices)
{
    unsigned b = t->block_depth_log2;
    uint64_t depth = (slices + (1u << b) - 1) >> b << b;

    return depth * t->height_gob * t->width_gob * KN_GOB_B;
}

// Copies the box at (x_B, y, z) of `width_B` bytes x `rows` x `slices` from linear memory into the
// surface, and back. `linear` is the box's first byte; its rows start `pitch_B` apart and its
// slices `slice_B` apart. The box lies inside the surface, and the two memories do not overlap. No
// byte outside the box is written, and none outside it is made to matter.
void kn_tile_box(void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y, uint64_t z,
                 const void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B,
                 uint64_t rows, uint64_t slices);
void kn_untile_box(const void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y,
                   uint64_t z, void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B,
                   uint64_t rows, uint64_t slices);

// Copies a box from one surface to another (or within one, where the boxes do not overlap). The
// block shapes may differ. Nothing larger than a few GOBs is staged, on the stack.
void kn_retile_box(void *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B, uint64_t dst_y,
                   uint64_t dst_z, const void *src, const struct kn_tiled *src_desc,
                   uint64_t src_x_B, uint64_t src_y, uint64_t src_z, uint64_t width_B,
                   uint64_t rows, uint64_t slices);
