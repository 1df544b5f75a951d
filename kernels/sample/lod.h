// SPDX-License-Identifier: MIT
// The level of detail of a fetch.
#pragma once

#include "sample.h"

// Converts the texture's bias and limits to units of 1/256.
void kn_lod_prepare(struct kn_texture *t);

// The levels of a fetch that names its LOD (f32 bits), or of one that does not.
struct kn_lod kn_lod_explicit(const struct kn_texture *t, uint32_t lod);
struct kn_lod kn_lod_base(const struct kn_texture *t);

// The levels of a fetch with gradients: f32 bits in the units of the coordinates, dx[3] and dy[3].
// For cube maps, lane is the direction. Writes the probes of an anisotropic filter.
struct kn_lod kn_lod_gradient(const struct kn_texture *t, const struct kn_lane *lane,
                              const uint32_t dx[3], const uint32_t dy[3], struct kn_probes *probes);
