// SPDX-License-Identifier: MIT
// The fill family against its references.
#include "checkasm.h"

#define ARENA_B (96u << 10)

static uint32_t random_pattern(unsigned value_B)
{
    uint32_t v = (uint32_t)ca_random();

    return value_B == 1 ? (v & 0xff) * 0x01010101u : value_B == 2 ? (v & 0xffff) * 0x00010001u : v;
}

void ca_check_fill(const struct kn_dsp *dsp)
{
    const struct kn_dsp *c = kn_dsp_for(0);
    const uint64_t string_max_B = kn_string_max_B, stream_min_B = kn_fill_stream_min_B;
    struct ca_arena a, b;

    ca_arena_init(&a, ARENA_B);
    ca_arena_init(&b, ARENA_B);
    ca_begin("fill");
    for (unsigned i = 0; i < ca_cases(3000); i++) {
        unsigned value_B = 1u << ca_below(3);
        uint32_t pattern = random_pattern(value_B);
        uint64_t size_B = ca_random_size(ARENA_B) / value_B * value_B;
        size_t to = ca_arena_place(&a, size_B);

        kn_string_max_B = ca_below(2) ? 16 << 10 : string_max_B;
        kn_fill_stream_min_B = ca_below(4) ? UINT64_MAX : 256;
        if (!size_B)
            continue;
        dsp->fill.fill(a.base + to, pattern, size_B);
        c->fill.fill(b.base + to, pattern, size_B);
        ca_same("fill", &a, &b, "%08x over %llu bytes at +%zu", pattern, (unsigned long long)size_B,
                to);
    }
    ca_begin("fill_rows");
    for (unsigned i = 0; i < ca_cases(4000); i++) {
        unsigned value_B = 1u << ca_below(3);
        uint32_t pattern = random_pattern(value_B);
        uint64_t width_B = (1 + (ca_below(3) ? ca_below(150) : ca_random_size(8000) / 4)) * value_B;
        uint64_t pitch_B = width_B + ca_below(100), rows = 1 + ca_below(i % 8 ? 9 : 200);
        size_t to;

        kn_string_max_B = ca_below(2) ? 4500 : string_max_B;
        kn_fill_stream_min_B = ca_below(4) ? UINT64_MAX : 128;
        while (rows > 1 && rows * pitch_B > ARENA_B)
            rows--;
        to = ca_arena_place(&a, (rows - 1) * pitch_B + width_B);
        dsp->fill.rows(a.base + to, pitch_B, pattern, width_B, rows);
        c->fill.rows(b.base + to, pitch_B, pattern, width_B, rows);
        ca_same("fill_rows", &a, &b, "%08x, %llu x %llu, pitch %llu", pattern,
                (unsigned long long)width_B, (unsigned long long)rows, (unsigned long long)pitch_B);
    }
    kn_string_max_B = string_max_B;
    kn_fill_stream_min_B = stream_min_B;
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}
