// SPDX-License-Identifier: MIT
// The tile family with 32-byte registers. A 64-byte line of a GOB holds a 16-byte column of four
// rows, so half a line (a sector) is the same column of two rows. A 16-byte load and an insert from
// memory make one, without using the shuffle port.
#include "gob.h"
#include "kn_x86.h"

#include <immintrin.h>

KN_INLINE __m256i pair(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, int stream)
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
                if (stream)
                    _mm256_stream_si256(dst, pair(src, src + pitch_B));
                else
                    _mm256_storeu_si256(dst, pair(src, src + pitch_B));
            }
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, int stream)
{
#pragma GCC unroll 8
    for (unsigned row = 0; row < 8; row++)
#pragma GCC unroll 2
        for (unsigned column = 0; column < 4; column += 2) {
            const uint8_t *src = gob + gob_cell_B(column, row);
            __m256i *dst = (__m256i *)(linear + row * pitch_B + column * 16);
            if (stream)
                _mm256_stream_si256(dst, pair(src, src + 64));
            else
                _mm256_storeu_si256(dst, pair(src, src + 64));
        }
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, int stream)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(src + i));
        if (stream)
            _mm256_stream_si256((__m256i *)(dst + i), v);
        else
            _mm256_storeu_si256((__m256i *)(dst + i), v);
    }
}

#define TILE_STREAM 1
#include "tile_row.inc.h"
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx2
#include "tile_box.inc.h"
