// SPDX-License-Identifier: MIT
// The tile family with 32-byte registers.
#include "gob_sectors.h"
#include "kn_x86.h"

#include <immintrin.h>

#define gob_tile gob_tile_32
#define gob_untile gob_untile_32

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, enum tile_path path)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(src + i));
        if (path == TILE_STREAMED)
            _mm256_stream_si256((__m256i *)(dst + i), v);
        else
            _mm256_storeu_si256((__m256i *)(dst + i), v);
    }
}

// GOBs side by side, step_B apart: a row of all of them at a time.
KN_INLINE void gobs_untile_by_rows(const uint8_t *gob, uint64_t step_B, uint8_t *linear,
                                   uint64_t pitch_B)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned i = 0; i < TILE_ROWS_GOBS; i++)
#pragma GCC unroll 2
            for (unsigned column = 0; column < 4; column += 2) {
                const uint8_t *src = gob + i * step_B + gob_cell_B(column, row);
                uint8_t *dst = linear + row * pitch_B + i * 64 + column * 16;
                _mm256_stream_si256((__m256i *)dst, pair(src, src + 64));
            }
}

#define TILE_UNTILE_BY_ROWS gobs_untile_by_rows
#define TILE_STREAM 1
#define TILE_PAIR(to, left, right) _mm256_storeu_si256((__m256i *)(to), pair(left, right))
#include "tile_part.inc.h"
#include "tile_row.inc.h"
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx2
#include "tile_box.inc.h"
