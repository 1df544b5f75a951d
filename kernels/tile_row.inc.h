// SPDX-License-Identifier: MIT
// One row of GOBs, for instruction sets without byte masks. Whole GOBs take a loop without bounds
// checks; the ragged GOBs at both ends, and all GOBs of a row that is not 8 rows high, are copied
// in pieces of up to 16 bytes:
//
//        head   run of whole GOBs    tail
//      +------+-----+-----+-----+---------+
//      | part | GOB | GOB | ... | part    |
//      +------+-----+-----+-----+---------+
//
// The file that includes this one has defined gob_tile() and gob_untile().
#include "tile_part.inc.h"
#include "tile_path.h"

// Runs of whole GOBs. Not inlined, so that the loop has all registers to itself.
#define RUNS(name, path)                                                                           \
    static KN_NOINLINE void run_tile_##name(uint8_t *gob, uint64_t step_B, const uint8_t *linear,  \
                                            uint64_t pitch_B, uint64_t count)                      \
    {                                                                                              \
        for (; count; count--, linear += 64, gob += step_B) {                                      \
            if ((path) == TILE_PREFETCHED && count > 1)                                            \
                for (unsigned line = 0; line < 8; line++)                                          \
                    __builtin_prefetch(gob + step_B + line * 64, 1, 3);                            \
            if ((path) == TILE_STREAMED)                                                           \
                tile_read_ahead(linear, TILE_STREAM_AHEAD_B, pitch_B);                             \
            gob_tile(gob, linear, pitch_B, (path) == TILE_STREAMED);                               \
        }                                                                                          \
    }                                                                                              \
    static KN_NOINLINE void run_untile_##name(const uint8_t *gob, uint64_t step_B,                 \
                                              uint8_t *linear, uint64_t pitch_B, uint64_t count)   \
    {                                                                                              \
        for (; count; count--, linear += 64, gob += step_B) {                                      \
            if ((path) == TILE_PREFETCHED && count > TILE_PREFETCH_B / 64)                         \
                for (unsigned row = 0; row < 8; row++)                                             \
                    __builtin_prefetch(linear + TILE_PREFETCH_B + row * pitch_B, 1, 3);            \
            if ((path) == TILE_STREAMED)                                                           \
                tile_read_ahead(gob, TILE_STREAM_GOBS_B, 64);                                      \
            gob_untile(gob, linear, pitch_B, (path) == TILE_STREAMED);                             \
        }                                                                                          \
    }
RUNS(cached, TILE_CACHED)
RUNS(prefetched, TILE_PREFETCHED)
#if TILE_STREAM
RUNS(streamed, TILE_STREAMED)
#else
#define run_tile_streamed run_tile_prefetched
#define run_untile_streamed run_untile_prefetched
#endif
#undef RUNS

// State that an instruction set keeps from one row of GOBs to the next; this one keeps nothing.
struct row_state {
    char unused;
};

KN_INLINE void row_state_init(struct row_state *state, bool stream_shifted)
{
    (void)stream_shifted;
    state->unused = 0;
}

// Copies the part `row` of a row of GOBs. `gobs` is the address of the GOB at x = 0, even if that
// is outside the box; `linear` is the box's first byte in this row.
#define GOB_ROW(name, direction, gob_type, linear_type)                                            \
    KN_INLINE void name(gob_type *gobs, uint64_t step_B, struct gob_row row, linear_type *linear,  \
                        uint64_t pitch_B, enum tile_path path)                                     \
    {                                                                                              \
        const uint64_t x0 = row.x0_B, x1 = row.x1_B;                                               \
        uint64_t x = x0;                                                                           \
        gob_type *gob = gobs + (x0 >> 6) * step_B;                                                 \
                                                                                                   \
        if (row.y1 - row.y0 == 8 && x1 - x0 >= 64) {                                               \
            uint64_t count;                                                                        \
            if (x & 63) {                                                                          \
                x = (x | 63) + 1;                                                                  \
                gob_##direction##_part(gob, linear, pitch_B, x0 & 63, 64, row.y0, row.y1);         \
                linear += x - x0, gob += step_B;                                                   \
            }                                                                                      \
            count = (x1 - x) / 64;                                                                 \
            TILE_BY_PATH(run_##direction, path, gob, step_B, linear, pitch_B, count);              \
            x += count * 64, linear += count * 64, gob += count * step_B;                          \
        }                                                                                          \
        for (uint64_t next; x < x1; linear += next - x, gob += step_B, x = next) {                 \
            next = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;                                          \
            gob_##direction##_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(next - x),  \
                                   row.y0, row.y1);                                                \
        }                                                                                          \
    }
GOB_ROW(row_tile, tile, uint8_t, const uint8_t)
GOB_ROW(row_untile_stateless, untile, const uint8_t, uint8_t)
#undef GOB_ROW

KN_INLINE void row_untile(struct row_state *state, const uint8_t *gobs, uint64_t step_B,
                          struct gob_row row, uint8_t *linear, uint64_t pitch_B,
                          enum tile_path path)
{
    (void)state;
    row_untile_stateless(gobs, step_B, row, linear, pitch_B, path);
}
