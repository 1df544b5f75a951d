// SPDX-License-Identifier: MIT
// Decodes single texels of block-compressed formats.
#pragma once

#include "sample.h"

// Decodes texel (x, y) of a block, 0 to 3 each, into the format's channels: UNORM of 16 bits (BC1,
// BC2, BC3 and BC7: bytes times 257), SNORM16, or HALF. Other channels are not written.
void kn_block_texel(enum kn_texel texel, const uint8_t *block, unsigned x, unsigned y,
                    uint32_t value[4]);
