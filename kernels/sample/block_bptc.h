// SPDX-License-Identifier: MIT
// Decodes single texels of BC6H and BC7, and what the two formats have in common.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Texel i (4 * y + x) of a block: three f16 values, and four bytes.
void kn_bc6h_texel(const uint8_t *block, unsigned i, bool is_signed, uint32_t half[3]);
void kn_bc7_texel(const uint8_t *block, unsigned i, uint32_t byte[4]);

// A block of 128 bits that is read from its first bit on.
struct kn_bptc_bits {
    const uint8_t *block;
    unsigned at;
};

// Takes the next `count` bits, 0 to 16.
uint32_t kn_bptc_take(struct kn_bptc_bits *bits, unsigned count);

// The subset of a texel, if a block is divided into `subsets` (1 to 3) by pattern `partition`.
unsigned kn_bptc_subset(unsigned subsets, unsigned partition, unsigned i);

// Takes the indices of all texels, and returns that of texel i. The first texel of each subset
// (its anchor) has one bit less.
unsigned kn_bptc_index(struct kn_bptc_bits *bits, unsigned subsets, unsigned partition,
                       unsigned index_bits, unsigned i);

// The weight of an index, of 64.
unsigned kn_bptc_weight(unsigned index_bits, unsigned index);
