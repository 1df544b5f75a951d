// SPDX-License-Identifier: MIT
// The ways by which boxes are tiled and untiled, by size (docs/performance.md has the figures).
#pragma once

enum tile_way {
    // A row of GOBs at a time, since linear memory then is eight sequential streams.
    TILE_CACHED,
    // Beyond kn_prefetch_min_B: the same, and the lines about to be written are asked for early, as
    // the hardware's prefetcher follows neither the
    // steps from block to block nor eight streams of stores.
    TILE_PREFETCHED,
    // Beyond kn_stream_min_B: stores that pass by the caches. To tile, the row of GOBs stays the
    // best order (each GOB is eight full lines); to
    // untile, whole blocks are read in memory's order.
    TILE_STREAMED,
};
// How far ahead lines of linear memory are asked for.
#define TILE_AHEAD_B 256
// And how many GOBs ahead those to be read are, from block to block.
#define TILE_AHEAD_GOBS 3

// Calls function_cached(), function_prefetched() or function_streamed().
#define TILE_BY_WAY(function, way, ...)                                                            \
    do {                                                                                           \
        if ((way) == TILE_CACHED)                                                                  \
            function##_cached(__VA_ARGS__);                                                        \
        else if ((way) == TILE_PREFETCHED)                                                         \
            function##_prefetched(__VA_ARGS__);                                                    \
        else                                                                                       \
            function##_streamed(__VA_ARGS__);                                                      \
    } while (0)
