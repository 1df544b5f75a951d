// SPDX-License-Identifier: MIT
// The level of detail, in units of 1/256 of a level.
#include "lod.h"

#include "convert_scalar.h"
#include "gradient.h"
#include "probes.h"

// 256 * log2(1 + m/256): floor(256 * log2(1 + (m + 0.456) / 256) + 0.512), but 0 for 0 and never
// more than 255. Any numbers near these two give the card's table, which
// grad/along-x-1-to-2-very-fine shows in full.
static const uint8_t lod_log2[256] = {
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,
    27,  28,  30,  31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,
    52,  53,  54,  55,  57,  58,  59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,
    75,  76,  77,  78,  79,  81,  82,  83,  84,  85,  86,  88,  89,  90,  91,  92,  93,  94,  95,
    97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116,
    117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136,
    137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154,
    155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172,
    173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188,
    189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205,
    205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220,
    221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234, 235,
    236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249,
    250, 251, 251, 252, 253, 253, 254, 255, 255,
};

enum { LOD_MOST = 32 * 256, BIAS_MOST = 15 * 256 };

// lod * 256, truncated towards zero, with NaN as 0.
static int32_t lod_fixed(float lod)
{
    const float scaled = lod * 256.0f;

    if (scaled >= LOD_MOST)
        return LOD_MOST;
    if (scaled <= -LOD_MOST)
        return -LOD_MOST;
    if (!(scaled == scaled))
        return 0;
    return (int32_t)scaled;
}

void kn_lod_prepare(struct kn_texture *t)
{
    const float slope = (float)kn_probes_slope(t);
    const float bias = t->bias * 256.0f - (128 - 128 * 16 / slope);

    t->anisotropy_256 = kn_probes_most(t->anisotropy);
    t->lod_min_256 = lod_fixed(t->lod_min);
    t->lod_max_256 = lod_fixed(t->lod_max);
    t->bias_256 = bias >= BIAS_MOST    ? BIAS_MOST
                  : bias <= -BIAS_MOST ? -BIAS_MOST
                  : bias == bias       ? (int32_t)bias // truncated towards zero
                                       : 0;
}

// The lower limit wins over the upper one. A filter between levels takes the fraction; otherwise
// the nearest level counts, halves up.
static struct kn_lod lod_levels(const struct kn_texture *t, int32_t lod_256)
{
    const int32_t last = (int32_t)t->levels - 1;
    int32_t lod = lod_256 < t->lod_max_256 ? lod_256 : t->lod_max_256;

    lod = lod > t->lod_min_256 ? lod : t->lod_min_256;
    if (!t->mip_linear)
        lod = (lod + 128) & ~255;
    lod = lod < 0 ? 0 : lod > last * 256 ? last * 256 : lod;
    return (struct kn_lod){(uint32_t)lod >> 8, (uint32_t)lod & 255};
}

// Adds the bias. Between two levels, anisotropic filters read less of the one that is farther away:
// the fraction grows faster, up to the next level, and the bias moves the middle back to 1/2.
static int32_t lod_biased(const struct kn_texture *t, int32_t lod_256)
{
    const int32_t lod = lod_256 + t->bias_256;
    const int32_t faster = (lod & 255) * kn_probes_slope(t) >> 4;

    return (lod & ~255) + (faster < 256 ? faster : 256);
}

struct kn_lod kn_lod_explicit(const struct kn_texture *t, uint32_t lod)
{
    return lod_levels(t, lod_biased(t, lod_fixed(kn_float_of_bits(lod))));
}

struct kn_lod kn_lod_base(const struct kn_texture *t)
{
    return lod_levels(t, 0);
}

// 256 * log2 of a number of few bits.
static int32_t lod_of_length(double length)
{
    const uint32_t bits = kn_float_bits((float)length);

    return length > 0 ? ((int32_t)(bits >> 23) - 127) * 256 + lod_log2[bits >> 15 & 255]
                      : -LOD_MOST;
}

struct kn_lod kn_lod_gradient(const struct kn_texture *t, const struct kn_lane *lane,
                              const uint32_t dx[3], const uint32_t dy[3], struct kn_probes *probes)
{
    const struct kn_gradient g = kn_gradient(t, lane, dx, dy);
    const int32_t length = lod_of_length(g.length);
    const int32_t ratio = kn_probes_ratio(t, length, lod_of_length(g.area), g.axis);
    const struct kn_lod levels = lod_levels(t, lod_biased(t, length - ratio));
    // The shorter axis of the samples is at least a texel of the very first level.
    const int32_t most = length + 256 * (int32_t)t->levels_before;

    *probes = kn_probes_plan(ratio < most ? ratio : most, g.axis, levels);
    return levels;
}
