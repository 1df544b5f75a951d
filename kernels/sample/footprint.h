// SPDX-License-Identifier: MIT
// The texels that a sample reads.
#pragma once

#include "sample.h"

// Finds the taps of a lane in one or two levels, of one texel each or those of a linear filter.
// All weights are 256 in all.
void kn_footprint(const struct kn_texture *t, struct kn_lod lod, const struct kn_lane *lane,
                  bool linear, struct kn_taps *taps);

// The texels of one level, with weights that are `whole` in all.
void kn_footprint_weighted(const struct kn_texture *t, unsigned level, const struct kn_lane *lane,
                           uint32_t whole, bool linear, struct kn_taps *taps);
