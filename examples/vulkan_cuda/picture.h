// SPDX-License-Identifier: MIT
// The expected pixels, computed on the CPU, and the PNG files that the examples leave.
#pragma once
#include <stdint.h>

// Bytes of all levels of one RGBA8 layer, tightly packed.
uint64_t picture_chain_B(uint32_t width, uint32_t height, uint32_t levels);
// The level's first byte in such a chain.
uint64_t picture_level_offset_B(uint32_t width, uint32_t height, uint32_t level);

// What draw.comp draws, for the whole chain.
void picture_drawn(uint8_t *chain, uint32_t width, uint32_t height, uint32_t levels);
// What the CUDA half makes of it: the quadrants of level 0 swapped crosswise, level 2 stamped into
// the middle of level 0, a red frame of 2 texels around the stamp; the smaller levels as they were.
void picture_expected(uint8_t *chain, const uint8_t *drawn, uint32_t width, uint32_t height,
                      uint32_t levels);

// Compares two chains; prints the first difference. Returns the number of texels that differ.
uint64_t picture_compare(const char *what, const uint8_t *got, const uint8_t *want, uint32_t width,
                         uint32_t height, uint32_t levels);

// Writes two chains beside each other as one PNG: each as level 0 with the smaller levels in a
// column to its right. Returns 0, or -1.
int picture_write_png(const char *path, const uint8_t *left, const uint8_t *right, uint32_t width,
                      uint32_t height, uint32_t levels);
