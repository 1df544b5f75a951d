// SPDX-License-Identifier: MIT
// Random inputs of forms, and sums of their results. Draws must not change.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t form_state;

static inline uint32_t form_draw(void)
{
    uint64_t z = form_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 16);
}

static inline uint64_t form_draw_64(void)
{
    const uint64_t high = form_draw();
    return high << 32 | form_draw();
}

static inline size_t form_size(char class)
{
    return strchr("hHB", class) ? 2 : strchr("lD", class) ? 8 : 4;
}

// A random float with `mantissa` and `exponent` bits: special ones, ones near 1, ones that are
// halfway between others if they are rounded, small numbers, and any bits.
static inline uint64_t form_draw_float(int mantissa, int exponent)
{
    const uint64_t one = 1, top = one << (mantissa + exponent), quiet = one << (mantissa - 1);
    const uint64_t infinity = ((one << exponent) - 1) << mantissa, fraction = (one << mantissa) - 1;
    const uint64_t bias = (one << (exponent - 1)) - 1, sign = form_draw() & 1 ? top : 0;
    const uint64_t any = form_draw_64(), small = form_draw() & 15;
    switch (form_draw() % 12) {
    case 0: {
        const uint64_t special[] = {0,
                                    1,
                                    fraction,
                                    fraction + 1,
                                    infinity,
                                    infinity - 1,
                                    infinity | quiet,
                                    infinity | 1,
                                    infinity | (any & fraction),
                                    bias << mantissa,
                                    (bias << mantissa) + 1,
                                    (bias << mantissa) - 1,
                                    (bias + 1) << mantissa,
                                    any & fraction};
        return sign | special[form_draw() % (sizeof special / sizeof *special)];
    }
    case 1:
        return sign | (any & fraction) >> small % (unsigned)mantissa;
    case 2: // a few bits below the last ones of smaller types
        return sign | (bias + (any >> 60) - 8) << mantissa |
               (form_draw() & 7) << (mantissa > 8 ? mantissa - 8 - (int)(small & 3) : 0);
    case 3: // integers and halves
        return sign | (bias + small) << mantissa |
               (any & fraction & ~((fraction >> small) >> (form_draw() & 1)));
    case 4:
        return sign | ((any >> 48) % (bias + bias) + 1) << mantissa | (any & fraction);
    case 5:
    case 6:
    case 7:
        return sign | (bias + small - 8) << mantissa | (any & fraction);
    case 8:
    case 9:
        return sign | (bias + small / 4 - 2) << mantissa | (any & fraction);
    default:
        return any & (top | (top - 1));
    }
}

static inline uint64_t form_draw_integer(int bits)
{
    const uint64_t one = 1, any = form_draw_64(),
                   mask = bits == 64 ? ~UINT64_C(0) : (one << bits) - 1;
    switch (form_draw() % 8) {
    case 0:
        return form_draw() % 5 - UINT64_C(2);
    case 1:
        return (one << any % (unsigned)bits) + form_draw() % 3 - 1;
    case 2:
        return mask - (one << any % (unsigned)bits) + form_draw() % 3 - 1;
    case 3:
        return (any & mask) >> form_draw() % (unsigned)bits;
    case 4:
        return form_draw() % 70;
    case 5:
        return UINT64_C(0x8080808080808080) >> form_draw() % 8 ^ (any & 0xff);
    default:
        return any;
    }
}

static inline uint64_t form_draw_value(char class)
{
    switch (class) {
    case 'h':
        return form_draw_integer(16);
    case 'l':
        return form_draw_integer(64);
    case 'F':
        return form_draw_float(23, 8);
    case 'D':
        return form_draw_float(52, 11);
    case 'H':
        return form_draw_float(10, 5);
    case 'B':
        return form_draw_float(7, 8);
    case 'P':
        return form_draw_float(10, 5) | form_draw_float(10, 5) << 16;
    case 'Q':
        return form_draw_float(7, 8) | form_draw_float(7, 8) << 16;
    case 's':
        return form_draw() % 8 ? form_draw() % 72 : form_draw_integer(32);
    default:
        return form_draw_integer(32);
    }
}

static inline uint64_t form_hash(uint64_t sum, const void *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i += 2) {
        uint16_t half;
        memcpy(&half, (const char *)bytes + i, 2);
        sum = (sum ^ half) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    return sum;
}
