// SPDX-License-Identifier: MIT
// Straight and pitched copies. Sizes and pitches are in bytes, any alignment is allowed, and an
// extent of 0 copies nothing.
#pragma once

#include "kn_box.h"

// Copies `size_B` bytes. The two ranges must not overlap.
void kn_copy(void *dst, const void *src, uint64_t size_B);

// The same for ranges that may overlap: the result is that of a copy through a buffer.
void kn_move(void *dst, const void *src, uint64_t size_B);

// Copies `rows` rows of `width_B` bytes that start `*_pitch_B` apart. The padding between rows is
// neither read nor written. Pitches must be at least `width_B` (a single row has no pitch), except
// that a source pitch of 0 repeats one row. The rows must not overlap.
void kn_copy_rows(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                  uint64_t width_B, uint64_t rows);

// The same for all slices of a box.
void kn_copy_box(const struct kn_linear *dst, const struct kn_linear *src,
                 const struct kn_box *box);
