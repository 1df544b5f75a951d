// SPDX-License-Identifier: MIT
// Fetches of any texture, lane by lane. Faster functions for common textures are in fast.c.
#include "fetch.h"

#include "convert_scalar.h"
#include "filter.h"
#include "footprint.h"
#include "lod.h"
#include "texel.h"

// The operands of one lane.
static uint32_t operand(const uint32_t *lanes, int lane)
{
    return lanes ? lanes[lane] : 0;
}

// The card takes the lowest four bits of an offset: -8 to 7.
static int32_t offset_of(uint32_t operand)
{
    return (int32_t)((operand & 15) ^ 8) - 8;
}

static struct kn_lane lane_read(const struct kn_fetch *f, int i)
{
    struct kn_lane lane = {
        .coordinate = {operand(f->x, i), operand(f->y, i), operand(f->z, i)},
        .layer = (int32_t)operand(f->layer, i),
    };

    for (unsigned axis = 0; axis < 3; axis++)
        lane.offset[axis] = offset_of(operand(f->offset[axis], i));
    return lane;
}

// Samples the levels of a lane, and makes the results.
static void lane_sample(const struct kn_texture *t, struct kn_lod lod, const struct kn_lane *lane,
                        uint32_t result[4])
{
    struct kn_taps taps;
    uint32_t texels[KN_TAPS_MAX][4], channel[KN_TAPS_MAX];

    kn_footprint(t, lod, lane, t->filter, &taps);
    for (unsigned i = 0; i < taps.slabs * taps.count; i++)
        kn_texel_read(t, lod.level + (i >= taps.upper),
                      (const int32_t[]){taps.x[i], taps.y[i], taps.z[i]}, texels[i]);
    for (unsigned c = 0; c < 4; c++) {
        enum kn_sample_class class = kn_texel_class(t, c);
        for (unsigned i = 0; i < taps.slabs * taps.count; i++)
            channel[i] = texels[i][c];
        if (t->filter || t->mip_linear) {
            channel[0] = kn_filter_sum(class, channel, taps.weight, taps.slabs, taps.count);
            class = kn_filter_class(class);
        }
        result[c] = kn_filter_result(class, channel[0]);
    }
}

static void results_write(const struct kn_fetch *f, uint32_t result[4][KN_FETCH_LANES])
{
    for (unsigned c = 0; c < 4; c++)
        for (int i = 0; i < KN_FETCH_LANES; i++)
            if (f->active >> i & 1)
                f->out[c][i] = result[c][i];
}

// Runs the loop of a fetch: `find` gives the levels of lane i.
#define EACH_LANE(f, i)                                                                            \
    for (int i = 0; i < KN_FETCH_LANES; i++)                                                       \
        if ((f)->active >> i & 1)

static void fetch_sampled(const struct kn_texture *t, const struct kn_fetch *f,
                          struct kn_lod (*find)(const struct kn_texture *, const struct kn_fetch *,
                                                const struct kn_lane *, int))
{
    uint32_t result[4][KN_FETCH_LANES], one[4];

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(f, i);
        lane_sample(t, find(t, f, &lane, i), &lane, one);
        for (unsigned c = 0; c < 4; c++)
            result[c][i] = one[c];
    }
    results_write(f, result);
}

static struct kn_lod find_base(const struct kn_texture *t, const struct kn_fetch *f,
                               const struct kn_lane *lane, int i)
{
    (void)f, (void)lane, (void)i;
    return kn_lod_base(t);
}

static struct kn_lod find_level(const struct kn_texture *t, const struct kn_fetch *f,
                                const struct kn_lane *lane, int i)
{
    (void)lane;
    return kn_lod_explicit(t, operand(f->lod, i));
}

static struct kn_lod find_gradient(const struct kn_texture *t, const struct kn_fetch *f,
                                   const struct kn_lane *lane, int i)
{
    uint32_t dx[3], dy[3];

    for (unsigned axis = 0; axis < 3; axis++) {
        dx[axis] = operand(f->dx[axis], i);
        dy[axis] = operand(f->dy[axis], i);
    }
    return kn_lod_gradient(t, lane, dx, dy);
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
    return kn_filter_result(kn_filter_class(class),
                            kn_filter_sum(class, value, corner ? thirds : all, 1, count));
}

// The four texels of a linear filter, in this order: (0, 1), (1, 1), (1, 0), (0, 0).
void kn_fetch_gather(const struct kn_texture *t, const struct kn_fetch *f)
{
    static const uint8_t order[4] = {2, 3, 1, 0};
    const unsigned level = t->base_level;
    uint32_t result[4][KN_FETCH_LANES];
    struct kn_taps taps;

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(f, i);
        kn_footprint(t, (struct kn_lod){level, 0}, &lane, true, &taps);
        for (unsigned k = 0; k < 4; k++)
            result[k][i] = tap_component(t, level, &taps, order[k] % taps.count, f->component & 3);
    }
    results_write(f, result);
}

// One texel by its indices. Outside of the base level or of its layers, the result is 0. Smaller
// levels clamp (recorded for one row of a level of 2 by 2 texels).
static void lane_fetch_integer(const struct kn_texture *t, const struct kn_lane *lane,
                               uint32_t level, uint32_t result[4])
{
    const bool layered = t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
    const bool flat = t->shape == KN_TEXTURE_LINEAR || t->shape == KN_TEXTURE_1D_LAYERED;
    const bool slices = t->shape == KN_TEXTURE_3D;
    const struct kn_texture_level *l = &t->level[level < t->levels ? level : 0];
    const uint32_t size[3] = {t->level[0].width, t->level[0].height,
                              layered ? t->layers : t->level[0].depth};
    const uint32_t last[3] = {l->width - 1, l->height - 1, layered ? t->layers - 1 : l->depth - 1};
    uint32_t at[3], value[4];
    bool outside = level >= t->levels;

    for (unsigned axis = 0; axis < 3; axis++)
        at[axis] = lane->coordinate[axis] + (uint32_t)lane->offset[axis];
    at[1] = flat ? 0 : at[1];
    at[2] = slices ? at[2] : layered ? (uint32_t)lane->layer : 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        outside |= at[axis] >= size[axis];
        at[axis] = at[axis] < last[axis] ? at[axis] : last[axis];
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
        const struct kn_lane lane = lane_read(f, i);
        if (readable)
            lane_fetch_integer(t, &lane, operand(f->lod, i), one);
        for (unsigned c = 0; c < 4; c++)
            result[c][i] = one[c];
    }
    results_write(f, result);
}
