// SPDX-License-Identifier: MIT
// The expected pixels, computed on the CPU, and the PNG files of the examples.
#pragma once
#include <stdint.h>

// Bytes of all levels of one RGBA8 layer, tightly packed.
uint64_t picture_chain_B(uint32_t width, uint32_t height, uint32_t levels);
// Offset of a level in such a chain.
uint64_t picture_level_offset_B(uint32_t width, uint32_t height, uint32_t level);

// Computes the picture of draw.comp, for the whole chain.
void picture_drawn(uint8_t *chain, uint32_t width, uint32_t height, uint32_t levels);
// Computes the result of the CUDA part: the quadrants of level 0 swapped diagonally, level 2
// stamped into the middle of level 0, and a red frame of 2 texels around the stamp. The smaller
// levels are unchanged.
void picture_expected(uint8_t *chain, const uint8_t *drawn, uint32_t width, uint32_t height,
                      uint32_t levels);

// Compares two chains and prints the first difference. Returns the number of texels that differ.
uint64_t picture_compare(const char *what, const uint8_t *got, const uint8_t *want, uint32_t width,
                         uint32_t height, uint32_t levels);

// Writes two chains side by side to one PNG: each as level 0 with the smaller levels in a column to
// its right. Returns 0 or -1.
int picture_write_png(const char *path, const uint8_t *left, const uint8_t *right, uint32_t width,
                      uint32_t height, uint32_t levels);
