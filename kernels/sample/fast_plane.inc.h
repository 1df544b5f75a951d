// SPDX-License-Identifier: MIT
// From the coordinates of 32 lanes to four texels and their weights: textures of one or two
// dimensions, with or without layers. Each step is a loop over the lanes that the compiler
// vectorises, and does as axis.h and footprint.c say.
#pragma once

#include "convert_scalar.h"
#include "fast_lanes.inc.h"
#include "sample.h"

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

// Applies the address mode to indices that are at most one texel outside of the mode's range.
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
    offset_columns(t, l, p->x.first, column[0]);
    offset_rows(t, l, p->y.first, layer, line[0]);
    if (t->filter) {
        offset_columns(t, l, p->x.second, column[1]);
        offset_rows(t, l, p->y.second, layer, line[1]);
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
