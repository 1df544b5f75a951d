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

// Moves the LOD of an anisotropic filter closer to a level.
int32_t kn_probes_sharpen(const struct kn_texture *t, int32_t lod);

// The samples for a ratio and an LOD, along an axis. `levels` are those that the fetch reads.
struct kn_probes kn_probes_plan(int32_t ratio, int32_t lod, const double axis[2],
                                struct kn_lod levels);

// The weights of a sample in two levels. Samples have numbers from -pairs to pairs - 1.
void kn_probes_weigh(const struct kn_probes *probes, int sample, uint32_t fraction,
                     uint32_t whole[2]);
