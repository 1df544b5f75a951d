// SPDX-License-Identifier: MIT
// The tile family with 16-byte registers. A 64-byte line of a GOB holds a 16-byte column of four
// rows, which are four registers. So no shuffles are needed, and all loads and stores come in
// adjacent pairs that the compiler combines.
#include "gob.h"
#include "kn_arm.h"
#include "tile_path.h"

#include <arm_neon.h>

// Handles four rows of 64 bytes at a time: loads all of them in the order of rows, then stores them
// in the order of lines.
KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
#pragma GCC unroll 2
    for (unsigned half = 0; half < 8; half += 4) {
        uint8x16_t v[4][4];
#pragma GCC unroll 4
        for (unsigned row = 0; row < 4; row++)
#pragma GCC unroll 4
            for (unsigned column = 0; column < 4; column++)
                v[column][row] = vld1q_u8(linear + (half + row) * pitch_B + column * 16);
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++)
#pragma GCC unroll 4
            for (unsigned row = 0; row < 4; row++)
                vst1q_u8(gob + gob_cell_B(column, half + row), v[column][row]);
    }
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                          enum tile_path path)
{
#pragma GCC unroll 2
    for (unsigned half = 0; half < 8; half += 4) {
        uint8x16_t v[4][4];
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++)
#pragma GCC unroll 4
            for (unsigned row = 0; row < 4; row++)
                v[column][row] = vld1q_u8(gob + gob_cell_B(column, half + row));
#pragma GCC unroll 4
        for (unsigned row = 0; row < 4; row++)
#pragma GCC unroll 4
            for (unsigned column = 0; column < 4; column++)
                vst1q_u8(linear + (half + row) * pitch_B + column * 16, v[column][row]);
    }
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, enum tile_path path)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 64) {
        uint8x16_t a = vld1q_u8(src + i), b = vld1q_u8(src + i + 16), c = vld1q_u8(src + i + 32),
                   d = vld1q_u8(src + i + 48);
        vst1q_u8(dst + i, a);
        vst1q_u8(dst + i + 16, b);
        vst1q_u8(dst + i + 32, c);
        vst1q_u8(dst + i + 48, d);
    }
}

#define TILE_STREAM 0
#include "tile_part.inc.h"
#include "tile_row.inc.h"
#define TILE_FENCE() ((void)0)
#define TILE_SUFFIX(name) name##_neon
#include "tile_box.inc.h"
