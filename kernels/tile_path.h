// SPDX-License-Identifier: MIT
// How boxes are tiled: the path that is chosen by size, and the distances of prefetches.
// docs/internals/kernels.md has the measurements.
#pragma once

#include "gob.h"
#include "kn_dsp.h"

#include <stdbool.h>

// The path of a box, by its size and the alignment of the rows it writes. (tests/layout/drawings.c
// compares this table with tile_path().)
//
//   bytes of the box     rows at 64 bytes   rows elsewhere
//   0                    cached             cached
//   kn_prefetch_min_B    prefetched         prefetched
//   kn_far_min_B         far                far
//   kn_stream_min_B      streamed           far
enum tile_path {
    // A row of GOBs at a time, because linear memory then is eight sequential streams.
    TILE_CACHED,
    // The same, and the destination is prefetched: the hardware's prefetcher follows neither the
    // steps from block to block nor eight streams of stores.
    TILE_PREFETCHED,
    // The same for boxes that are probably not in L2: tiling prefetches only the next GOB, and its
    // stores are no wider than 32 bytes.
    TILE_FAR,
    // Non-temporal stores. To tile, a row of GOBs is still the best order (each GOB is eight full
    // lines). To untile, whole blocks are read in the order of memory.
    TILE_STREAMED,
};

// Destinations are prefetched this number of GOBs before, in the order in which GOBs are copied:
// at the end of a row of GOBs, in the next one. The ragged GOBs at both ends of a row are not
// counted: copying one prefetches the same one of the next row, without the columns outside the
// box, so that the loop of whole GOBs needs no decisions.
#define TILE_AHEAD_GOBS 3
#define TILE_FAR_AHEAD_GOBS 1
#define UNTILE_AHEAD_GOBS 2
#define RETILE_AHEAD_B 1024 // in the order of the destination's memory
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

// Prefetches 512 bytes that will be written: eight lines, or rows `pitch_B` apart.
static inline __attribute__((always_inline)) void tile_write_ahead(uintptr_t at, uint64_t pitch_B)
{
#pragma GCC unroll 8
    for (unsigned row = 0; row < 8; row++)
        __builtin_prefetch((const void *)(at + row * pitch_B), 1, 3);
}

// Prefetches the lines of a GOB that hold the columns `first` to `end` of 16 bytes.
static inline __attribute__((always_inline)) void
tile_write_ahead_columns(uintptr_t gob, unsigned first, unsigned end)
{
    for (unsigned column = first; column < end; column++) {
        const uintptr_t line = gob + gob_cell_B(column, 0);
        __builtin_prefetch((const void *)line, 1, 3);
        __builtin_prefetch((const void *)(line + gob_cell_B(0, 4)), 1, 3);
    }
}

// How far ahead tiling prefetches in a row of `gobs` GOBs.
static inline uint64_t tile_ahead_gobs(enum tile_path path, uint64_t gobs)
{
    const uint64_t most = path == TILE_FAR ? TILE_FAR_AHEAD_GOBS : TILE_AHEAD_GOBS;

    return most < gobs ? most : gobs;
}

// Plain C runs while another thread still sets the limits (kn_init).
static inline uint64_t tile_limit(const uint64_t *limit_B)
{
    return __atomic_load_n(limit_B, __ATOMIC_RELAXED);
}

// `alignment` is the bitwise or of all addresses and pitches that lines of the destination begin
// at.
static inline enum tile_path tile_path(uint64_t size_B, uintptr_t alignment, bool can_stream)
{
    if (can_stream && size_B >= tile_limit(&kn_stream_min_B) && !(alignment & 63))
        return TILE_STREAMED;
    if (size_B < tile_limit(&kn_prefetch_min_B))
        return TILE_CACHED;
    return size_B < tile_limit(&kn_far_min_B) ? TILE_PREFETCHED : TILE_FAR;
}

// Whether streamed untiling writes TILE_ROWS_GOBS lines of a row at a time.
#define TILE_ROWS_GOBS 8
static inline bool tile_by_rows(uint64_t pitch_B)
{
    return kn_untile_rows_pitch_B && !(pitch_B & (kn_untile_rows_pitch_B - 1));
}

static inline bool tile_path_prefetches(enum tile_path path)
{
    return path == TILE_PREFETCHED || path == TILE_FAR;
}

// Calls function_cached(), function_prefetched(), function_far() or function_streamed().
#define TILE_BY_PATH(function, path, ...)                                                          \
    do {                                                                                           \
        if ((path) == TILE_CACHED)                                                                 \
            function##_cached(__VA_ARGS__);                                                        \
        else if ((path) == TILE_PREFETCHED)                                                        \
            function##_prefetched(__VA_ARGS__);                                                    \
        else if ((path) == TILE_FAR)                                                               \
            function##_far(__VA_ARGS__);                                                           \
        else                                                                                       \
            function##_streamed(__VA_ARGS__);                                                      \
    } while (0)
