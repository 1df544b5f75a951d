// SPDX-License-Identifier: MIT
// The texels that a sample reads.
#pragma once

#include "sample.h"

// Finds the taps of a lane in one or two levels, of one texel each or those of a linear filter.
// All weights are 256 in all.
void kn_footprint(const struct kn_texture *t, struct kn_lod lod, const struct kn_lane *lane,
                  bool linear, struct kn_taps *taps);

// The same with weights that are whole[0] in `level`, and whole[1] in the next level if that is not
// 0.
void kn_footprint_weighted(const struct kn_texture *t, unsigned level, const struct kn_lane *lane,
                           const uint32_t whole[2], bool linear, struct kn_taps *taps);
