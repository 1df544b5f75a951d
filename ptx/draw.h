// SPDX-License-Identifier: MIT
// Drawn orders of blocks, warps and fragments, for grids with a seed.
#pragma once
#include <stdint.h>

// A number that looks random: the output function of splitmix64.
static inline uint64_t px_drawn(uint64_t seed, uint64_t number)
{
    uint64_t x = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// The number at a position of a drawn order of the numbers below `count`. Seed 0 is their own
// order. Precondition: position < count <= 2^62.
uint64_t px_drawn_order(uint64_t seed, uint64_t position, uint64_t count);
