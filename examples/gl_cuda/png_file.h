// SPDX-License-Identifier: MIT
// The parts of the examples that use neither OpenGL nor CUDA.
#pragma once
#include <stdint.h>

// Compares two RGBA pictures and prints the first difference. Returns the number of pixels that
// differ.
uint64_t pixels_differ(const uint8_t *got, const uint8_t *want, uint32_t width, uint32_t height);
// Writes a PNG file from rows in bottom-up order. Returns 0 or -1.
int png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height);
