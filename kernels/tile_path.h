// SPDX-License-Identifier: MIT
// How boxes are tiled: the path that is chosen by size, and how a box is divided into whole GOBs
// and ragged edges. docs/internals/kernels.md has the measurements.
#pragma once

#include "kn_dsp.h"

#include <stdbool.h>

// The path of a box, by its size and the alignment of the rows it writes. (tests/layout/drawings.c
// compares this table with tile_path().)
//
//   bytes of the box     rows at 64 bytes   rows elsewhere
//   0                    cached             cached
//   kn_prefetch_min_B    prefetched         prefetched
//   kn_stream_min_B      streamed           prefetched
enum tile_path {
    // A row of GOBs at a time, because linear memory then is eight sequential streams.
    TILE_CACHED,
    // The same, and the destination is prefetched: the hardware's prefetcher follows neither the
    // steps from block to block nor eight streams of stores.
    TILE_PREFETCHED,
    // Non-temporal stores. To tile, a row of GOBs is still the best order (each GOB is eight full
    // lines). To untile, whole blocks are read in the order of memory.
    TILE_STREAMED,
};

// Distances of prefetches: bytes of linear memory before the stores, and GOBs before the loads.
#define TILE_PREFETCH_B 256
#define TILE_PREFETCH_GOBS 3
// The same for the loads of the streamed path: bytes of each row of linear memory, and bytes of the
// surface, which is read in the order of memory. Prefetching past the end of either does no harm.
#define TILE_STREAM_AHEAD_B 512
#define TILE_STREAM_GOBS_B 2048

// Prefetches 512 bytes that will be read: eight rows `pitch_B` apart, or a GOB if that is 64.
static inline __attribute__((always_inline)) void
tile_read_ahead(const uint8_t *from, uint64_t ahead_B, uint64_t pitch_B)
{
    for (unsigned row = 0; row < 8; row++)
        __builtin_prefetch((const void *)((uintptr_t)from + ahead_B + row * pitch_B), 0, 3);
}

// `alignment` is the bitwise or of all addresses and pitches that lines of the destination begin
// at.
static inline enum tile_path tile_path(uint64_t size_B, uintptr_t alignment, bool can_stream)
{
    if (can_stream && size_B >= kn_stream_min_B && !(alignment & 63))
        return TILE_STREAMED;
    return size_B >= kn_prefetch_min_B ? TILE_PREFETCHED : TILE_CACHED;
}

// Calls function_cached(), function_prefetched() or function_streamed().
#define TILE_BY_PATH(function, path, ...)                                                          \
    do {                                                                                           \
        if ((path) == TILE_CACHED)                                                                 \
            function##_cached(__VA_ARGS__);                                                        \
        else if ((path) == TILE_PREFETCHED)                                                        \
            function##_prefetched(__VA_ARGS__);                                                    \
        else                                                                                       \
            function##_streamed(__VA_ARGS__);                                                      \
    } while (0)

// A box that begins at the same byte of a GOB in both surfaces has whole GOBs in the middle, and
// ragged edges of up to 63 bytes and 7 rows around them. The drawing shows 192 bytes x 28 rows at
// x = 40, y = 6; each character stands for 8 bytes x 2 rows, G and g for GOBs, T, L, R and B for
// the edges.
//
//   TTTTTTTTTTTTTTTTTTTTTTTT
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLggggggggGGGGGGGGRRRRR
//   LLLggggggggGGGGGGGGRRRRR
//   LLLggggggggGGGGGGGGRRRRR
//   LLLggggggggGGGGGGGGRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   LLLGGGGGGGGggggggggRRRRR
//   BBBBBBBBBBBBBBBBBBBBBBBB
struct tile_edges {
    uint64_t left_B, top;     // up to the first whole GOB
    uint64_t across_B, down;  // whole GOBs
    uint64_t right_B, bottom; // after the last whole GOB
};

// Precondition: at least one whole GOB fits.
static inline struct tile_edges tile_edges(uint64_t x_B, uint64_t y, const struct kn_box *box)
{
    struct tile_edges e = {.left_B = -x_B & 63, .top = -y & 7};

    e.across_B = (box->width_B - e.left_B) / 64 * 64;
    e.down = (box->rows - e.top) / 8 * 8;
    e.right_B = box->width_B - e.left_B - e.across_B;
    e.bottom = box->rows - e.top - e.down;
    return e;
}
