// SPDX-License-Identifier: MIT
// The sums of filters, with the card's precision and rounding.
#pragma once

#include "sample.h"

enum { KN_FILTER_SLABS_MAX = 32 };

// Slabs of one or two levels, one after the other: at most KN_FILTER_SLABS_MAX.
struct kn_slabs {
    unsigned all;
    unsigned lower;    // those of the lower level, which come first
    unsigned count;    // texels of a slab
    unsigned more;     // the weights are 256 << more in all
    unsigned together; // slabs that are added at a time
};

// Sums values of a class with their weights: `value` and `weight` have all * count entries. The
// result is of the same class, but of SNORM8 it is SNORM16.
uint32_t kn_filter_sum(enum kn_sample_class class, const uint32_t *value, const uint16_t *weight,
                       struct kn_slabs slabs);

// The class of kn_filter_sum's results.
enum kn_sample_class kn_filter_class(enum kn_sample_class class);

// Makes the result of a fetch from a value: the bits of an f32, or the word itself.
uint32_t kn_filter_result(enum kn_sample_class class, uint32_t value);
