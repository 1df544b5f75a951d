// SPDX-License-Identifier: MIT
// One row of GOBs, of whole GOBs without bounds checks and of parts at its ends, for instruction
// sets without byte masks. The file that includes this one has defined gob_tile(), gob_untile() and
// piece_B().
#include "tile_part.h"
#include "tile_way.h"

// Whole GOBs. Not inlined, so that the loop has the registers to itself.
#define RUNS(name, way)                                                                            \
    static KN_NOINLINE void run_tile_##name(uint8_t *gob, uint64_t step_B, const uint8_t *linear,  \
                                            uint64_t pitch_B, uint64_t count)                      \
    {                                                                                              \
        for (; count; count--, linear += 64, gob += step_B) {                                      \
            if ((way) == TILE_PREFETCHED && count > 1)                                             \
                for (unsigned line = 0; line < 8; line++)                                          \
                    __builtin_prefetch(gob + step_B + line * 64, 1, 3);                            \
            gob_tile(gob, linear, pitch_B, (way) == TILE_STREAMED);                                \
        }                                                                                          \
    }                                                                                              \
    static KN_NOINLINE void run_untile_##name(const uint8_t *gob, uint64_t step_B,                 \
                                              uint8_t *linear, uint64_t pitch_B, uint64_t count)   \
    {                                                                                              \
        for (; count; count--, linear += 64, gob += step_B) {                                      \
            if ((way) == TILE_PREFETCHED && count > TILE_AHEAD_B / 64)                             \
                for (unsigned row = 0; row < 8; row++)                                             \
                    __builtin_prefetch(linear + TILE_AHEAD_B + row * pitch_B, 1, 3);               \
            gob_untile(gob, linear, pitch_B, (way) == TILE_STREAMED);                              \
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

// What an instruction set keeps from strip to strip of a box; here nothing.
struct strip_state {
    char none;
};

KN_INLINE void strip_begin(struct strip_state *state)
{
    state->none = 0;
}

// Bytes x0 to x1 of rows y0 to y1 (0 to 8). `gobs` is where the GOB of x = 0 is, or would be (an
// offset from the surface); `linear` is where (x0, y0) is. Either is the destination.
#define STRIP(direction, gob_type, linear_type, ...)                                               \
    KN_INLINE void strip_##direction(__VA_ARGS__ gob_type *gobs, uint64_t step_B, uint64_t x0,     \
                                     uint64_t x1, unsigned y0, unsigned y1, linear_type *linear,   \
                                     uint64_t pitch_B, enum tile_way way)                          \
    {                                                                                              \
        uint64_t x = x0;                                                                           \
        gob_type *gob = gobs + (x0 >> 6) * step_B;                                                 \
                                                                                                   \
        if (y1 - y0 == 8 && x1 - x0 >= 64) {                                                       \
            uint64_t count;                                                                        \
            if (x & 63) {                                                                          \
                x = (x | 63) + 1;                                                                  \
                gob_##direction##_part(gob, linear, pitch_B, x0 & 63, 64, y0, y1);                 \
                linear += x - x0, gob += step_B;                                                   \
            }                                                                                      \
            count = (x1 - x) / 64;                                                                 \
            TILE_BY_WAY(run_##direction, way, gob, step_B, linear, pitch_B, count);                \
            x += count * 64, linear += count * 64, gob += count * step_B;                          \
        }                                                                                          \
        for (uint64_t next; x < x1; linear += next - x, gob += step_B, x = next) {                 \
            next = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;                                          \
            gob_##direction##_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(next - x),  \
                                   y0, y1);                                                        \
        }                                                                                          \
    }
#define STATE struct strip_state *state,
STRIP(tile, uint8_t, const uint8_t, )
STRIP(untile, const uint8_t, uint8_t, STATE)
#undef STATE
#undef STRIP
