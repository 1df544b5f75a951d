// SPDX-License-Identifier: MIT
// What the examples share that is neither OpenGL nor CUDA.
#pragma once
#include <stdint.h>

// Compares two pictures of RGBA, prints the first difference; returns the number of pixels that
// differ.
uint64_t pixels_differ(const uint8_t *got, const uint8_t *want, uint32_t width, uint32_t height);
// Writes rows that come from the bottom up. Returns 0, or -1.
int png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height);
