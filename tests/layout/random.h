// SPDX-License-Identifier: MIT
// Random array descriptions, the same sequence everywhere.
#pragma once

#include "layout.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_below(uint64_t end)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return end ? random_state % end : 0;
}

static inline uint64_t random_extent(uint64_t most)
{
    return 1 + random_below(random_below(3) ? 1 + most / 8 : most);
}

static inline struct dm_layout_desc random_desc(void)
{
    static const uint32_t element_B[] = {1, 2, 4, 8, 16};
    struct dm_layout_desc d = {.kind = (enum dm_layout_kind)random_below(4),
                               .element_B = element_B[random_below(5)],
                               .levels = 1};
    unsigned shape = random_below(5);

    if (shape >= 1 && d.element_B >= 8 && !random_below(3))
        d.block_px = 4;
    d.width_px = random_extent(shape ? 150 : 3000) * (d.block_px ? 2 : 1);
    d.height_px = shape ? random_extent(150) : 0;
    if (shape == 2)
        d.depth = random_extent(40);
    if (shape == 3 || (shape == 0 && random_below(2)))
        d.layers = random_extent(9);
    if (shape == 4) {
        d.height_px = d.width_px;
        d.layers = 6 * random_extent(2);
        d.cube = true;
    }
    if (d.kind == DM_LAYOUT_PITCH)
        d.pitch_B = random_below(2) ? (d.width_px + random_below(100)) * d.element_B : 0;
    else
        d.levels = 1 + random_below(dm_layout_levels_most(d.width_px, d.height_px, d.depth));
    return d;
}

static inline void describe(char *text, size_t size_B, const struct dm_layout_desc *d)
{
    snprintf(text, size_B,
             "kind %d %" PRIu64 "x%" PRIu64 "x%" PRIu64 " layers %" PRIu64
             " levels %u, %u B per %u px",
             d->kind, d->width_px, d->height_px, d->depth, d->layers, d->levels, d->element_B,
             d->block_px);
}
