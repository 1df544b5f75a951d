// SPDX-License-Identifier: MIT
// The tile family with 64-byte registers. A 64-byte line of a GOB is a 16-byte column of four rows:
// four rows of 64 bytes become four lines by transposing a 4 x 4 matrix of 16-byte lanes, which is
// its own inverse. Half the work is done by loads that insert 32 bytes, since one shuffle a cycle
// is all there is. Parts of a GOB take the same way with byte masks.
//
// clang's AddressSanitizer makes a branch of each lane of an access with a mask, which takes
// minutes to compile; that no such access leaves its box is what checkasm's pages that cannot be
// touched show.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("address"))), apply_to = function)
#endif
#include "kn_x86.h"
#include "small.h"
#include "tile_gob.h"
#include "tile_lines.h"
#include "tile_narrow.h"
#include "tile_way.h"

#include <immintrin.h>
#include <stdbool.h>

KN_INLINE struct lines transpose(struct lines v)
{
    __m512i a = _mm512_shuffle_i64x2(v.l[0], v.l[1], 0x44),
            b = _mm512_shuffle_i64x2(v.l[2], v.l[3], 0x44);
    __m512i c = _mm512_shuffle_i64x2(v.l[0], v.l[1], 0xee),
            d = _mm512_shuffle_i64x2(v.l[2], v.l[3], 0xee);

    return (struct lines){{_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd),
                           _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

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
    struct lines u =
        load_transposed(linear, linear + pitch_B, linear + 2 * pitch_B, linear + 3 * pitch_B);
    struct lines v =
        load_transposed(lower, lower + pitch_B, lower + 2 * pitch_B, lower + 3 * pitch_B);

    put(gob, u.l[0], stream);
    put(gob + 64, u.l[1], stream);
    put(gob + 128, v.l[0], stream);
    put(gob + 192, v.l[1], stream);
    put(gob + 256, u.l[2], stream);
    put(gob + 320, u.l[3], stream);
    put(gob + 384, v.l[2], stream);
    put(gob + 448, v.l[3], stream);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, int stream)
{
    struct lines u = load_whole(gob), v = load_whole(gob + 128);

    for (unsigned i = 0; i < 4; i++)
        put(linear + i * pitch_B, u.l[i], stream);
    for (unsigned i = 0; i < 4; i++)
        put(linear + (4 + i) * pitch_B, v.l[i], stream);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, int stream)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 64)
        put(dst + i, _mm512_loadu_si512(src + i), stream);
}

// The bytes `bytes` of the rows `rows` of a GOB; `linear` is where its byte (0, 0) is, or would be.
// Other bytes are neither read nor written.
KN_INLINE void gob_tile_part(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, uint64_t bytes,
                             unsigned rows)
{
#pragma GCC unroll 2
    for (unsigned first = 0; first < 8; first += 4) {
        uint64_t lanes = lane_mask(first, rows);
        struct lines v;
        if (!lanes)
            continue;
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            v.l[i] =
                rows >> (first + i) & 1
                    ? _mm512_maskz_loadu_epi8(bytes, (const void *)(linear + (first + i) * pitch_B))
                    : _mm512_setzero_si512();
        v = transpose(v);
#pragma GCC unroll 4
        for (unsigned column = 0; column < 4; column++)
            if (bytes >> (16 * column) & 0xffff)
                _mm512_mask_storeu_epi8(gob + first * 32 + line_B(column),
                                        (bytes >> (16 * column) & 0xffff) * lanes, v.l[column]);
    }
}

// Four rows, from `first` on, of the bytes `bytes` of those of the rows `rows` of a GOB. Other
// bytes are not read.
KN_INLINE struct lines load_part(const uint8_t *gob, unsigned first, uint64_t bytes, unsigned rows)
{
    uint64_t lanes = lane_mask(first, rows);
    struct lines v;

#pragma GCC unroll 4
    for (unsigned column = 0; column < 4; column++) {
        uint64_t mask = (bytes >> (16 * column) & 0xffff) * lanes;
        v.l[column] = mask ? _mm512_maskz_loadu_epi8(mask, gob + first * 32 + line_B(column))
                           : _mm512_setzero_si512();
    }
    return transpose(v);
}

KN_INLINE void gob_untile_part(const uint8_t *gob, uintptr_t linear, uint64_t pitch_B,
                               uint64_t bytes, unsigned rows)
{
    for (unsigned first = 0; first < 8; first += 4) {
        struct lines v;
        if (!lane_mask(first, rows))
            continue;
        v = load_part(gob, first, bytes, rows);
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            if (rows >> (first + i) & 1)
                _mm512_mask_storeu_epi8((void *)(linear + (first + i) * pitch_B), bytes, v.l[i]);
    }
}

// A row of GOBs, or of parts of them: bytes x0 (0 to 63 of the first GOB) to x1, the rows whose
// bits are set. `linear` is where the first GOB's byte (0, 0) is, or would be.
KN_INLINE void row_tile(uint8_t *gob, uint64_t step_B, unsigned x0, uint64_t x1, unsigned rows,
                        uintptr_t linear, uint64_t pitch_B, enum tile_way way)
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
        x += 64, gob += step_B;
    }
    for (; x + 64 <= x1; x += 64, gob += step_B) {
        if (way == TILE_PREFETCHED && x + 128 <= x1)
            for (unsigned line = 0; line < 8; line++)
                __builtin_prefetch(gob + step_B + line * 64, 1, 3);
        gob_tile(gob, (const uint8_t *)linear + x, pitch_B, way == TILE_STREAMED);
    }
    if (x < x1)
        gob_tile_part(gob, linear + x, pitch_B, byte_mask(0, (unsigned)(x1 - x)), 0xff);
}

KN_INLINE void ask_for_gob(const uint8_t *gob)
{
    for (unsigned line = 0; line < 8; line++)
        __builtin_prefetch(gob + line * 64, 0, 3);
}

// The same to linear memory.
KN_INLINE void row_untile(const uint8_t *gob, uint64_t step_B, unsigned x0, uint64_t x1,
                          unsigned rows, uintptr_t linear, uint64_t pitch_B, enum tile_way way)
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
        x += 64, gob += step_B;
    }
    for (; x + 64 <= x1; x += 64, gob += step_B) {
        if (way == TILE_PREFETCHED && x + TILE_AHEAD_GOBS * 64 + 64 <= x1)
            ask_for_gob(gob + TILE_AHEAD_GOBS * step_B);
        if (way == TILE_PREFETCHED && x + TILE_AHEAD_B + 64 <= x1)
            for (unsigned row = 0; row < 8; row++)
                __builtin_prefetch((const void *)(linear + x + TILE_AHEAD_B + row * pitch_B), 1, 3);
        gob_untile(gob, (uint8_t *)linear + x, pitch_B, way == TILE_STREAMED);
    }
    if (x < x1)
        gob_untile_part(gob, linear + x, pitch_B, byte_mask(0, (unsigned)(x1 - x)), 0xff);
}

// Where linear lines do not begin where GOBs do, each line written is made of the end of one GOB's
// row and the beginning of the next one's, since stores that straddle two lines cost three times as
// much in the caches. Line i of a row ends in GOB i, and behind the last GOB's comes one more. The
// first two and the last two lines have masks; GOBs of which the box has a part are read with
// masks, as in gob_untile_part.
struct shifts {
    _Alignas(64) int64_t line[8]; // where line 0 of the row is, from the first GOB's byte (0, 0)
    uint64_t shift[8];            // of the first GOB's byte in that line
    uint64_t mask[4][8];          // of lines 0, 1, gobs - 1 and gobs
    uint64_t whole[8];            // of those between
    // What this is for, of one pitch; `origin` is the place of byte (0, 0) in its line.
    unsigned rows, origin, x0;
    uint64_t x1;
};

// Bits `from` to `from` + width of 64, eight times.
KN_INLINE __m512i masks(__m512i from, uint64_t width)
{
    const __m512i zero = _mm512_setzero_si512(), ones = _mm512_set1_epi64(-1);
    __m512i to = _mm512_add_epi64(from, _mm512_set1_epi64((int64_t)width));

    // Shifts by 64 and more leave nothing.
    return _mm512_andnot_si512(_mm512_sllv_epi64(ones, _mm512_max_epi64(to, zero)),
                               _mm512_sllv_epi64(ones, _mm512_max_epi64(from, zero)));
}

static KN_NOINLINE void shifts_init(struct shifts *s, unsigned x0, uint64_t x1, unsigned rows,
                                    unsigned origin, uint64_t pitch_B)
{
    // Rows that are not there are at the place of one that is.
    __m512i row =
        _mm512_maskz_compress_epi64((__mmask8)rows, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    __m512i at = _mm512_mask_expand_epi64(_mm512_broadcastq_epi64(_mm512_castsi512_si128(row)),
                                          (__mmask8)rows, row),
            shift, from;
    uint64_t gobs = (x1 + 63) / 64;
    const uint64_t lines[4] = {0, 1, gobs - 1, gobs};

    at = _mm512_add_epi64(_mm512_mullo_epi64(at, _mm512_set1_epi64((int64_t)pitch_B)),
                          _mm512_set1_epi64(origin));
    shift = _mm512_and_si512(at, _mm512_set1_epi64(63));
    from = _mm512_add_epi64(shift, _mm512_set1_epi64(x0));
    _mm512_store_si512(s->line,
                       _mm512_sub_epi64(_mm512_sub_epi64(at, shift), _mm512_set1_epi64(origin)));
    _mm512_store_si512(s->shift, shift);
    for (unsigned i = 0; i < 4; i++)
        _mm512_store_si512(
            s->mask[i],
            _mm512_maskz_mov_epi64(
                (__mmask8)rows,
                masks(_mm512_sub_epi64(from, _mm512_set1_epi64((int64_t)(lines[i] * 64))),
                      x1 - x0)));
    _mm512_store_si512(s->whole, _mm512_maskz_set1_epi64((__mmask8)rows, -1));
    s->rows = rows, s->origin = origin, s->x0 = x0, s->x1 = x1;
}

KN_INLINE void row_untile_shifted(const uint8_t *gob, uint64_t step_B, const struct shifts *s,
                                  uintptr_t linear, enum tile_way way)
{
    static const _Alignas(64)
        uint32_t count_up[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    uint64_t gobs = (s->x1 + 63) / 64, first = s->rows != 0xff ? UINT64_MAX : s->x0 ? 2 : 1;
    _Alignas(64) uint64_t line[8]; // places, some of them before the box: no pointers
    __m512i index[8], before[8];

    _mm512_store_si512(
        line, _mm512_add_epi64(_mm512_load_si512(s->line), _mm512_set1_epi64((int64_t)linear)));
#pragma GCC unroll 8
    for (unsigned r = 0; r < 8; r++) {
        index[r] = _mm512_loadu_si512((const uint8_t *)(count_up + 16) - s->shift[r]);
        before[r] = _mm512_setzero_si512();
    }
    for (uint64_t i = 0; i <= gobs; i++, gob += step_B) {
        struct lines v[2] = {{{_mm512_setzero_si512()}}};
        if (i >= first && i + 1 < gobs) {
            v[0] = load_whole(gob);
            v[1] = load_whole(gob + 128);
            if (way == TILE_PREFETCHED && i + TILE_AHEAD_GOBS < gobs)
                ask_for_gob(gob + TILE_AHEAD_GOBS * step_B);
            if (way == TILE_PREFETCHED &&
                i + TILE_AHEAD_B / 64 < gobs) // lines behind the row's may be somebody else's
#pragma GCC unroll 8
                for (unsigned r = 0; r < 8; r++)
                    __builtin_prefetch((const void *)(line[r] + i * 64 + TILE_AHEAD_B), 1, 3);
#pragma GCC unroll 8
            for (unsigned r = 0; r < 8; r++) {
                __m512i now = v[r / 4].l[r % 4];
                _mm512_storeu_si512((void *)(line[r] + i * 64),
                                    _mm512_permutex2var_epi32(before[r], index[r], now));
                before[r] = now;
            }
        } else {
            const uint64_t *mask = i < 2          ? s->mask[i]
                                   : i + 1 < gobs ? s->whole
                                                  : s->mask[i + 3 - gobs];
            if (i < gobs) {
                uint64_t left_B = s->x1 - i * 64,
                         bytes = byte_mask(i ? 0 : s->x0, left_B < 64 ? (unsigned)left_B : 64);
                bool whole = !~bytes && s->rows == 0xff;
                v[0] = whole ? load_whole(gob) : load_part(gob, 0, bytes, s->rows);
                v[1] = whole ? load_whole(gob + 128) : load_part(gob, 4, bytes, s->rows);
            }
#pragma GCC unroll 8
            for (unsigned r = 0; r < 8; r++) {
                __m512i now = v[r / 4].l[r % 4];
                _mm512_mask_storeu_epi8((void *)(line[r] + i * 64), mask[r],
                                        _mm512_permutex2var_epi32(before[r], index[r], now));
                before[r] = now;
            }
        }
    }
}

// Each of the ways a function, so that its loop has the registers to itself.
#define ROWS(name, way)                                                                            \
    static KN_NOINLINE void row_tile_##name(uint8_t *gob, uint64_t step_B, unsigned x0,            \
                                            uint64_t x1, unsigned rows, uintptr_t linear,          \
                                            uint64_t pitch_B)                                      \
    {                                                                                              \
        row_tile(gob, step_B, x0, x1, rows, linear, pitch_B, way);                                 \
    }                                                                                              \
    static KN_NOINLINE void row_untile_##name(const uint8_t *gob, uint64_t step_B, unsigned x0,    \
                                              uint64_t x1, unsigned rows, uintptr_t linear,        \
                                              uint64_t pitch_B)                                    \
    {                                                                                              \
        row_untile(gob, step_B, x0, x1, rows, linear, pitch_B, way);                               \
    }
ROWS(cached, TILE_CACHED)
ROWS(prefetched, TILE_PREFETCHED)
ROWS(streamed, TILE_STREAMED)
#define SHIFTED(name, way)                                                                         \
    static KN_NOINLINE void row_untile_shifted_##name(const uint8_t *gob, uint64_t step_B,         \
                                                      const struct shifts *s, uintptr_t linear)    \
    {                                                                                              \
        row_untile_shifted(gob, step_B, s, linear, way);                                           \
    }
SHIFTED(cached, TILE_CACHED)
SHIFTED(prefetched, TILE_PREFETCHED)

// As in tile_strip.h.
KN_INLINE void strip_tile(uint8_t *gobs, uint64_t step_B, uint64_t x0, uint64_t x1, unsigned y0,
                          unsigned y1, const uint8_t *linear, uint64_t pitch_B, enum tile_way way)
{
    uint64_t skip_B = x0 & ~UINT64_C(63);
    uintptr_t origin = (uintptr_t)linear - (x0 & 63) - y0 * pitch_B;
    unsigned rows = (1u << y1) - (1u << y0);

    TILE_BY_WAY(row_tile, way, gobs + (x0 >> 6) * step_B, step_B, x0 & 63, x1 - skip_B, rows,
                origin, pitch_B);
}

// Of the strips before. From strip to strip lines shift by none or half a line, as they begin at
// multiples of 4 bytes.
struct strip_state {
    struct shifts shifts[2];
    struct narrow narrow;
};

KN_INLINE void strip_begin(struct strip_state *state)
{
    state->shifts[0].rows = state->shifts[1].rows = 0;
    state->narrow.x1 = 0;
}

KN_INLINE void strip_untile(struct strip_state *state, const uint8_t *gobs, uint64_t step_B,
                            uint64_t x0, uint64_t x1, unsigned y0, unsigned y1, uint8_t *linear,
                            uint64_t pitch_B, enum tile_way way)
{
    uint64_t skip_B = x0 & ~UINT64_C(63);
    uintptr_t origin = (uintptr_t)linear - (x0 & 63) - y0 * pitch_B;
    unsigned rows = (1u << y1) - (1u << y0);
    const uint8_t *gob = gobs + (x0 >> 6) * step_B;

    x0 &= 63, x1 -= skip_B;
    if (way == TILE_CACHED && x1 > 64 && x1 <= NARROW_GOBS * 64 && !((x0 | x1) & 3) &&
        ((origin | pitch_B | x0 | x1) & 63)) {
        if (state->narrow.x1 != x1 || state->narrow.x0 != x0)
            narrow_init(&state->narrow, (unsigned)x0, x1);
        narrow_untile(&state->narrow, gob, step_B, (uint8_t *)origin + x0, pitch_B, rows);
    } else if (!((origin | pitch_B) & 63) || ((origin | pitch_B) & 3) || x1 <= 64 ||
               way == TILE_STREAMED) {
        TILE_BY_WAY(row_untile, way, gob, step_B, (unsigned)x0, x1, rows, origin, pitch_B);
    } else {
        struct shifts *s = &state->shifts[origin >> 5 & 1];
        if (s->rows != rows || s->origin != (origin & 63) || s->x0 != x0 || s->x1 != x1)
            shifts_init(s, (unsigned)x0, x1, rows, origin & 63, pitch_B);
        if (way == TILE_CACHED)
            row_untile_shifted_cached(gob, step_B, s, origin);
        else
            row_untile_shifted_prefetched(gob, step_B, s, origin);
    }
}

#define TILE_EDGE box_lines
#define TILE_EDGES_INSIDE 1
#define TILE_STREAM 1
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx512
#include "tile_template.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
