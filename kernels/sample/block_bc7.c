// SPDX-License-Identifier: MIT
// BC7: eight modes, each with its own number of subsets and bits.
#include "block_bptc.h"

struct mode {
    uint8_t subsets, partition_bits, rotation_bits, selector_bits;
    uint8_t colour_bits, alpha_bits;
    uint8_t end_bits;    // a lowest bit for each end of each subset
    uint8_t shared_bits; // a lowest bit for each subset
    uint8_t index_bits, second_index_bits;
};
static const struct mode modes[8] = {
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
};

enum { ENDS_MAX = 6 };

// The ends of all subsets: end[2 * subset] and the next one, r, g, b, a.
struct ends {
    uint32_t end[ENDS_MAX][4];
};

// Widens a value to 8 bits by repeating its upper bits.
static uint32_t widen(uint32_t value, unsigned bits)
{
    const uint32_t upper = value << (8 - bits);

    return upper | upper >> bits;
}

static struct ends ends_take(struct kn_bptc_bits *bits, const struct mode *m)
{
    const unsigned count = 2 * m->subsets;
    const unsigned low = m->end_bits || m->shared_bits ? 1 : 0;
    struct ends e;
    uint32_t lowest = 0;

    for (unsigned c = 0; c < 4; c++)
        for (unsigned i = 0; i < count; i++)
            e.end[i][c] = kn_bptc_take(bits, c < 3 ? m->colour_bits : m->alpha_bits);
    for (unsigned i = 0; i < count; i++) {
        if (m->end_bits || (m->shared_bits && !(i & 1)))
            lowest = kn_bptc_take(bits, 1);
        for (unsigned c = 0; c < 4; c++) {
            const unsigned stored = c < 3 ? m->colour_bits : m->alpha_bits;
            if (!stored)
                e.end[i][c] = 255;
            else
                e.end[i][c] = widen(low ? e.end[i][c] << 1 | lowest : e.end[i][c], stored + low);
        }
    }
    return e;
}

static uint32_t mix(uint32_t a, uint32_t b, unsigned weight)
{
    return (a * (64 - weight) + b * weight + 32) >> 6;
}

void kn_bc7_texel(const uint8_t *block, unsigned i, uint32_t byte[4])
{
    struct kn_bptc_bits bits = {block, 0};
    unsigned number = 0;
    uint32_t swapped;

    while (number < 8 && !kn_bptc_take(&bits, 1))
        number++;
    if (number == 8) { // reserved: transparent black
        byte[0] = byte[1] = byte[2] = byte[3] = 0;
        return;
    }
    const struct mode *m = &modes[number];
    const unsigned partition = kn_bptc_take(&bits, m->partition_bits);
    const unsigned rotation = kn_bptc_take(&bits, m->rotation_bits);
    const unsigned selector = kn_bptc_take(&bits, m->selector_bits);
    const struct ends e = ends_take(&bits, m);
    const unsigned subset = kn_bptc_subset(m->subsets, partition, i);
    const uint32_t *a = e.end[2 * subset], *b = e.end[2 * subset + 1];
    const unsigned first = kn_bptc_weight(
        m->index_bits, kn_bptc_index(&bits, m->subsets, partition, m->index_bits, i));
    const unsigned second =
        m->second_index_bits ? kn_bptc_weight(m->second_index_bits,
                                              kn_bptc_index(&bits, 1, 0, m->second_index_bits, i))
                             : first;
    for (unsigned c = 0; c < 3; c++)
        byte[c] = mix(a[c], b[c], selector ? second : first);
    byte[3] = mix(a[3], b[3], selector ? first : second);
    if (rotation) {
        swapped = byte[3];
        byte[3] = byte[rotation - 1];
        byte[rotation - 1] = swapped;
    }
}
