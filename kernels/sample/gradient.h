// SPDX-License-Identifier: MIT
// The length of a fetch's gradients.
#pragma once

#include "sample.h"

// The length in texels of the base level, as the card computes it: of the gradients dx and dy (f32
// bits, in the units of the coordinates) at the coordinates of `lane`.
double kn_gradient_length(const struct kn_texture *t, const struct kn_lane *lane,
                          const uint32_t dx[3], const uint32_t dy[3]);
