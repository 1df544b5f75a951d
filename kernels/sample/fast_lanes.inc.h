// SPDX-License-Identifier: MIT
// For the fast fetches: loads the elements of 32 lanes, takes channels out of them, and writes
// results.
#pragma once

#include "kn_sample.h"
#include "lanes/lanes.inc.h"

// Loads an element of each lane that takes part: word k of lane i is to[k][i]. Other lanes read
// nothing.
KN_INLINE void load_words(const uint8_t *base, const uint32_t *offset, uint32_t active,
                          unsigned element_B, uint32_t to[4][KN_LANES])
{
    for (int i = 0; i < KN_LANES; i++) {
        uint32_t word[4] = {0, 0, 0, 0};
        if (active >> i & 1)
            memcpy(word, base + offset[i], element_B);
        for (unsigned k = 0; k < (element_B + 3) / 4; k++)
            to[k][i] = word[k];
    }
}

KN_INLINE void write_channel(const struct kn_fetch *f, unsigned channel, const uint32_t *value)
{
    uint32_t *out = f->out[channel];

    if (f->active == UINT32_MAX) {
        for (int i = 0; i < KN_LANES; i++)
            out[i] = value[i];
        return;
    }
    for (int i = 0; i < KN_LANES; i++)
        if (f->active >> i & 1)
            out[i] = value[i];
}

KN_INLINE void write_missing(const struct kn_fetch *f, unsigned channels)
{
    static const uint32_t zeros[KN_LANES];

    for (unsigned c = channels; c < 4; c++)
        write_channel(f, c, zeros);
}

// Channel c of texels that are `bits` wide, 8 to 32, at its place in the words of load_words.
KN_INLINE void channel_of(const uint32_t words[4][KN_LANES], unsigned channel, unsigned bits,
                          uint32_t *value)
{
    const unsigned at = channel * bits, shift = at % 32;
    const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    const uint32_t *word = words[at / 32];

    KN_EACH_LANE
    value[i] = word[i] >> shift & mask;
}
