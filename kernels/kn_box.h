// SPDX-License-Identifier: MIT
// Boxes of bytes, and the places in linear memory that they are copied from and to.
#pragma once

#include <stdint.h>

// The extent of a box: `rows` rows of `width_B` bytes, in each of `slices` slices.
struct kn_box {
    uint64_t width_B, rows, slices;
};

// A box in linear memory: rows start `pitch_B` apart, slices `slice_B`. If it is the source of a
// copy, its bytes are only read.
struct kn_linear {
    uint8_t *first; // the box's first byte
    uint64_t pitch_B, slice_B;
};
