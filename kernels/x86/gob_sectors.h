// SPDX-License-Identifier: MIT
// Whole GOBs with 32-byte registers. A 64-byte line of a GOB holds a 16-byte column of four rows,
// so half a line (a sector) is the same column of two rows. A 16-byte load and an insert from
// memory make one, without using the shuffle port.
#pragma once

#include "gob.h"
#include "tile_path.h"

#include <immintrin.h>

KN_INLINE __m256i pair(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

KN_INLINE void gob_tile_32(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B,
                           enum tile_path path)
{
#pragma GCC unroll 2
    for (unsigned column = 0; column < 4; column += 2)
#pragma GCC unroll 2
        for (unsigned row = 0; row < 8; row += 4)
#pragma GCC unroll 4
            for (unsigned i = 0; i < 4; i++) {
                unsigned c = column + i / 2, r = row + i % 2 * 2;
                const uint8_t *src = linear + r * pitch_B + c * 16;
                __m256i *dst = (__m256i *)(gob + gob_cell_B(c, r));
                if (path == TILE_STREAMED)
                    _mm256_stream_si256(dst, pair(src, src + pitch_B));
                else
                    _mm256_storeu_si256(dst, pair(src, src + pitch_B));
            }
}

KN_INLINE void gob_untile_32(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                             enum tile_path path)
{
#pragma GCC unroll 8
    for (unsigned row = 0; row < 8; row++)
#pragma GCC unroll 2
        for (unsigned column = 0; column < 4; column += 2) {
            const uint8_t *src = gob + gob_cell_B(column, row);
            __m256i *dst = (__m256i *)(linear + row * pitch_B + column * 16);
            if (path == TILE_STREAMED)
                _mm256_stream_si256(dst, pair(src, src + 64));
            else
                _mm256_storeu_si256(dst, pair(src, src + 64));
        }
}
