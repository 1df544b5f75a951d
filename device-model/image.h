// SPDX-License-Identifier: MIT
// Levels of arrays as kernels address them: layouts and formats in the terms of kernels/.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format.h"
#include "kn_sample.h"
#include "kn_surface.h"
#include "layout.h"

// Describes a level of a layout whose byte 0 is at `base`, for surfaces. Returns false if surfaces
// cannot show the format: block-compressed and planar ones. Packed video formats are shown as
// integers.
bool dm_image_init(struct kn_image *image, void *base, const struct dm_layout *layout,
                   uint32_t level, const struct dm_format_info *format, uint32_t channels);

// The format of texels that a texture reads, and the number of its channels. `integer`: integers
// stay integers; otherwise those of 8 and 16 bits are normalised. Returns false for video formats.
bool dm_texel_format(const struct dm_format_info *format, uint32_t channels, bool integer,
                     struct kn_texture *texture);
// Describes a level of a layout whose byte 0 is at `base`, from layer `first_layer` on.
void dm_texture_level(struct kn_texture_level *out, const void *base,
                      const struct dm_layout *layout, uint32_t level, uint32_t first_layer);
