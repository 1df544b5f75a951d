// SPDX-License-Identifier: MIT
// The tile family against its references.
#include "tile_random.h"

#include <string.h>

static void check_tile(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                       struct ca_arena *b, struct ca_arena *source)
{
    ca_begin("tile_box");
    for (unsigned i = 0; i < ca_cases(2500); i++) {
        struct ca_box s;
        size_t tiled, linear;

        ca_random_box(&s, a->size_B);
        tiled = ca_place_tiled(a, &s.desc, s.depth);
        linear = ca_arena_place(source, s.linear_B);
        ca_tile(dsp, &s, a->base + tiled, source->base + linear);
        ca_tile(c, &s, b->base + tiled, source->base + linear);
        ca_same("tile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
    }
    ca_begin("untile_box");
    for (unsigned i = 0; i < ca_cases(2500); i++) {
        struct ca_box s;
        size_t tiled, linear;

        ca_random_box(&s, a->size_B);
        tiled = ca_place_tiled(source, &s.desc, s.depth);
        linear = ca_arena_place(a, s.linear_B);
        ca_untile(dsp, &s, a->base + linear, source->base + tiled);
        ca_untile(c, &s, b->base + linear, source->base + tiled);
        ca_same("untile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
    }
    ca_begin("retile_box");
    for (unsigned i = 0; i < ca_cases(2500); i++) {
        struct ca_box s, t;
        size_t to, from;

        ca_random_box(&s, a->size_B);
        ca_random_box_like(&t, &s, a->size_B);
        to = ca_place_tiled(a, &s.desc, s.depth);
        from = ca_place_tiled(source, &t.desc, t.depth);
        ca_retile(dsp, &s, a->base + to, &t, source->base + from);
        ca_retile(c, &s, b->base + to, &t, source->base + from);
        ca_same("retile_box", a, b, CA_BOX_FORMAT " from " CA_BOX_FORMAT, CA_BOX_VALUES(&s),
                CA_BOX_VALUES(&t));
    }
}

// Makes a box in one row of GOBs. *first is the offset of its lowest byte, and *end that of the
// byte after its highest one.
static void random_row(struct ca_box *s, uint64_t *first, uint64_t *end)
{
    *s = (struct ca_box){
        .desc = {.width_gob = 1 + ca_below(12), .height_gob = 1}, .depth = 1, .slices = 1};
    s->x_B = ca_below(s->desc.width_gob * 64);
    s->width_B = 1 + ca_below(s->desc.width_gob * 64 - s->x_B);
    s->y = ca_below(2) ? 0 : ca_below(8);
    s->rows = ca_below(2) ? 8 - s->y : 1 + ca_below(8 - s->y);
    s->pitch_B = (s->width_B + 3) / 4 * 4 + 4 * ca_below(32);
    s->linear_B = s->pitch_B * (s->rows - 1) + s->width_B;
    *first = UINT64_MAX;
    *end = 0;
    for (uint64_t y = s->y; y < s->y + s->rows; y++)
        for (uint64_t x_B = s->x_B; x_B < s->x_B + s->width_B; x_B++) {
            uint64_t at = kn_tiled_offset_B(&s->desc, x_B, y, 0);
            *first = at < *first ? at : *first;
            *end = at + 1 > *end ? at + 1 : *end;
        }
}

// Boxes whose first or last byte is at the edge of accessible memory, so that the surface itself
// begins before or ends after the accessible memory.
static void check_edges(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                        struct ca_arena *b, struct ca_arena *source)
{
    ca_begin("a box at an edge");
    for (unsigned i = 0; i < ca_cases(2500); i++) {
        struct ca_box s, t;
        uint64_t first, end;
        size_t linear;

        random_row(&s, &first, &end);
        const uint64_t at = ca_below(2) ? a->size_B - end : -first;
        const void *from = (const void *)((uintptr_t)source->base + at);
        void *to[] = {(void *)((uintptr_t)a->base + at), (void *)((uintptr_t)b->base + at)};
        linear = ca_arena_place(a, s.linear_B + 64) & ~(size_t)3;
        switch (ca_below(4)) {
        case 0:
            ca_untile(dsp, &s, a->base + linear, from);
            ca_untile(c, &s, b->base + linear, from);
            ca_same("untile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
            break;
        case 1:
            ca_tile(dsp, &s, to[0], source->base + linear);
            ca_tile(c, &s, to[1], source->base + linear);
            ca_same("tile_box", a, b, CA_BOX_FORMAT, CA_BOX_VALUES(&s));
            break;
        case 2:
            ca_random_box_like(&t, &s, a->size_B / 2);
            linear = ca_place_tiled(a, &t.desc, t.depth);
            ca_retile(dsp, &t, a->base + linear, &s, from);
            ca_retile(c, &t, b->base + linear, &s, from);
            ca_same("retile_box", a, b, CA_BOX_FORMAT " from " CA_BOX_FORMAT, CA_BOX_VALUES(&t),
                    CA_BOX_VALUES(&s));
            break;
        default:
            ca_random_box_like(&t, &s, a->size_B / 2);
            linear = ca_place_tiled(source, &t.desc, t.depth);
            ca_retile(dsp, &s, to[0], &t, source->base + linear);
            ca_retile(c, &s, to[1], &t, source->base + linear);
            ca_same("retile_box", a, b, CA_BOX_FORMAT " from " CA_BOX_FORMAT, CA_BOX_VALUES(&s),
                    CA_BOX_VALUES(&t));
        }
    }
}

// Copies from one box of a surface to another. The boxes do not overlap, but they may share GOBs.
static void check_within(const struct kn_dsp *dsp, const struct kn_dsp *c, struct ca_arena *a,
                         struct ca_arena *b)
{
    ca_begin("retile_box within a surface");
    ca_random_bytes(a->base, a->size_B);
    memcpy(b->base, a->base, a->size_B);
    for (unsigned i = 0; i < ca_cases(2000); i++) {
        struct ca_box s, t;
        uint64_t whole_B;
        size_t at;

        ca_random_box(&s, a->size_B);
        if (s.width_B < 2)
            continue;
        // A part of its left half, and a box of the same size to the right of it.
        whole_B = s.width_B;
        t = s;
        s.width_B = t.width_B = ca_below(2) ? s.width_B / 2 : 1 + ca_below(s.width_B / 2);
        t.x_B += t.width_B + ca_below(whole_B - 2 * t.width_B + 1);
        at = ca_place_tiled(a, &s.desc, s.depth);
        if (ca_below(2)) {
            uint64_t x_B = s.x_B;
            s.x_B = t.x_B;
            t.x_B = x_B;
        }
        ca_retile(dsp, &s, a->base + at, &t, a->base + at);
        ca_retile(c, &s, b->base + at, &t, b->base + at);
        ca_same("retile_box", a, b, CA_BOX_FORMAT " from x = %llu", CA_BOX_VALUES(&s),
                (unsigned long long)t.x_B);
    }
}

void ca_check_tile(const struct kn_dsp *dsp)
{
    uint64_t stream_min_B = kn_stream_min_B, prefetch_min_B = kn_prefetch_min_B,
             far_min_B = kn_far_min_B, stream_shifted_min_B = kn_stream_shifted_min_B,
             untile_rows_pitch_B = kn_untile_rows_pitch_B;
    struct ca_arena a, b, source;

    ca_arena_init(&a, CA_TILE_ARENA_B);
    ca_arena_init(&b, CA_TILE_ARENA_B);
    ca_arena_init(&source, CA_TILE_ARENA_B);
    ca_random_bytes(source.base, source.size_B);
    ca_arena_seal(&source);
    // Each path with all sizes of boxes, and paths that change with the size.
    for (int pass = 0; pass < 5; pass++) {
        kn_prefetch_min_B = pass == 0 ? UINT64_MAX : pass == 4 ? 2048 : 0;
        kn_far_min_B = pass == 1 ? UINT64_MAX : pass == 4 ? 8192 : 0;
        kn_stream_min_B = pass == 3 ? 0 : pass == 4 ? 32768 : UINT64_MAX;
        kn_stream_shifted_min_B = pass == 3 ? 0 : pass == 4 ? 65536 : UINT64_MAX;
        kn_untile_rows_pitch_B = pass == 3 ? 0 : 64;
        check_tile(dsp, kn_dsp_for(0), &a, &b, &source);
        check_edges(dsp, kn_dsp_for(0), &a, &b, &source);
        check_within(dsp, kn_dsp_for(0), &a, &b);
    }
    kn_prefetch_min_B = prefetch_min_B;
    kn_stream_min_B = stream_min_B;
    kn_far_min_B = far_min_B;
    kn_stream_shifted_min_B = stream_shifted_min_B;
    kn_untile_rows_pitch_B = untile_rows_pitch_B;
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}
