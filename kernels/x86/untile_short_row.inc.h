// SPDX-License-Identifier: MIT
// Untiling to short rows of linear memory, two to four GOBs wide, for which masks at the ends of
// lines would be most of the work. Four rows of all GOBs are held in registers, shifted to where
// the box begins, and stored one after the other. The rest of a row is a shorter store that
// overlaps the one before. Rows must begin and end at multiples of four bytes.
#pragma once

#include "gob_half.h"

#define SHORT_ROW_GOBS 4

struct short_row {
    // For each 4 bytes of a store, their source in the rows of two neighbouring GOBs: `head` of the
    // full stores, `tail` of the last one.
    _Alignas(64) int32_t head[16], tail[16];
    // Masks of the box's bytes of each column of the first and of the last GOB, for two rows; and
    // whether they select all bytes.
    uint32_t first[4], last[4];
    uint32_t first_whole, last_whole;
    unsigned gobs, full, tail_B; // `full` stores of 64 bytes, and one more
    uint64_t tail_at_B;
    uint64_t x0, x1; // the row that this was computed for; x1 is 0 if there was no row yet
};

static KN_NOINLINE void short_row_init(struct short_row *n, unsigned x0, uint64_t x1)
{
    const __m512i up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    unsigned gobs = (unsigned)(x1 + 63) / 64, width_B = (unsigned)x1 - x0, rest = width_B & 63,
             tail_from;
    uint64_t first = byte_mask(x0, 64), last = byte_mask(0, (unsigned)x1 - (gobs - 1) * 64);

    for (unsigned column = 0; column < 4; column++) {
        n->first[column] = (uint32_t)(first >> (16 * column) & 0xffff) * 0x10001;
        n->last[column] = (uint32_t)(last >> (16 * column) & 0xffff) * 0x10001;
    }
    n->first_whole = !~first;
    n->last_whole = !~last;
    n->gobs = gobs;
    n->full = width_B / 64;
    if (n->full)
        n->tail_B = rest > 32 ? 64 : rest > 16 ? 32 : rest > 8 ? 16 : rest > 4 ? 8 : rest;
    else
        n->tail_B = width_B >= 32 ? 32 : width_B >= 16 ? 16 : width_B >= 8 ? 8 : 4;
    n->tail_at_B = width_B - n->tail_B;
    tail_from = x0 + (unsigned)n->tail_at_B - (gobs - 2) * 64;
    _mm512_store_si512(n->head, _mm512_add_epi32(up, _mm512_set1_epi32((int)(x0 / 4))));
    _mm512_store_si512(n->tail, _mm512_add_epi32(up, _mm512_set1_epi32((int)(tail_from / 4))));
    n->x0 = x0;
    n->x1 = x1;
}

KN_INLINE __m512i load_pair_masked(const uint8_t *low, uint32_t low_mask, const uint8_t *high,
                                   uint32_t high_mask)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi8(low_mask, low)),
                              _mm256_maskz_loadu_epi8(high_mask, high), 1);
}

// Loads four rows of a GOB. masks[column] selects the bytes of each column; `upper` selects among
// rows 0 and 1 (all ones in bits 0 to 15 and 16 to 31), `lower` among rows 2 and 3. No other bytes
// are read.
KN_INLINE struct gob_half load_rows_ragged(const uint8_t *gob, const uint32_t *masks,
                                           uint32_t upper, uint32_t lower)
{
    __m512i a = load_pair_masked(gob, masks[0] & upper, gob + 64, masks[1] & upper),
            b = _mm512_setzero_si512();
    __m512i c = load_pair_masked(gob + 32, masks[0] & lower, gob + 96, masks[1] & lower),
            d = _mm512_setzero_si512();

    if (masks[2] | masks[3]) {
        b = load_pair_masked(gob + 256, masks[2] & upper, gob + 320, masks[3] & upper);
        d = load_pair_masked(gob + 288, masks[2] & lower, gob + 352, masks[3] & lower);
    }
    return (struct gob_half){{_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd),
                              _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

KN_INLINE void put_short(uint8_t *to, __m512i v, unsigned size_B)
{
    if (size_B == 8)
        _mm_storel_epi64((__m128i *)to, _mm512_castsi512_si128(v));
    else if (size_B == 16)
        _mm_storeu_si128((__m128i *)to, _mm512_castsi512_si128(v));
    else if (size_B == 32)
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(v));
    else if (size_B == 64)
        _mm512_storeu_si512(to, v);
    else if (size_B == 4)
        _mm_storeu_si32(to, _mm512_castsi512_si128(v));
}

// Untiles those of four rows whose bits are set in `rows`.
KN_INLINE void short_row_untile_four(const struct short_row *n, const uint8_t *gob, uint64_t step_B,
                                     unsigned gobs, uint8_t *linear, uint64_t pitch_B,
                                     unsigned rows)
{
    static const uint32_t all[4] = {~0u, ~0u, ~0u, ~0u};
    __m512i head = _mm512_load_si512(n->head), tail = _mm512_load_si512(n->tail);
    struct gob_half h[SHORT_ROW_GOBS];

    if (rows == 15) {
        h[0] = n->first_whole ? load_rows(gob) : load_rows_ragged(gob, n->first, ~0u, ~0u);
#pragma GCC unroll 4
        for (unsigned i = 1; i + 1 < gobs; i++)
            h[i] = load_rows(gob + i * step_B);
        h[gobs - 1] = n->last_whole
                          ? load_rows(gob + (gobs - 1) * step_B)
                          : load_rows_ragged(gob + (gobs - 1) * step_B, n->last, ~0u, ~0u);
    } else {
        uint32_t upper = (rows & 1 ? 0xffffu : 0) | (rows & 2 ? 0xffff0000 : 0),
                 lower = (rows & 4 ? 0xffffu : 0) | (rows & 8 ? 0xffff0000 : 0);
#pragma GCC unroll 4
        for (unsigned i = 0; i < gobs; i++)
            h[i] = load_rows_ragged(gob + i * step_B,
                                    i == 0          ? n->first
                                    : i + 1 == gobs ? n->last
                                                    : all,
                                    upper, lower);
    }
#pragma GCC unroll 4
    for (unsigned r = 0; r < 4; r++) {
        uint8_t *to = linear + r * pitch_B;
        if (!(rows >> r & 1))
            continue;
#pragma GCC unroll 4
        for (unsigned i = 0; i < gobs; i++)
            if (i + 2 < gobs || i < n->full)
                _mm512_storeu_si512(to + i * 64, i + 1 < gobs ? _mm512_permutex2var_epi32(
                                                                    h[i].v[r], head, h[i + 1].v[r])
                                                              : h[i].v[r]);
        if (gobs == 2 && !n->full)
            put_short(to, _mm512_permutex2var_epi32(h[0].v[r], head, h[gobs - 1].v[r]), n->tail_B);
        put_short(to + n->tail_at_B,
                  _mm512_permutex2var_epi32(h[gobs - 2].v[r], tail, h[gobs - 1].v[r]), n->tail_B);
    }
}

#define SHORT_ROW(gobs)                                                                            \
    static KN_NOINLINE void short_row_untile_##gobs(const struct short_row *n, const uint8_t *gob, \
                                                    uint64_t step_B, uint8_t *linear,              \
                                                    uint64_t pitch_B, unsigned rows)               \
    {                                                                                              \
        for (unsigned half = 0; half < 2; half++, rows >>= 4, gob += 128, linear += 4 * pitch_B)   \
            if ((rows & 15) == 15)                                                                 \
                short_row_untile_four(n, gob, step_B, gobs, linear, pitch_B, 15);                  \
            else if (rows & 15)                                                                    \
                short_row_untile_four(n, gob, step_B, gobs, linear, pitch_B, rows & 15);           \
    }
SHORT_ROW(2)
SHORT_ROW(3)
SHORT_ROW(4)
#undef SHORT_ROW

// Untiles the rows `rows` of a row of GOBs. `linear` is the address of the box's first byte in row
// 0, even if row 0 is outside the box.
KN_INLINE void short_row_untile(const struct short_row *n, const uint8_t *gob, uint64_t step_B,
                                uint8_t *linear, uint64_t pitch_B, unsigned rows)
{
    if (n->gobs == 2)
        short_row_untile_2(n, gob, step_B, linear, pitch_B, rows);
    else if (n->gobs == 3)
        short_row_untile_3(n, gob, step_B, linear, pitch_B, rows);
    else
        short_row_untile_4(n, gob, step_B, linear, pitch_B, rows);
}
