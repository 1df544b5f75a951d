// SPDX-License-Identifier: MIT
// Inside kernels/sample/: the parts of a fetch. fetch.c calls them in this order, for each lane:
//
//     lod.c         coordinates and gradients → one or two mip levels, and the fraction between
//     probes.c      gradients → the samples of an anisotropic filter
//     footprint.c   coordinates → taps: texels of a level and their weights     (axis.h, cube.c)
//     texel.c       a tap → its channels as filters need them                   (block*.c)
//     filter.c      channels and weights → a value
//
// Values of a channel have one of the classes below: they stay in it between texel and result.
#pragma once

#include "kn_sample.h"

// The forms of a channel's value between the texel and the result.
enum kn_sample_class {
    KN_SAMPLE_SHORT,   // an integer of 8 or 16 bits, extended to a word
    KN_SAMPLE_WORD,    // an integer of 32 bits
    KN_SAMPLE_SIGNED,  // the same with a sign
    KN_SAMPLE_UNORM,   // 0 to 65535
    KN_SAMPLE_UNORM10, // 10 bits widened to 16; filters make it UNORM
    KN_SAMPLE_SNORM8,  // -128 to 127; filters make it SNORM16
    KN_SAMPLE_SNORM16, // -32768 to 32767
    KN_SAMPLE_HALF,    // the bits of an f16
    KN_SAMPLE_SRGB,    // n / 2^q as q << 8 | n, see srgb_value; filters make it HALF
    KN_SAMPLE_FLOAT,   // the bits of an f32
};

enum { KN_TAPS_MAX = 16, KN_TAP_BORDER = INT32_MIN };

// A weight that is above 0 but was rounded to 0. Infinite texels and NaNs of such a weight count.
enum { KN_WEIGHT_TINY = 0x8000 };

// The texels that a sample reads, of one or two levels. They lie in slabs: one texel, the two of a
// row, or the four of a slice. Sums are rounded slab by slab.
struct kn_taps {
    unsigned slabs;         // 1, 2 or 4: of the lower level, then of the upper one
    unsigned count;         // taps of a slab: 1, 2 or 4
    unsigned corner;        // a tap beyond a corner of a cube, or KN_TAPS_MAX
    unsigned upper;         // taps from this one on are of the upper level
    int32_t x[KN_TAPS_MAX]; // KN_TAP_BORDER: the border colour
    int32_t y[KN_TAPS_MAX];
    int32_t z[KN_TAPS_MAX];       // slice or layer
    uint16_t weight[KN_TAPS_MAX]; // of 256 in all, or KN_WEIGHT_TINY
};

// The operands of one lane. Directions of cube maps become coordinates of a face first.
struct kn_lane {
    uint32_t coordinate[3]; // f32 bits
    int32_t layer;
    int32_t offset[3];
    int32_t shift_256[2]; // of a probe from the coordinates: 1/256 of a texel of its level
};

// The levels that a fetch combines.
struct kn_lod {
    uint32_t level;
    uint32_t fraction; // of the next level, 0 to 255
};

// The samples of an anisotropic filter in one level: pairs of them, one on each side of the
// coordinates.
struct kn_row {
    unsigned pairs; // 0: a single sample at the coordinates
    unsigned more;  // weights are of 256 << more
    uint32_t
        inner; // the weight of a sample, except those of the outermost pair: they have the rest
    int32_t step_128[2]; // half of the way from one sample to the next, in 1/128 of a texel
};

// The samples of an anisotropic filter.
struct kn_probes {
    bool several;         // otherwise there is a single sample at the coordinates
    unsigned more;        // the weights of all samples are 256 << more
    struct kn_row row[2]; // of the lower level and of the upper one
};
