// SPDX-License-Identifier: MIT
// Anisotropic filters. A fetch whose gradients span a long ellipse takes its level from the shorter
// axis, and several samples along the longer one:
//
//     ratio r = longer / shorter axis, at most maxAnisotropy
//
//     1 < r <= 2   two samples of the same weight; their distance grows with r to a texel
//
//                      ─────●──┼──●─────
//
//     r > 2        samples in the distance of a texel; inner ones have the weight 1 / r, and the
//                  outermost pair has the rest
//
//                      ─○───●───●─┼─●───●───○─
//
// A texel is one of the level that the LOD names, fractions included.
#include "probes.h"

#include <math.h>

// A sample is at most 15.5 texels away from the centre. In 1/256 of a texel of level 0, this has 31
// bits.
enum { LEVEL_MOST = 17 };

// 256 * 2^(-f / 256), rounded, for f from 0 to 256.
static uint32_t exp2_256(uint32_t f)
{
    // 2^(-1/2), 2^(-1/4) ... 2^(-1/256)
    static const double root[8] = {
        0.70710678118654752, 0.84089641525371454, 0.91700404320467122, 0.95760328069857365,
        0.97857206208770013, 0.98922801319397548, 0.99459942348363317, 0.99729605608547012,
    };
    double power = f >= 256 ? 128 : 256;

    for (unsigned i = 0; i < 8; i++)
        if (f >> (7 - i) & 1)
            power *= root[i];
    return (uint32_t)(power + 0.5);
}

int32_t kn_probes_most(uint32_t anisotropy)
{
    static const int16_t steps[17] = {0,   0,   256, 256, 512, 512, 656, 656, 768,
                                      768, 848, 848, 912, 912, 912, 912, 1024};

    return steps[anisotropy < 16 ? anisotropy : 16];
}

int32_t kn_probes_ratio(const struct kn_texture *t, int32_t length, int32_t area,
                        const double axis[2])
{
    int32_t ratio = 2 * length - area;

    if (axis[0] == 0 && axis[1] == 0)
        return 0;
    ratio = ratio < t->anisotropy_256 ? ratio : t->anisotropy_256;
    ratio = ratio < length ? ratio : length; // the shorter axis has at least a texel
    return ratio > 0 ? ratio : 0;
}

// Between two levels, anisotropic filters use less of the one that is farther away.
int32_t kn_probes_sharpen(const struct kn_texture *t, int32_t lod)
{
    const int32_t fraction = lod & 255;
    int32_t sharper = fraction;

    if (t->anisotropy_256 >= 768)
        sharper = 2 * fraction - 128;
    else if (t->anisotropy_256 >= 512)
        sharper = (7 * fraction - 378) >> 2;
    else if (t->anisotropy_256 >= 256)
        sharper = (3 * fraction - 126) >> 1;
    sharper = sharper < 0 ? 0 : sharper > 256 ? 256 : sharper;
    return lod - fraction + sharper;
}

// The direction of an axis: a vector of length 64, in whole numbers. The card keeps 4 bits of the
// longer component and the same digits of the shorter one, and takes the middle of what both may
// have been. If the shorter one is below a quarter of their last digit, the direction is that of
// the longer one. [directions/plane]
static void find_direction(const double axis[2], int32_t direction_64[2])
{
    const double x = axis[0] < 0 ? -axis[0] : axis[0], y = axis[1] < 0 ? -axis[1] : axis[1];
    const unsigned longer = y > x;
    const double a = longer ? y : x, b = longer ? x : y;
    int exponent;
    double digit, p, q, length;

    (void)frexp(a, &exponent);
    digit = ldexp(1, exponent - 4);
    p = floor(a / digit) + 0.5;
    q = b < digit / 4 ? 0 : floor(b / digit) + 0.5;
    length = sqrt(p * p + q * q);
    direction_64[longer] = (int32_t)(64 * (q > 0 ? p / length : 1) + 0.5);
    direction_64[!longer] = (int32_t)(64 * q / length + 0.5);
    for (unsigned i = 0; i < 2; i++)
        direction_64[i] = axis[i] < 0 ? -direction_64[i] : direction_64[i];
}

// Half the distance between samples, as a vector in 1/64 of a texel.
static void plan_step(struct kn_probes *p, uint32_t reciprocal, int32_t lod, const double axis[2])
{
    const uint32_t level = lod >> 8 < LEVEL_MOST ? (uint32_t)lod >> 8 : LEVEL_MOST;
    const uint32_t texel_64 = exp2_256(256 - ((uint32_t)lod & 255)) >> 1;
    const uint32_t spread_128 = p->pairs == 1 ? 256 - reciprocal : 128;
    int32_t direction_64[2];

    find_direction(axis, direction_64);
    for (unsigned i = 0; i < 2; i++) {
        const int32_t step_128 = direction_64[i] * (int32_t)(texel_64 * spread_128);
        const int32_t step = (step_128 + 4096) >> 13; // halves up
        p->step_256[i] = 2 * step * (1 << level);
    }
}

struct kn_probes kn_probes_plan(int32_t ratio, int32_t lod, const double axis[2],
                                struct kn_lod levels)
{
    struct kn_probes p = {.pairs = 0};
    uint32_t octave, reciprocal;

    if (ratio <= 0)
        return p;
    // 1 / r is reciprocal / 2^(8 + octave).
    octave = (uint32_t)(ratio - 1) >> 8;
    reciprocal = exp2_256((uint32_t)ratio - 256 * octave);
    p.more = ratio >= 512 || (ratio > 256 && levels.fraction) ? 2 : 1;
    p.inner = octave < p.more ? reciprocal << (p.more - octave) : reciprocal >> (octave - p.more);
    for (p.pairs = 1; 2 * p.pairs * p.inner < 256u << p.more; p.pairs++)
        ;
    plan_step(&p, reciprocal, lod, axis);
    return p;
}

// The weight of the first n + 1 samples on one side, counted from the inside, in the lower level.
static uint32_t weight_within(const struct kn_probes *p, unsigned n, uint32_t fraction,
                              uint32_t round)
{
    const uint32_t side = 128u << p->more;
    const uint32_t whole = n + 1 < p->pairs ? (n + 1) * p->inner : side;

    return (whole * (256 - fraction) + round) >> 8;
}

// Rounding errors of a sample go to its neighbour on the outside, so that each level has its share
// of all weights exactly.
void kn_probes_weigh(const struct kn_probes *probes, int sample, uint32_t fraction,
                     uint32_t whole[2])
{
    const unsigned n = (unsigned)(sample < 0 ? -sample - 1 : sample);
    const uint32_t round = sample < 0 ? 127 : 128;
    const uint32_t before = n ? weight_within(probes, n - 1, fraction, round) : 0;
    const uint32_t inner = n + 1 < probes->pairs
                               ? probes->inner
                               : (128u << probes->more) - (probes->pairs - 1) * probes->inner;

    whole[0] = weight_within(probes, n, fraction, round) - before;
    whole[1] = inner - whole[0];
}
