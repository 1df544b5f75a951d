// SPDX-License-Identifier: MIT
// The tile family against its references.
#include "tile_random.h"

#include <string.h>

static void check_tile(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a, struct ca_arena *b, struct ca_arena *source,
                       unsigned rounds)
{
    ca_begin("tile_box");
    for (unsigned i = 0; i < 2500 * rounds; i++) {
        struct ca_box s;
        size_t tiled, linear;

        ca_random_box(&s, a->size_B);
        tiled = ca_place_tiled(a, &s.desc, s.depth);
        linear = ca_arena_place(source, s.linear_B);
        dsp->tile.tile(a->base + tiled, &s.desc, s.x_B, s.y, s.z, source->base + linear, s.pitch_B, s.slice_B, s.width_B, s.rows, s.slices);
        c->tile.tile(b->base + tiled, &s.desc, s.x_B, s.y, s.z, source->base + linear, s.pitch_B, s.slice_B, s.width_B, s.rows, s.slices);
        ca_same("tile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
    }
    ca_begin("untile_box");
    for (unsigned i = 0; i < 2500 * rounds; i++) {
        struct ca_box s;
        size_t tiled, linear;

        ca_random_box(&s, a->size_B);
        tiled = ca_place_tiled(source, &s.desc, s.depth);
        linear = ca_arena_place(a, s.linear_B);
        dsp->tile.untile(source->base + tiled, &s.desc, s.x_B, s.y, s.z, a->base + linear, s.pitch_B, s.slice_B, s.width_B, s.rows, s.slices);
        c->tile.untile(source->base + tiled, &s.desc, s.x_B, s.y, s.z, b->base + linear, s.pitch_B, s.slice_B, s.width_B, s.rows, s.slices);
        ca_same("untile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
    }
    ca_begin("retile_box");
    for (unsigned i = 0; i < 2500 * rounds; i++) {
        struct ca_box s, t;
        size_t to, from;

        ca_random_box(&s, a->size_B);
        ca_random_box_like(&t, &s, a->size_B);
        to = ca_place_tiled(a, &s.desc, s.depth);
        from = ca_place_tiled(source, &t.desc, t.depth);
        dsp->tile.retile(a->base + to, &s.desc, s.x_B, s.y, s.z, source->base + from, &t.desc, t.x_B, t.y, t.z, s.width_B, s.rows, s.slices);
        c->tile.retile(b->base + to, &s.desc, s.x_B, s.y, s.z, source->base + from, &t.desc, t.x_B, t.y, t.z, s.width_B, s.rows, s.slices);
        ca_same("retile_box", a, b, CA_BOX_FORMAT " from " CA_BOX_FORMAT, CA_BOX_VALUES(&s), CA_BOX_VALUES(&t));
    }
}

// Where in a GOB its 64-byte line with byte (`x_B`, `y`) begins.
static uint64_t line_at(uint64_t x_B, uint64_t y)
{
    return (y >> 2 & 1) * 128 + (x_B >> 5 & 1) * 256 + (x_B >> 4 & 1) * 64;
}

// One row of GOBs of which nothing can be read before the first line that the box has bytes in, or behind the last one.
static void check_edges(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a, struct ca_arena *b, struct ca_arena *source,
                        unsigned rounds)
{
    ca_begin("untile_box at an edge");
    for (unsigned i = 0; i < 1000 * rounds; i++) {
        struct ca_box s = {.desc = {.width_gob = 1 + ca_below(12), .height_gob = 1}, .depth = 1, .slices = 1};
        uint64_t first = UINT64_MAX, end = 0;
        uintptr_t tiled;
        size_t linear;

        s.x_B = ca_below(s.desc.width_gob * 64);
        s.width_B = 1 + ca_below(s.desc.width_gob * 64 - s.x_B);
        s.y = ca_below(2) ? 0 : ca_below(8);
        s.rows = ca_below(2) ? 8 - s.y : 1 + ca_below(8 - s.y);
        s.pitch_B = (s.width_B + 3) / 4 * 4 + 4 * ca_below(32);
        s.linear_B = s.pitch_B * (s.rows - 1) + s.width_B;
        for (uint64_t y = s.y; y < s.y + s.rows; y++)
            for (uint64_t x_B = s.x_B & ~UINT64_C(15); x_B < s.x_B + s.width_B; x_B += 16) {
                uint64_t line = x_B / 64 * 512 + line_at(x_B, y);
                first = line < first ? line : first;
                end = line + 64 > end ? line + 64 : end;
            }
        tiled = (uintptr_t)source->base + (ca_below(2) ? source->size_B - end : -first);
        linear = ca_arena_place(a, s.linear_B + 64) & ~(size_t)3;
        dsp->tile.untile((const void *)tiled, &s.desc, s.x_B, s.y, 0, a->base + linear, s.pitch_B, 0, s.width_B, s.rows, 1);
        c->tile.untile((const void *)tiled, &s.desc, s.x_B, s.y, 0, b->base + linear, s.pitch_B, 0, s.width_B, s.rows, 1);
        ca_same("untile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
    }
}

// From one box of a surface to another that does not overlap it, though they may share GOBs.
static void check_within(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a, struct ca_arena *b, unsigned rounds)
{
    ca_begin("retile_box within a surface");
    ca_random_bytes(a->base, a->size_B);
    memcpy(b->base, a->base, a->size_B);
    for (unsigned i = 0; i < 2000 * rounds; i++) {
        struct ca_box s, t;
        uint64_t whole_B;
        size_t at;

        ca_random_box(&s, a->size_B);
        if (s.width_B < 2)
            continue;
        // A part of its left half, and as much of what is right of that.
        whole_B = s.width_B;
        t = s;
        s.width_B = t.width_B = ca_below(2) ? s.width_B / 2 : 1 + ca_below(s.width_B / 2);
        t.x_B += t.width_B + ca_below(whole_B - 2 * t.width_B + 1);
        at = ca_place_tiled(a, &s.desc, s.depth);
        if (ca_below(2)) {
            uint64_t x_B = s.x_B;
            s.x_B = t.x_B, t.x_B = x_B;
        }
        dsp->tile.retile(a->base + at, &s.desc, s.x_B, s.y, s.z, a->base + at, &t.desc, t.x_B, t.y, t.z, s.width_B, s.rows, s.slices);
        c->tile.retile(b->base + at, &s.desc, s.x_B, s.y, s.z, b->base + at, &t.desc, t.x_B, t.y, t.z, s.width_B, s.rows, s.slices);
        ca_same("retile_box", a, b, CA_BOX_FORMAT " from x = %llu", CA_BOX_VALUES(&s), (unsigned long long)t.x_B);
    }
}

void ca_check_tile(const struct kn_dsp *dsp, unsigned rounds)
{
    uint64_t stream_min_B = kn_stream_min_B, prefetch_min_B = kn_prefetch_min_B;
    struct ca_arena a, b, source;

    ca_arena_init(&a, CA_TILE_ARENA_B);
    ca_arena_init(&b, CA_TILE_ARENA_B);
    ca_arena_init(&source, CA_TILE_ARENA_B);
    ca_random_bytes(source.base, source.size_B);
    ca_arena_seal(&source);
    // By the ways of small boxes, of those that prefetch, and of those that stream.
    for (int pass = 0; pass < 3; pass++) {
        kn_prefetch_min_B = pass == 1 ? 2048 : prefetch_min_B;
        kn_stream_min_B = pass == 2 ? 2048 : stream_min_B;
        check_tile(dsp, kn_dsp_for(0), &a, &b, &source, rounds);
        check_edges(dsp, kn_dsp_for(0), &a, &b, &source, rounds);
        check_within(dsp, kn_dsp_for(0), &a, &b, rounds);
    }
    kn_prefetch_min_B = prefetch_min_B;
    kn_stream_min_B = stream_min_B;
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}
