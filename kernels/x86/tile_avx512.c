// SPDX-License-Identifier: MIT
// The tile family with 64-byte registers: half a GOB at a time, as gob_half.h describes. Parts of a
// GOB are copied with byte masks.
//
// clang's AddressSanitizer turns each lane of a masked access into a branch, which takes minutes to
// compile, so it is switched off in this file. checkasm shows that no masked access leaves its box:
// its arenas lie between pages that fault.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("address"))), apply_to = function)
#endif
#include "gob.h"
#include "gob_half.h"
#include "gob_sectors.h"
#include "kn_x86.h"
#include "retile_columns.inc.h"
#include "tile_path.h"
#include "untile_shifted_row.inc.h"

#include <immintrin.h>
#include <stdbool.h>

KN_INLINE void put(uint8_t *p, __m512i v, enum tile_path path)
{
    if (path == TILE_STREAMED)
        _mm512_stream_si512((__m512i *)p, v);
    else
        _mm512_storeu_si512(p, v);
}

KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    if (path == TILE_FAR) {
        gob_tile_32(gob, linear, pitch_B, path);
        return;
    }
    const uint8_t *lower = linear + 4 * pitch_B;
    struct gob_half u =
        load_transposed(linear, linear + pitch_B, linear + 2 * pitch_B, linear + 3 * pitch_B);
    struct gob_half v =
        load_transposed(lower, lower + pitch_B, lower + 2 * pitch_B, lower + 3 * pitch_B);

    put(gob, u.v[0], path);
    put(gob + 64, u.v[1], path);
    put(gob + 128, v.v[0], path);
    put(gob + 192, v.v[1], path);
    put(gob + 256, u.v[2], path);
    put(gob + 320, u.v[3], path);
    put(gob + 384, v.v[2], path);
    put(gob + 448, v.v[3], path);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                          enum tile_path path)
{
    struct gob_half u = load_rows(gob), v = load_rows(gob + 128);

    for (unsigned i = 0; i < 4; i++)
        put(linear + i * pitch_B, u.v[i], path);
    for (unsigned i = 0; i < 4; i++)
        put(linear + (4 + i) * pitch_B, v.v[i], path);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, enum tile_path path)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 64)
        put(dst + i, _mm512_loadu_si512(src + i), path);
}

// As gob_tile_part() and gob_copy_part() in tile_part.inc.h. Masked loads that straddle lines are
// slow, so only parts that lack rows and columns are tiled with masks. Masked stores that straddle
// are slower still, so no part is untiled with them.
static KN_NOINLINE void gob_tile_masked(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B,
                                        unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    const uint64_t bytes = byte_mask(x0, x1);
    const unsigned rows = part_rows(y0, y1);
    const uintptr_t origin = (uintptr_t)linear - x0 - y0 * pitch_B; // of byte (0, 0)

#pragma GCC unroll 2
    for (unsigned first = 0; first < 8; first += 4) {
        uint64_t lanes = lane_mask(first, rows);
        struct gob_half h;
        if (!lanes)
            continue;
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            h.v[i] =
                rows >> (first + i) & 1
                    ? _mm512_maskz_loadu_epi8(bytes, (const void *)(origin + (first + i) * pitch_B))
                    : _mm512_setzero_si512();
        h = transpose(h);
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++)
            if (column_mask(bytes, column))
                _mm512_mask_storeu_epi8(gob + first * 32 + line_B(column),
                                        column_mask(bytes, column) * lanes, h.v[column]);
    }
}

static KN_NOINLINE void gob_copy_part(uint8_t *dst, const uint8_t *src, unsigned x0, unsigned x1,
                                      unsigned y0, unsigned y1)
{
    const uint64_t bytes = byte_mask(x0, x1);

#pragma GCC unroll 2
    for (unsigned first = 0; first < 8; first += 4) {
        const uint64_t lanes = lane_mask(first, part_rows(y0, y1));
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++) {
            const uint64_t mask = column_mask(bytes, column) * lanes;
            const unsigned at = first * 32 + line_B(column);
            if (mask)
                _mm512_mask_storeu_epi8(dst + at, mask, _mm512_maskz_loadu_epi8(mask, src + at));
        }
    }
}

#define TILE_MASKED_PARTS
#define TILE_PAIR(to, left, right) _mm256_storeu_si256((__m256i *)(to), pair(left, right))
#include "tile_part.inc.h"

#define TILE_STREAM 1
#include "tile_row.inc.h"

#define TILE_UNTILE_SHIFTED box_untile_shifted
#define TILE_RETILE_APART box_copy_columns
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx512
#include "tile_box.inc.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
