// SPDX-License-Identifier: MIT
// Values that conversions may get wrong: at, below and above the middle between two codes.
#include "convert_values.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(double v)
{
    float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

uint32_t ca_random_float_bits(void)
{
    double unit = (double)(ca_random() >> 11) * 0x1p-53;

    switch (ca_below(5)) {
    case 0:
        return (uint32_t)ca_random();
    case 1:
        return bits_of(unit * 2.5 - 1.25);
    case 2:
        return bits_of(ldexp(unit - 0.5, (int)ca_below(70) - 35));
    default:
        return bits_of(unit);
    }
}

uint32_t ca_random_integer(void)
{
    static const uint32_t limits[] = {0,      0x7f,   0x80,    0xff,       0x100,     0x7fff,
                                      0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000};
    uint32_t v;

    switch (ca_below(3)) {
    case 0:
        return (uint32_t)ca_random();
    case 1:
        v = (uint32_t)(ca_random() >> (32 + ca_below(32)));
        break;
    default:
        v = limits[ca_below(sizeof(limits) / sizeof(*limits))] + (uint32_t)ca_below(3) - 1;
        break;
    }
    return ca_below(2) ? v : -v;
}

static uint32_t middle(uint64_t n)
{
    static const uint32_t scales[] = {255, 65535, 127, 32767, 1023, 3};

    for (unsigned i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
        if (n < scales[i])
            return bits_of(((double)n + 0.5) / scales[i]);
        n -= scales[i];
    }
    if (n < 255) { // sRGB
        double s = ((double)n + 0.5) / 255;
        return bits_of(s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    n -= 255;
    if (n < 0x7c00) { // halves: their bits are consecutive
        unsigned e = (unsigned)n >> 10, m = (unsigned)n & 0x3ff;
        return bits_of(e ? ldexp(1024.5 + m, (int)e - 25) : ldexp(m + 0.5, -24));
    }
    n -= 0x7c00;
    if (n < 33)
        return bits_of(ldexp(1, (int)n));
    n -= 33;
    if (n < 40) // NaNs, infinity and large numbers
        return 0x7f800000 + (uint32_t)n * 0x2fff1 % 0x7fffff - 5 * (n > 35);
    return 0;
}
#define MIDDLES (255 + 65535 + 127 + 32767 + 1023 + 3 + 255 + 0x7c00 + 33 + 40)
#define AROUND 7 // three values below and three above each
#define SPECIAL ((uint64_t)MIDDLES * AROUND * 2)

uint64_t ca_special_floats(void *dst, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; dst && i < count && first + i < SPECIAL; i++) {
        uint64_t n = (first + i) / 2, at = n / AROUND;
        uint32_t bits = middle(at), offset = (uint32_t)(n % AROUND);
        bits = bits + offset < AROUND / 2 ? 0 : bits + offset - AROUND / 2;
        bits |= (first + i) & 1 ? 0x80000000u : 0;
        memcpy((uint8_t *)dst + 4 * i, &bits, 4);
    }
    return SPECIAL;
}
