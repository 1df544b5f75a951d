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

static struct kn_lane lane_read(const struct kn_fetch *f, int i)
{
    struct kn_lane lane = {
        .coordinate = {operand(f->x, i), operand(f->y, i), operand(f->z, i)},
        .layer = (int32_t)operand(f->layer, i),
    };

    for (unsigned axis = 0; axis < 3; axis++)
        lane.offset[axis] = (int32_t)operand(f->offset[axis], i);
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
        if (t->filter || lod.fraction) {
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

// A NaN that is gathered loses its bits (recorded: x_surf syntax/tld4-offset).
static uint32_t gathered(enum kn_sample_class class, uint32_t value)
{
    const uint32_t result = kn_filter_result(class, value);

    return class == KN_SAMPLE_FLOAT && (result & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : result;
}

// The four texels of a linear filter, in this order: (0, 1), (1, 1), (1, 0), (0, 0).
void kn_fetch_gather(const struct kn_texture *t, const struct kn_fetch *f)
{
    static const uint8_t order[4] = {2, 3, 1, 0};
    const enum kn_sample_class class = kn_texel_class(t, f->component & 3);
    uint32_t result[4][KN_FETCH_LANES], texel[4];
    struct kn_taps taps;

    EACH_LANE(f, i)
    {
        const struct kn_lane lane = lane_read(f, i);
        const unsigned level = kn_lod_base(t).level;
        kn_footprint(t, (struct kn_lod){level, 0}, &lane, true, &taps);
        for (unsigned k = 0; k < 4; k++) {
            const unsigned tap = order[k] % taps.count;
            kn_texel_read(t, level, (const int32_t[]){taps.x[tap], taps.y[tap], taps.z[tap]},
                          texel);
            result[k][i] = gathered(class, texel[f->component & 3]);
        }
    }
    results_write(f, result);
}

// One texel by its indices. Outside of the level or its layers, the result is 0.
static void lane_fetch_integer(const struct kn_texture *t, const struct kn_lane *lane,
                               uint32_t level, uint32_t result[4])
{
    const struct kn_texture_level *l = &t->level[level < t->levels ? level : 0];
    const bool layered = t->shape == KN_TEXTURE_1D_LAYERED || t->shape == KN_TEXTURE_2D_LAYERED;
    const bool flat = t->shape == KN_TEXTURE_LINEAR || t->shape == KN_TEXTURE_1D_LAYERED;
    int32_t at[3];
    uint32_t value[4];

    for (unsigned axis = 0; axis < 3; axis++)
        at[axis] = (int32_t)(lane->coordinate[axis] + (uint32_t)lane->offset[axis]);
    at[1] = flat ? 0 : at[1];
    at[2] = t->shape == KN_TEXTURE_3D ? at[2] : layered ? lane->layer : 0;
    memset(result, 0, 4 * sizeof(result[0]));
    if (level >= t->levels || (uint32_t)at[0] >= l->width || (uint32_t)at[1] >= l->height ||
        (uint32_t)at[2] >= (layered ? t->layers : l->depth))
        return;
    kn_texel_read(t, level, at, value);
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
