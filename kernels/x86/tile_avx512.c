// SPDX-License-Identifier: MIT
// The tile family with 64-byte registers: half a GOB at a time, as gob_half.h describes. Parts of a
// GOB are loaded and stored with byte masks.
//
// clang's AddressSanitizer turns each lane of a masked access into a branch, which takes minutes to
// compile, so it is switched off in this file. checkasm shows that no masked access leaves its box:
// its arenas lie between pages that fault.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("address"))), apply_to = function)
#endif
#include "gob.h"
#include "gob_half.h"
#include "kn_x86.h"
#include "retile_columns.inc.h"
#include "tile_path.h"
#include "untile_shifted_row.inc.h"
#include "untile_short_row.inc.h"

#include <immintrin.h>
#include <stdbool.h>

KN_INLINE void put(uint8_t *p, __m512i v, int stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)p, v);
    else
        _mm512_storeu_si512(p, v);
}

KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, int stream)
{
    const uint8_t *lower = linear + 4 * pitch_B;
    struct gob_half u =
        load_transposed(linear, linear + pitch_B, linear + 2 * pitch_B, linear + 3 * pitch_B);
    struct gob_half v =
        load_transposed(lower, lower + pitch_B, lower + 2 * pitch_B, lower + 3 * pitch_B);

    put(gob, u.v[0], stream);
    put(gob + 64, u.v[1], stream);
    put(gob + 128, v.v[0], stream);
    put(gob + 192, v.v[1], stream);
    put(gob + 256, u.v[2], stream);
    put(gob + 320, u.v[3], stream);
    put(gob + 384, v.v[2], stream);
    put(gob + 448, v.v[3], stream);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, int stream)
{
    struct gob_half u = load_rows(gob), v = load_rows(gob + 128);

    for (unsigned i = 0; i < 4; i++)
        put(linear + i * pitch_B, u.v[i], stream);
    for (unsigned i = 0; i < 4; i++)
        put(linear + (4 + i) * pitch_B, v.v[i], stream);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, int stream)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 64)
        put(dst + i, _mm512_loadu_si512(src + i), stream);
}

// Tiles the bytes `bytes` of the rows `rows` of a GOB. `linear` is the address of the GOB's byte
// (0, 0), even if that is outside the box. Other bytes are neither read nor written.
KN_INLINE void gob_tile_part(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, uint64_t bytes,
                             unsigned rows)
{
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
                    ? _mm512_maskz_loadu_epi8(bytes, (const void *)(linear + (first + i) * pitch_B))
                    : _mm512_setzero_si512();
        h = transpose(h);
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++)
            if (column_mask(bytes, column))
                _mm512_mask_storeu_epi8(gob + first * 32 + line_B(column),
                                        column_mask(bytes, column) * lanes, h.v[column]);
    }
}

KN_INLINE void gob_untile_part(const uint8_t *gob, uintptr_t linear, uint64_t pitch_B,
                               uint64_t bytes, unsigned rows)
{
    for (unsigned first = 0; first < 8; first += 4) {
        struct gob_half h;
        if (!lane_mask(first, rows))
            continue;
        h = load_rows_masked(gob, first, bytes, rows);
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            if (rows >> (first + i) & 1)
                _mm512_mask_storeu_epi8((void *)(linear + (first + i) * pitch_B), bytes, h.v[i]);
    }
}

// A row of GOBs from the one that holds the box's first byte on: bytes x0 (0 to 63) to x1, and the
// rows whose bits are set. `linear` is the address of the first GOB's byte (0, 0), even if that is
// outside the box.
KN_INLINE void masked_row_tile(uint8_t *gob, uint64_t step_B, unsigned x0, uint64_t x1,
                               unsigned rows, uintptr_t linear, uint64_t pitch_B,
                               enum tile_path path)
{
    uint64_t x = 0;

    if (rows != 0xff) {
        for (; x < x1; x += 64, gob += step_B)
            gob_tile_part(gob, linear + x, pitch_B,
                          byte_mask(x ? 0 : x0, x1 - x < 64 ? (unsigned)(x1 - x) : 64), rows);
        return;
    }
    if (x0 || x1 < 64) {
        gob_tile_part(gob, linear, pitch_B, byte_mask(x0, x1 < 64 ? (unsigned)x1 : 64), 0xff);
        x += 64;
        gob += step_B;
    }
    for (; x + 64 <= x1; x += 64, gob += step_B) {
        if (path == TILE_PREFETCHED && x + 128 <= x1)
            for (unsigned line = 0; line < 8; line++)
                __builtin_prefetch(gob + step_B + line * 64, 1, 3);
        if (path == TILE_STREAMED)
            tile_read_ahead((const uint8_t *)linear + x, TILE_STREAM_AHEAD_B, pitch_B);
        gob_tile(gob, (const uint8_t *)linear + x, pitch_B, path == TILE_STREAMED);
    }
    if (x < x1)
        gob_tile_part(gob, linear + x, pitch_B, byte_mask(0, (unsigned)(x1 - x)), 0xff);
}

KN_INLINE void masked_row_untile(const uint8_t *gob, uint64_t step_B, unsigned x0, uint64_t x1,
                                 unsigned rows, uintptr_t linear, uint64_t pitch_B,
                                 enum tile_path path)
{
    uint64_t x = 0;

    if (rows != 0xff) {
        for (; x < x1; x += 64, gob += step_B)
            gob_untile_part(gob, linear + x, pitch_B,
                            byte_mask(x ? 0 : x0, x1 - x < 64 ? (unsigned)(x1 - x) : 64), rows);
        return;
    }
    if (x0 || x1 < 64) {
        gob_untile_part(gob, linear, pitch_B, byte_mask(x0, x1 < 64 ? (unsigned)x1 : 64), 0xff);
        x += 64;
        gob += step_B;
    }
    for (; x + 64 <= x1; x += 64, gob += step_B) {
        if (path == TILE_PREFETCHED && x + TILE_PREFETCH_GOBS * 64 + 64 <= x1)
            prefetch_gob(gob + TILE_PREFETCH_GOBS * step_B);
        if (path == TILE_PREFETCHED && x + TILE_PREFETCH_B + 64 <= x1)
            for (unsigned row = 0; row < 8; row++)
                __builtin_prefetch((const void *)(linear + x + TILE_PREFETCH_B + row * pitch_B), 1,
                                   3);
        if (path == TILE_STREAMED)
            tile_read_ahead(gob, TILE_STREAM_GOBS_B, 64);
        gob_untile(gob, (uint8_t *)linear + x, pitch_B, path == TILE_STREAMED);
    }
    if (x < x1)
        gob_untile_part(gob, linear + x, pitch_B, byte_mask(0, (unsigned)(x1 - x)), 0xff);
}

// Each path is a function, so that its loop has all registers to itself.
#define ROWS(name, path)                                                                           \
    static KN_NOINLINE void masked_row_tile_##name(uint8_t *gob, uint64_t step_B, unsigned x0,     \
                                                   uint64_t x1, unsigned rows, uintptr_t linear,   \
                                                   uint64_t pitch_B)                               \
    {                                                                                              \
        masked_row_tile(gob, step_B, x0, x1, rows, linear, pitch_B, path);                         \
    }                                                                                              \
    static KN_NOINLINE void masked_row_untile_##name(const uint8_t *gob, uint64_t step_B,          \
                                                     unsigned x0, uint64_t x1, unsigned rows,      \
                                                     uintptr_t linear, uint64_t pitch_B)           \
    {                                                                                              \
        masked_row_untile(gob, step_B, x0, x1, rows, linear, pitch_B, path);                       \
    }
ROWS(cached, TILE_CACHED)
ROWS(prefetched, TILE_PREFETCHED)
ROWS(streamed, TILE_STREAMED)
#undef ROWS

// As in tile_row.inc.h.
KN_INLINE void row_tile(uint8_t *gobs, uint64_t step_B, struct gob_row row, const uint8_t *linear,
                        uint64_t pitch_B, enum tile_path path)
{
    uint8_t *gob = gobs + (row.x0_B >> 6) * step_B;
    unsigned x0 = row.x0_B & 63, rows = (1u << row.y1) - (1u << row.y0);
    uint64_t x1 = row.x1_B - (row.x0_B & ~UINT64_C(63));
    uintptr_t origin = (uintptr_t)linear - x0 - row.y0 * pitch_B;

    TILE_BY_PATH(masked_row_tile, path, gob, step_B, x0, x1, rows, origin, pitch_B);
}

// Values computed for the previous rows of GOBs. From one row of GOBs to the next, lines shift by
// nothing or by half a line, because they begin at multiples of 4 bytes.
struct row_state {
    struct shifted_row shifted[2];
    struct short_row short_row;
    bool stream_shifted; // of the path TILE_PREFETCHED: streams rows that are shifted
};

KN_INLINE void row_state_init(struct row_state *state, bool stream_shifted)
{
    state->stream_shifted = stream_shifted;
    state->shifted[0].rows = state->shifted[1].rows = 0;
    state->short_row.x1 = 0;
}

KN_INLINE void row_untile(struct row_state *state, const uint8_t *gobs, uint64_t step_B,
                          struct gob_row row, uint8_t *linear, uint64_t pitch_B,
                          enum tile_path path)
{
    const uint8_t *gob = gobs + (row.x0_B >> 6) * step_B;
    uint64_t x0 = row.x0_B & 63, x1 = row.x1_B - (row.x0_B & ~UINT64_C(63));
    unsigned rows = (1u << row.y1) - (1u << row.y0);
    uintptr_t origin = (uintptr_t)linear - x0 - row.y0 * pitch_B;

    if (path == TILE_CACHED && x1 > 64 && x1 <= SHORT_ROW_GOBS * 64 && !((x0 | x1) & 3) &&
        ((origin | pitch_B | x0 | x1) & 63)) {
        if (state->short_row.x1 != x1 || state->short_row.x0 != x0)
            short_row_init(&state->short_row, (unsigned)x0, x1);
        short_row_untile(&state->short_row, gob, step_B, (uint8_t *)origin + x0, pitch_B, rows);
    } else if (!((origin | pitch_B) & 63) || ((origin | pitch_B) & 3) || x1 <= 64 ||
               path == TILE_STREAMED) {
        TILE_BY_PATH(masked_row_untile, path, gob, step_B, (unsigned)x0, x1, rows, origin, pitch_B);
    } else {
        struct shifted_row *s = &state->shifted[origin >> 5 & 1];
        if (s->rows != rows || s->origin != (origin & 63) || s->x0 != x0 || s->x1 != x1)
            shifted_row_init(s, (unsigned)x0, x1, rows, origin & 63, pitch_B);
        if (path == TILE_CACHED)
            shifted_row_untile_cached(gob, step_B, s, origin);
        else if (state->stream_shifted)
            shifted_row_untile_streamed(gob, step_B, s, origin);
        else
            shifted_row_untile_prefetched(gob, step_B, s, origin);
    }
}

#define TILE_RETILE_EDGES box_copy_columns
#define TILE_RETILE_WHOLE 1
#define TILE_STREAM 1
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx512
#include "tile_box.inc.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
