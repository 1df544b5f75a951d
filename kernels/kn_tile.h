// SPDX-License-Identifier: MIT
// Copies between linear memory and NVIDIA's block-linear layout (byte order of Turing to Hopper),
// and between two block-linear surfaces. x is in bytes (element position times element size), y in
// rows, z in slices.
//
// tests/layout/drawings.c compares the two drawings below with kn_tiled_offset_B.
//
// A GOB is 64 bytes x 8 rows. Each cell of the drawing is 16 bytes of one row, and the number is
// its place in the GOB's 512 bytes, in units of 16 bytes. Two cells on top of each other are a
// sector of 32 bytes (2n and 2n + 1), four are a line of 64 bytes.
//
//   x      0    16    32    48
//       +-----+-----+-----+-----+
// y = 0 |   0 |   4 |  16 |  20 |
//     1 |   1 |   5 |  17 |  21 |
//       +-----+-----+-----+-----+
//     2 |   2 |   6 |  18 |  22 |
//     3 |   3 |   7 |  19 |  23 |
//       +-----+-----+-----+-----+
//     4 |   8 |  12 |  24 |  28 |
//     5 |   9 |  13 |  25 |  29 |
//       +-----+-----+-----+-----+
//     6 |  10 |  14 |  26 |  30 |
//     7 |  11 |  15 |  27 |  31 |
//       +-----+-----+-----+-----+
//
// So the bits of an offset in a GOB are, from bit 8 down:  x5 y2 x4 y1 y0 x3 x2 x1 x0.
//
// A block is one GOB wide, 2^block_height_log2 GOBs high and 2^block_depth_log2 slices deep. The
// GOBs of a block follow each other down, then to the next slice; blocks follow each other to the
// right, then down, then to the next slices. A surface of 3 x 4 GOBs and 2 slices, with blocks 2
// GOBs high and 2 slices deep, has its GOBs in this order:
//
//         slice 0           slice 1
//       +----+----+----+  +----+----+----+
// y = 0 |  0 |  4 |  8 |  |  2 |  6 | 10 |
//     8 |  1 |  5 |  9 |  |  3 |  7 | 11 |
//       +----+----+----+  +----+----+----+
//    16 | 12 | 16 | 20 |  | 14 | 18 | 22 |
//    24 | 13 | 17 | 21 |  | 15 | 19 | 23 |
//       +----+----+----+  +----+----+----+
#pragma once

#include <stdint.h>

#include "kn_box.h"

#define KN_GOB_WIDTH_B 64u
#define KN_GOB_HEIGHT 8u
#define KN_GOB_B 512u

// The shape of a block-linear surface: a level of one layer, or of a 3D array. The depth is missing
// because no offset depends on it.
struct kn_tiled {
    uint32_t width_gob;  // width in GOBs (= blocks)
    uint32_t height_gob; // height in GOBs, rounded up to whole blocks
    uint8_t block_height_log2;
    uint8_t block_depth_log2;
};

// A box in a block-linear surface: its first byte is x_B of row y of slice z. If it is the source
// of a copy, its bytes are only read.
struct kn_surface {
    uint8_t *base; // offset 0 of the surface
    struct kn_tiled tiled;
    uint64_t x_B, y, z;
};

// Offset of byte x_B of row y of slice z from the surface's start.
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

// Distance from a GOB to the next one to its right: one block.
static inline uint64_t kn_tiled_step_B(const struct kn_tiled *t)
{
    return (uint64_t)KN_GOB_B << (t->block_height_log2 + t->block_depth_log2);
}

// Bytes of `slices` slices, rounded up to whole blocks.
static inline uint64_t kn_tiled_size_B(const struct kn_tiled *t, uint64_t slices)
{
    unsigned b = t->block_depth_log2;
    uint64_t depth = (slices + (1u << b) - 1) >> b << b;

    return depth * t->height_gob * t->width_gob * KN_GOB_B;
}

// Copies a box from linear memory into a surface (tile), and back (untile). The box must lie inside
// the surface, and the two memories must not overlap. No byte outside the box is written, and bytes
// outside the box do not influence the result. If the box is empty, nothing is copied.
void kn_tile_box(const struct kn_surface *dst, const struct kn_linear *src,
                 const struct kn_box *box);
void kn_untile_box(const struct kn_linear *dst, const struct kn_surface *src,
                   const struct kn_box *box);

// Copies a box from one surface to another, or within one surface if the boxes do not overlap. The
// block shapes may differ. Uses at most a few GOBs of stack as a buffer.
void kn_retile_box(const struct kn_surface *dst, const struct kn_surface *src,
                   const struct kn_box *box);
