// SPDX-License-Identifier: MIT
// Random block-linear surfaces and boxes in them.
#include "tile_random.h"

static uint64_t random_start(uint64_t extent, uint64_t size, uint64_t align)
{
    uint64_t start = ca_below(size - extent + 1);

    return ca_below(2) ? start : start / align * align;
}

// Returns 0 if the surface does not fit.
static int random_surface(struct ca_box *s, uint64_t width_gob, uint64_t height, uint64_t depth,
                          uint64_t limit_B)
{
    unsigned a = (unsigned)ca_below(5), b = ca_below(2) ? 0 : (unsigned)ca_below(5);

    s->desc.width_gob = (uint32_t)(width_gob + ca_below(4));
    s->desc.block_height_log2 = (uint8_t)a;
    s->desc.block_depth_log2 = (uint8_t)b;
    s->desc.height_gob = (uint32_t)(((height + 7) / 8 + (1u << a) - 1) >> a << a);
    s->depth = depth + ca_below(3);
    return kn_tiled_size_B(&s->desc, s->depth) <= limit_B;
}

void ca_random_box(struct ca_box *s, uint64_t limit_B)
{
    do {
        uint64_t width_B = 1 + ca_below(600), height = 1 + ca_below(100),
                 depth = ca_below(3) ? 1 : 1 + ca_below(9);
        unsigned element_B = 1u << ca_below(5);

        s->linear_B = UINT64_MAX;
        if (!random_surface(s, (width_B + 63) / 64, height, depth, limit_B))
            continue;
        width_B = s->desc.width_gob * 64;
        height = s->desc.height_gob * 8;
        switch (ca_below(3)) {
        case 0: // the whole surface
            s->width_B = width_B, s->rows = height, s->slices = s->depth;
            break;
        case 1: // whole GOBs and a ragged edge
            s->width_B = width_B - ca_below(64), s->rows = height - ca_below(8),
            s->slices = s->depth;
            break;
        default:
            s->width_B = 1 + ca_below(width_B), s->rows = 1 + ca_below(height),
            s->slices = 1 + ca_below(s->depth);
            break;
        }
        if (s->width_B > element_B)
            s->width_B -= s->width_B % element_B;
        s->x_B = random_start(s->width_B, width_B, ca_below(2) ? 64 : element_B);
        s->y = random_start(s->rows, height, 8);
        s->z = ca_below(s->depth - s->slices + 1);
        s->pitch_B = s->width_B + (ca_below(2) ? 0 : ca_below(100));
        if (!ca_below(3))
            s->pitch_B = (s->pitch_B + 63) & ~UINT64_C(63);
        s->slice_B = s->pitch_B * s->rows + (ca_below(2) ? 0 : ca_below(300));
        s->linear_B = (s->slices - 1) * s->slice_B + (s->rows - 1) * s->pitch_B + s->width_B;
    } while (s->linear_B > limit_B);
}

void ca_random_box_like(struct ca_box *s, const struct ca_box *like, uint64_t limit_B)
{
    uint64_t x_B = ca_below(3) ? like->x_B & 63 : ca_below(64),
             y = ca_below(2) ? like->y & 7 : ca_below(8);

    *s = *like;
    if (!random_surface(s, (x_B + s->width_B + 63) / 64, y + s->rows, s->slices, limit_B)) {
        *s = *like;
        return;
    }
    s->x_B = x_B;
    s->y = y;
    s->z = ca_below(s->depth - s->slices + 1);
}

size_t ca_place_tiled(const struct ca_arena *arena, const struct kn_tiled *desc, uint64_t depth)
{
    uint64_t size_B = kn_tiled_size_B(desc, depth);

    return ca_arena_place(arena, size_B) & ~(size_t)(ca_below(8) ? 511 : 15);
}
