// SPDX-License-Identifier: MIT
// The sums of filters, with the card's precision and rounding.
#pragma once

#include "sample.h"

enum { KN_FILTER_SLABS_MAX = 32 };

// Sums values of a class with their weights. `value` and `weight` have slabs * count entries, slab
// after slab; the weights are 256 << more in all. The result is of the same class, but of SNORM8 it
// is SNORM16. At most KN_FILTER_SLABS_MAX slabs.
uint32_t kn_filter_sum(enum kn_sample_class class, const uint32_t *value, const uint16_t *weight,
                       unsigned slabs, unsigned count, unsigned more);

// The class of kn_filter_sum's results.
enum kn_sample_class kn_filter_class(enum kn_sample_class class);

// Makes the result of a fetch from a value: the bits of an f32, or the word itself.
uint32_t kn_filter_result(enum kn_sample_class class, uint32_t value);
