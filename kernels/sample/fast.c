// SPDX-License-Identifier: MIT
// Fetches of the most common textures for 32 lanes at once: one level, one or two dimensions, with
// or without layers. Each instruction set compiles this file, and all give the bits of fetch.c.
//
// The steps are those of fetch.c, each a loop over the lanes that the compiler vectorises:
// positions and weights (fast_plane.inc.h), texels (load_words), sums.
#include "fast.h"

#include "fast_lanes.inc.h"
#include "fast_plane.inc.h"
#include "filter.h"
#include "texel.h"

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

// Whether texel k of a lane counts, also if its weight was rounded to 0.
KN_INLINE bool plane_counts(const struct plane *p, unsigned k, int i)
{
    return (!(k & 1) || p->x.weight[i]) && (!(k & 2) || p->y.weight[i]);
}

// The lanes that have an infinite texel or a NaN that counts.
KN_INLINE uint32_t special_lanes(const struct plane *p, uint32_t texel[4][KN_LANES],
                                 uint32_t infinity)
{
    int32_t found[KN_LANES];
    uint32_t lanes = 0;

    KN_EACH_LANE
    found[i] = 0;
    for (unsigned k = 0; k < 4; k++) {
        KN_EACH_LANE
        found[i] |= plane_counts(p, k, i) & ((texel[k][i] & infinity) == infinity);
    }
    for (int i = 0; i < KN_LANES; i++)
        lanes |= (uint32_t)found[i] << i;
    return lanes;
}

// Sums of FLOAT channels, see slab_sum. Returns false if a lane of `active` has an infinite number
// or NaN that counts, which kn_filter_sum sums instead.
static bool sum_float(const struct plane *p, uint32_t texel[4][KN_LANES], uint32_t active,
                      uint32_t *value)
{
    int32_t largest[KN_LANES], negative[KN_LANES], aligned[4][KN_LANES];
    double sum[KN_LANES];

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
    return !(special_lanes(p, texel, 0x7f800000) & active);
}

// The f32 of halves, see kn_filter_result.
static void widen_half(uint32_t *value)
{
    KN_EACH_LANE
    {
        const uint32_t magnitude = value[i] & 0x7fff;
        const uint32_t denormal = kn_float_bits((float)(int32_t)magnitude * 0x1p-24f);
        const uint32_t normal = (magnitude << 13) + (112u << 23);
        const uint32_t special = magnitude << 13 | 0x7f800000;
        value[i] = (value[i] & 0x8000) << 16 | (magnitude < 0x400    ? denormal
                                                : magnitude < 0x7c00 ? normal
                                                                     : special);
    }
}

// Sums of HALF channels, like sum_float. A sum has at most 23 bits.
static bool sum_half(const struct plane *p, uint32_t texel[4][KN_LANES], uint32_t active,
                     uint32_t *value)
{
    int32_t largest[KN_LANES], positive[KN_LANES], sum[KN_LANES];

    KN_EACH_LANE
    largest[i] = 1, positive[i] = 0, sum[i] = 0;
    for (unsigned k = 0; k < 4; k++) {
        KN_EACH_LANE
        {
            const int32_t exponent = (int32_t)(texel[k][i] >> 10 & 31);
            const int32_t counts = p->weight[k][i] ? exponent : 0;
            largest[i] = counts > largest[i] ? counts : largest[i];
            positive[i] |= p->weight[k][i] && !(texel[k][i] & 0x8000);
        }
    }
    for (unsigned k = 0; k < 4; k++) {
        KN_EACH_LANE
        {
            const uint32_t bits = texel[k][i];
            const int32_t exponent = (int32_t)(bits >> 10 & 31);
            const int32_t distance = largest[i] - (exponent ? exponent : 1);
            const uint32_t mantissa = (bits & 0x3ff) | (exponent ? 0x400 : 0);
            const int32_t aligned = (int32_t)(mantissa << 4 >> (distance < 0 ? 31 : distance));
            sum[i] += (bits & 0x8000 ? -aligned : aligned) * p->weight[k][i];
        }
    }
    // Rounds the sum to 11 bits, or to a multiple of 2^-24.
    KN_EACH_LANE
    {
        const int32_t magnitude = sum[i] < 0 ? -sum[i] : sum[i];
        const uint32_t unit = (uint32_t)(largest[i] + 127 - 15 - 10 - 4 - 8) << 23;
        const float exact = (float)magnitude * kn_float_of_bits(unit);
        const uint32_t normal = (kn_float_bits(exact) + 0x1000) & ~0x1fffu;
        const float steps = (float)(int32_t)(exact < 0x1p-14f ? exact * 0x1p24f + 0.5f : 0.0f);
        const uint32_t sign = sum[i] < 0 || (sum[i] == 0 && !positive[i]) ? 0x80000000 : 0;
        value[i] = sign | (exact < 0x1p-14f ? kn_float_bits(steps * 0x1p-24f) : normal);
    }
    return !(special_lanes(p, texel, 0x7c00) & active);
}

// The same for lanes with special numbers.
static void sum_lanes(enum kn_sample_class class, const struct plane *p,
                      uint32_t texel[4][KN_LANES], uint32_t active, uint32_t *value)
{
    for (int i = 0; i < KN_LANES; i++) {
        const uint32_t texels[4] = {texel[0][i], texel[1][i], texel[2][i], texel[3][i]};
        uint16_t weights[4];
        for (unsigned k = 0; k < 4; k++)
            weights[k] = (uint16_t)(p->weight[k][i] || !plane_counts(p, k, i) ? p->weight[k][i]
                                                                              : KN_WEIGHT_TINY);
        if (active >> i & 1)
            value[i] = kn_filter_result(
                kn_filter_class(class),
                kn_filter_sum(class, texels, weights, (struct kn_slabs){1, 1, 4, 0, 2}));
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
            if (class == KN_SAMPLE_UNORM && bits == 8) {
                KN_EACH_LANE
                texel[k][i] *= 257;
            }
            channel_border(&p, k, t->border_value[c], texel[k]);
        }
        if (class == KN_SAMPLE_UNORM)
            sum_unorm(&p, texel, value[c]);
        else if (!(class == KN_SAMPLE_HALF ? sum_half : sum_float)(&p, texel, f->active, value[c]))
            sum_lanes(class, &p, texel, f->active, value[c]);
    }
    for (unsigned c = 0; c < channels; c++)
        write_channel(f, c, value[c]);
    write_missing(f, channels);
}

// A fetch of single texels that become floats if they are UNORM or HALF.
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
        if (class == KN_SAMPLE_UNORM) {
            KN_EACH_LANE
            value[c][i] = kn_float_bits((float)(int32_t)value[c][i] / scale);
        } else if (class == KN_SAMPLE_HALF) {
            widen_half(value[c]);
        }
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
    X(halfx1, KN_SAMPLE_HALF, 1, 16)                                                               \
    X(halfx2, KN_SAMPLE_HALF, 2, 16)                                                               \
    X(halfx4, KN_SAMPLE_HALF, 4, 16)                                                               \
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
    static kn_fetch_fn *const half[2][3] = {{point_halfx1, point_halfx2, point_halfx4},
                                            {linear_halfx1, linear_halfx2, linear_halfx4}};
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
    case KN_TEXEL_HALF:
        return half[t->filter][channels];
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
