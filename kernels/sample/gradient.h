// SPDX-License-Identifier: MIT
// The length of a fetch's gradients.
#pragma once

#include "sample.h"

// The ellipse that a fetch's gradients span, in texels of the base level, as the card computes it.
struct kn_gradient {
    double length;  // of its longer axis
    double area;    // length times width; 0 if it is only a line
    double axis[2]; // the direction of the longer axis; 0 if there is no anisotropic filter
};

// The ellipse of the gradients dx and dy (f32 bits, in the units of the coordinates) at the
// coordinates of `lane`.
struct kn_gradient kn_gradient(const struct kn_texture *t, const struct kn_lane *lane,
                               const uint32_t dx[3], const uint32_t dy[3]);
