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
// A texel is one of the level that the LOD names, fractions included. If the LOD is between two
// levels, each has its own row. In the upper level the ellipse is shorter than a texel, so its
// ratio is smaller.
#include "probes.h"

#include <math.h>

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
    return ratio > 0 ? ratio : 0;
}

int32_t kn_probes_slope(const struct kn_texture *t)
{
    const uint32_t anisotropy = t->trilinear ? 0 : t->anisotropy;
    return anisotropy >= 8 ? 32 : anisotropy >= 4 ? 28 : anisotropy >= 2 ? 24 : 16;
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

// Plans the samples in a level. The distance between them is texel_64 / 64 of its texels.
static void plan_row(struct kn_row *row, int32_t ratio, uint32_t texel_64, const double axis[2])
{
    // From 511 on, 1 / r is rounded to 1/4 or less.
    const unsigned more = ratio >= 511 ? 2 : ratio > 0 ? 1 : 0;
    uint32_t octave, reciprocal, spread_128;
    int32_t direction_64[2];

    *row = (struct kn_row){.more = more};
    if (ratio <= 0)
        return;
    // 1 / r is reciprocal / 2^(8 + octave).
    octave = (uint32_t)(ratio - 1) >> 8;
    reciprocal = exp2_256((uint32_t)ratio - 256 * octave);
    row->inner = octave < more ? reciprocal << (more - octave) : reciprocal >> (octave - more);
    for (row->pairs = 1; 2 * row->pairs * row->inner < 256u << more; row->pairs++)
        ;
    spread_128 = row->pairs == 1 ? 256 - reciprocal : 128;
    find_direction(axis, direction_64);
    for (unsigned i = 0; i < 2; i++) {
        const int32_t half_128 = (direction_64[i] * (int32_t)spread_128 + 64) >> 7; // halves up
        row->step_128[i] = half_128 * (int32_t)texel_64 >> 6;                       // rounded down
    }
}

struct kn_probes kn_probes_plan(int32_t ratio, const double axis[2], struct kn_lod lod)
{
    struct kn_probes p = {.several = ratio > 0};

    if (!p.several)
        return p;
    plan_row(&p.row[0], ratio, exp2_256(256 - lod.fraction) >> 1, axis);
    plan_row(&p.row[1], ratio - 256 + (int32_t)lod.fraction, 64, axis);
    p.more = p.row[0].more;
    return p;
}

// The weight of the first n + 1 samples on one side of a row that has `share` / 256 of all weight,
// counted from the inside.
static uint32_t weight_within(const struct kn_row *row, unsigned n, uint32_t share, uint32_t round)
{
    const uint32_t whole = n + 1 < row->pairs ? (n + 1) * row->inner : 128u << row->more;

    return (whole * share + round) >> 8;
}

// Rounding errors of a sample go to its neighbour on the outside, so that each level has its share
// of all weights exactly. [filter_samples/upper]
uint32_t kn_probes_weigh(const struct kn_probes *p, unsigned level, int sample, uint32_t fraction)
{
    const struct kn_row *row = &p->row[level];
    const unsigned n = (unsigned)(sample < 0 ? -sample - 1 : sample);
    const uint32_t round = sample < 0 ? 127 : 128; // halves go up on one side only
    const uint32_t share = level ? fraction : 256 - fraction;

    if (!row->pairs)
        return share;
    return weight_within(row, n, share, round) - (n ? weight_within(row, n - 1, share, round) : 0);
}
