// SPDX-License-Identifier: MIT
// The tile family against its references.
#include "tile_random.h"

static void check_tile(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a, struct ca_arena *b, struct ca_arena *source,
                       unsigned rounds)
{
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

void ca_check_tile(const struct kn_dsp *dsp, unsigned rounds)
{
    uint64_t stream_min_B = kn_stream_min_B;
    struct ca_arena a, b, source;

    ca_arena_init(&a, CA_TILE_ARENA_B);
    ca_arena_init(&b, CA_TILE_ARENA_B);
    ca_arena_init(&source, CA_TILE_ARENA_B);
    ca_random_bytes(source.base, source.size_B);
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            kn_stream_min_B = 2048;
        check_tile(dsp, kn_dsp_for(0), &a, &b, &source, rounds);
    }
    kn_stream_min_B = stream_min_B;
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}
