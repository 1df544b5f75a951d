// SPDX-License-Identifier: MIT
// Cube maps: the face of a direction, and the texels beside its edges.
#pragma once

#include "sample.h"

// A point of the surface of the cube: at[face / 2] is 1 or -1, and the others are from -1 to 1.
struct kn_cube_point {
    unsigned face; // 0 to 5
    double at[3];
};

// The point in the direction of lane->coordinate.
struct kn_cube_point kn_cube_point(const struct kn_lane *lane);

// The components of a vector along the s and t axes of a face.
void kn_cube_plane(unsigned face, const double vector[3], double st[2]);

// Replaces the direction in lane->coordinate by normalised coordinates of a face, and returns the
// face: 0 to 5.
unsigned kn_cube_face(struct kn_lane *lane);

struct kn_axis;

// Samples of anisotropic filters may be far outside of a face. Moves those that have texels beyond
// two edges next to the corner, and others no farther than the next face. [filter_corners]
void kn_cube_axes(struct kn_axis *x, struct kn_axis *y, int32_t size);

// Replaces those of four taps from `from` on that are outside of a face of size texels by their
// neighbours on other faces: z becomes the other face. At a corner, where three faces meet, one tap
// does not exist: it gives its weight to the others, and becomes taps->corner.
void kn_cube_seams(struct kn_taps *taps, unsigned from, int32_t size);
