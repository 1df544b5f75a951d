// SPDX-License-Identifier: MIT
// Random block-linear surfaces and boxes in them.
#pragma once

#include "checkasm.h"

#define CA_TILE_ARENA_B (256u << 10)

struct ca_box {
    struct kn_tiled desc;
    uint64_t depth; // slices of the surface
    uint64_t x_B, y, z, width_B, rows, slices;
    uint64_t pitch_B, slice_B,
        linear_B; // the linear side; linear_B: from its first to its last byte
};

#define CA_BOX_FORMAT "%ux%u gobs, block 2^%u 2^%u, box %llux%llux%llu at %llu,%llu,%llu pitch %llu"
#define CA_BOX_VALUES(s)                                                                           \
    (s)->desc.width_gob, (s)->desc.height_gob, (s)->desc.block_height_log2,                        \
        (s)->desc.block_depth_log2, (unsigned long long)(s)->width_B,                              \
        (unsigned long long)(s)->rows, (unsigned long long)(s)->slices,                            \
        (unsigned long long)(s)->x_B, (unsigned long long)(s)->y, (unsigned long long)(s)->z,      \
        (unsigned long long)(s)->pitch_B

// A surface and a linear box that each fit in `limit_B`.
void ca_random_box(struct ca_box *box, uint64_t limit_B);
// Another surface with a box of the same extent.
void ca_random_box_like(struct ca_box *box, const struct ca_box *extent, uint64_t limit_B);
// Surfaces start on GOB boundaries, flush with either end of the arena, or anywhere when `limit`
// allows.
size_t ca_place_tiled(const struct ca_arena *arena, const struct kn_tiled *desc, uint64_t depth);
