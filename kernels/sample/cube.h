// SPDX-License-Identifier: MIT
// Cube maps: the face of a direction, and the texels beside its edges.
#pragma once

#include "sample.h"

// Replaces the direction in lane->coordinate by normalised coordinates of a face, and returns the
// face: 0 to 5.
unsigned kn_cube_face(struct kn_lane *lane);

// Replaces those of four taps from `from` on that are outside of a face of size texels by their
// neighbours on other faces: z becomes the other face.
void kn_cube_seams(struct kn_taps *taps, unsigned from, int32_t size);
