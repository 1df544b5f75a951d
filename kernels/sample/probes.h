// SPDX-License-Identifier: MIT
// Anisotropic filters: rows of samples along the longer axis of a gradient's ellipse.
#pragma once

#include "sample.h"

// 256 * log2 of the largest ratio of the ellipse's axes that a maxAnisotropy allows.
int32_t kn_probes_most(uint32_t anisotropy);

// 256 * log2 of the ratio of the axes that counts, at least 0. `length` and `area` are those of the
// ellipse as 256 * log2. The ellipse's `axis` is 0 if the texture has no anisotropic filter.
int32_t kn_probes_ratio(const struct kn_texture *t, int32_t length, int32_t area,
                        const double axis[2]);

// How fast the upper level gains weight between two levels, in units of 1/16.
int32_t kn_probes_slope(const struct kn_texture *t);

// The samples for a ratio of the axes (256 * log2) along an axis, in the levels of `lod`.
struct kn_probes kn_probes_plan(int32_t ratio, const double axis[2], struct kn_lod lod);

// The weight of a sample in the lower level (0) or the upper one (1). Samples have numbers from
// -pairs to pairs - 1; if there are no pairs, the only one has number 0.
uint32_t kn_probes_weigh(const struct kn_probes *p, unsigned level, int sample, uint32_t fraction);
