// SPDX-License-Identifier: MIT
// The conversion entry points against the formulas of the formats, value by value in long double.
// Shares no code with kernels/.
#include "convert_values.h"

#include <float.h>
#include <math.h>
#include <string.h>

// If long double is emulated in software, test only a part of the values.
enum { STRIDE = LDBL_MANT_DIG > 64 ? 11 : 1 };

struct kind {
    const char *name;
    unsigned class, channel_B;
    uint32_t one;
};
static const struct kind kinds[] = {
#define KIND(name, class, channel_B, one) {#name, KN_CLASS_##class, channel_B, one},
    KN_KIND_LIST(KIND)
#undef KIND
};

static long double float_value(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static uint32_t float_bits(long double v)
{
    float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static long double snorm(int v, int scale)
{
    return v < -scale ? -1 : (long double)v / scale;
}

static long double half_value(uint32_t h)
{
    int e = h >> 10 & 31, m = h & 0x3ff;
    long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);

    return h & 0x8000 ? -v : v;
}

static long double srgb_value(uint32_t n)
{
    long double s = n / 255.0l;

    return s <= 0.04045l ? s / 12.92l : powl((s + 0.055l) / 1.055l, 2.4l);
}

// Returns the 32-bit form of a channel's bits.
static uint32_t model_decode(unsigned kind, uint32_t v, bool alpha)
{
    switch (kind) {
    case KN_KIND_UNORM8:
        return float_bits(v / 255.0l);
    case KN_KIND_UNORM16:
        return float_bits(v / 65535.0l);
    case KN_KIND_SNORM8:
        return float_bits(snorm((int8_t)v, 127));
    case KN_KIND_SNORM16:
        return float_bits(snorm((int16_t)v, 32767));
    case KN_KIND_SRGB8:
        return float_bits(alpha ? v / 255.0l : srgb_value(v));
    case KN_KIND_UNORM10_2:
        return float_bits(alpha ? v / 3.0l : v / 1023.0l);
    case KN_KIND_HALF:
        if ((v & 0x7fff) > 0x7c00)
            return (v & 0x8000) << 16 | 0x7fc00000 | (v & 0x3ff) << 13;
        return float_bits(half_value(v));
    case KN_KIND_SINT8:
        return (uint32_t)(int8_t)v;
    case KN_KIND_SINT16:
        return (uint32_t)(int16_t)v;
    default:
        return v;
    }
}

static int64_t clamped(long double v, long double low, long double high)
{
    return isnan(v) ? 0 : (int64_t)rintl(v < low ? low : v > high ? high : v);
}

static uint32_t encode_half(uint32_t bits)
{
    long double v = fabsl(float_value(bits));
    uint32_t sign = bits >> 16 & 0x8000;
    int e;

    if (isnan(v))
        return sign | 0x7e00 | (bits >> 13 & 0x3ff);
    if (v >= 65520)
        return sign | 0x7c00;
    frexpl(v, &e);
    e = v == 0 || e < -13 ? -13 : e; // the last bit has the value 2^(e - 11)
    v = rintl(ldexpl(v, 11 - e));
    return sign | ((uint32_t)v + ((uint32_t)(e + 13) << 10));
}

static uint32_t encode_srgb(long double v)
{
    long double s;

    if (!(v > 0))
        return 0;
    if (v >= 1)
        return 255;
    s = v <= 0.0031308l ? v * 12.92l : 1.055l * powl(v, 1 / 2.4l) - 0.055l;
    return (uint32_t)rintl(s * 255);
}

static uint32_t model_encode(unsigned kind, uint32_t wide, bool alpha)
{
    long double f = float_value(wide);
    int64_t s = kinds[kind].class == KN_CLASS_SINT ? (int32_t)wide : (int64_t)wide;

    switch (kind) {
    case KN_KIND_UNORM8:
        return (uint32_t)clamped(f * 255, 0, 255);
    case KN_KIND_UNORM16:
        return (uint32_t)clamped(f * 65535, 0, 65535);
    case KN_KIND_SNORM8:
        return (uint8_t)clamped(f * 127, -127, 127);
    case KN_KIND_SNORM16:
        return (uint16_t)clamped(f * 32767, -32767, 32767);
    case KN_KIND_SRGB8:
        return alpha ? (uint32_t)clamped(f * 255, 0, 255) : encode_srgb(f);
    case KN_KIND_UNORM10_2:
        return (uint32_t)clamped(f * (alpha ? 3 : 1023), 0, alpha ? 3 : 1023);
    case KN_KIND_HALF:
        return encode_half(wide);
    case KN_KIND_UINT8:
        return s > UINT8_MAX ? UINT8_MAX : (uint32_t)s;
    case KN_KIND_UINT16:
        return s > UINT16_MAX ? UINT16_MAX : (uint32_t)s;
    case KN_KIND_SINT8:
        return (uint8_t)(s < INT8_MIN ? INT8_MIN : s > INT8_MAX ? INT8_MAX : s);
    case KN_KIND_SINT16:
        return (uint16_t)(s < INT16_MIN ? INT16_MIN : s > INT16_MAX ? INT16_MAX : s);
    default:
        return wide;
    }
}

static uint32_t model_cast(unsigned to, unsigned from, uint32_t v)
{
    if (to == from)
        return v;
    if (to == KN_CLASS_FLOAT)
        return float_bits(from == KN_CLASS_UINT ? v : (long double)(int32_t)v);
    if (from == KN_CLASS_FLOAT)
        return (uint32_t)clamped(float_value(v), to == KN_CLASS_UINT ? 0 : INT32_MIN,
                                 to == KN_CLASS_UINT ? UINT32_MAX : INT32_MAX);
    return v < 0x80000000u ? v : to == KN_CLASS_UINT ? 0 : INT32_MAX;
}

static uint32_t channel_bits(const uint8_t *element, struct kn_format f, unsigned c)
{
    unsigned at = f.bgr && c < 3 ? 2 - c : c, channel_B = kinds[f.kind].channel_B;
    uint32_t v = 0;

    if (channel_B) {
        memcpy(&v, element + at * channel_B, channel_B);
        return v;
    }
    memcpy(&v, element, 4);
    return v >> (10 * at) & (c == 3 ? 3 : 1023);
}

static void put_channel(uint8_t *element, struct kn_format f, unsigned c, uint32_t bits)
{
    unsigned at = f.bgr && c < 3 ? 2 - c : c, channel_B = kinds[f.kind].channel_B;
    uint32_t v;

    if (channel_B) {
        memcpy(element + at * channel_B, &bits, channel_B);
        return;
    }
    memcpy(&v, element, 4);
    v = (v & ~((c == 3 ? 3u : 1023u) << (10 * at))) | bits << (10 * at);
    memcpy(element, &v, 4);
}

static void model_element(uint8_t *dst, struct kn_format d, const uint8_t *src, struct kn_format s)
{
    const struct kind *dk = &kinds[d.kind], *sk = &kinds[s.kind];

    for (unsigned c = 0; c < d.channels; c++) {
        uint32_t v;
        if (c >= s.channels)
            v = c < 3 ? 0 : dk->channel_B ? dk->one : 3;
        else if (d.kind == s.kind)
            v = channel_bits(src, s, c);
        else
            v = model_encode(d.kind,
                             model_cast(dk->class, sk->class,
                                        model_decode(s.kind, channel_bits(src, s, c), c == 3)),
                             c == 3);
        put_channel(dst, d, c, v);
    }
}

static struct kn_format random_format(void)
{
    struct kn_format f = {(uint8_t)ca_below(KN_KIND_COUNT), (uint8_t)(1 + ca_below(4)),
                          ca_below(2)};

    if (f.kind == KN_KIND_UNORM10_2)
        f.channels = 4;
    f.bgr = f.bgr && f.channels >= 3;
    return f;
}

// Rows of all pairs of formats, at any place and pitch.
static void check_rows(const struct kn_dsp *dsp)
{
    struct ca_arena a, b, source;

    ca_arena_init(&a, 32 << 10);
    ca_arena_init(&b, 32 << 10);
    ca_arena_init(&source, 32 << 10);
    ca_begin("kn_convert_rows");
    for (unsigned i = 0; i < ca_cases(STRIDE > 1 ? 2000 : 6000); i++) {
        struct kn_format d = random_format(), s = random_format();
        uint32_t dst_B = kn_format_B(d), src_B = kn_format_B(s);
        uint64_t width = 1 + ca_below(i % 16 ? 40 : 600), rows = 1 + ca_below(3);
        uint64_t dst_pitch_B = width * dst_B + ca_below(40),
                 src_pitch_B = width * src_B + ca_below(40);
        size_t to = ca_arena_place(&a, (rows - 1) * dst_pitch_B + width * dst_B);
        size_t from = ca_arena_place(&source, (rows - 1) * src_pitch_B + width * src_B);
        ca_arena_unseal(&source);
        ca_random_bytes(source.base + from, (rows - 1) * src_pitch_B + width * src_B);
        if (s.kind == KN_KIND_FLOAT)
            for (uint64_t k = 0; k < (src_pitch_B * (rows - 1) + width * src_B) / 4; k++) {
                uint32_t v = ca_random_float_bits();
                memcpy(source.base + from + 4 * k, &v, 4);
            }
        ca_arena_seal(&source);
        kn_convert_rows_by(dsp, &(struct kn_texels){a.base + to, dst_pitch_B, d},
                           &(struct kn_texels){source.base + from, src_pitch_B, s}, width, rows);
        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < width; x++)
                model_element(b.base + to + y * dst_pitch_B + x * dst_B, d,
                              source.base + from + y * src_pitch_B + x * src_B, s);
        ca_same("kn_convert_rows", &a, &b, "%s x%u%s to %s x%u%s, %llu x %llu", kinds[s.kind].name,
                s.channels, s.bgr ? " bgr" : "", kinds[d.kind].name, d.channels,
                d.bgr ? " bgr" : "", (unsigned long long)width, (unsigned long long)rows);
    }
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}

static void check_values(void)
{
    static uint8_t in[65536 * 4], out[65536 * 4];
    struct kn_format wide[] = {KN_FORMAT(FLOAT, 1), KN_FORMAT(UINT32, 1), KN_FORMAT(SINT32, 1)};

    ca_begin("kn_convert_row");
    // Decodes every value of every narrow format.
    for (unsigned kind = 0; kind < KN_KIND_COUNT; kind++) {
        unsigned channel_B = kinds[kind].channel_B, count = channel_B == 1 ? 256 : 65536;
        struct kn_format f = {(uint8_t)kind, 1, false};
        if (channel_B != 1 && channel_B != 2)
            continue;
        for (unsigned i = 0; i < count; i++)
            memcpy(in + i * channel_B, &(uint16_t){(uint16_t)i}, channel_B);
        kn_convert_row(out, wide[kinds[kind].class], in, f, count);
        for (unsigned i = 0; i < count; i++) {
            uint32_t got, expected = model_decode(kind, i, false);
            memcpy(&got, out + 4 * i, 4);
            if (got != expected)
                ca_fail("kn_convert_row", "%s %x decoded: got %08x, expected %08x",
                        kinds[kind].name, i, got, expected);
        }
    }
    // Encodes the borders and their neighbours.
    for (uint64_t first = 0, all = ca_special_floats(NULL, 0, 0); first < all; first += 65536) {
        unsigned count = all - first < 65536 ? (unsigned)(all - first) : 65536;
        ca_special_floats(in, first, count);
        const unsigned step = ca_cases(count) < count ? STRIDE * count / ca_cases(count) : STRIDE;
        for (unsigned kind = 0; kind < KN_KIND_FLOAT; kind++) {
            struct kn_format f = {(uint8_t)kind, 1, false};
            if (kind == KN_KIND_UNORM10_2)
                continue;
            kn_convert_row(out, f, in, wide[0], count);
            for (unsigned i = 0; i < count; i += (kind == KN_KIND_SRGB8 ? 3 : 1) * step) {
                uint32_t v, got = 0, expected;
                memcpy(&v, in + 4 * i, 4);
                expected = model_encode(kind, v, false);
                memcpy(&got, out + i * kinds[kind].channel_B, kinds[kind].channel_B);
                if (got != expected)
                    ca_fail("kn_convert_row", "%08x to %s: got %x, expected %x", v,
                            kinds[kind].name, got, expected);
            }
        }
    }
}

void ca_check_convert_models(const struct kn_dsp *dsp)
{
    struct kn_format bad[] = {{KN_KIND_COUNT, 1, false},
                              {KN_KIND_FLOAT, 0, false},
                              {KN_KIND_FLOAT, 5, false},
                              {KN_KIND_HALF, 2, true},
                              {KN_KIND_UNORM10_2, 3, false}};
    uint8_t none[16] = {1};

    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        kn_convert_row(none, KN_FORMAT(UINT8, 1), none + 8, bad[i], 1);
        kn_convert_row(none, bad[i], none + 8, KN_FORMAT(UINT8, 1), 1);
        if (kn_format_B(bad[i]) || none[0] != 1)
            ca_fail("kn_format_B", "format %u of %u channels passes", bad[i].kind, bad[i].channels);
    }
    check_rows(dsp);
    // Other tests compare the sets with the references, value by value.
    if (!kn_cpu_flags())
        check_values();
}
