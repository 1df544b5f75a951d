// SPDX-License-Identifier: MIT
// The copy family against memcpy, memmove and the row-by-row loop.
#include "checkasm.h"

#include <string.h>

#define ARENA_B (96u << 10)

// Limits from which copies take another way.
static void set_limits(uint64_t prefetch_B, uint64_t string_B, uint64_t stream_B)
{
    kn_copy_prefetch_min_B = prefetch_B;
    kn_copy_string_min_B = string_B;
    kn_copy_stream_min_B = stream_B;
}

static void check_straight(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                           struct ca_arena *b, struct ca_arena *source)
{
    const uint64_t prefetch_min_B = kn_copy_prefetch_min_B, string_min_B = kn_copy_string_min_B,
                   stream_min_B = kn_copy_stream_min_B;
    const unsigned stream_pages = kn_copy_stream_pages;

    ca_begin("copy");
    for (unsigned i = 0; i < ca_cases(1500); i++) {
        uint64_t size_B = ca_random_size(ARENA_B);
        size_t to = ca_arena_place(a, size_B), from = ca_arena_place(source, size_B);

        if (!size_B)
            continue;
        set_limits(ca_below(2) ? 64 : prefetch_min_B, ca_below(3) ? UINT64_MAX : 64,
                   ca_below(3) ? UINT64_MAX : 64);
        kn_copy_stream_pages = ca_below(2) ? 1 : 8;
        dsp->copy.copy(a->base + to, source->base + from, size_B);
        c->copy.copy(b->base + to, source->base + from, size_B);
        ca_same("copy", a, b, "%llu bytes from +%zu to +%zu", (unsigned long long)size_B, from, to);
    }
    set_limits(prefetch_min_B, string_min_B, stream_min_B);
    kn_copy_stream_pages = stream_pages;
    ca_begin("move");
    for (unsigned i = 0; i < ca_cases(1500); i++) {
        uint64_t size_B = ca_random_size(ARENA_B);
        size_t to = ca_arena_place(a, size_B), from = ca_arena_place(a, size_B);

        if (!size_B)
            continue;
        if (ca_below(2)) { // close together
            size_t room = ARENA_B - size_B;
            from = to + ca_below(200) < room ? to + ca_below(200) : to;
            from = from > room ? room : from;
            if (ca_below(2)) {
                size_t swap = from;
                from = to;
                to = swap;
            }
        }
        dsp->copy.move(a->base + to, a->base + from, size_B);
        c->copy.move(b->base + to, b->base + from, size_B);
        ca_same("move", a, b, "%llu bytes from +%zu to +%zu", (unsigned long long)size_B, from, to);
    }
}

static void check_rows(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                       struct ca_arena *b, struct ca_arena *source)
{
    const uint64_t wide_max_B = kn_wide_max_B, prefetch_min_B = kn_copy_prefetch_min_B;

    ca_begin("copy_rows");
    for (unsigned i = 0; i < ca_cases(6000); i++) {
        uint64_t width_B = 1 + (ca_below(3) ? ca_below(300) : ca_random_size(9000)),
                 rows = 1 + ca_below(i % 8 ? 9 : 200);
        uint64_t to_pitch_B = width_B + ca_below(100),
                 from_pitch_B = ca_below(8) ? width_B + ca_below(100) : 0;
        uint64_t to_B, from_B;
        size_t to, from;

        while (rows > 1 && (rows * to_pitch_B > ARENA_B || rows * from_pitch_B > ARENA_B))
            rows--;
        to_B = (rows - 1) * to_pitch_B + width_B;
        from_B = (rows - 1) * from_pitch_B + width_B;
        to = ca_arena_place(a, to_B);
        from = ca_arena_place(source, from_B);
        kn_wide_max_B = ca_below(2) ? 2048 : wide_max_B;
        kn_copy_prefetch_min_B = ca_below(2) ? 2048 : prefetch_min_B;
        dsp->copy.rows(a->base + to, to_pitch_B, source->base + from, from_pitch_B, width_B, rows);
        c->copy.rows(b->base + to, to_pitch_B, source->base + from, from_pitch_B, width_B, rows);
        ca_same("copy_rows", a, b, "%llu x %llu, pitches %llu to %llu", (unsigned long long)width_B,
                (unsigned long long)rows, (unsigned long long)from_pitch_B,
                (unsigned long long)to_pitch_B);
    }
    kn_wide_max_B = wide_max_B;
    kn_copy_prefetch_min_B = prefetch_min_B;
}

// Copies within one rectangle. The ranges of rows side by side overlap, even if no byte is in both
// rectangles.
static void check_beside(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                         struct ca_arena *b)
{
    ca_begin("copy_rows beside itself");
    ca_random_bytes(a->base, a->size_B);
    memcpy(b->base, a->base, a->size_B);
    for (unsigned i = 0; i < ca_cases(4000); i++) {
        uint64_t width_B = 1 + (ca_below(3) ? ca_below(200) : ca_below(2000)),
                 gap_B = ca_below(2) ? 0 : ca_below(30), rows = 1 + ca_below(20);
        uint64_t pitch_B = 2 * width_B + gap_B + (ca_below(2) ? 0 : ca_below(70)),
                 left = ca_below(2);
        size_t at = ca_arena_place(a, (rows - 1) * pitch_B + 2 * width_B + gap_B);
        size_t to = at + (left ? 0 : width_B + gap_B), from = at + (left ? width_B + gap_B : 0);

        dsp->copy.rows(a->base + to, pitch_B, a->base + from, pitch_B, width_B, rows);
        c->copy.rows(b->base + to, pitch_B, b->base + from, pitch_B, width_B, rows);
        ca_same("copy_rows", a, b, "%llu x %llu beside itself, pitch %llu",
                (unsigned long long)width_B, (unsigned long long)rows, (unsigned long long)pitch_B);
    }
}

void ca_check_copy(const struct kn_dsp *dsp)
{
    const struct kn_dsp *c = kn_dsp_for(0);
    struct ca_arena a, b, source;

    ca_arena_init(&a, ARENA_B);
    ca_arena_init(&b, ARENA_B);
    ca_arena_init(&source, ARENA_B);
    ca_random_bytes(source.base, source.size_B);
    ca_arena_seal(&source);
    check_straight(dsp, c, &a, &b, &source);
    check_rows(dsp, c, &a, &b, &source);
    check_beside(dsp, c, &a, &b);
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}
