// SPDX-License-Identifier: MIT
// Fills with values of 1, 2, 4, 8 and 16 bytes, straight and pitched. `count` and `width` are in
// values, pitches in bytes; any alignment is allowed.
#pragma once

#include <stdint.h>

void kn_fill8(void *dst, uint8_t value, uint64_t count);
void kn_fill16(void *dst, uint16_t value, uint64_t count);
void kn_fill32(void *dst, uint32_t value, uint64_t count);

// Fill `rows` rows of `width` values that start `pitch_B` apart. The padding between rows is not
// written.
void kn_fill8_rows(void *dst, uint64_t pitch_B, uint8_t value, uint64_t width, uint64_t rows);
void kn_fill16_rows(void *dst, uint64_t pitch_B, uint16_t value, uint64_t width, uint64_t rows);
void kn_fill32_rows(void *dst, uint64_t pitch_B, uint32_t value, uint64_t width, uint64_t rows);

// The same with a value of 8 or 16 bytes (`value_B`).
void kn_fill_wide_rows(void *dst, uint64_t pitch_B, const void *value, unsigned value_B,
                       uint64_t width, uint64_t rows);
