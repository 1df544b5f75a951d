// SPDX-License-Identifier: MIT
// Untiling to rows of linear memory that are not aligned as GOBs are, with non-temporal stores,
// which must write whole lines: each line is made of the end of one GOB's row and the beginning of
// the next one's:
//
//   GOBs of the surface    |  GOB 0  |  GOB 1  |  GOB 2  |
//   lines written      | line 0  | line 1  | line 2  | line 3  |
//
// Line i of a row ends in GOB i, and one more line follows the last GOB. The first two and the last
// two lines are stored with masks. GOBs that are only partly in the box are loaded with masks.
#pragma once

#include "gob_half.h"
#include "kn_tile.h"

#include <stdbool.h>

#define SHIFTED_AHEAD_GOBS 3 // sources are prefetched this number of GOBs before

// Computed once for all rows of GOBs with the same x0, x1, rows and alignment.
struct shifted_row {
    _Alignas(64) int64_t line[8]; // offset of line 0 of each row from the first GOB's byte (0, 0)
    uint64_t shift[8];            // offset of the first GOB's row in that line
    uint64_t mask[4][8];          // bytes to store of lines 0, 1, gobs - 1 and gobs
    uint64_t whole[8];            // and of the lines between them
    // The row that this was computed for (the pitch of a box is always the same). `origin` is the
    // offset of byte (0, 0) in its line. `rows` is 0 if nothing has been computed yet.
    unsigned rows, origin, x0;
    uint64_t x1;
};

// In each of eight masks, the bits from `from` to `from` + width.
KN_INLINE __m512i bit_ranges(__m512i from, uint64_t width)
{
    const __m512i zero = _mm512_setzero_si512(), ones = _mm512_set1_epi64(-1);
    __m512i to = _mm512_add_epi64(from, _mm512_set1_epi64((int64_t)width));

    // Shifts by 64 and more leave nothing.
    return _mm512_andnot_si512(_mm512_sllv_epi64(ones, _mm512_max_epi64(to, zero)),
                               _mm512_sllv_epi64(ones, _mm512_max_epi64(from, zero)));
}

static KN_NOINLINE void shifted_row_init(struct shifted_row *s, unsigned x0, uint64_t x1,
                                         unsigned rows, unsigned origin, uint64_t pitch_B)
{
    // Rows outside the box get the address of one inside, so that no address is out of range.
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
                bit_ranges(_mm512_sub_epi64(from, _mm512_set1_epi64((int64_t)(lines[i] * 64))),
                           x1 - x0)));
    _mm512_store_si512(s->whole, _mm512_maskz_set1_epi64((__mmask8)rows, -1));
    s->rows = rows;
    s->origin = origin;
    s->x0 = x0;
    s->x1 = x1;
}

static KN_NOINLINE void shifted_row_untile(const uint8_t *gob, uint64_t step_B,
                                           const struct shifted_row *s, uintptr_t linear)
{
    static const _Alignas(64)
        uint32_t count_up[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    uint64_t gobs = (s->x1 + 63) / 64, first = s->rows != 0xff ? UINT64_MAX : s->x0 ? 2 : 1;
    _Alignas(64) uint64_t line[8]; // addresses, some of them before the box: not pointers
    __m512i index[8], before[8];

    _mm512_store_si512(
        line, _mm512_add_epi64(_mm512_load_si512(s->line), _mm512_set1_epi64((int64_t)linear)));
#pragma GCC unroll 8
    for (unsigned r = 0; r < 8; r++) {
        index[r] = _mm512_loadu_si512((const uint8_t *)(count_up + 16) - s->shift[r]);
        before[r] = _mm512_setzero_si512();
    }
    for (uint64_t i = 0; i <= gobs; i++, gob += step_B) {
        struct gob_half half[2] = {{{_mm512_setzero_si512()}}};
        if (i >= first && i + 1 < gobs) {
            half[0] = load_rows(gob);
            half[1] = load_rows(gob + 128);
            if (i + SHIFTED_AHEAD_GOBS < gobs)
                prefetch_gob(gob + SHIFTED_AHEAD_GOBS * step_B);
#pragma GCC unroll 8
            for (unsigned r = 0; r < 8; r++) {
                __m512i now = half[r / 4].v[r % 4],
                        v = _mm512_permutex2var_epi32(before[r], index[r], now);
                _mm512_stream_si512((void *)(line[r] + i * 64), v);
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
                half[0] = whole ? load_rows(gob) : load_rows_masked(gob, 0, bytes, s->rows);
                half[1] = whole ? load_rows(gob + 128) : load_rows_masked(gob, 4, bytes, s->rows);
            }
#pragma GCC unroll 8
            for (unsigned r = 0; r < 8; r++) {
                __m512i now = half[r / 4].v[r % 4];
                _mm512_mask_storeu_epi8((void *)(line[r] + i * 64), mask[r],
                                        _mm512_permutex2var_epi32(before[r], index[r], now));
                before[r] = now;
            }
        }
    }
}

// Returns false, without writing anything, if rows do not begin at multiples of four bytes or are
// too narrow.
static bool box_untile_shifted(const struct kn_linear *dst, const struct kn_surface *src,
                               const struct kn_box *box)
{
    struct kn_surface s = *src;
    const unsigned x0 = s.x_B & 63;
    const uint64_t pitch_B = dst->pitch_B, x1 = x0 + box->width_B,
                   step_B = kn_tiled_step_B(&s.tiled);
    // From one row of GOBs to the next, lines shift by nothing or by half a line.
    struct shifted_row state[2] = {{.rows = 0}, {.rows = 0}};

    if ((((uintptr_t)dst->first - x0) | pitch_B | (box->slices > 1 ? dst->slice_B : 0)) & 3 ||
        x1 <= 64)
        return false;
    for (uint64_t slice = 0; slice < box->slices; slice++, s.z++) {
        for (uint64_t y = 0, next; y < box->rows; y = next) {
            unsigned y0 = (s.y + y) & 7, rows;
            uintptr_t origin =
                (uintptr_t)dst->first + slice * dst->slice_B + (y - y0) * pitch_B - x0;
            struct shifted_row *row = &state[origin >> 5 & 1];

            next = y + 8 - y0 < box->rows ? y + 8 - y0 : box->rows;
            rows = (1u << (y0 + next - y)) - (1u << y0);
            if (row->rows != rows || row->origin != (origin & 63))
                shifted_row_init(row, x0, x1, rows, origin & 63, pitch_B);
            shifted_row_untile(s.base + kn_tiled_offset_B(&s.tiled, s.x_B & ~UINT64_C(63),
                                                          (s.y + y) & ~UINT64_C(7), s.z),
                               step_B, row, origin);
        }
    }
    return true;
}
