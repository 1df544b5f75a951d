// SPDX-License-Identifier: MIT
// Fetches of any texture, lane by lane. Faster functions for common textures are in fast.c.
#include "fetch.h"

#include "convert_scalar.h"
#include "filter.h"
#include "footprint.h"
#include "lod.h"
#include "probes.h"
#include "texel.h"

// The operands of one lane.
static uint32_t operand(const uint32_t *lanes, int lane)
{
    return lanes ? lanes[lane] : 0;
}

// The card takes the lowest four bits of an offset (-8 to 7), and six of a gather's (-32 to 31).
enum { OFFSET_BITS = 4, GATHER_OFFSET_BITS = 6 };

static int32_t offset_of(uint32_t operand, unsigned bits)
{
    const uint32_t sign = 1u << (bits - 1);
    return (int32_t)((operand & (2 * sign - 1)) ^ sign) - (int32_t)sign;
}

static struct kn_lane lane_read(const struct kn_texture *t, const struct kn_fetch *f, int i,
                                unsigned offset_bits)
{
    struct kn_lane lane = {
        .coordinate = {operand(f->x, i), operand(f->y, i), operand(f->z, i)},
        .layer = (int32_t)operand(f->layer, i),
    };

    for (unsigned axis = 0; axis < 3; axis++)
        lane.offset[axis] = offset_of(operand(f->offset[axis], i), offset_bits);
    // The next four bits of the only offset move a row, which shows if y has a border.
    if (t->shape == KN_TEXTURE_1D)
        lane.offset[1] = offset_of(operand(f->offset[0], i) >> 4, offset_bits);
    return lane;
}

// The texels of one lane: a channel's values stand one after the other, as filters need them.
struct texels {
    uint32_t value[4][KN_FILTER_SLABS_MAX * 4];
    uint16_t weight[KN_FILTER_SLABS_MAX * 4];
    unsigned slabs, lower, count; // `lower` of the slabs are of the lower level
};

static void texels_read(const struct kn_texture *t, unsigned level, const struct kn_taps *taps,
                        unsigned scale, struct texels *to)
{
    const unsigned from = to->slabs * taps->count;
    uint32_t texel[4];

    for (unsigned i = 0; i < taps->slabs * taps->count; i++) {
        kn_texel_read(t, level + (i >= taps->upper),
                      (const int32_t[]){taps->x[i], taps->y[i], taps->z[i]}, texel);
        for (unsigned c = 0; c < 4; c++)
            to->value[c][from + i] = texel[c];
        to->weight[from + i] = taps->weight[i] == KN_WEIGHT_TINY
                                   ? KN_WEIGHT_TINY
                                   : (uint16_t)(taps->weight[i] << scale);
    }
    to->slabs += taps->slabs;
    to->count = taps->count;
}

// Sums texels, or takes the only one as it is.
static void texels_filter(const struct kn_texture *t, const struct texels *from, bool sums,
                          unsigned more, uint32_t result[4])
{
    const bool small = t->element_B <= 4; // the card reads twice as many texels at a time

    for (unsigned c = 0; c < 4; c++) {
        enum kn_sample_class class = kn_texel_class(t, c);
        uint32_t value = from->value[c][0];
        if (sums) {
            value = kn_filter_sum(class, from->value[c], from->weight,
                                  (struct kn_slabs){from->slabs, from->lower, from->count, more,
                                                    small || class == KN_SAMPLE_SRGB ? 4 : 2});
            class = kn_filter_class(class);
        }
        result[c] = kn_filter_result(class, value);
    }
}

// Samples the levels of a lane, and makes the results.
static void lane_sample(const struct kn_texture *t, struct kn_lod lod, const struct kn_lane *lane,
                        uint32_t result[4])
{
    struct texels texels;
    struct kn_taps taps;

    texels.slabs = 0;
    kn_footprint(t, lod, lane, t->filter, &taps);
    texels_read(t, lod.level, &taps, 0, &texels);
    texels.lower = taps.upper / taps.count;
    texels_filter(t, &texels, t->sums, 0, result);
}

// The same for the samples of an anisotropic filter.
static void lane_sample_probes(const struct kn_texture *t, struct kn_lod lod,
                               const struct kn_probes *probes, const struct kn_lane *lane,
                               uint32_t result[4])
{
    struct texels texels;
    struct kn_lane shifted = *lane;
    struct kn_taps taps;

    texels.slabs = 0;
    for (unsigned k = 0; k < (lod.fraction ? 2 : 1); k++) {
        const struct kn_row *row = &probes->row[k];
        const int pairs = (int)row->pairs;
        for (int i = -pairs; i < (pairs ? pairs : 1); i++) {
            for (unsigned axis = 0; axis < 2; axis++)
                shifted.shift_256[axis] = pairs ? (4 * i + 2) * row->step_128[axis] : 0;
            kn_footprint_weighted(t, lod.level + k, &shifted,
                                  kn_probes_weigh(probes, k, i, lod.fraction), t->filter, &taps);
            texels_read(t, lod.level + k, &taps, probes->more - row->more, &texels);
        }
        if (k == 0)
            texels.lower = texels.slabs;
    }
    texels_filter(t, &texels, true, probes->more, result);
}

static void results_write(const struct kn_fetch *f, uint32_t result[4][KN_FETCH_LANES])
{
    for (unsigned c = 0; c < 4; c++)
        for (int i = 0; i < KN_FETCH_LANES; i++)
            if (f->active >> i & 1)
                f->out[c][i] = result[c][i];
}

// Runs the loop of a fetch: `find` gives the levels of lane i, and writes its probes if there are
// any.
#define EACH_LANE(f, i)                                                                            \
    for (int i = 0; i < KN_FETCH_LANES; i++)                                                       \
        if ((f)->active >> i & 1)

static void fetch_sampled(const struct kn_texture *t, const struct kn_fetch *f,
                          struct kn_lod (*find)(const struct kn_texture *, const struct kn_fetch *,
                                                const struct kn_lane *, int, struct kn_probes *))
{
    uint32_t result[4][KN_FETCH_LANES], one[4];

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(t, f, i, OFFSET_BITS);
        struct kn_probes probes = {.several = false};
        const struct kn_lod lod = find(t, f, &lane, i, &probes);
        if (probes.several)
            lane_sample_probes(t, lod, &probes, &lane, one);
        else
            lane_sample(t, lod, &lane, one);
        for (unsigned c = 0; c < 4; c++)
            result[c][i] = one[c];
    }
    results_write(f, result);
}

static struct kn_lod find_base(const struct kn_texture *t, const struct kn_fetch *f,
                               const struct kn_lane *lane, int i, struct kn_probes *probes)
{
    (void)f, (void)lane, (void)i, (void)probes;
    return kn_lod_base(t);
}

static struct kn_lod find_level(const struct kn_texture *t, const struct kn_fetch *f,
                                const struct kn_lane *lane, int i, struct kn_probes *probes)
{
    (void)lane, (void)probes;
    return kn_lod_explicit(t, operand(f->lod, i));
}

static struct kn_lod find_gradient(const struct kn_texture *t, const struct kn_fetch *f,
                                   const struct kn_lane *lane, int i, struct kn_probes *probes)
{
    uint32_t dx[3], dy[3];

    for (unsigned axis = 0; axis < 3; axis++) {
        dx[axis] = operand(f->dx[axis], i);
        dy[axis] = operand(f->dy[axis], i);
    }
    return kn_lod_gradient(t, lane, dx, dy, probes);
}

// Linear memory has no texels at floating-point coordinates.
void kn_fetch_nothing(const struct kn_texture *t, const struct kn_fetch *f)
{
    uint32_t result[4][KN_FETCH_LANES] = {{0}};

    (void)t;
    results_write(f, result);
}

void kn_fetch_base(const struct kn_texture *t, const struct kn_fetch *f)
{
    fetch_sampled(t, f, find_base);
}

void kn_fetch_level(const struct kn_texture *t, const struct kn_fetch *f)
{
    fetch_sampled(t, f, find_level);
}

void kn_fetch_gradient(const struct kn_texture *t, const struct kn_fetch *f)
{
    fetch_sampled(t, f, find_gradient);
}

// A component of a tap, as the filter gives it if this tap has all the weight. The tap that does
// not exist at a corner of a cube is the mean of the three others.
static uint32_t tap_component(const struct kn_texture *t, unsigned level,
                              const struct kn_taps *taps, unsigned tap, unsigned component)
{
    static const uint16_t all[1] = {256}, thirds[3] = {86, 85, 85};
    const enum kn_sample_class class = kn_texel_class(t, component);
    const bool corner = taps->corner == tap;
    const unsigned from[3] = {corner ? tap ^ 3 : tap, tap ^ 1, tap ^ 2};
    const unsigned count = corner ? 3 : 1;
    uint32_t texel[4], value[3];

    for (unsigned i = 0; i < count; i++) {
        const unsigned k = from[i];
        kn_texel_read(t, level, (const int32_t[]){taps->x[k], taps->y[k], taps->z[k]}, texel);
        value[i] = texel[component];
    }
    return kn_filter_result(
        kn_filter_class(class),
        kn_filter_sum(class, value, corner ? thirds : all, (struct kn_slabs){1, 1, count, 0, 2}));
}

// The four texels of a linear filter, in this order: (0, 1), (1, 1), (1, 0), (0, 0). The first
// level counts, whatever the limits of the LOD are (recorded: random_views offsets).
void kn_fetch_gather(const struct kn_texture *t, const struct kn_fetch *f)
{
    static const uint8_t order[4] = {2, 3, 1, 0};
    const unsigned level = 0;
    uint32_t result[4][KN_FETCH_LANES];
    struct kn_taps taps;

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(t, f, i, GATHER_OFFSET_BITS);
        kn_footprint(t, (struct kn_lod){level, 0}, &lane, true, &taps);
        for (unsigned k = 0; k < 4; k++)
            result[k][i] = tap_component(t, level, &taps, order[k] % taps.count, f->component & 3);
    }
    results_write(f, result);
}

// One texel by its indices. Outside of the texture or of its layers, the result is 0. A fetch that
// names its level clamps instead, but to no other level (recorded: random_views integers).
static void lane_fetch_integer(const struct kn_texture *t, const struct kn_lane *lane,
                               uint32_t level, bool clamps, uint32_t result[4])
{
    const bool layered = t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
    const bool flat = t->shape == KN_TEXTURE_LINEAR || t->shape == KN_TEXTURE_1D_LAYERED;
    const bool slices = t->shape == KN_TEXTURE_3D;
    const struct kn_texture_level *l = &t->level[level < t->levels ? level : 0];
    const uint32_t last[3] = {l->width - 1, l->height - 1, layered ? t->layers - 1 : l->depth - 1};
    uint32_t at[3], value[4];
    bool outside = level >= t->levels;

    for (unsigned axis = 0; axis < 3; axis++)
        at[axis] = lane->coordinate[axis] + (uint32_t)lane->offset[axis];
    at[1] = flat ? 0 : at[1];
    at[2] = slices ? at[2] : layered ? (uint32_t)lane->layer : 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        const bool below = (int32_t)at[axis] < 0 && !(layered && axis == 2);
        outside |= at[axis] > last[axis] && !clamps;
        at[axis] = below ? 0 : at[axis] < last[axis] ? at[axis] : last[axis];
    }
    memset(result, 0, 4 * sizeof(result[0]));
    if (outside)
        return;
    kn_texel_read(t, level, (const int32_t[]){(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]},
                  value);
    for (unsigned c = 0; c < 4; c++)
        result[c] = kn_filter_result(kn_texel_class(t, c), value[c]);
}

void kn_fetch_integer(const struct kn_texture *t, const struct kn_fetch *f)
{
    const bool readable = t->shape != KN_TEXTURE_1D && t->shape != KN_TEXTURE_CUBE &&
                          t->shape != KN_TEXTURE_CUBE_LAYERED;
    uint32_t result[4][KN_FETCH_LANES], one[4] = {0};

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(t, f, i, OFFSET_BITS);
        if (readable)
            lane_fetch_integer(t, &lane, operand(f->lod, i), f->lod, one);
        for (unsigned c = 0; c < 4; c++)
            result[c][i] = one[c];
    }
    results_write(f, result);
}
