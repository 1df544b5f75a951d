// SPDX-License-Identifier: MIT
// From coordinates to texels and weights.
#include "footprint.h"

#include "axis.h"
#include "cube.h"

static bool shape_is_cube(enum kn_texture_shape shape)
{
    return shape == KN_TEXTURE_CUBE || shape == KN_TEXTURE_CUBE_LAYERED;
}

static unsigned shape_axes(enum kn_texture_shape shape)
{
    switch (shape) {
    case KN_TEXTURE_1D:
    case KN_TEXTURE_1D_LAYERED:
    case KN_TEXTURE_LINEAR:
        return 1;
    case KN_TEXTURE_3D:
        return 3;
    default:
        return 2;
    }
}

// Layers outside are the last one, also negative ones.
static int32_t layer_clamp(const struct kn_texture *t, int32_t layer)
{
    const uint32_t most = t->shape == KN_TEXTURE_CUBE_LAYERED ? t->layers / 6 : t->layers;

    return (int32_t)((uint32_t)layer < most ? (uint32_t)layer : most - 1);
}

static int32_t layer_of(const struct kn_texture *t, const struct kn_lane *lane, unsigned face)
{
    switch (t->shape) {
    case KN_TEXTURE_1D_LAYERED:
    case KN_TEXTURE_2D_LAYERED:
        return layer_clamp(t, lane->layer);
    case KN_TEXTURE_CUBE_LAYERED:
        return layer_clamp(t, lane->layer) * 6 + (int32_t)face;
    case KN_TEXTURE_CUBE:
        return (int32_t)face;
    default:
        return 0;
    }
}

static struct kn_axis axis_find(const struct kn_texture *t, unsigned level,
                                const struct kn_lane *lane, unsigned axis, bool linear)
{
    const struct kn_texture_level *l = &t->level[level];
    const bool cube = shape_is_cube(t->shape);
    const struct kn_axis_rule rule = {
        .size = axis == 0   ? l->width
                : axis == 1 ? l->height
                            : l->depth,
        .address = cube && t->seamless ? KN_ADDRESS_CLAMP : t->address[axis],
        .normalized = cube || t->normalized,
        .offset = lane->offset[axis],
        .shift_256 = axis < 2 ? lane->shift_256[axis] : 0,
        .unclamped = cube && t->seamless,
    };

    if (linear)
        return kn_axis_linear(&rule, lane->coordinate[axis]);
    return rule.unclamped ? kn_axis_face_point(&rule, lane->coordinate[axis])
                          : kn_axis_point(&rule, lane->coordinate[axis]);
}

static void taps_set(struct kn_taps *taps, unsigned i, int32_t x, int32_t y, int32_t z)
{
    taps->x[i] = y == KN_TAP_BORDER || z == KN_TAP_BORDER ? KN_TAP_BORDER : x;
    taps->y[i] = y;
    taps->z[i] = z;
}

// A weight, or KN_WEIGHT_TINY if rounding alone made it 0.
static uint16_t weight_of(uint32_t weight, bool counts)
{
    return (uint16_t)(weight || !counts ? weight : KN_WEIGHT_TINY);
}

// The weights of a slice whose own weight is `whole`: each product is rounded, and the rest of what
// it came from belongs to the other side, so that the four always add up to `whole`.
static void weigh_slice(uint16_t *weight, uint32_t x, uint32_t y, uint32_t whole)
{
    const uint32_t x1 = (x * whole + 128) >> 8, x0 = whole - x1;
    const uint32_t x1y1 = (x1 * y + 128) >> 8, x0y1 = (x0 * y + 127) >> 8;

    weight[0] = weight_of(x0 - x0y1, true);
    weight[1] = weight_of(x1 - x1y1, x);
    weight[2] = weight_of(x0y1, y);
    weight[3] = weight_of(x1y1, x && y);
}

static void taps_plane(struct kn_taps *taps, unsigned from, struct kn_axis x, struct kn_axis y,
                       int32_t z)
{
    taps_set(taps, from, x.first, y.first, z);
    taps_set(taps, from + 1, x.second, y.first, z);
    taps_set(taps, from + 2, x.first, y.second, z);
    taps_set(taps, from + 3, x.second, y.second, z);
}

// Adds the taps of a linear filter in one level.
static void taps_linear(struct kn_taps *taps, const struct kn_axis axis[3], unsigned axes,
                        int32_t layer, uint32_t whole)
{
    const struct kn_axis x = axis[0], y = axis[1], z = axis[2];
    const unsigned at = taps->slabs * taps->count;
    uint16_t *weight = taps->weight + at;

    if (axes == 1) {
        taps_set(taps, at, x.first, 0, layer);
        taps_set(taps, at + 1, x.second, 0, layer);
        const uint32_t second = (x.weight * whole + 128) >> 8;
        weight[0] = weight_of(whole - second, true);
        weight[1] = weight_of(second, x.weight);
    } else if (axes == 2) {
        taps_plane(taps, at, x, y, layer);
        weigh_slice(weight, x.weight, y.weight, whole);
    } else {
        const uint32_t second = (z.weight * whole + 127) >> 8;
        taps_plane(taps, at, x, y, z.first);
        taps_plane(taps, at + 4, x, y, z.second);
        weigh_slice(weight, x.weight, y.weight, whole - second);
        weigh_slice(weight + 4, x.weight, y.weight, second);
        for (unsigned i = 4; i < 8 && !z.weight; i++)
            weight[i] = 0;
    }
    taps->slabs += axes == 3 ? 2 : 1;
}

// Adds the taps of one level. One-dimensional textures without layers are rows of height 1, in
// which y is 0. A linear filter reads half of the row below 0, which matters if that is the border
// (recorded: address/border-width-4-linear-normalised).
static void taps_level(const struct kn_texture *t, unsigned level, const struct kn_lane *lane,
                       uint32_t whole, struct kn_taps *taps)
{
    const bool linear = taps->count > 1, cube = shape_is_cube(t->shape);
    const unsigned axes = shape_axes(t->shape);
    const unsigned used = linear && taps->count == 4 && axes == 1 ? 2 : axes;
    struct kn_lane on_face = *lane;
    const unsigned face = cube ? kn_cube_face(&on_face) : 0;
    const int32_t layer = layer_of(t, lane, face);
    const unsigned from = taps->slabs * taps->count;
    struct kn_axis axis[3] = {{0}};

    if (used > axes)
        on_face.coordinate[1] = 0;
    for (unsigned i = 0; i < used; i++)
        axis[i] = axis_find(t, level, &on_face, i, linear);
    if (!linear) {
        const bool below =
            t->shape == KN_TEXTURE_1D && lane->offset[1] && t->address[1] == KN_ADDRESS_BORDER;
        const int32_t y = below ? KN_TAP_BORDER : axis[1].first;
        taps->weight[from] = (uint16_t)whole;
        taps_set(taps, from, axis[0].first, y, axes == 3 ? axis[2].first : layer);
        taps->slabs++;
        return;
    }
    if (cube && t->seamless)
        kn_cube_axes(&axis[0], &axis[1], (int32_t)t->level[level].width);
    taps_linear(taps, axis, used, layer, whole);
    if (cube && t->seamless)
        kn_cube_seams(taps, from, (int32_t)t->level[level].width);
}

static void taps_begin(const struct kn_texture *t, bool linear, struct kn_taps *taps)
{
    const bool row = shape_axes(t->shape) == 1 &&
                     (t->shape != KN_TEXTURE_1D || t->address[1] != KN_ADDRESS_BORDER);

    taps->slabs = 0;
    taps->corner = KN_TAPS_MAX;
    taps->count = !linear ? 1 : row ? 2 : 4;
}

void kn_footprint_weighted(const struct kn_texture *t, unsigned level, const struct kn_lane *lane,
                           uint32_t whole, bool linear, struct kn_taps *taps)
{
    taps_begin(t, linear, taps);
    taps_level(t, level, lane, whole, taps);
    taps->upper = taps->slabs * taps->count;
}

void kn_footprint(const struct kn_texture *t, struct kn_lod lod, const struct kn_lane *lane,
                  bool linear, struct kn_taps *taps)
{
    taps_begin(t, linear, taps);
    taps_level(t, lod.level, lane, 256 - lod.fraction, taps);
    taps->upper = taps->slabs * taps->count;
    if (lod.fraction)
        taps_level(t, lod.level + 1, lane, lod.fraction, taps);
}
