// SPDX-License-Identifier: MIT
// Fetches of the most common textures for 32 lanes at once: one level, one or two dimensions, with
// or without layers. Each instruction set compiles this file, and all give the bits of fetch.c.
//
// The steps are those of fetch.c, each a loop over the lanes that the compiler vectorises:
// positions (plane_axis), offsets of four texels (plane_offsets), texels (load_…), sums.
#include "fast.h"

#include "convert_scalar.h"
#include "fast_lanes.inc.h"
#include "filter.h"
#include "texel.h"

// One coordinate of all lanes: the two texels beside the position, and the weight of the second
// one. Texels outside of a border are clamped, and marked.
struct axis {
    int32_t first[KN_LANES], second[KN_LANES], weight[KN_LANES];
    int32_t out_first[KN_LANES], out_second[KN_LANES]; // 0 or -1
};

struct plane {
    struct axis x, y;
    uint32_t offset[4][KN_LANES]; // of the texels (0, 0), (1, 0), (0, 1), (1, 1)
    int32_t weight[4][KN_LANES];
    int32_t out[4][KN_LANES]; // 0 or -1: the border colour
    bool border;
};

// floor(v) of |v| < 2^31.
KN_INLINE int32_t whole_below(float v)
{
    const int32_t i = (int32_t)v;

    return i - ((float)i > v);
}

// Positions with 21 bits after the point, see kn_axis_position. Those of textures that repeat are
// reduced to one period.
static void fixed_repeated(const uint32_t *bits, bool mirror, int32_t *fixed)
{
    const float period = mirror ? 2 : 1;
    const int32_t mask = ((mirror ? 2 : 1) << 21) - 1;

    KN_EACH_LANE
    {
        const uint32_t magnitude = bits[i] & 0x7fffffff;
        const bool usual = magnitude >= 0x00800000 && magnitude < 0x4b800000; // 2^24
        const float u = kn_float_of_bits(usual ? bits[i] : 0);
        const int32_t below = whole_below(u);
        const float less = (float)(mirror ? below & ~1 : below);
        const float reduced = u >= period || u <= -period ? u - less : u;
        fixed[i] = whole_below(reduced * 0x1p21f) & mask;
    }
}

static void fixed_clamped(const uint32_t *bits, int32_t *fixed)
{
    KN_EACH_LANE
    {
        const uint32_t magnitude = bits[i] & 0x7fffffff;
        const bool usual = magnitude >= 0x00800000 && magnitude <= 0x7f800000;
        const float u = kn_float_of_bits(usual ? bits[i] : 0);
        const float clamped = u > 4.0f ? 4.0f : u < -4.0f ? -4.0f : u;
        fixed[i] = whole_below(clamped * 0x1p21f);
    }
}

// Multiplies positions by the size, and rounds them to texels (bits_kept 0, down) or to 1/256
// (bits_kept 8, halves up). The product has up to 36 bits, so it is made of two.
KN_INLINE void scale_fixed(int32_t *fixed, int32_t size, int bits_kept)
{
    const int32_t half = bits_kept ? 1 << (20 - bits_kept) : 0;

    KN_EACH_LANE
    {
        const int32_t upper = fixed[i] >> 11, lower = fixed[i] & 2047;
        fixed[i] = (upper * size + ((lower * size + half) >> 11)) >> (10 - bits_kept);
    }
}

// The same for coordinates that are in texels.
KN_INLINE void scale_texels(const uint32_t *bits, int32_t *fixed, int bits_kept)
{
    const float scale = (float)(1 << bits_kept);

    KN_EACH_LANE
    {
        const uint32_t magnitude = bits[i] & 0x7fffffff;
        const bool usual = magnitude >= 0x00800000 && magnitude <= 0x7f800000;
        const float u = kn_float_of_bits(usual ? bits[i] : 0);
        const float clamped = u > 0x1p20f ? 0x1p20f : u < -0x1p20f ? -0x1p20f : u;
        const float scaled = clamped * scale;
        const int32_t below = whole_below(scaled);
        fixed[i] = below + (bits_kept && scaled - (float)below >= 0.5f);
    }
}

// Applies the address mode to indices that are at most one texel outside of what a mode allows.
static void axis_wrap(int32_t *index, int32_t *out, int32_t size, enum kn_address address)
{
    const bool border = address == KN_ADDRESS_BORDER;

    switch (address) {
    case KN_ADDRESS_WRAP:
        KN_EACH_LANE
        {
            const int32_t k = index[i];
            index[i] = k < 0 ? k + size : k >= size ? k - size : k;
        }
        break;
    case KN_ADDRESS_MIRROR:
        KN_EACH_LANE
        {
            const int32_t k = index[i] < 0 ? 0 : index[i];
            index[i] = k >= 2 * size ? 0 : k >= size ? 2 * size - 1 - k : k;
        }
        break;
    default:
        KN_EACH_LANE
        {
            const int32_t k = index[i];
            out[i] = border && (k < 0 || k >= size) ? -1 : 0;
            index[i] = k < 0 ? 0 : k >= size ? size - 1 : k;
        }
    }
}

// Finds the texels of a coordinate.
static void plane_axis(struct axis *a, const uint32_t *bits, int32_t size,
                       const struct kn_texture *t, unsigned axis)
{
    const bool repeated =
        t->address[axis] == KN_ADDRESS_WRAP || t->address[axis] == KN_ADDRESS_MIRROR;
    const enum kn_address address =
        repeated && !t->normalized ? KN_ADDRESS_CLAMP : t->address[axis];
    int32_t at[KN_LANES];

    if (!t->normalized)
        scale_texels(bits, at, t->filter ? 8 : 0);
    else if (repeated)
        fixed_repeated(bits, address == KN_ADDRESS_MIRROR, at);
    else
        fixed_clamped(bits, at);
    if (t->normalized && t->filter)
        scale_fixed(at, size, 8);
    else if (t->normalized)
        scale_fixed(at, size, 0);
    if (t->filter) {
        KN_EACH_LANE
        {
            a->first[i] = (at[i] - 128) >> 8;
            a->second[i] = a->first[i] + 1;
            a->weight[i] = (at[i] - 128) & 255;
        }
        axis_wrap(a->second, a->out_second, size, address);
    } else {
        KN_EACH_LANE
        a->first[i] = at[i];
    }
    axis_wrap(a->first, a->out_first, size, address);
}

// The part of an element's offset that depends on its column, and the one that depends on its row
// and layer. Levels are smaller than 2^31 bytes, see kn_fast_choose.
static void offset_columns(const struct kn_texture *t, const int32_t *x, uint32_t *offset)
{
    const struct kn_tiled *tiled = &t->level[t->base_level].tiled;
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

static void offset_rows(const struct kn_texture *t, const int32_t *y, const uint32_t *layer,
                        uint32_t *offset)
{
    const struct kn_texture_level *l = &t->level[t->base_level];
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

static void plane_layers(const struct kn_texture *t, const uint32_t *layer, uint32_t *offset)
{
    const uint32_t layer_B = (uint32_t)t->level[t->base_level].layer_B;
    const uint32_t last = t->layers - 1;
    const bool layered = t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;

    KN_EACH_LANE
    offset[i] = 0;
    if (layered && layer) {
        KN_EACH_LANE
        offset[i] = (layer[i] < last ? layer[i] : last) * layer_B;
    }
}

// Finds the texels of all lanes and their weights.
static void plane_find(struct plane *p, const struct kn_texture *t, const struct kn_fetch *f)
{
    static const uint32_t zeros[KN_LANES];
    const struct kn_texture_level *l = &t->level[t->base_level];
    const bool row = t->shape == KN_TEXTURE_1D || t->shape == KN_TEXTURE_1D_LAYERED;
    uint32_t column[2][KN_LANES], line[2][KN_LANES], layer[KN_LANES];

    memset(p->x.out_first, 0, sizeof(p->x.out_first));
    memset(p->x.out_second, 0, sizeof(p->x.out_second));
    memset(p->y.out_first, 0, sizeof(p->y.out_first));
    memset(p->y.out_second, 0, sizeof(p->y.out_second));
    plane_axis(&p->x, f->x ? f->x : zeros, (int32_t)l->width, t, 0);
    plane_axis(&p->y, f->y && !row ? f->y : zeros, (int32_t)l->height, t, 1);
    plane_layers(t, f->layer, layer);
    offset_columns(t, p->x.first, column[0]);
    offset_rows(t, p->y.first, layer, line[0]);
    if (t->filter) {
        offset_columns(t, p->x.second, column[1]);
        offset_rows(t, p->y.second, layer, line[1]);
    }
    // Rows of layers have no border above and below.
    if (t->shape == KN_TEXTURE_1D_LAYERED) {
        memset(p->y.out_first, 0, sizeof(p->y.out_first));
        memset(p->y.weight, 0, sizeof(p->y.weight));
    }
    p->border = t->address[0] == KN_ADDRESS_BORDER || t->address[1] == KN_ADDRESS_BORDER;
    for (unsigned k = 0; k < (t->filter ? 4 : 1); k++) {
        const int32_t *x_out = k & 1 ? p->x.out_second : p->x.out_first;
        const int32_t *y_out = k & 2 ? p->y.out_second : p->y.out_first;
        KN_EACH_LANE
        {
            p->offset[k][i] = column[k & 1][i] + line[k >> 1][i];
            p->out[k][i] = x_out[i] | y_out[i];
        }
    }
}

// The weights of the four texels, see weigh_slice.
static void plane_weigh(struct plane *p)
{
    KN_EACH_LANE
    {
        const int32_t x = p->x.weight[i], y = p->y.weight[i];
        const int32_t both = (x * y + 128) >> 8;
        p->weight[3][i] = both;
        p->weight[1][i] = x - both;
        p->weight[2][i] = y - both;
        p->weight[0][i] = 256 - x - y + both;
    }
}

KN_INLINE void channel_border(const struct plane *p, unsigned tap, uint32_t border, uint32_t *value)
{
    if (!p->border)
        return;
    KN_EACH_LANE
    value[i] = p->out[tap][i] ? border : value[i];
}

// Sums of UNORM channels: `texel` holds bytes times 257, or words of 16 bits.
static void sum_unorm(const struct plane *p, uint32_t texel[4][KN_LANES], uint32_t *value)
{
    KN_EACH_LANE
    {
        const uint32_t sum =
            texel[0][i] * (uint32_t)p->weight[0][i] + texel[1][i] * (uint32_t)p->weight[1][i] +
            texel[2][i] * (uint32_t)p->weight[2][i] + texel[3][i] * (uint32_t)p->weight[3][i];
        value[i] = kn_float_bits((float)(int32_t)((sum + 128) >> 8) / 65535.0f);
    }
}

// Sums of FLOAT channels, see slab_sum. Returns false if a lane of `active` has an infinite number
// or NaN of a weight above 0, which kn_filter_sum sums instead.
static bool sum_float(const struct plane *p, uint32_t texel[4][KN_LANES], uint32_t active,
                      uint32_t *value)
{
    int32_t largest[KN_LANES], negative[KN_LANES], aligned[4][KN_LANES];
    double sum[KN_LANES];
    uint32_t special = 0;

    KN_EACH_LANE
    largest[i] = 0, negative[i] = -1;
    for (unsigned k = 0; k < 4; k++) {
        KN_EACH_LANE
        {
            const int32_t exponent = (int32_t)(texel[k][i] >> 23 & 255);
            const int32_t counts = p->weight[k][i] ? exponent : 0;
            largest[i] = counts > largest[i] ? counts : largest[i];
            negative[i] &= p->weight[k][i] ? (int32_t)texel[k][i] >> 31 : -1;
        }
    }
    for (int i = 0; i < KN_LANES; i++)
        special |= (uint32_t)(largest[i] == 255) << i;
    for (unsigned k = 0; k < 4; k++) {
        KN_EACH_LANE
        {
            const uint32_t bits = texel[k][i];
            const int32_t exponent = (int32_t)(bits >> 23 & 255);
            const int32_t distance = largest[i] - exponent;
            const int32_t shift = distance < 0 ? 31 : distance > 31 ? 31 : distance;
            const uint32_t mantissa = exponent ? (bits & 0x7fffff) | 0x800000 : 0;
            const int32_t magnitude = (int32_t)(mantissa << 4 >> shift);
            aligned[k][i] = (int32_t)bits < 0 ? -magnitude : magnitude;
        }
    }
    KN_EACH_LANE
    sum[i] = (double)aligned[0][i] * p->weight[0][i] + (double)aligned[1][i] * p->weight[1][i] +
             (double)aligned[2][i] * p->weight[2][i] + (double)aligned[3][i] * p->weight[3][i];
    // The sum is a whole number below 2^39. Making it longer by 2^-45 of itself turns halves away
    // from zero, and nothing else.
    KN_EACH_LANE
    {
        const uint64_t scale_bits = (uint64_t)(largest[i] + 1023 - 127 - 23 - 4 - 8) << 52;
        double scale;
        memcpy(&scale, &scale_bits, sizeof(scale));
        const uint32_t bits = kn_float_bits((float)(sum[i] * (1 + 0x1p-45) * scale));
        const uint32_t zero = sum[i] == 0 ? (uint32_t)negative[i] & 0x80000000 : bits & 0x80000000;
        value[i] = (bits & 0x7fffffff) < 0x00800000 ? zero : bits;
    }
    return !(special & active);
}

// The same for lanes with special numbers.
static void sum_lanes(enum kn_sample_class class, const struct plane *p,
                      uint32_t texel[4][KN_LANES], uint32_t active, uint32_t *value)
{
    for (int i = 0; i < KN_LANES; i++) {
        const uint32_t texels[4] = {texel[0][i], texel[1][i], texel[2][i], texel[3][i]};
        const uint16_t weights[4] = {(uint16_t)p->weight[0][i], (uint16_t)p->weight[1][i],
                                     (uint16_t)p->weight[2][i], (uint16_t)p->weight[3][i]};
        if (active >> i & 1)
            value[i] = kn_filter_result(kn_filter_class(class),
                                        kn_filter_sum(class, texels, weights, 1, 4));
    }
}

// A fetch with a linear filter: `bits` of each channel, UNORM or FLOAT, or any other class.
KN_INLINE void fetch_linear(const struct kn_texture *t, const struct kn_fetch *f,
                            enum kn_sample_class class, unsigned channels, unsigned bits)
{
    const uint8_t *base = t->level[t->base_level].base;
    uint32_t words[4][4][KN_LANES], texel[4][KN_LANES], value[4][KN_LANES];
    struct plane p;

    plane_find(&p, t, f);
    plane_weigh(&p);
    for (unsigned k = 0; k < 4; k++)
        load_words(base, p.offset[k], f->active, channels * bits / 8, words[k]);
    for (unsigned c = 0; c < channels; c++) {
        for (unsigned k = 0; k < 4; k++) {
            channel_of((const uint32_t(*)[KN_LANES])words[k], c, bits, texel[k]);
            if (class == KN_SAMPLE_UNORM && bits == 8)
                KN_EACH_LANE
            texel[k][i] *= 257;
            channel_border(&p, k, t->border_value[c], texel[k]);
        }
        if (class == KN_SAMPLE_UNORM)
            sum_unorm(&p, texel, value[c]);
        else if (!sum_float(&p, texel, f->active, value[c]))
            sum_lanes(class, &p, texel, f->active, value[c]);
    }
    for (unsigned c = 0; c < channels; c++)
        write_channel(f, c, value[c]);
    write_missing(f, channels);
}

// A fetch of single texels that become UNORM floats (`class`) or stay as they are.
KN_INLINE void fetch_point(const struct kn_texture *t, const struct kn_fetch *f,
                           enum kn_sample_class class, unsigned channels, unsigned bits)
{
    const float scale = bits == 8 ? 255.0f : 65535.0f;
    uint32_t words[4][KN_LANES], value[4][KN_LANES];
    struct plane p;

    plane_find(&p, t, f);
    load_words(t->level[t->base_level].base, p.offset[0], f->active, channels * bits / 8, words);
    for (unsigned c = 0; c < channels; c++) {
        channel_of((const uint32_t(*)[KN_LANES])words, c, bits, value[c]);
        if (class == KN_SAMPLE_UNORM)
            KN_EACH_LANE
        value[c][i] = kn_float_bits((float)(int32_t)value[c][i] / scale);
        channel_border(&p, 0, kn_filter_result(class, t->border_value[c]), value[c]);
    }
    for (unsigned c = 0; c < channels; c++)
        write_channel(f, c, value[c]);
    write_missing(f, channels);
}

// The functions: X(name, class, channels, bits).
#define FAST_LIST(X)                                                                               \
    X(unorm8x1, KN_SAMPLE_UNORM, 1, 8)                                                             \
    X(unorm8x2, KN_SAMPLE_UNORM, 2, 8)                                                             \
    X(unorm8x4, KN_SAMPLE_UNORM, 4, 8)                                                             \
    X(unorm16x1, KN_SAMPLE_UNORM, 1, 16)                                                           \
    X(unorm16x2, KN_SAMPLE_UNORM, 2, 16)                                                           \
    X(unorm16x4, KN_SAMPLE_UNORM, 4, 16)                                                           \
    X(floatx1, KN_SAMPLE_FLOAT, 1, 32)                                                             \
    X(floatx2, KN_SAMPLE_FLOAT, 2, 32)                                                             \
    X(floatx4, KN_SAMPLE_FLOAT, 4, 32)
// Integers without a sign, which have no filter.
#define FAST_POINT_LIST(X)                                                                         \
    X(uint8x1, KN_SAMPLE_WORD, 1, 8)                                                               \
    X(uint8x2, KN_SAMPLE_WORD, 2, 8)                                                               \
    X(uint8x4, KN_SAMPLE_WORD, 4, 8)                                                               \
    X(uint16x1, KN_SAMPLE_WORD, 1, 16)                                                             \
    X(uint16x2, KN_SAMPLE_WORD, 2, 16)                                                             \
    X(uint16x4, KN_SAMPLE_WORD, 4, 16)

#define FAST_LINEAR(name, class, channels, bits)                                                   \
    static void linear_##name(const struct kn_texture *t, const struct kn_fetch *f)                \
    {                                                                                              \
        if (f->offset[0] || f->offset[1])                                                          \
            kn_fetch_base(t, f);                                                                   \
        else                                                                                       \
            fetch_linear(t, f, class, channels, bits);                                             \
    }
#define FAST_POINT(name, class, channels, bits)                                                    \
    static void point_##name(const struct kn_texture *t, const struct kn_fetch *f)                 \
    {                                                                                              \
        if (f->offset[0] || f->offset[1])                                                          \
            kn_fetch_base(t, f);                                                                   \
        else                                                                                       \
            fetch_point(t, f, class, channels, bits);                                              \
    }
FAST_LIST(FAST_LINEAR)
FAST_LIST(FAST_POINT)
FAST_POINT_LIST(FAST_POINT)

// Offsets have 32 bits, and positions of normalised coordinates have 21 after the point.
static bool level_is_small(const struct kn_texture *t)
{
    const struct kn_texture_level *l = &t->level[t->base_level];
    const uint32_t size = t->normalized ? 8192 : 1 << 17;
    const uint64_t one_B =
        t->block_linear ? kn_tiled_size_B(&l->tiled, 1) : l->pitch_B * l->height + 16;

    return l->width <= size && l->height <= size && one_B + (t->layers - 1) * l->layer_B < 1u << 31;
}

static bool texture_is_plane(const struct kn_texture *t)
{
    return t->shape == KN_TEXTURE_1D || t->shape == KN_TEXTURE_2D ||
           t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
}

kn_fetch_fn *KN_JOIN(kn_fast_choose, KN_SET)(const struct kn_texture *t)
{
    const unsigned channels = t->channels == 4 ? 2 : t->channels == 2 ? 1 : 0;
    static kn_fetch_fn *const unorm[2][2][3] = {
        {{point_unorm8x1, point_unorm8x2, point_unorm8x4},
         {point_unorm16x1, point_unorm16x2, point_unorm16x4}},
        {{linear_unorm8x1, linear_unorm8x2, linear_unorm8x4},
         {linear_unorm16x1, linear_unorm16x2, linear_unorm16x4}},
    };
    static kn_fetch_fn *const of_float[2][3] = {{point_floatx1, point_floatx2, point_floatx4},
                                                {linear_floatx1, linear_floatx2, linear_floatx4}};
    static kn_fetch_fn *const uint8[3] = {point_uint8x1, point_uint8x2, point_uint8x4};
    static kn_fetch_fn *const uint16[3] = {point_uint16x1, point_uint16x2, point_uint16x4};

    if (!texture_is_plane(t) || !level_is_small(t))
        return 0;
    switch (t->texel) {
    case KN_TEXEL_UNORM8:
        return t->srgb ? 0 : unorm[t->filter][0][channels];
    case KN_TEXEL_UNORM16:
        return unorm[t->filter][1][channels];
    case KN_TEXEL_FLOAT:
        return of_float[t->filter][channels];
    case KN_TEXEL_UINT8:
        return t->filter ? 0 : uint8[channels];
    case KN_TEXEL_UINT16:
        return t->filter ? 0 : uint16[channels];
    case KN_TEXEL_UINT32:
    case KN_TEXEL_SINT32:
        return t->filter ? 0 : of_float[0][channels];
    default:
        return 0;
    }
}
