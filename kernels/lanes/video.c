// SPDX-License-Identifier: MIT
// Forms of video instructions. Their modifiers are decoded for each lane, because hardly any
// program uses these instructions: cards have computed them by several others since 2014.
#include "lanes.inc.h"

#include "families.h"
#include "kn_video.h"

static inline int64_t clamp(int64_t x, unsigned bits, bool is_signed)
{
    const int64_t most = (INT64_C(1) << (bits - is_signed)) - 1;
    const int64_t least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

// The lower bits of x, extended.
static inline int64_t extend(uint64_t x, unsigned bits, bool is_signed)
{
    const unsigned up = 64 - bits;
    return is_signed ? (int64_t)(x << up) >> up : (int64_t)(x << up >> up);
}

static inline unsigned part_bits(unsigned part)
{
    return part == KN_VIDEO_WORD ? 32 : part < KN_VIDEO_H0 ? 8 : 16;
}

static inline unsigned part_at(unsigned part)
{
    if (part == KN_VIDEO_WORD)
        return 0;
    return part < KN_VIDEO_H0 ? 8 * (part - KN_VIDEO_B0) : 16 * (part - KN_VIDEO_H0);
}

static inline int64_t part_of(uint32_t x, unsigned part, bool is_signed)
{
    return extend(x >> part_at(part), part_bits(part), is_signed);
}

// "vavrg: the average is rounded away from zero" if the values are signed, up if not.
static inline int64_t average(int64_t a, int64_t b)
{
    return (a + b + (a + b >= 0)) >> 1;
}

static inline int64_t compute(unsigned operation, int64_t a, int64_t b)
{
    switch (operation) {
    case KN_VIDEO_ADD:
        return a + b;
    case KN_VIDEO_SUB:
        return a - b;
    case KN_VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case KN_VIDEO_MIN:
        return a < b ? a : b;
    case KN_VIDEO_MAX:
        return a > b ? a : b;
    case KN_VIDEO_AVRG:
        return average(a, b);
    case KN_VIDEO_SHL:
        return (int64_t)((uint64_t)a << b);
    case KN_VIDEO_SHR:
        return a >> b;
    case KN_VIDEO_EQ:
        return a == b;
    case KN_VIDEO_NE:
        return a != b;
    case KN_VIDEO_LT:
        return a < b;
    case KN_VIDEO_LE:
        return a <= b;
    case KN_VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

// The secondary operation and the lower 32 bits. On the card, min and max of unsigned results
// compare 64 bits: c is extended by zeros; sums, differences and saturated results of shifts by
// their upper bit; other results of shifts are not cut.
static inline uint32_t second(const struct kn_video *v, int64_t x, uint32_t c)
{
    const bool is_signed = v->flags & KN_VIDEO_SIGNED_D;
    if (v->second == KN_VIDEO_PLUS)
        return (uint32_t)x + c;
    if (v->second == KN_VIDEO_ALONE)
        return (uint32_t)x;
    const bool shifts = v->operation == KN_VIDEO_SHL || v->operation == KN_VIDEO_SHR;
    if (v->operation == KN_VIDEO_ADD || v->operation == KN_VIDEO_SUB ||
        (shifts && v->flags & KN_VIDEO_SATURATE))
        x = (int32_t)x;
    const bool less = is_signed ? x < (int32_t)c : (uint64_t)x < c;
    return less == (v->second == KN_VIDEO_LEAST) ? (uint32_t)x : c;
}

// ".sat: clamps to the range of the destination", as the card does it: an unsigned word is clamped
// at zero only, and a part takes negative values for large ones.
static inline int64_t saturate(int64_t x, unsigned part, bool is_signed)
{
    if (part == KN_VIDEO_WORD)
        return is_signed ? clamp(x, 32, true) : x < 0 ? 0 : x;
    const int64_t most = clamp(INT32_MAX, part_bits(part), is_signed);
    return x < 0 || x > most ? most : x;
}

// "optMerge: the result goes to a part of d, and the rest of d comes from c". The card takes the
// upper half of the result for .h1, and the lower bits for other parts.
static inline uint32_t merge(uint32_t x, uint32_t c, unsigned part)
{
    const uint32_t mask = (UINT32_C(1) << part_bits(part)) - 1, at = part_at(part);
    if (part == KN_VIDEO_H0 + 1)
        return (x & 0xffff0000) | (c & 0xffff);
    return (c & ~(mask << at)) | (x & mask) << at;
}

// "vshl, vshr: with .clamp, shift amounts above 32 are 32; with .wrap, their lower five bits". The
// card saturates 34 bits of the result, the uppermost of which is a sign even if all types are
// unsigned, to a word also for parts.
static inline int64_t shift(const struct kn_video *v, int64_t x, uint32_t by)
{
    const uint32_t digits = v->flags & KN_VIDEO_WRAP ? by & 31 : by > 32 ? 32 : by;
    const int64_t value = compute(v->operation, x, digits);
    if (!(v->flags & KN_VIDEO_SATURATE))
        return value;
    return clamp(extend((uint64_t)value, 34, true), 32, v->flags & KN_VIDEO_SIGNED_D);
}

static inline int64_t first(const struct kn_video *v, uint32_t a, uint32_t b)
{
    const int64_t x = part_of(a, v->a, v->flags & KN_VIDEO_SIGNED_A);
    if (v->operation == KN_VIDEO_SHL || v->operation == KN_VIDEO_SHR)
        return shift(v, x, (uint32_t)part_of(b, v->b, false));
    const int64_t value = compute(v->operation, x, part_of(b, v->b, v->flags & KN_VIDEO_SIGNED_B));
    const bool saturates = v->flags & KN_VIDEO_SATURATE;
    return saturates ? saturate(value, v->write, v->flags & KN_VIDEO_SIGNED_D) : value;
}

static inline uint32_t video(struct kn_video v, uint32_t a, uint32_t b, uint32_t c)
{
    const int64_t value = first(&v, a, b);
    const uint32_t result = second(&v, value, c);
    return v.write == KN_VIDEO_WORD ? result : merge(result, c, v.write);
}

// vmad: "a * b + c, shifted to the right". The card extends whole words by their sign, and so c,
// even if all types are unsigned; it then shifts zeros in.
static inline uint32_t vmad(struct kn_video v, uint32_t a, uint32_t b, uint32_t c)
{
    const bool minus_ab = v.flags & KN_VIDEO_MINUS_AB, minus_c = v.flags & KN_VIDEO_MINUS_C;
    const bool signed_a = v.flags & KN_VIDEO_SIGNED_A, signed_b = v.flags & KN_VIDEO_SIGNED_B;
    const bool is_signed = signed_a || signed_b || minus_ab || minus_c;
    const uint64_t x = (uint64_t)part_of(a, v.a, signed_a || v.a == KN_VIDEO_WORD);
    const uint64_t y = (uint64_t)part_of(b, v.b, signed_b || v.b == KN_VIDEO_WORD);
    const uint64_t third = (uint64_t)(int32_t)c;
    const uint64_t sum = (minus_ab ? 0 - x * y : x * y) + (minus_c ? 0 - third : third) +
                         !!(v.flags & KN_VIDEO_PLUS_ONE);
    const unsigned down = v.write & 31;
    const int64_t value = is_signed || !down ? (int64_t)sum >> down : (int64_t)(sum >> down);
    return (uint32_t)(v.flags & KN_VIDEO_SATURATE ? clamp(value, 32, is_signed) : value);
}

// Halves (bits = 16) or bytes (8) of {b, a}. With a secondary operation, the results are added to
// c; otherwise c has those that are not written.
static inline uint32_t video_parts(struct kn_video v, uint32_t a, uint32_t b, uint32_t c,
                                   unsigned bits)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    uint32_t sum = c, word = c;
    for (unsigned part = 0; part < 32 / bits; part++) {
        if (!(v.write >> part & 1))
            continue;
        const unsigned from_a = bits * (v.a >> 4 * part & 7), from_b = bits * (v.b >> 4 * part & 7);
        const int64_t x = extend(both >> (from_a & 63), bits, v.flags & KN_VIDEO_SIGNED_A);
        const int64_t y = extend(both >> (from_b & 63), bits, v.flags & KN_VIDEO_SIGNED_B);
        int64_t value = compute(v.operation, x, y);
        if (v.flags & KN_VIDEO_SATURATE)
            value = clamp(value, bits, v.flags & KN_VIDEO_SIGNED_D);
        sum += (uint32_t)value;
        word = (word & ~(mask << bits * part)) | ((uint32_t)value & mask) << bits * part;
    }
    return v.second ? sum : word;
}

#define VIDEO(name)                                                                                \
    KN_FORM3(name, uint32_t, uint32_t, uint32_t, uint32_t,                                         \
             name(kn_video_unpack(op->i), a[i], b[i], c[i]))
static inline uint32_t video2(struct kn_video v, uint32_t a, uint32_t b, uint32_t c)
{
    return video_parts(v, a, b, c, 16);
}

static inline uint32_t video4(struct kn_video v, uint32_t a, uint32_t b, uint32_t c)
{
    return video_parts(v, a, b, c, 8);
}

VIDEO(video)
VIDEO(video2)
VIDEO(video4)
VIDEO(vmad)

const struct kn_form KN_FAMILY(video)[] = {
    KN_ROW(video, "video", "w=wwwi"),
    KN_ROW(video2, "video2", "w=wwwi"),
    KN_ROW(video4, "video4", "w=wwwi"),
    KN_ROW(vmad, "vmad", "w=wwwi"),
    {0},
};
