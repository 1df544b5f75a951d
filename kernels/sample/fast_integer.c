// SPDX-License-Identifier: MIT
// Fetches by integer coordinates for 32 lanes at once: linear memory, and images of two dimensions
// with or without layers, at level 0. Each instruction set compiles this file, and all give the
// bits of kn_fetch_integer.
#include "convert_scalar.h"
#include "fast.h"
#include "fast_lanes.inc.h"

// How a channel becomes a result: unchanged, with its sign extended to 32 bits, or divided by the
// largest value.
enum change { AS_IT_IS, WITH_SIGN, NORMALISED };

// The texels that a fetch reads.
struct texels {
    uint32_t offset[KN_LANES];
    uint32_t inside; // the lanes whose coordinates are
};

static bool texture_is_flat(const struct kn_texture *t)
{
    return t->shape == KN_TEXTURE_LINEAR || t->shape == KN_TEXTURE_1D_LAYERED;
}

static bool texture_is_layered(const struct kn_texture *t)
{
    return t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
}

static uint32_t texture_layers(const struct kn_texture *t)
{
    return texture_is_layered(t) ? t->layers : 1;
}

// Finds the texels. Lanes outside have those at 0.
static void texels_find(const struct kn_texture *t, const struct kn_fetch *f, struct texels *to)
{
    static const uint32_t zeros[KN_LANES];
    const struct kn_texture_level *l = &t->level[0];
    const uint32_t *x = f->x ? f->x : zeros, *y = f->y && !texture_is_flat(t) ? f->y : zeros;
    const uint32_t *layer = f->layer && texture_is_layered(t) ? f->layer : zeros;
    const uint32_t width = l->width, height = l->height, layers = texture_layers(t);
    const uint32_t layer_B = (uint32_t)l->layer_B;
    _Alignas(64) int32_t inside[KN_LANES];
    int32_t column[KN_LANES], row[KN_LANES];
    uint32_t layers_B[KN_LANES], columns_B[KN_LANES];

    KN_EACH_LANE
    {
        const bool is = x[i] < width && y[i] < height && layer[i] < layers;
        inside[i] = is ? -1 : 0;
        column[i] = is ? (int32_t)x[i] : 0;
        row[i] = is ? (int32_t)y[i] : 0;
        layers_B[i] = is ? layer[i] * layer_B : 0;
    }
    to->inside = kn_bits_32(inside);
    offset_columns(t, l, column, columns_B);
    offset_rows(t, l, row, layers_B, to->offset);
    KN_EACH_LANE
    to->offset[i] += columns_B[i];
}

// Returns whether a fetch names no level and has no offsets. Others are left to kn_fetch_integer.
static bool fetch_is_usual(const struct kn_fetch *f)
{
    return !f->lod && !f->offset[0] && !f->offset[1] && !f->offset[2];
}

KN_INLINE void channel_change(uint32_t *value, enum change change, unsigned bits)
{
    const unsigned rest = 32 - bits;
    const float scale = bits == 8 ? 255.0f : 65535.0f;

    if (change == WITH_SIGN) {
        KN_EACH_LANE
        value[i] = (uint32_t)((int32_t)(value[i] << rest) >> rest);
    } else if (change == NORMALISED) {
        KN_EACH_LANE
        value[i] = kn_float_bits((float)(int32_t)value[i] / scale);
    }
}

KN_INLINE void fetch(const struct kn_texture *t, const struct kn_fetch *f, enum change change,
                     unsigned channels, unsigned bits)
{
    uint32_t words[4][KN_LANES], value[4][KN_LANES];
    struct texels texels;

    if (!fetch_is_usual(f)) {
        kn_fetch_integer(t, f);
        return;
    }
    texels_find(t, f, &texels);
    load_words(t->level[0].base, texels.offset, f->active & texels.inside, channels * bits / 8,
               words);
    for (unsigned c = 0; c < channels; c++) {
        channel_of((const uint32_t(*)[KN_LANES])words, c, bits, value[c]);
        channel_change(value[c], change, bits);
    }
    for (unsigned c = 0; c < channels; c++)
        write_channel(f, c, value[c]);
    write_missing(f, channels);
}

// X(name, change, bits), for one, two and four channels.
#define INTEGER_LIST(X)                                                                            \
    X(plain8, AS_IT_IS, 8)                                                                         \
    X(plain16, AS_IT_IS, 16)                                                                       \
    X(plain32, AS_IT_IS, 32)                                                                       \
    X(signed8, WITH_SIGN, 8)                                                                       \
    X(signed16, WITH_SIGN, 16)                                                                     \
    X(unorm8, NORMALISED, 8)                                                                       \
    X(unorm16, NORMALISED, 16)
#define INTEGER_FUNCTION(name, change, bits, channels)                                             \
    static void name##x##channels(const struct kn_texture *t, const struct kn_fetch *f)            \
    {                                                                                              \
        fetch(t, f, change, channels, bits);                                                       \
    }
#define INTEGER_FUNCTIONS(name, change, bits)                                                      \
    INTEGER_FUNCTION(name, change, bits, 1)                                                        \
    INTEGER_FUNCTION(name, change, bits, 2)                                                        \
    INTEGER_FUNCTION(name, change, bits, 4)                                                        \
    static kn_fetch_fn *const name[3] = {name##x1, name##x2, name##x4};
INTEGER_LIST(INTEGER_FUNCTIONS)

// Returns whether all offsets have 32 bits.
static bool texture_is_small(const struct kn_texture *t)
{
    const struct kn_texture_level *l = &t->level[0];
    const uint64_t one_B = t->block_linear ? kn_tiled_size_B(&l->tiled, 1)
                           : texture_is_flat(t)
                               ? (uint64_t)l->width * t->element_B
                               : l->pitch_B * l->height + (uint64_t)l->width * t->element_B;

    return one_B + (uint64_t)(texture_layers(t) - 1) * l->layer_B <= UINT32_MAX;
}

kn_fetch_fn *KN_JOIN(kn_fast_integer_choose, KN_SET)(const struct kn_texture *t)
{
    const unsigned channels = t->channels == 4 ? 2 : t->channels == 2 ? 1 : 0;
    const bool plane = t->shape == KN_TEXTURE_2D || t->shape == KN_TEXTURE_2D_LAYERED;

    if ((!plane && !texture_is_flat(t)) || !texture_is_small(t))
        return 0;
    switch (t->texel) {
    case KN_TEXEL_UINT8:
        return plain8[channels];
    case KN_TEXEL_UINT16:
        return plain16[channels];
    case KN_TEXEL_UINT32:
    case KN_TEXEL_SINT32:
    case KN_TEXEL_FLOAT:
        return plain32[channels];
    case KN_TEXEL_SINT8:
        return signed8[channels];
    case KN_TEXEL_SINT16:
        return signed16[channels];
    case KN_TEXEL_UNORM8:
        return t->srgb ? 0 : unorm8[channels];
    case KN_TEXEL_UNORM16:
        return unorm16[channels];
    default:
        return 0;
    }
}
