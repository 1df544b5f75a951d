// SPDX-License-Identifier: MIT
// BC6H: fourteen modes. Ends of subsets are stored as a base and differences, with their bits in an
// order of each mode's own.
#include "block_bptc.h"

// The ends of two subsets, w to z, in r, g and b. w is the base.
enum end { RW, RX, RY, RZ, GW, GX, GY, GZ, BW, BX, BY, BZ };

// `count` bits of an end from bit `low` on; reversed if `count` is negative.
struct run {
    uint8_t end, low;
    int8_t count;
};

struct mode {
    uint8_t number; // the block's first 5 bits, or 2 if these are 0 or 1
    uint8_t base_bits, delta_bits[3];
    bool two; // subsets
    struct run runs[26];
};

#define BASE10                                                                                     \
    {RW, 0, 10}, {GW, 0, 10},                                                                      \
    {                                                                                              \
        BW, 0, 10                                                                                  \
    }
static const struct mode modes[14] = {
    {0,
     10,
     {5, 5, 5},
     true,
     {{GY, 4, 1},
      {BY, 4, 1},
      {BZ, 4, 1},
      BASE10,
      {RX, 0, 5},
      {GZ, 4, 1},
      {GY, 0, 4},
      {GX, 0, 5},
      {BZ, 0, 1},
      {GZ, 0, 4},
      {BX, 0, 5},
      {BZ, 1, 1},
      {BY, 0, 4},
      {RY, 0, 5},
      {BZ, 2, 1},
      {RZ, 0, 5},
      {BZ, 3, 1}}},
    {1, 7, {6, 6, 6}, true, {{GY, 5, 1}, {GZ, 4, 1}, {GZ, 5, 1}, {RW, 0, 7}, {BZ, 0, 1}, {BZ, 1, 1},
                             {BY, 4, 1}, {GW, 0, 7}, {BY, 5, 1}, {BZ, 2, 1}, {GY, 4, 1}, {BW, 0, 7},
                             {BZ, 3, 1}, {BZ, 5, 1}, {BZ, 4, 1}, {RX, 0, 6}, {GY, 0, 4}, {GX, 0, 6},
                             {GZ, 0, 4}, {BX, 0, 6}, {BY, 0, 4}, {RY, 0, 6}, {RZ, 0, 6}}},
    {2,
     11,
     {5, 4, 4},
     true,
     {BASE10,
      {RX, 0, 5},
      {RW, 10, 1},
      {GY, 0, 4},
      {GX, 0, 4},
      {GW, 10, 1},
      {BZ, 0, 1},
      {GZ, 0, 4},
      {BX, 0, 4},
      {BW, 10, 1},
      {BZ, 1, 1},
      {BY, 0, 4},
      {RY, 0, 5},
      {BZ, 2, 1},
      {RZ, 0, 5},
      {BZ, 3, 1}}},
    {6,
     11,
     {4, 5, 4},
     true,
     {BASE10,
      {RX, 0, 4},
      {RW, 10, 1},
      {GZ, 4, 1},
      {GY, 0, 4},
      {GX, 0, 5},
      {GW, 10, 1},
      {GZ, 0, 4},
      {BX, 0, 4},
      {BW, 10, 1},
      {BZ, 1, 1},
      {BY, 0, 4},
      {RY, 0, 4},
      {BZ, 0, 1},
      {BZ, 2, 1},
      {RZ, 0, 4},
      {GY, 4, 1},
      {BZ, 3, 1}}},
    {10,
     11,
     {4, 4, 5},
     true,
     {BASE10,
      {RX, 0, 4},
      {RW, 10, 1},
      {BY, 4, 1},
      {GY, 0, 4},
      {GX, 0, 4},
      {GW, 10, 1},
      {BZ, 0, 1},
      {GZ, 0, 4},
      {BX, 0, 5},
      {BW, 10, 1},
      {BY, 0, 4},
      {RY, 0, 4},
      {BZ, 1, 1},
      {BZ, 2, 1},
      {RZ, 0, 4},
      {BZ, 4, 1},
      {BZ, 3, 1}}},
    {14,
     9,
     {5, 5, 5},
     true,
     {{RW, 0, 9},
      {BY, 4, 1},
      {GW, 0, 9},
      {GY, 4, 1},
      {BW, 0, 9},
      {BZ, 4, 1},
      {RX, 0, 5},
      {GZ, 4, 1},
      {GY, 0, 4},
      {GX, 0, 5},
      {BZ, 0, 1},
      {GZ, 0, 4},
      {BX, 0, 5},
      {BZ, 1, 1},
      {BY, 0, 4},
      {RY, 0, 5},
      {BZ, 2, 1},
      {RZ, 0, 5},
      {BZ, 3, 1}}},
    {18,
     8,
     {6, 5, 5},
     true,
     {{RW, 0, 8},
      {GZ, 4, 1},
      {BY, 4, 1},
      {GW, 0, 8},
      {BZ, 2, 1},
      {GY, 4, 1},
      {BW, 0, 8},
      {BZ, 3, 1},
      {BZ, 4, 1},
      {RX, 0, 6},
      {GY, 0, 4},
      {GX, 0, 5},
      {BZ, 0, 1},
      {GZ, 0, 4},
      {BX, 0, 5},
      {BZ, 1, 1},
      {BY, 0, 4},
      {RY, 0, 6},
      {RZ, 0, 6}}},
    {22, 8, {5, 6, 5}, true, {{RW, 0, 8}, {BZ, 0, 1}, {BY, 4, 1}, {GW, 0, 8}, {GY, 5, 1},
                              {GY, 4, 1}, {BW, 0, 8}, {GZ, 5, 1}, {BZ, 4, 1}, {RX, 0, 5},
                              {GZ, 4, 1}, {GY, 0, 4}, {GX, 0, 6}, {GZ, 0, 4}, {BX, 0, 5},
                              {BZ, 1, 1}, {BY, 0, 4}, {RY, 0, 5}, {BZ, 2, 1}, {RZ, 0, 5},
                              {BZ, 3, 1}}},
    {26, 8, {5, 5, 6}, true, {{RW, 0, 8}, {BZ, 1, 1}, {BY, 4, 1}, {GW, 0, 8}, {BY, 5, 1},
                              {GY, 4, 1}, {BW, 0, 8}, {BZ, 5, 1}, {BZ, 4, 1}, {RX, 0, 5},
                              {GZ, 4, 1}, {GY, 0, 4}, {GX, 0, 5}, {BZ, 0, 1}, {GZ, 0, 4},
                              {BX, 0, 6}, {BY, 0, 4}, {RY, 0, 5}, {BZ, 2, 1}, {RZ, 0, 5},
                              {BZ, 3, 1}}},
    {30, 6, {6, 6, 6}, true, {{RW, 0, 6}, {GZ, 4, 1}, {BZ, 0, 1}, {BZ, 1, 1}, {BY, 4, 1},
                              {GW, 0, 6}, {GY, 5, 1}, {BY, 5, 1}, {BZ, 2, 1}, {GY, 4, 1},
                              {BW, 0, 6}, {GZ, 5, 1}, {BZ, 3, 1}, {BZ, 5, 1}, {BZ, 4, 1},
                              {RX, 0, 6}, {GY, 0, 4}, {GX, 0, 6}, {GZ, 0, 4}, {BX, 0, 6},
                              {BY, 0, 4}, {RY, 0, 6}, {RZ, 0, 6}}},
    {3, 10, {10, 10, 10}, false, {BASE10, {RX, 0, 10}, {GX, 0, 10}, {BX, 0, 10}}},
    {7,
     11,
     {9, 9, 9},
     false,
     {BASE10, {RX, 0, 9}, {RW, 10, 1}, {GX, 0, 9}, {GW, 10, 1}, {BX, 0, 9}, {BW, 10, 1}}},
    {11,
     12,
     {8, 8, 8},
     false,
     {BASE10, {RX, 0, 8}, {RW, 10, -2}, {GX, 0, 8}, {GW, 10, -2}, {BX, 0, 8}, {BW, 10, -2}}},
    {15,
     16,
     {4, 4, 4},
     false,
     {BASE10, {RX, 0, 4}, {RW, 10, -6}, {GX, 0, 4}, {GW, 10, -6}, {BX, 0, 4}, {BW, 10, -6}}},
};

static int32_t sign_extend(uint32_t value, unsigned bits)
{
    const uint32_t sign = 1u << (bits - 1);

    return (int32_t)(((value & (2 * sign - 1)) ^ sign) - sign);
}

static void ends_take(struct kn_bptc_bits *bits, const struct mode *m, uint32_t end[12])
{
    for (const struct run *r = m->runs; r->count; r++) {
        const unsigned count = (unsigned)(r->count < 0 ? -r->count : r->count);
        for (unsigned k = 0; k < count; k++)
            end[r->end] |= kn_bptc_take(bits, 1) << (r->low + (r->count < 0 ? count - 1 - k : k));
    }
}

// Adds differences to the base, and extends signs. The modes 30 and 3 have no differences.
static void ends_finish(const struct mode *m, bool is_signed, const uint32_t stored[12],
                        int32_t end[12])
{
    const bool deltas = m->number != 30 && m->number != 3;

    for (unsigned k = 0; k < 12; k++) {
        const unsigned channel = k / 4;
        uint32_t value = stored[k];
        if (deltas && k % 4)
            value = stored[4 * channel] + (uint32_t)sign_extend(value, m->delta_bits[channel]);
        value &= (1u << m->base_bits) - 1;
        end[k] = is_signed ? sign_extend(value, m->base_bits) : (int32_t)value;
    }
}

// Widens an end to 16 bits (15 and a sign).
static int32_t widen(int32_t value, unsigned bits, bool is_signed)
{
    const int32_t magnitude = value < 0 ? -value : value;
    int32_t wide;

    if (!is_signed) {
        if (bits >= 15 || !value)
            return value;
        return value == (1 << bits) - 1 ? 0xffff : ((value << 15) + 0x4000) >> (bits - 1);
    }
    if (bits >= 16 || !value)
        return value;
    wide = magnitude >= (1 << (bits - 1)) - 1 ? 0x7fff : ((magnitude << 15) + 0x4000) >> (bits - 1);
    return value < 0 ? -wide : wide;
}

// The bits of an f16: 31/64 of an unsigned value, 31/32 of a signed one.
static uint32_t to_half(int32_t value, bool is_signed)
{
    if (!is_signed)
        return (uint32_t)(value * 31) >> 6;
    return value < 0 ? 0x8000u | (uint32_t)((-value * 31) >> 5) : (uint32_t)((value * 31) >> 5);
}

static const struct mode *mode_take(struct kn_bptc_bits *bits)
{
    uint32_t number = kn_bptc_take(bits, 2);

    if (number > 1)
        number |= kn_bptc_take(bits, 3) << 2;
    for (unsigned k = 0; k < sizeof(modes) / sizeof(*modes); k++)
        if (modes[k].number == number)
            return &modes[k];
    return 0;
}

void kn_bc6h_texel(const uint8_t *block, unsigned i, bool is_signed, uint32_t half[3])
{
    struct kn_bptc_bits bits = {block, 0};
    const struct mode *m = mode_take(&bits);
    uint32_t stored[12] = {0};
    int32_t end[12];
    unsigned partition = 0, index_bits = 4, subsets = 1;

    half[0] = half[1] = half[2] = 0;
    if (!m) // reserved: black
        return;
    ends_take(&bits, m, stored);
    ends_finish(m, is_signed, stored, end);
    if (m->two) {
        partition = kn_bptc_take(&bits, 5);
        index_bits = 3;
        subsets = 2;
    }
    const unsigned subset = kn_bptc_subset(subsets, partition, i);
    const int32_t weight = (int32_t)kn_bptc_weight(
        index_bits, kn_bptc_index(&bits, subsets, partition, index_bits, i));
    for (unsigned c = 0; c < 3; c++) {
        const int32_t a = widen(end[4 * c + 2 * subset], m->base_bits, is_signed);
        const int32_t b = widen(end[4 * c + 2 * subset + 1], m->base_bits, is_signed);
        half[c] = to_half((a * (64 - weight) + b * weight + 32) >> 6, is_signed);
    }
}
