// SPDX-License-Identifier: MIT
// Inside device-model only: levels of block-linear layouts as kernels/ describes surfaces.
#pragma once

#include "kn_tile.h"
#include "layout.h"

static inline struct kn_tiled dm_level_tiled(const struct dm_layout_level *v)
{
    return (struct kn_tiled){.width_gob = v->width_gob,
                             .height_gob = v->height_gob,
                             .block_height_log2 = v->block_height_log2_gob,
                             .block_depth_log2 = v->block_depth_log2_gob};
}
