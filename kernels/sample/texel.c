// SPDX-License-Identifier: MIT
// Reads texels of all formats, and converts border colours as if they were texels.
#include "texel.h"

#include "block.h"
#include "convert_scalar.h"

enum decoder { DECODE_UNORM, DECODE_SNORM, DECODE_WORD, DECODE_SIGNED, DECODE_HALF, DECODE_FLOAT };

// Decoders of formats whose channels are whole bytes; for BC formats, the kind of their channels.
static const uint8_t texel_decoder[KN_TEXEL_COUNT] = {
    [KN_TEXEL_UNORM8] = DECODE_UNORM,     [KN_TEXEL_SNORM8] = DECODE_SNORM,
    [KN_TEXEL_UNORM16] = DECODE_UNORM,    [KN_TEXEL_SNORM16] = DECODE_SNORM,
    [KN_TEXEL_UINT8] = DECODE_WORD,       [KN_TEXEL_SINT8] = DECODE_SIGNED,
    [KN_TEXEL_UINT16] = DECODE_WORD,      [KN_TEXEL_SINT16] = DECODE_SIGNED,
    [KN_TEXEL_UINT32] = DECODE_WORD,      [KN_TEXEL_SINT32] = DECODE_WORD,
    [KN_TEXEL_HALF] = DECODE_HALF,        [KN_TEXEL_FLOAT] = DECODE_FLOAT,
    [KN_TEXEL_UNORM10_2] = DECODE_UNORM,  [KN_TEXEL_BC1] = DECODE_UNORM,
    [KN_TEXEL_BC2] = DECODE_UNORM,        [KN_TEXEL_BC3] = DECODE_UNORM,
    [KN_TEXEL_BC4_UNORM] = DECODE_UNORM,  [KN_TEXEL_BC4_SNORM] = DECODE_SNORM,
    [KN_TEXEL_BC5_UNORM] = DECODE_UNORM,  [KN_TEXEL_BC5_SNORM] = DECODE_SNORM,
    [KN_TEXEL_BC6H_UFLOAT] = DECODE_HALF, [KN_TEXEL_BC6H_SFLOAT] = DECODE_HALF,
    [KN_TEXEL_BC7] = DECODE_UNORM,
};

static const struct {
    uint8_t channels, element_B;
} texel_rows[KN_TEXEL_COUNT] = {
#define TEXEL_ROW(name, channels, element_B) {channels, element_B},
    KN_TEXEL_LIST(TEXEL_ROW)
#undef TEXEL_ROW
};

uint32_t kn_texel_B(enum kn_texel texel, unsigned channels)
{
    return texel_rows[texel].element_B * (texel_rows[texel].channels ? 1 : channels);
}

static unsigned texel_channels(const struct kn_texture *t)
{
    return texel_rows[t->texel].channels ? texel_rows[t->texel].channels : t->channels;
}

// sRGB applies to colours of 8 bits, but not to alpha. Of arrays with two channels it applies to
// red only (recorded: decode/u8x2-srgb).
static bool texel_is_srgb(const struct kn_texture *t, unsigned channel)
{
    const bool bytes = t->texel == KN_TEXEL_UNORM8 || t->texel == KN_TEXEL_BC1 ||
                       t->texel == KN_TEXEL_BC2 || t->texel == KN_TEXEL_BC3 ||
                       t->texel == KN_TEXEL_BC7;

    return t->srgb && bytes && channel < (texel_channels(t) == 2 ? 1 : 3);
}

enum kn_sample_class kn_texel_class(const struct kn_texture *t, unsigned channel)
{
    switch (texel_decoder[t->texel]) {
    case DECODE_UNORM:
        return texel_is_srgb(t, channel)                       ? KN_SAMPLE_SRGB
               : t->texel == KN_TEXEL_UNORM10_2 && channel < 3 ? KN_SAMPLE_UNORM10
                                                               : KN_SAMPLE_UNORM;
    case DECODE_SNORM:
        return t->texel == KN_TEXEL_SNORM8 ? KN_SAMPLE_SNORM8 : KN_SAMPLE_SNORM16;
    case DECODE_HALF:
        return KN_SAMPLE_HALF;
    case DECODE_FLOAT:
        return KN_SAMPLE_FLOAT;
    default:
        return t->texel == KN_TEXEL_UINT32   ? KN_SAMPLE_WORD
               : t->texel == KN_TEXEL_SINT32 ? KN_SAMPLE_SIGNED
                                             : KN_SAMPLE_SHORT;
    }
}

// A colour of sRGB. The card has n / 2^q with n at most 128, where q belongs to a range of bytes; n
// is the nearest to the standard's formula (all of decode/u8x1-srgb).
static uint32_t srgb_value(uint32_t byte)
{
    static const uint8_t first[8] = {248, 184, 136, 96, 64, 48, 32, 0}; // of q = 7, 8, …
    uint32_t q = 7;

    while (byte < first[q - 7])
        q++;
    return q << 8 | (uint32_t)(kn_from_srgb((uint8_t)byte) * (float)(1u << q) + 0.5f);
}

// The value of a channel that is a whole number of bytes.
static uint32_t texel_decode(const struct kn_texture *t, const uint8_t *from, unsigned channel)
{
    const unsigned size_B = texel_rows[t->texel].element_B;
    uint32_t word = 0;

    memcpy(&word, from + channel * size_B, size_B);
    switch (texel_decoder[t->texel]) {
    case DECODE_UNORM:
        if (size_B == 2)
            return word;
        return texel_is_srgb(t, channel) ? srgb_value(word) : word * 257;
    case DECODE_SNORM:
    case DECODE_SIGNED:
        return size_B == 1 ? (uint32_t)(int8_t)word : (uint32_t)(int16_t)word;
    default:
        return word;
    }
}

// Channels of 10 and 2 bits become 16 bits by repeating their upper bits.
static void texel_decode_10_2(uint32_t word, uint32_t value[4])
{
    for (unsigned c = 0; c < 3; c++) {
        const uint32_t bits = word >> (10 * c) & 1023;
        value[c] = bits << 6 | bits >> 4;
    }
    value[3] = (word >> 30) * 21845;
}

static uint32_t texel_one(const struct kn_texture *t)
{
    switch (kn_texel_class(t, 3)) {
    case KN_SAMPLE_HALF:
        return 0x3c00;
    case KN_SAMPLE_SNORM16:
        return 32767;
    default:
        return 65535;
    }
}

// The first byte of an element.
static const uint8_t *texel_at(const struct kn_texture *t, const struct kn_texture_level *l,
                               const int32_t at[3])
{
    const bool slices = t->shape == KN_TEXTURE_3D;
    const uint64_t x_B = (uint64_t)(uint32_t)at[0] * t->element_B;
    const uint64_t y = (uint32_t)at[1], z = slices ? (uint32_t)at[2] : 0;
    const uint8_t *layer = l->base + (slices ? 0 : (uint32_t)at[2] * l->layer_B);

    if (t->block_linear)
        return layer + kn_tiled_offset_B(&l->tiled, x_B, y, z);
    return layer + z * l->slice_B + y * l->pitch_B + x_B;
}

static bool texel_is_block(enum kn_texel texel)
{
    return texel >= KN_TEXEL_BC1;
}

void kn_texel_read(const struct kn_texture *t, unsigned level, const int32_t at[3],
                   uint32_t value[4])
{
    const struct kn_texture_level *l = &t->level[level];
    const unsigned channels = texel_channels(t);
    const int32_t block[3] = {at[0] >> 2, at[1] >> 2, at[2]};

    if (at[0] == KN_TAP_BORDER) {
        memcpy(value, t->border_value, sizeof(t->border_value));
        return;
    }
    if (texel_is_block(t->texel)) {
        kn_block_texel(t->texel, texel_at(t, l, block), (unsigned)(at[0] & 3),
                       (unsigned)(at[1] & 3), value);
        for (unsigned c = 0; c < channels; c++)
            if (texel_is_srgb(t, c))
                value[c] = srgb_value(value[c] / 257);
    } else if (t->texel == KN_TEXEL_UNORM10_2) {
        uint32_t word;
        memcpy(&word, texel_at(t, l, at), sizeof(word));
        texel_decode_10_2(word, value);
    } else {
        const uint8_t *from = texel_at(t, l, at);
        for (unsigned c = 0; c < channels; c++)
            value[c] = texel_decode(t, from, c);
    }
    for (unsigned c = channels; c < 4; c++)
        value[c] = c == 3 && t->alpha_one ? texel_one(t) : 0;
}

// Border colours have the precision of the texels. Normalised ones are cut off 4 bits below the
// format's last bit and rounded to the format, halves down. Floats are rounded towards zero.
// Integers take the lowest bits of the float as they are. sRGB encodes and decodes.
static int32_t border_round(float colour, int bits)
{
    const double clamped = colour > 1.0f      ? 1.0
                           : colour < -1.0f   ? -1.0
                           : colour == colour ? colour
                                              : 0;
    const double magnitude = clamped < 0 ? -clamped : clamped;
    const double cut = 16.0 * (1 << bits);
    const double scaled = (double)(int64_t)(magnitude * cut) / cut * ((1 << bits) - 1);
    const int32_t whole = (int32_t)scaled;
    const int32_t rounded = whole + (scaled - whole > 0.5);

    return clamped < 0 ? -rounded : rounded;
}

static uint32_t border_unorm(float colour, int bits)
{
    return colour > 0 ? (uint32_t)border_round(colour, bits) : 0;
}

static uint32_t border_half(float colour)
{
    const uint32_t bits = kn_float_bits(colour), magnitude = bits & 0x7fffffff;
    uint16_t half = kn_to_half(colour);

    if (magnitude >= 0x7f800000)
        return half;
    if ((half & 0x7fff) == 0x7c00) // no finite colour becomes infinite
        return half - 1;
    return kn_from_half(half & 0x7fff) > kn_float_of_bits(magnitude) ? half - 1 : half;
}

static uint32_t border_channel(const struct kn_texture *t, unsigned channel)
{
    const float colour = t->border[channel];
    const unsigned size_B = texel_rows[t->texel].element_B;
    const uint32_t bits = kn_float_bits(colour);

    switch (texel_decoder[t->texel]) {
    case DECODE_UNORM:
        if (t->texel == KN_TEXEL_UNORM16 || t->texel == KN_TEXEL_UNORM10_2 ||
            t->texel == KN_TEXEL_BC4_UNORM || t->texel == KN_TEXEL_BC5_UNORM)
            return border_unorm(colour, 16);
        return texel_is_srgb(t, channel) ? srgb_value(kn_to_srgb(colour))
                                         : border_unorm(colour, 8) * 257;
    case DECODE_SNORM:
        return (uint32_t)border_round(colour, t->texel == KN_TEXEL_SNORM8 ? 7 : 15);
    case DECODE_HALF:
        return border_half(colour);
    case DECODE_SIGNED:
        return size_B == 1 ? (uint32_t)(int8_t)bits : (uint32_t)(int16_t)bits;
    case DECODE_WORD:
        return size_B == 4 ? bits : bits & ((1u << 8 * size_B) - 1);
    default:
        return bits;
    }
}

void kn_texel_border(const struct kn_texture *t, uint32_t value[4])
{
    const unsigned channels = texel_channels(t);

    for (unsigned c = 0; c < 4; c++)
        value[c] = c < channels ? border_channel(t, c) : 0;
}
