// SPDX-License-Identifier: MIT
// Reads texels.
#pragma once

#include "sample.h"

// The class of a channel's values. Channels are r, g, b and a.
enum kn_sample_class kn_texel_class(const struct kn_texture *t, unsigned channel);

// Reads the four channels of a texel of a level, in their classes. `z` is the slice or the layer.
// Coordinates are inside; x may be KN_TAP_BORDER, which gives the border colour.
void kn_texel_read(const struct kn_texture *t, unsigned level, const int32_t at[3],
                   uint32_t value[4]);

// Converts the texture's border colour to values of the channels' classes.
void kn_texel_border(const struct kn_texture *t, uint32_t value[4]);
