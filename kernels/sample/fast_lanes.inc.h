// SPDX-License-Identifier: MIT
// For the fast fetches: finds and loads the elements of 32 lanes, takes channels out of them, and
// writes results.
#pragma once

#include "kn_sample.h"
#include "lanes/lanes.inc.h"

// The offset of an element in a level is the sum of two parts. The first one depends on the column,
// the second one on the row and on the layer's offset. Levels have less than 2^32 bytes: the
// functions that choose fast fetches see to that.
KN_INLINE void offset_columns(const struct kn_texture *t, const struct kn_texture_level *l,
                              const int32_t *x, uint32_t *offset)
{
    const struct kn_tiled *tiled = &l->tiled;
    const uint32_t element_B = t->element_B;
    const unsigned step = 9u + tiled->block_height_log2 + tiled->block_depth_log2;

    if (t->block_linear) {
        KN_EACH_LANE
        {
            const uint32_t b = (uint32_t)x[i] * element_B;
            offset[i] = (b >> 6) << step | (b & 32) << 3 | (b & 16) << 2 | (b & 15);
        }
    } else {
        KN_EACH_LANE
        offset[i] = (uint32_t)x[i] * element_B;
    }
}

KN_INLINE void offset_rows(const struct kn_texture *t, const struct kn_texture_level *l,
                           const int32_t *y, const uint32_t *layer, uint32_t *offset)
{
    const unsigned height = l->tiled.block_height_log2;
    const unsigned step = 9u + height + l->tiled.block_depth_log2;
    const uint32_t width = l->tiled.width_gob, pitch_B = (uint32_t)l->pitch_B;

    if (t->block_linear) {
        KN_EACH_LANE
        {
            const uint32_t row = (uint32_t)y[i], gob = row >> 3;
            offset[i] = layer[i] + ((gob >> height) * width << step) +
                        ((gob & ((1u << height) - 1)) << 9 | (row & 4) << 5 | (row & 3) << 4);
        }
    } else {
        KN_EACH_LANE
        offset[i] = layer[i] + (uint32_t)y[i] * pitch_B;
    }
}

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

// Writes a channel of the lanes that take part.
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

// Writes 0 to the channels that the format lacks.
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
