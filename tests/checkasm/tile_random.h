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
        linear_B; // of the linear side; linear_B: from its first to its last byte
};

#define CA_BOX_FORMAT "%ux%u gobs, block 2^%u 2^%u, box %llux%llux%llu at %llu,%llu,%llu pitch %llu"
#define CA_BOX_VALUES(s)                                                                           \
    (s)->desc.width_gob, (s)->desc.height_gob, (s)->desc.block_height_log2,                        \
        (s)->desc.block_depth_log2, (unsigned long long)(s)->width_B,                              \
        (unsigned long long)(s)->rows, (unsigned long long)(s)->slices,                            \
        (unsigned long long)(s)->x_B, (unsigned long long)(s)->y, (unsigned long long)(s)->z,      \
        (unsigned long long)(s)->pitch_B

// The places of the box: in a surface that starts at `base`, and in linear memory from `first` on.
static inline struct kn_surface ca_surface(const struct ca_box *s, const void *base)
{
    return (struct kn_surface){(uint8_t *)(uintptr_t)base, s->desc, s->x_B, s->y, s->z};
}

static inline struct kn_linear ca_linear(const struct ca_box *s, const void *first)
{
    return (struct kn_linear){(uint8_t *)(uintptr_t)first, s->pitch_B, s->slice_B};
}

static inline struct kn_box ca_extent(const struct ca_box *s)
{
    return (struct kn_box){s->width_B, s->rows, s->slices};
}

// Call a function of a table once. `to` and `from` are the starts of the surface or of the linear
// memory. Retiling takes the extent from the first box.
static inline void ca_tile(const struct kn_dsp *dsp, const struct ca_box *s, void *to,
                           const void *from)
{
    struct kn_surface dst = ca_surface(s, to);
    struct kn_linear src = ca_linear(s, from);
    struct kn_box box = ca_extent(s);

    dsp->tile.tile(&dst, &src, &box);
}

static inline void ca_untile(const struct kn_dsp *dsp, const struct ca_box *s, void *to,
                             const void *from)
{
    struct kn_linear dst = ca_linear(s, to);
    struct kn_surface src = ca_surface(s, from);
    struct kn_box box = ca_extent(s);

    dsp->tile.untile(&dst, &src, &box);
}

static inline void ca_retile(const struct kn_dsp *dsp, const struct ca_box *s, void *to,
                             const struct ca_box *t, const void *from)
{
    struct kn_surface dst = ca_surface(s, to), src = ca_surface(t, from);
    struct kn_box box = ca_extent(s);

    dsp->tile.retile(&dst, &src, &box);
}

// Makes a surface and a linear box that each fit in `limit_B`.
void ca_random_box(struct ca_box *box, uint64_t limit_B);
// Makes another surface with a box of the same extent.
void ca_random_box_like(struct ca_box *box, const struct ca_box *extent, uint64_t limit_B);
// Returns an offset for a surface: mostly at a GOB boundary, at either end of the arena or in
// between.
size_t ca_place_tiled(const struct ca_arena *arena, const struct kn_tiled *desc, uint64_t depth);
