// SPDX-License-Identifier: MIT
// The conversion family against its references: every 8- and 16-bit value, the borders between
// codes and their neighbours, random bits, rows of all lengths and alignments.
#include "convert_values.h"

#include <string.h>

#define ARENA_B (32u << 10)

static unsigned bytes_of(unsigned kind)
{
    static const uint8_t channel_B[] = {
#define CHANNEL_B(name, class, channel_B, one) channel_B,
        KN_KIND_LIST(CHANNEL_B)
#undef CHANNEL_B
    };

    return channel_B[kind];
}

static const char *name_of(unsigned kind)
{
    static const char *const names[] = {
#define NAME(name, class, channel_B, one) #name,
        KN_KIND_LIST(NAME)
#undef NAME
    };

    return names[kind];
}

// The bytes of `count` channels. Four channels of 10-10-10-2 take 4.
static uint64_t row_B(unsigned kind, uint64_t count)
{
    return bytes_of(kind) ? count * bytes_of(kind) : count;
}

static uint64_t random_count(unsigned channels)
{
    return ca_random_size(ARENA_B / 4 - 16) / channels * channels;
}

struct arenas {
    struct ca_arena a, b, source;
};

static void check_decode(const struct kn_dsp *dsp, const struct kn_dsp *c, struct arenas *m,
                         unsigned kind)
{
    const uint32_t all = bytes_of(kind) == 1 ? 256 : 65536;

    ca_begin("decode");
    // All values; for 10-10-10-2, all values of both halves.
    for (uint32_t first = 0; first < all; first += 2048) {
        uint32_t here = all < 2048 ? all : 2048;
        ca_arena_unseal(&m->source);
        for (uint32_t i = 0; i < here; i++) {
            if (bytes_of(kind) == 1) {
                m->source.base[i] = (uint8_t)i;
            } else if (bytes_of(kind) == 2) {
                uint16_t v = (uint16_t)(first + i);
                memcpy(m->source.base + 2 * i, &v, 2);
            } else {
                uint32_t v = (first + i) * 0x00010001u;
                memcpy(m->source.base + 4 * i, &v, 4);
            }
        }
        ca_arena_seal(&m->source);
        for (unsigned channels = 3; channels <= 4; channels++) {
            unsigned count = bytes_of(kind) ? here : here * 4;
            dsp->convert.decode[kind](m->a.base, m->source.base, count, channels);
            c->convert.decode[kind](m->b.base, m->source.base, count, channels);
            ca_same("decode", &m->a, &m->b, "%s, values from %u on, %u channels", name_of(kind),
                    first, channels);
        }
    }
    for (unsigned i = 0; i < ca_cases(300); i++) {
        unsigned channels = bytes_of(kind) ? 1 + (unsigned)ca_below(4) : 4;
        uint64_t count = random_count(channels);
        size_t to = ca_arena_place(&m->a, count * 4),
               from = ca_arena_place(&m->source, row_B(kind, count));
        ca_arena_unseal(&m->source);
        ca_random_bytes(m->source.base + from, row_B(kind, count));
        ca_arena_seal(&m->source);
        dsp->convert.decode[kind](m->a.base + to, m->source.base + from, count, channels);
        c->convert.decode[kind](m->b.base + to, m->source.base + from, count, channels);
        ca_same("decode", &m->a, &m->b, "%s, %llu values, %u channels", name_of(kind),
                (unsigned long long)count, channels);
    }
}

static void check_encode(const struct kn_dsp *dsp, const struct kn_dsp *c, struct arenas *m,
                         unsigned kind)
{
    uint64_t special = kind >= KN_KIND_UINT8 ? 0 : ca_special_floats(NULL, 0, 0);
    const uint32_t step = ARENA_B / 4;

    ca_begin("encode");
    for (uint64_t first = 0; first < special; first += step) {
        uint64_t here = special - first < step ? (special - first) & ~UINT64_C(3) : step;
        ca_arena_unseal(&m->source);
        ca_special_floats(m->source.base, first, here);
        ca_arena_seal(&m->source);
        for (unsigned channels = 3; channels <= 4; channels++) {
            dsp->convert.encode[kind](m->a.base, m->source.base, here, channels);
            c->convert.encode[kind](m->b.base, m->source.base, here, channels);
            ca_same("encode", &m->a, &m->b, "%s, special values from %llu on, %u channels",
                    name_of(kind), (unsigned long long)first, channels);
        }
    }
    for (unsigned i = 0; i < ca_cases(300); i++) {
        unsigned channels = bytes_of(kind) ? 1 + (unsigned)ca_below(4) : 4;
        uint64_t count = random_count(channels);
        size_t to = ca_arena_place(&m->a, row_B(kind, count)),
               from = ca_arena_place(&m->source, count * 4);
        ca_arena_unseal(&m->source);
        for (uint64_t k = 0; k < count; k++) {
            uint32_t v = kind >= KN_KIND_UINT8 ? ca_random_integer() : ca_random_float_bits();
            memcpy(m->source.base + from + 4 * k, &v, 4);
        }
        ca_arena_seal(&m->source);
        dsp->convert.encode[kind](m->a.base + to, m->source.base + from, count, channels);
        c->convert.encode[kind](m->b.base + to, m->source.base + from, count, channels);
        ca_same("encode", &m->a, &m->b, "%s, %llu values, %u channels", name_of(kind),
                (unsigned long long)count, channels);
    }
}

static void check_cast(const struct kn_dsp *dsp, const struct kn_dsp *c, struct arenas *m,
                       unsigned to_class, unsigned from_class)
{
    const uint64_t special = from_class == KN_CLASS_FLOAT ? ca_special_floats(NULL, 0, 0) : 0,
                   step = ARENA_B / 4;

    ca_begin("cast");
    for (uint64_t first = 0; first < special; first += step) {
        uint64_t here = special - first < step ? special - first : step;
        ca_arena_unseal(&m->source);
        ca_special_floats(m->source.base, first, here);
        ca_arena_seal(&m->source);
        dsp->convert.cast[to_class][from_class](m->a.base, m->source.base, here);
        c->convert.cast[to_class][from_class](m->b.base, m->source.base, here);
        ca_same("cast", &m->a, &m->b, "class %u to %u, special values from %llu on", from_class,
                to_class, (unsigned long long)first);
    }
    for (unsigned i = 0; i < ca_cases(300); i++) {
        uint64_t count = random_count(1);
        size_t to = ca_arena_place(&m->a, count * 4), from = ca_arena_place(&m->source, count * 4);
        ca_arena_unseal(&m->source);
        for (uint64_t k = 0; k < count; k++) {
            uint32_t v =
                from_class == KN_CLASS_FLOAT ? ca_random_float_bits() : ca_random_integer();
            memcpy(m->source.base + from + 4 * k, &v, 4);
        }
        ca_arena_seal(&m->source);
        dsp->convert.cast[to_class][from_class](m->a.base + to, m->source.base + from, count);
        c->convert.cast[to_class][from_class](m->b.base + to, m->source.base + from, count);
        ca_same("cast", &m->a, &m->b, "class %u to %u, %llu values", from_class, to_class,
                (unsigned long long)count);
    }
}

static void check_repack(const struct kn_dsp *dsp, const struct kn_dsp *c, struct arenas *m,
                         unsigned size_log2)
{
    unsigned channel_B = 1u << size_log2;

    ca_begin("repack");
    for (unsigned i = 0; i < ca_cases(2000); i++) {
        struct kn_repack how = {.dst_channels = (uint8_t)(1 + ca_below(4)),
                                .src_channels = (uint8_t)(1 + ca_below(4)),
                                .one = (uint32_t)ca_random()};
        uint64_t count = ca_random_size(ARENA_B / 16 - 1);
        size_t to = ca_arena_place(&m->a, count * how.dst_channels * channel_B),
               from = ca_arena_place(&m->source, count * how.src_channels * channel_B);
        for (unsigned k = 0; k < how.dst_channels; k++) {
            unsigned source = (unsigned)ca_below(how.src_channels + 2u);
            how.from[k] =
                (uint8_t)(source < how.src_channels ? source
                                                    : KN_REPACK_ZERO + source - how.src_channels);
        }
        if (count >= KN_REPACK_SHORT)
            kn_repack_prepare(&how, channel_B);
        ca_arena_unseal(&m->source);
        ca_random_bytes(m->source.base + from, count * how.src_channels * channel_B);
        ca_arena_seal(&m->source);
        dsp->repack.repack[size_log2](m->a.base + to, m->source.base + from, &how, count);
        c->repack.repack[size_log2](m->b.base + to, m->source.base + from, &how, count);
        ca_same("repack", &m->a, &m->b, "%u bytes, %u to %u channels, %llu elements", channel_B,
                how.src_channels, how.dst_channels, (unsigned long long)count);
    }
}

// Converts rows of one format that alternate with rows of another in one buffer.
static void check_between(const struct kn_dsp *dsp, const struct kn_dsp *c, struct arenas *m)
{
    ca_begin("convert_rows between its rows");
    ca_random_bytes(m->a.base, m->a.size_B);
    for (unsigned i = 0; i < ca_cases(1500); i++) {
        struct kn_format to = {(uint8_t)ca_below(KN_KIND_COUNT), 4, ca_below(2)},
                         from = {(uint8_t)ca_below(KN_KIND_COUNT), 4, ca_below(2)};
        uint64_t width = 1 + ca_below(ca_below(4) ? 80 : 300), rows = 1 + ca_below(3),
                 to_B = width * kn_format_B(to), from_B = width * kn_format_B(from);
        uint64_t pitch_B = to_B + from_B + ca_below(20), first = ca_below(2);
        size_t at = ca_arena_place(&m->a, (rows - 1) * pitch_B + to_B + from_B),
               d = at + (first ? 0 : from_B), s = at + (first ? to_B : 0);
        ca_random_bytes(m->a.base + at, (rows - 1) * pitch_B + to_B + from_B);
        memcpy(m->b.base, m->a.base, m->a.size_B);
        kn_convert_rows_by(dsp, &(struct kn_texels){m->a.base + d, pitch_B, to},
                           &(struct kn_texels){m->a.base + s, pitch_B, from}, width, rows);
        kn_convert_rows_by(c, &(struct kn_texels){m->b.base + d, pitch_B, to},
                           &(struct kn_texels){m->b.base + s, pitch_B, from}, width, rows);
        ca_same("convert_rows", &m->a, &m->b, "%s to %s between its rows, %llu x %llu",
                name_of(from.kind), name_of(to.kind), (unsigned long long)width,
                (unsigned long long)rows);
    }
}

void ca_check_convert(const struct kn_dsp *dsp)
{
    const struct kn_dsp *c = kn_dsp_for(0);
    struct arenas m;

    ca_arena_init(&m.a, ARENA_B);
    ca_arena_init(&m.b, ARENA_B);
    ca_arena_init(&m.source, ARENA_B);
    for (unsigned kind = 0; kind < KN_KIND_COUNT; kind++) {
        if (dsp->convert.decode[kind] && dsp->convert.decode[kind] != c->convert.decode[kind])
            check_decode(dsp, c, &m, kind);
        if (dsp->convert.encode[kind] && dsp->convert.encode[kind] != c->convert.encode[kind])
            check_encode(dsp, c, &m, kind);
    }
    for (unsigned to = 0; to < KN_CLASS_COUNT; to++)
        for (unsigned from = 0; from < KN_CLASS_COUNT; from++)
            if (to != from)
                check_cast(dsp, c, &m, to, from);
    for (unsigned size_log2 = 0; size_log2 < 3; size_log2++)
        check_repack(dsp, c, &m, size_log2);
    check_between(dsp, c, &m);
    ca_arena_finish(&m.source);
    ca_arena_finish(&m.b);
    ca_arena_finish(&m.a);
}
