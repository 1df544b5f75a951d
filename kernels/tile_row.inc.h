// SPDX-License-Identifier: MIT
// One row of GOBs. Whole GOBs take a loop without bounds checks; the ragged GOBs at both ends, and
// all GOBs of a row that is not 8 rows high or of a narrow box, are copied as parts:
//
//        head   run of whole GOBs    tail
//      +------+-----+-----+-----+---------+
//      | part | GOB | GOB | ... | part    |
//      +------+-----+-----+-----+---------+
//
// The file that includes this one has defined gob_tile() and gob_untile(), and gob_tile_part() and
// gob_untile_part() (tile_part.inc.h for sets without byte masks). TILE_UNTILE_BY_ROWS, which is
// optional, untiles four GOBs with non-temporal stores.
#include "tile_path.h"

// Tile and untile the part `row` of a row of GOBs. `gobs_at` is the address of the GOB at x = 0,
// even if that is outside the box; `linear` is the box's first byte in this row. Each path is a
// function, so that its loop has all registers to itself.
#define ROW_TILE(name, path)                                                                       \
    static KN_NOINLINE void row_tile_##name(uint8_t *gobs_at, uint64_t step_B,                     \
                                            const struct gob_row *row, const uint8_t *linear,      \
                                            uint64_t pitch_B)                                      \
    {                                                                                              \
        row_tile_by(gobs_at, step_B, row, linear, pitch_B, path);                                  \
    }
#define ROW_UNTILE(name, path)                                                                     \
    static KN_NOINLINE void row_untile_##name(const uint8_t *gobs_at, uint64_t step_B,             \
                                              const struct gob_row *row, uint8_t *linear,          \
                                              uint64_t pitch_B)                                    \
    {                                                                                              \
        row_untile_by(gobs_at, step_B, row, linear, pitch_B, path);                                \
    }

// A row of parts.
KN_INLINE void row_tile_parts(uint8_t *gob, uint64_t step_B, const struct gob_row *row,
                              const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    const uint64_t x0 = row->x0_B, x1 = row->x1_B;
    const uint64_t gobs = ((x1 + 63) >> 6) - (x0 >> 6);
    const uint64_t ahead = tile_ahead_gobs(path, gobs);
    const uintptr_t next = row->next + ((x0 >> 6) + ahead - gobs) * step_B;

    for (uint64_t x = x0, i = 0, end; x < x1; linear += end - x, gob += step_B, x = end, i++) {
        end = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;
        if (tile_path_prefetches(path))
            tile_write_ahead(i + ahead < gobs ? (uintptr_t)gob + ahead * step_B : next + i * step_B,
                             64);
        gob_tile_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(end - x), row->y0,
                      row->y1);
    }
}

KN_INLINE void row_tile_by(uint8_t *gobs_at, uint64_t step_B, const struct gob_row *row,
                           const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    const unsigned head_B = row->x0_B & 63, tail_B = row->x1_B & 63; // outside, and in the box
    const uint64_t first = (row->x0_B + 63) >> 6, gobs = (row->x1_B >> 6) - first;
    const uint64_t ahead = tile_ahead_gobs(path, gobs);
    // The place of GOB i + ahead of the run in the next row is this + i * step_B.
    const uintptr_t next = row->next + (first + ahead - gobs) * step_B;
    uint8_t *gob = gobs_at + (row->x0_B >> 6) * step_B;

    if (row->y1 - row->y0 != 8 || row->x1_B - row->x0_B < 64) {
        row_tile_parts(gob, step_B, row, linear, pitch_B, path);
        return;
    }
    if (head_B) {
        if (tile_path_prefetches(path))
            tile_write_ahead_columns(row->next + (first - 1) * step_B, head_B / 16, 4);
        gob_tile_part(gob, linear, pitch_B, head_B, 64, 0, 8);
        linear += 64 - head_B, gob += step_B;
    }
    for (uint64_t i = 0; i < gobs; i++, linear += 64, gob += step_B) {
        if (tile_path_prefetches(path))
            tile_write_ahead(i + ahead < gobs ? (uintptr_t)gob + ahead * step_B : next + i * step_B,
                             64);
        if (path == TILE_STREAMED)
            tile_read_ahead(linear, TILE_STREAM_AHEAD_B, pitch_B);
        gob_tile(gob, linear, pitch_B, path);
    }
    if (tail_B) {
        if (tile_path_prefetches(path))
            tile_write_ahead_columns(row->next + (first + gobs) * step_B, 0, (tail_B + 15) / 16);
        gob_tile_part(gob, linear, pitch_B, 0, tail_B, 0, 8);
    }
}

KN_INLINE void row_untile_parts(const uint8_t *gob, uint64_t step_B, const struct gob_row *row,
                                uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    const uint64_t x0 = row->x0_B, x1 = row->x1_B;
    const uint64_t gobs = ((x1 + 63) >> 6) - (x0 >> 6);
    const uint64_t ahead = UNTILE_AHEAD_GOBS < gobs ? UNTILE_AHEAD_GOBS : gobs;
    const uintptr_t next = row->next + (ahead - gobs) * 64;

    for (uint64_t x = x0, i = 0, end; x < x1; linear += end - x, gob += step_B, x = end, i++) {
        end = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;
        if (tile_path_prefetches(path))
            tile_write_ahead(i + ahead < gobs ? (uintptr_t)linear + ahead * 64 : next + i * 64,
                             pitch_B);
        gob_untile_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(end - x), row->y0,
                        row->y1);
    }
    if (tile_path_prefetches(path) && gobs > 1)
        tile_write_ahead(row->next + (x1 - x0) - 1, pitch_B);
}

KN_INLINE void row_untile_by(const uint8_t *gobs_at, uint64_t step_B, const struct gob_row *row,
                             uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    const unsigned head_B = row->x0_B & 63, tail_B = row->x1_B & 63; // outside, and in the box
    const uint64_t width_B = row->x1_B - row->x0_B;
    const uint8_t *gob = gobs_at + (row->x0_B >> 6) * step_B;
    uint64_t gobs = (row->x1_B >> 6) - ((row->x0_B + 63) >> 6);

    if (row->y1 - row->y0 != 8 || width_B < 64) {
        row_untile_parts(gob, step_B, row, linear, pitch_B, path);
        return;
    }
    if (head_B) {
        if (tile_path_prefetches(path))
            tile_write_ahead(row->next, pitch_B);
        gob_untile_part(gob, linear, pitch_B, head_B, 64, 0, 8);
        linear += 64 - head_B, gob += step_B;
    }
#ifdef TILE_UNTILE_BY_ROWS
    if (path == TILE_STREAMED && tile_by_rows(pitch_B))
        for (; gobs >= TILE_ROWS_GOBS; gobs -= TILE_ROWS_GOBS) {
            TILE_UNTILE_BY_ROWS(gob, step_B, linear, pitch_B);
            linear += TILE_ROWS_GOBS * 64, gob += TILE_ROWS_GOBS * step_B;
        }
#endif
    const uint64_t ahead = UNTILE_AHEAD_GOBS < gobs ? UNTILE_AHEAD_GOBS : gobs;
    const uintptr_t next = row->next + (width_B - tail_B) + (ahead - 2 * gobs) * 64;
    for (uint64_t i = 0; i < gobs; i++, linear += 64, gob += step_B) {
        if (tile_path_prefetches(path))
            tile_write_ahead(i + ahead < gobs ? (uintptr_t)linear + ahead * 64 : next + i * 64,
                             pitch_B);
        if (path == TILE_STREAMED)
            tile_read_ahead(gob, TILE_STREAM_GOBS_B, 64);
        gob_untile(gob, linear, pitch_B, path);
    }
    // Each GOB has prefetched the line that another one begins in, so the last lines are missing.
    if (tile_path_prefetches(path) && (tail_B || ((uintptr_t)linear | pitch_B) & 63)) {
        if (tail_B)
            tile_write_ahead(row->next + (width_B - tail_B), pitch_B);
        tile_write_ahead(row->next + width_B - 1, pitch_B);
    }
    if (tail_B)
        gob_untile_part(gob, linear, pitch_B, 0, tail_B, 0, 8);
}

ROW_TILE(cached, TILE_CACHED)
ROW_TILE(prefetched, TILE_PREFETCHED)
ROW_TILE(far, TILE_FAR)
ROW_UNTILE(cached, TILE_CACHED)
ROW_UNTILE(prefetched, TILE_PREFETCHED)
#define row_untile_far row_untile_prefetched
#if TILE_STREAM
ROW_TILE(streamed, TILE_STREAMED)
ROW_UNTILE(streamed, TILE_STREAMED)
#else
#define row_tile_streamed row_tile_far
#define row_untile_streamed row_untile_prefetched
#endif
#undef ROW_TILE
#undef ROW_UNTILE
