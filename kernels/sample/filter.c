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
// SLAB_BITS bits below it, because weights add 8 bits and slab_add keeps up to 3 more.
enum { GUARD_BITS = 4, SLAB_BITS = 15 };

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
        s.positive |= weight[i] && !(value[i] & f->sign);
        if (!weight_units(weight[i]))
            continue;
        if (format_mantissa(f, value[i]) && exponent > s.exponent)
            s.exponent = exponent;
    }
    for (unsigned i = 0; i < count; i++) {
        const uint64_t mantissa = format_mantissa(f, value[i]);
        const uint32_t units = weight_units(weight[i]);
        if (!mantissa || !units || (value[i] & f->infinity) == f->infinity)
            continue;
        const int shift = s.exponent - format_exponent(f, value[i]);
        const int64_t product = (int64_t)slab_align(mantissa, shift) * units;
        s.sum += value[i] & f->sign ? -product : product;
    }
    return s;
}

// Aligns the sum of a slab to an exponent that is not smaller, and rounds it down to `low` bits
// above its last one.
static int64_t slab_shift(const struct slab *s, int exponent, int low)
{
    if (!s->sum)
        return 0;
    const int shift = exponent - s->exponent + low;
    return (s->sum >> (shift > 62 ? 62 : shift)) * ((int64_t)1 << low);
}

// Adds the sums of slabs, some at a time, but not those of two levels. These and the sum so far are
// aligned to the largest of their exponents and rounded down to a power of 16, which is 12 to 15
// bits below the last bit of the largest texel. [filter_weak, filter_sums/srgb]
static struct slab slab_add(const struct slab *slab, struct kn_slabs slabs)
{
    struct slab s = {.exponent = INT32_MIN};
    unsigned end;

    if (slabs.all == 1)
        return slab[0];
    for (unsigned i = 0; i < slabs.all; i = end) {
        const unsigned level = i < slabs.lower ? slabs.lower : slabs.all;
        end = i + slabs.together < level ? i + slabs.together : level;
        int exponent = s.exponent;
        for (unsigned k = i; k < end; k++)
            exponent = slab[k].exponent > exponent ? slab[k].exponent : exponent;
        const int low = SLAB_BITS + (int)slabs.more - 12 - (exponent & 3);
        s.sum = slab_shift(&s, exponent, low);
        s.exponent = exponent;
        for (unsigned k = i; k < end; k++) {
            s.sum += slab_shift(&slab[k], exponent, low);
            s.nan |= slab[k].nan;
            s.positive_infinity |= slab[k].positive_infinity;
            s.negative_infinity |= slab[k].negative_infinity;
            s.positive |= slab[k].positive;
        }
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
                          struct kn_slabs slabs)
{
    struct slab slab[KN_FILTER_SLABS_MAX], sum;

    for (unsigned i = 0; i < slabs.all; i++)
        slab[i] = slab_sum(f, value + i * slabs.count, weight + i * slabs.count, slabs.count);
    sum = slab_add(slab, slabs);
    sum.exponent -= sum.sum ? (int)slabs.more : 0;
    return slab_round(f, sum);
}

// A decoded sRGB texel is the number n / 2^q: n is in the lower 8 bits of its value, q above them.
// The largest texels have the smallest q. All texels of a slab are shifted to the smallest q, and
// the bits that do not fit are cut off. Texels of weight 0 do not count.
static struct slab slab_srgb(const uint32_t *value, const uint16_t *weight, unsigned count)
{
    uint32_t q = 14;
    int64_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        q = weight_units(weight[i]) && value[i] >> 8 < q ? value[i] >> 8 : q;
    for (unsigned i = 0; i < count; i++)
        if (weight_units(weight[i]))
            sum += ((value[i] & 255) >> ((value[i] >> 8) - q)) * weight_units(weight[i]);
    return (struct slab){.sum = sum << (SLAB_BITS - 12), .exponent = 18 - (int)q, .positive = true};
}

// Slabs are added as those of floating-point texels, with exponents of their own and four at a
// time.
static uint32_t sum_srgb(const uint32_t *value, const uint16_t *weight, struct kn_slabs slabs)
{
    struct slab slab[KN_FILTER_SLABS_MAX], sum;

    for (unsigned i = 0; i < slabs.all; i++)
        slab[i] = slab_srgb(value + i * slabs.count, weight + i * slabs.count, slabs.count);
    sum = slab_add(slab, slabs);
    sum.exponent += 11 - (int)slabs.more; // that of an f16
    return slab_round(&format_half, sum);
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
    const int32_t upper = (sum >> (12 + more)) * (32 << more);
    return (258 * sum + upper + (128 << more)) >> (8 + more);
}

uint32_t kn_filter_sum(enum kn_sample_class class, const uint32_t *value, const uint16_t *weight,
                       struct kn_slabs slabs)
{
    const unsigned shift = 8 + slabs.more, all = slabs.all * slabs.count;
    const int64_t half = INT64_C(1) << (shift - 1);

    switch (class) {
    case KN_SAMPLE_FLOAT:
        return sum_float(&format_float, value, weight, slabs);
    case KN_SAMPLE_HALF:
        return sum_float(&format_half, value, weight, slabs);
    case KN_SAMPLE_SRGB:
        return sum_srgb(value, weight, slabs);
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
        return (uint32_t)at_least(
            widen_snorm8((int32_t)sum_integer(value, weight, all), slabs.more), -32767);
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
