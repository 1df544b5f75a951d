// SPDX-License-Identifier: MIT
// Sums of texels. docs/internals/sampling.md explains the rules and how they were measured.
#include "filter.h"

#include "convert_scalar.h"

// A floating-point format. Its numbers have `mantissa` significant bits.
struct format {
    int mantissa; // with the hidden bit
    uint32_t infinity, sign;
    bool denormals; // otherwise they are 0
};
static const struct format format_float = {24, 0x7f800000, 0x80000000, false};
static const struct format format_half = {11, 0x7c00, 0x8000, true};

// The card computes with fixed point inside a slab. The last bit of the slab's largest texel sets
// the scale. Each texel keeps GUARD_BITS more bits below it, and the rest is cut off. The sum has
// SLAB_BITS bits below it, because weights add 8 bits and slab_add needs two more.
enum { GUARD_BITS = 4, SLAB_BITS = 14 };

struct slab {
    int64_t sum;  // a multiple of 2^-SLAB_BITS of the last bit of the largest texel
    int exponent; // of the largest texel; INT32_MIN if all are 0
    bool nan, positive_infinity, negative_infinity;
    bool positive; // not all texels are negative, zeros included
};

// A finite number's exponent (that of its last bit, at least 1) and mantissa.
static int format_exponent(const struct format *f, uint32_t bits)
{
    const int exponent = (int)((bits & ~f->sign) >> (f->mantissa - 1));

    return exponent ? exponent : 1;
}

static uint32_t format_mantissa(const struct format *f, uint32_t bits)
{
    const uint32_t hidden = 1u << (f->mantissa - 1);
    const bool normal = (bits & ~f->sign) >= hidden;

    return normal ? (bits & (hidden - 1)) | hidden : f->denormals ? bits & (hidden - 1) : 0;
}

// A weight in units of its sum: KN_WEIGHT_TINY is 0.
static uint32_t weight_units(uint16_t weight)
{
    return weight & (KN_WEIGHT_TINY - 1);
}

static void slab_special(struct slab *s, const struct format *f, uint32_t bits)
{
    if ((bits & ~f->sign) > f->infinity)
        s->nan = true;
    else if (bits & f->sign)
        s->negative_infinity = true;
    else
        s->positive_infinity = true;
}

// Cuts a texel's mantissa off after the bits that are kept, `shift` bits above those of the largest
// texel. The result is in units of 2^(8 - SLAB_BITS) of the last bit, because weights add 8 bits.
static uint64_t slab_align(uint64_t mantissa, int shift)
{
    return shift > 62 ? 0 : (mantissa << GUARD_BITS) >> shift << (SLAB_BITS - 8 - GUARD_BITS);
}

// Texels are aligned to the largest one, multiplied by their weights, and added without another
// loss. Texels of weight 0 do not matter, even if they are infinite.
static struct slab slab_sum(const struct format *f, const uint32_t *value, const uint16_t *weight,
                            unsigned count)
{
    struct slab s = {.exponent = INT32_MIN};

    for (unsigned i = 0; i < count; i++) {
        const int exponent = format_exponent(f, value[i]);
        if (weight[i] && (value[i] & f->infinity) == f->infinity)
            slab_special(&s, f, value[i]);
        if (!weight_units(weight[i]))
            continue;
        s.positive |= !(value[i] & f->sign);
        if (format_mantissa(f, value[i]) && exponent > s.exponent)
            s.exponent = exponent;
    }
    for (unsigned i = 0; i < count; i++) {
        const uint64_t mantissa = format_mantissa(f, value[i]);
        if (!mantissa || (value[i] & f->infinity) == f->infinity)
            continue;
        const int shift = s.exponent - format_exponent(f, value[i]);
        const int64_t product = (int64_t)slab_align(mantissa, shift) * weight_units(weight[i]);
        s.sum += value[i] & f->sign ? -product : product;
    }
    return s;
}

// Adds the sums of slabs. Each is first aligned to the largest exponent of all slabs and rounded
// down. The card keeps 13 bits if there are two slabs, and 14 bits if there are four (two levels of
// a 3D texture). Both numbers are measured; no reason for the difference is known.
static struct slab slab_add(const struct slab *slab, unsigned slabs)
{
    const int cut = slabs == 2 ? 1 : 0;
    struct slab s = {.exponent = INT32_MIN};

    for (unsigned i = 0; i < slabs; i++)
        s.exponent = slab[i].exponent > s.exponent ? slab[i].exponent : s.exponent;
    for (unsigned i = 0; i < slabs; i++) {
        if (slab[i].sum) {
            const int shift = s.exponent - slab[i].exponent + cut;
            s.sum += (slab[i].sum >> (shift > 62 ? 62 : shift)) * (1 << cut);
        }
        s.nan |= slab[i].nan;
        s.positive_infinity |= slab[i].positive_infinity;
        s.negative_infinity |= slab[i].negative_infinity;
        s.positive |= slab[i].positive;
    }
    return s;
}

// Rounds to the format, halves away from zero.
static uint32_t slab_round(const struct format *f, struct slab s)
{
    const uint32_t sign = s.sum < 0 ? f->sign : 0;
    uint64_t magnitude = (uint64_t)(s.sum < 0 ? -s.sum : s.sum);
    int exponent = s.exponent; // of a number with `mantissa` bits
    int shift;

    if (s.nan || (s.positive_infinity && s.negative_infinity))
        return f->sign - 1;
    if (s.positive_infinity || s.negative_infinity)
        return f->infinity | (s.negative_infinity ? f->sign : 0);
    if (!magnitude)
        return s.positive ? 0 : f->sign;
    shift = 64 - __builtin_clzll(magnitude) - f->mantissa;
    exponent += shift - SLAB_BITS;
    if (exponent < 1) { // a denormal result
        shift += 1 - exponent;
        exponent = 1;
    }
    if (shift > 0)
        magnitude = shift > 62 ? 0 : (magnitude + ((uint64_t)1 << (shift - 1))) >> shift;
    else
        magnitude <<= -shift;
    if (magnitude >> f->mantissa) {
        magnitude >>= 1;
        exponent++;
    }
    if (!(magnitude >> (f->mantissa - 1)))
        return f->denormals ? sign | (uint32_t)magnitude : sign;
    if (exponent >= (int)(f->infinity >> (f->mantissa - 1)))
        return sign | f->infinity;
    return sign | ((uint32_t)exponent << (f->mantissa - 1)) |
           ((uint32_t)magnitude & ((1u << (f->mantissa - 1)) - 1));
}

static uint32_t sum_float(const struct format *f, const uint32_t *value, const uint16_t *weight,
                          unsigned slabs, unsigned count, unsigned more)
{
    struct slab slab[KN_FILTER_SLABS_MAX], sum;

    for (unsigned i = 0; i < slabs; i++)
        slab[i] = slab_sum(f, value + i * count, weight + i * count, count);
    sum = slabs == 1 ? slab[0] : slab_add(slab, slabs);
    sum.exponent -= sum.sum ? (int)more : 0;
    return slab_round(f, sum);
}

// A decoded sRGB texel is the number n / 2^q: n is in the lower 8 bits of its value, q above them.
// The largest texels have the smallest q. All texels of a slab are shifted to the smallest q, and
// the bits that do not fit are cut off. Texels of weight 0 do not count.
static uint32_t sum_srgb(const uint32_t *value, const uint16_t *weight, unsigned slabs,
                         unsigned count, unsigned more)
{
    // units of 2^-22 if the weights are 256 in all
    struct slab s = {.exponent = SLAB_BITS + 3 - (int)more, .positive = true};

    for (unsigned k = 0; k < slabs * count; k += count) {
        uint32_t q = 14, sum = 0;
        for (unsigned i = k; i < k + count; i++)
            q = weight_units(weight[i]) && value[i] >> 8 < q ? value[i] >> 8 : q;
        for (unsigned i = k; i < k + count; i++)
            if (weight_units(weight[i]))
                sum += ((value[i] & 255) >> ((value[i] >> 8) - q)) * weight_units(weight[i]);
        s.sum += (int64_t)sum << (14 - q);
    }
    return slab_round(&format_half, s);
}

static int64_t sum_integer(const uint32_t *value, const uint16_t *weight, unsigned count)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += (int64_t)(int32_t)value[i] * weight_units(weight[i]);
    return sum;
}

// The sum of unsigned 32-bit texels, rounded down. (kn_filter_sum rounds the sums of 8-bit and
// 16-bit texels to the nearest integer.)
static uint32_t sum_word(const uint32_t *value, const uint16_t *weight, unsigned count,
                         unsigned shift)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += (uint64_t)value[i] * weight_units(weight[i]);
    return (uint32_t)(sum >> shift);
}

static int32_t at_least(int32_t value, int32_t least)
{
    return value < least ? least : value;
}

// Widens a sum of 8-bit texels to 16 bits: sum * 32767 / (127 * 256). The unit multiplies by 258 /
// 256 and adds the sum's upper bits once more. The weights are 256 << more in all.
static int32_t widen_snorm8(int32_t sum, unsigned more)
{
    return (258 * sum + (32 * (sum >> (12 + more)) << more) + (128 << more)) >> (8 + more);
}

uint32_t kn_filter_sum(enum kn_sample_class class, const uint32_t *value, const uint16_t *weight,
                       unsigned slabs, unsigned count, unsigned more)
{
    const unsigned shift = 8 + more, all = slabs * count;
    const int64_t half = INT64_C(1) << (shift - 1);

    switch (class) {
    case KN_SAMPLE_FLOAT:
        return sum_float(&format_float, value, weight, slabs, count, more);
    case KN_SAMPLE_HALF:
        return sum_float(&format_half, value, weight, slabs, count, more);
    case KN_SAMPLE_SRGB:
        return sum_srgb(value, weight, slabs, count, more);
    case KN_SAMPLE_UNORM:
    case KN_SAMPLE_SHORT:
    case KN_SAMPLE_UNORM10:
        return (uint32_t)((sum_integer(value, weight, all) + half) >> shift);
    case KN_SAMPLE_WORD:
        return sum_word(value, weight, all, shift);
    case KN_SAMPLE_SIGNED:
        return (uint32_t)(sum_integer(value, weight, all) >> shift);
    case KN_SAMPLE_SNORM16:
        return (uint32_t)at_least((int32_t)((sum_integer(value, weight, all) + half) >> shift),
                                  -32767);
    case KN_SAMPLE_SNORM8:
        return (uint32_t)at_least(widen_snorm8((int32_t)sum_integer(value, weight, all), more),
                                  -32767);
    default:
        return value[0];
    }
}

enum kn_sample_class kn_filter_class(enum kn_sample_class class)
{
    return class == KN_SAMPLE_SNORM8    ? KN_SAMPLE_SNORM16
           : class == KN_SAMPLE_SRGB    ? KN_SAMPLE_HALF
           : class == KN_SAMPLE_UNORM10 ? KN_SAMPLE_UNORM
                                        : class;
}

uint32_t kn_filter_result(enum kn_sample_class class, uint32_t value)
{
    const int32_t s = (int32_t)value;

    switch (class) {
    case KN_SAMPLE_UNORM:
        return kn_float_bits((float)value / 65535.0f);
    case KN_SAMPLE_SNORM8:
        return kn_float_bits((float)at_least(s, -127) / 127.0f);
    case KN_SAMPLE_SNORM16:
        return kn_float_bits((float)at_least(s, -32767) / 32767.0f);
    case KN_SAMPLE_UNORM10:
        return kn_float_bits((float)(value >> 6) / 1023.0f);
    case KN_SAMPLE_SRGB:
        return kn_float_bits((float)(value & 255) / (float)(1u << (value >> 8)));
    case KN_SAMPLE_HALF: // NaNs keep their bits
        if ((value & 0x7fff) > 0x7c00)
            return (value & 0x8000) << 16 | 0x7f800000 | (value & 0x3ff) << 13;
        return kn_float_bits(kn_from_half((uint16_t)value));
    default:
        return value;
    }
}
