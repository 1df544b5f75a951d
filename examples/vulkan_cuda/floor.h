// SPDX-License-Identifier: MIT
// A picture for which Vulkan samples all levels of an image.
#pragma once
#include "gpu.h"

// Acquires the image from the other API, and runs floor.comp: level 0 above, a floor of all levels
// below, as width x height texels of RGBA in a host buffer.
void floor_show(struct gpu *gpu, const struct gpu_image *image, const struct gpu_buffer *host,
                uint32_t width, uint32_t height);

// Computes the same picture on the CPU, from a tightly packed chain of levels. Devices filter with
// 8 bits of a weight or more, so a channel may differ by some units.
void floor_expected(uint8_t *picture, uint32_t width, uint32_t height, const uint8_t *chain,
                    const struct gpu_image *image);
