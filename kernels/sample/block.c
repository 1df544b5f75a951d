// SPDX-License-Identifier: MIT
// Block formats BC1 to BC5. The card does not divide by 3, 5 and 7, and does not round to the
// nearest: the constants here give its texels (recorded: blocks/bc1-array to
// blocks/bc5-snorm-array).
#include "block.h"

#include <string.h>

#include "block_bptc.h"

// Bits of a block, from bit `first` on.
static uint32_t block_bits(const uint8_t *block, unsigned first, unsigned count)
{
    uint64_t bits = 0;

    memcpy(&bits, block, 8);
    return (uint32_t)(bits >> first & ((1u << count) - 1));
}

// A colour of 5, 6 and 5 bits, blue first.
struct colour {
    int red, green, blue; // as stored
    int bytes[3];         // r, g, b of 8 bits
};

static struct colour colour_of(uint32_t word)
{
    struct colour c = {.red = word >> 11, .green = word >> 5 & 63, .blue = word & 31};

    c.bytes[0] = c.red * 66 / 8;
    c.bytes[1] = c.green << 2 | c.green >> 4;
    c.bytes[2] = c.blue * 66 / 8;
    return c;
}

// The green of a mixture: `part` of 256 of the way from a to b.
static int mix_green(int a, int b, int part)
{
    return (256 * a + (b - a) / 4 + 128 + (b - a) * part) >> 8;
}

// Two thirds of a and one third of b.
static void mix_third(const struct colour *a, const struct colour *b, uint32_t byte[3])
{
    byte[0] = (uint32_t)((2 * a->red + b->red) * 22 / 8);
    byte[1] = (uint32_t)mix_green(a->bytes[1], b->bytes[1], 80);
    byte[2] = (uint32_t)((2 * a->blue + b->blue) * 22 / 8);
}

static void mix_half(const struct colour *a, const struct colour *b, uint32_t byte[3])
{
    byte[0] = (uint32_t)((a->red + b->red) * 33 / 8);
    byte[1] = (uint32_t)mix_green(a->bytes[1], b->bytes[1], 128);
    byte[2] = (uint32_t)((a->blue + b->blue) * 33 / 8);
}

// The colour of a texel, as bytes. Returns its alpha, 0 or 255. If the first colour is not the
// greater one, and `three` is set, there are three colours and transparent black.
static uint32_t block_colour(const uint8_t *block, unsigned texel, bool three, uint32_t byte[3])
{
    const uint32_t first = block_bits(block, 0, 16), second = block_bits(block, 16, 16);
    const struct colour a = colour_of(first), b = colour_of(second);
    const uint32_t index = block_bits(block, 32 + 2 * texel, 2);
    const bool thirds = !three || first > second;

    if (index < 2)
        for (unsigned c = 0; c < 3; c++)
            byte[c] = (uint32_t)(index ? b : a).bytes[c];
    else if (thirds)
        mix_third(index == 2 ? &a : &b, index == 2 ? &b : &a, byte);
    else if (index == 2)
        mix_half(&a, &b, byte);
    else
        byte[0] = byte[1] = byte[2] = 0;
    return thirds || index != 3 ? 255 : 0;
}

// A texel between two ends is the nearer end, and `part` of 256 of the way to the other one.
struct mixture {
    int near, far;
    int part;
};

// The mixture of an index. Returns false for the indices 6 and 7 of blocks with six values, which
// are the format's smallest and largest number.
static bool mixture_of(int a, int b, unsigned index, struct mixture *m)
{
    static const struct {
        uint8_t from_b, part;
    } of_8[8] = {{0, 0}, {1, 0}, {0, 36}, {0, 72}, {1, 144}, {0, 144}, {1, 72}, {1, 36}},
      of_6[6] = {{0, 0}, {1, 0}, {0, 48}, {0, 96}, {1, 96}, {1, 48}};
    bool from_b;

    if (a <= b && index >= 6)
        return false;
    from_b = a > b ? of_8[index].from_b : of_6[index].from_b;
    *m = (struct mixture){from_b ? b : a, from_b ? a : b,
                          a > b ? of_8[index].part : of_6[index].part};
    return true;
}

static uint32_t block_index(const uint8_t *block, unsigned texel)
{
    return block_bits(block, 16 + 3 * texel, 3);
}

// The alpha of BC3: a byte, rounded to the nearest. The part of 2048 is that of 256, and one more
// for each step from one end to the other: 289 for a seventh, 385 for a fifth [bc3_alpha].
static uint32_t block_alpha(const uint8_t *block, unsigned texel)
{
    struct mixture m;
    int difference, magnitude, step;

    if (!mixture_of(block[0], block[1], block_index(block, texel), &m))
        return block_index(block, texel) == 6 ? 0 : 255;
    difference = m.far - m.near;
    magnitude = difference < 0 ? -difference : difference;
    step = (magnitude * (8 * m.part + m.part / 36) + 1024) >> 11;
    return (uint32_t)(difference < 0 ? m.near - step : m.near + step);
}

static uint32_t block_unorm(const uint8_t *block, unsigned texel)
{
    struct mixture m;

    if (!mixture_of(block[0], block[1], block_index(block, texel), &m))
        return block_index(block, texel) == 6 ? 0 : 65535;
    return (uint32_t)(m.near * 257 + (m.far - m.near) * m.part);
}

static uint32_t block_snorm(const uint8_t *block, unsigned texel)
{
    struct mixture m;
    int near;

    if (!mixture_of((int8_t)block[0], (int8_t)block[1], block_index(block, texel), &m))
        return (uint32_t)(block_index(block, texel) == 6 ? -32767 : 32767);
    m.near = m.near < -127 ? -127 : m.near;
    m.far = m.far < -127 ? -127 : m.far;
    near = m.near * 258 + (m.near >= 64) - (m.near <= -64); // rounded to the nearest 16 bits
    return (uint32_t)(near + (m.far - m.near) * m.part);
}

void kn_block_texel(enum kn_texel texel, const uint8_t *block, unsigned x, unsigned y,
                    uint32_t value[4])
{
    const unsigned i = 4 * y + x;

    switch (texel) {
    case KN_TEXEL_BC1:
        value[3] = block_colour(block, i, true, value);
        break;
    case KN_TEXEL_BC2:
        block_colour(block + 8, i, false, value);
        value[3] = 17 * block_bits(block, 4 * i, 4);
        break;
    case KN_TEXEL_BC3:
        block_colour(block + 8, i, false, value);
        value[3] = block_alpha(block, i);
        break;
    case KN_TEXEL_BC5_UNORM:
        value[1] = block_unorm(block + 8, i);
        value[0] = block_unorm(block, i);
        return;
    case KN_TEXEL_BC4_UNORM:
        value[0] = block_unorm(block, i);
        return;
    case KN_TEXEL_BC5_SNORM:
        value[1] = block_snorm(block + 8, i);
        value[0] = block_snorm(block, i);
        return;
    case KN_TEXEL_BC4_SNORM:
        value[0] = block_snorm(block, i);
        return;
    case KN_TEXEL_BC7:
        kn_bc7_texel(block, i, value);
        break;
    default:
        kn_bc6h_texel(block, i, texel == KN_TEXEL_BC6H_SFLOAT, value);
        return;
    }
    for (unsigned c = 0; c < 4; c++)
        value[c] *= 257;
}
