// SPDX-License-Identifier: MIT
// One coordinate of a fetch: its position in texels, and the address mode.
#pragma once

#include <string.h>

#include "sample.h"
#include "small.h"

// The two texels beside a position and the weight of the second one, of 256; or one texel.
struct kn_axis {
    int32_t first, second; // KN_TAP_BORDER: outside
    uint32_t weight;
};

struct kn_axis_rule {
    uint32_t size; // in texels
    enum kn_address address;
    bool normalized;
    int32_t offset;    // in texels
    int32_t shift_256; // in 1/256 of a texel
    bool unclamped;    // leave indices outside as they are: the caller has texels there
};

// Coordinates are fixed-point numbers. Normalised ones have as many bits after the point as the
// card keeps for a size (recorded: weight/f32-ramp-normalised-width-…), others have 24.
KN_INLINE unsigned kn_axis_bits(const struct kn_axis_rule *r)
{
    return !r->normalized ? 24 : r->size <= 8192 ? 21 : r->size <= 65536 ? 22 : 23;
}

// Only normalised coordinates wrap around; others are clamped instead.
KN_INLINE enum kn_address kn_axis_address(const struct kn_axis_rule *r)
{
    const bool around = r->address == KN_ADDRESS_WRAP || r->address == KN_ADDRESS_MIRROR;

    return around && !r->normalized ? KN_ADDRESS_CLAMP : r->address;
}

// The position in texels, with kn_axis_bits bits after the point. Denormal numbers and NaN are 0,
// and so is infinity if the coordinate wraps around.
KN_INLINE int64_t kn_axis_position(const struct kn_axis_rule *r, uint32_t bits)
{
    const unsigned point = kn_axis_bits(r);
    const enum kn_address address = kn_axis_address(r);
    const bool around = address == KN_ADDRESS_WRAP || address == KN_ADDRESS_MIRROR;
    const uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff;
    // Samples of anisotropic filters are up to 16 texels from here: outside stays outside.
    const double most = around ? 0x1p24 : r->normalized ? 64.0 : 0x1p30;
    float coordinate;
    double clamped, fixed;
    int64_t position;

    if (!exponent || (exponent == 0xff && (mantissa || around)))
        return 0;
    memcpy(&coordinate, &bits, sizeof coordinate);
    clamped = coordinate;
    if (around && (clamped >= most || clamped <= -most))
        return 0; // a multiple of 2: no fraction is left
    clamped = clamped > most ? most : clamped < -most ? -most : clamped;
    fixed = clamped * (double)(1 << point);
    position = (int64_t)fixed;
    position -= (double)position > fixed; // floor
    if (!r->normalized)
        return position;
    if (around) // one period, or two of a mirror
        position &= ((int64_t)(address == KN_ADDRESS_MIRROR ? 2 : 1) << point) - 1;
    return position * r->size;
}

// Applies the address mode to a texel's index.
KN_INLINE int32_t kn_axis_wrap(const struct kn_axis_rule *r, int64_t index)
{
    const int64_t n = r->size;
    int64_t i = index;

    if (r->unclamped)
        return (int32_t)i;
    switch (kn_axis_address(r)) {
    case KN_ADDRESS_WRAP:
        i %= n;
        return (int32_t)(i < 0 ? i + n : i);
    case KN_ADDRESS_MIRROR:
        i %= 2 * n;
        i = i < 0 ? i + 2 * n : i;
        return (int32_t)(i < n ? i : 2 * n - 1 - i);
    case KN_ADDRESS_CLAMP:
        return (int32_t)(i < 0 ? 0 : i < n ? i : n - 1);
    default:
        return i < 0 || i >= n ? KN_TAP_BORDER : (int32_t)i;
    }
}

// The texel at a position.
KN_INLINE struct kn_axis kn_axis_point(const struct kn_axis_rule *r, uint32_t bits)
{
    const unsigned point = kn_axis_bits(r);
    const int64_t shift = r->shift_256 * ((int64_t)1 << (point - 8));
    const int64_t index = ((kn_axis_position(r, bits) + shift) >> point) + r->offset;
    const int32_t texel = kn_axis_wrap(r, index);

    return (struct kn_axis){texel, texel, 0};
}

// The texel at a position on a face without seams: texels outside are clamped. The coordinate, from
// 0 to 1, is rounded to 24 bits after the point.
KN_INLINE struct kn_axis kn_axis_face_point(const struct kn_axis_rule *r, uint32_t bits)
{
    float coordinate;
    int64_t index;
    int32_t texel;

    memcpy(&coordinate, &bits, sizeof coordinate);
    index = ((int64_t)((double)coordinate * 0x1p24 + 0.5) * r->size + r->shift_256 * 0x10000) >> 24;
    texel = index < 0 ? 0 : (int32_t)(index < r->size ? index : r->size - 1);
    return (struct kn_axis){texel, texel, 0};
}

// The texels whose centres are beside a position, which is rounded to 1/256 of a texel first,
// halves up. A clamped position beyond the centre of the first or last texel is that texel alone,
// which changes how weights of two levels are rounded.
KN_INLINE struct kn_axis kn_axis_linear(const struct kn_axis_rule *r, uint32_t bits)
{
    const unsigned point = kn_axis_bits(r);
    const int64_t half = (int64_t)1 << (point - 9);
    const int64_t at_256 = ((kn_axis_position(r, bits) + half) >> (point - 8)) - 128 + r->shift_256;
    const int64_t index = (at_256 >> 8) + r->offset;

    if (!r->unclamped && kn_axis_address(r) == KN_ADDRESS_CLAMP &&
        (index < 0 || index + 1 >= r->size)) {
        const int32_t texel = kn_axis_wrap(r, index);
        return (struct kn_axis){texel, texel, 0};
    }
    return (struct kn_axis){
        .first = kn_axis_wrap(r, index),
        .second = kn_axis_wrap(r, index + 1),
        .weight = (uint32_t)(at_256 & 255),
    };
}
