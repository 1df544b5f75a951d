// SPDX-License-Identifier: MIT
// The references and the entry points against models that move one byte at a time and share no code
// with kernels/.
#include "tile_random.h"

#include <stdlib.h>
#include <string.h>

// Visits a surface in the order of memory: blocks in x, y, z; GOBs of a block in y, z; then 32-byte
// columns, 4-row halves, 16-byte columns, rows.
static void model_offsets(const struct ca_box *s, uint64_t *offset_of)
{
    uint64_t high = 1u << s->desc.block_height_log2, deep = 1u << s->desc.block_depth_log2;
    uint64_t depth = (s->depth + deep - 1) / deep * deep;
    uint64_t width_B = s->desc.width_gob * 64, height = s->desc.height_gob * 8, at = 0;

    for (uint64_t bz = 0; bz < depth; bz += deep)
        for (uint64_t by = 0; by < height; by += high * 8)
            for (uint64_t bx = 0; bx < width_B; bx += 64)
                for (uint64_t z = 0; z < deep; z++)
                    for (uint64_t gy = 0; gy < high; gy++)
                        for (unsigned i = 0; i < 512; i++) {
                            unsigned x = (i / 256) * 32 + (i / 64 % 2) * 16 + i % 16;
                            unsigned y = (i / 128 % 2) * 4 + (i / 16) % 4;
                            offset_of[((bz + z) * height + by + gy * 8 + y) * width_B + bx + x] =
                                at++;
                        }
}

static uint64_t element(const struct ca_box *s, uint64_t x, uint64_t y, uint64_t z)
{
    return ((s->z + z) * s->desc.height_gob * 8 + s->y + y) * s->desc.width_gob * 64 + s->x_B + x;
}

static void check_tile(void)
{
    struct ca_arena a, b, source;
    uint64_t *to = malloc(sizeof(*to) * CA_TILE_ARENA_B),
             *from = malloc(sizeof(*from) * CA_TILE_ARENA_B);

    ca_arena_init(&a, CA_TILE_ARENA_B);
    ca_arena_init(&b, CA_TILE_ARENA_B);
    ca_arena_init(&source, CA_TILE_ARENA_B);
    ca_random_bytes(source.base, source.size_B);
    ca_arena_seal(&source);
    ca_begin("kn_tile_box, kn_untile_box, kn_retile_box");
    for (unsigned i = 0; i < ca_cases(300) && to && from; i++) {
        struct ca_box s, t;
        size_t tiled, other, linear;

        ca_random_box(&s, a.size_B);
        ca_random_box_like(&t, &s, a.size_B);
        model_offsets(&s, to);
        model_offsets(&t, from);
        tiled = ca_place_tiled(&a, &s.desc, s.depth);
        other = ca_place_tiled(&source, &t.desc, t.depth);
        linear = ca_arena_place(&a, s.linear_B);
        for (int what = 0; what < 3; what++) {
            for (uint64_t z = 0; z < s.slices; z++)
                for (uint64_t y = 0; y < s.rows; y++)
                    for (uint64_t x = 0; x < s.width_B; x++) {
                        uint64_t at = to[element(&s, x, y, z)],
                                 l = linear + z * s.slice_B + y * s.pitch_B + x;
                        if (kn_tiled_offset_B(&s.desc, s.x_B + x, s.y + y, s.z + z) != at)
                            ca_fail("kn_tiled_offset_B", CA_BOX_FORMAT, CA_BOX_VALUES(&s));
                        if (what == 0)
                            b.base[tiled + at] = source.base[l];
                        else if (what == 1)
                            b.base[l] = source.base[tiled + at];
                        else
                            b.base[tiled + at] = source.base[other + from[element(&t, x, y, z)]];
                    }
            struct kn_surface tiled_dst = ca_surface(&s, a.base + tiled),
                              same_src = ca_surface(&s, source.base + tiled),
                              other_src = ca_surface(&t, source.base + other);
            struct kn_linear linear_dst = ca_linear(&s, a.base + linear),
                             linear_src = ca_linear(&s, source.base + linear);
            struct kn_box box = ca_extent(&s);
            if (what == 0)
                kn_tile_box(&tiled_dst, &linear_src, &box);
            else if (what == 1)
                kn_untile_box(&linear_dst, &same_src, &box);
            else
                kn_retile_box(&tiled_dst, &other_src, &box);
            ca_same(what == 0   ? "kn_tile_box"
                    : what == 1 ? "kn_untile_box"
                                : "kn_retile_box",
                    &a, &b, CA_BOX_FORMAT " (from " CA_BOX_FORMAT ")", CA_BOX_VALUES(&s),
                    CA_BOX_VALUES(&t));
        }
    }
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
    free(from);
    free(to);
}

static void check_copy_box(void)
{
    struct ca_arena a, b, source;

    ca_arena_init(&a, 64 << 10);
    ca_arena_init(&b, 64 << 10);
    ca_arena_init(&source, 64 << 10);
    ca_begin("kn_copy_box");
    ca_random_bytes(source.base, source.size_B);
    ca_arena_seal(&source);
    for (unsigned i = 0; i < ca_cases(1000); i++) {
        uint64_t width_B = ca_below(200), rows = ca_below(10), slices = ca_below(6);
        uint64_t pitch[2], slice[2], need_B[2];
        size_t at[2];

        for (int side = 0; side < 2; side++) {
            pitch[side] = width_B + (ca_below(2) ? 0 : ca_below(40));
            slice[side] = pitch[side] * rows + (ca_below(2) ? 0 : ca_below(400));
            need_B[side] = width_B && rows && slices
                               ? (slices - 1) * slice[side] + (rows - 1) * pitch[side] + width_B
                               : 0;
            at[side] = ca_arena_place(side ? &source : &a, need_B[side]);
        }
        for (uint64_t z = 0; z < slices; z++)
            for (uint64_t y = 0; y < rows; y++)
                for (uint64_t x = 0; x < width_B; x++)
                    b.base[at[0] + z * slice[0] + y * pitch[0] + x] =
                        source.base[at[1] + z * slice[1] + y * pitch[1] + x];
        if (slices == 1 && ca_below(2))
            kn_copy_rows(a.base + at[0], pitch[0], source.base + at[1], pitch[1], width_B, rows);
        else
            kn_copy_box(&(struct kn_linear){a.base + at[0], pitch[0], slice[0]},
                        &(struct kn_linear){source.base + at[1], pitch[1], slice[1]},
                        &(struct kn_box){width_B, rows, slices});
        ca_same("kn_copy_box", &a, &b, "%llux%llux%llu", (unsigned long long)width_B,
                (unsigned long long)rows, (unsigned long long)slices);
    }
    ca_arena_finish(&source);
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}

static void check_fill(void)
{
    struct ca_arena a, b;

    ca_arena_init(&a, 64 << 10);
    ca_arena_init(&b, 64 << 10);
    ca_begin("kn_fill");
    for (unsigned i = 0; i < ca_cases(1000); i++) {
        unsigned value_B = 1u << ca_below(3);
        uint32_t value = (uint32_t)ca_random();
        uint64_t width = ca_below(200), rows = ca_below(9),
                 pitch_B = width * value_B + (ca_below(2) ? 0 : ca_below(90));
        size_t at = ca_arena_place(&a, width && rows ? (rows - 1) * pitch_B + width * value_B : 0);

        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < width * value_B; x++)
                b.base[at + y * pitch_B + x] = (uint8_t)(value >> x % value_B * 8);
        if (rows == 1 && value_B == 1)
            kn_fill8(a.base + at, (uint8_t)value, width);
        else if (rows == 1 && value_B == 2)
            kn_fill16(a.base + at, (uint16_t)value, width);
        else if (rows == 1)
            kn_fill32(a.base + at, value, width);
        else if (value_B == 1)
            kn_fill8_rows(a.base + at, pitch_B, (uint8_t)value, width, rows);
        else if (value_B == 2)
            kn_fill16_rows(a.base + at, pitch_B, (uint16_t)value, width, rows);
        else
            kn_fill32_rows(a.base + at, pitch_B, value, width, rows);
        ca_same("kn_fill", &a, &b, "%u-byte values, %llux%llu", value_B, (unsigned long long)width,
                (unsigned long long)rows);
    }
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}

static void check_fill_wide(void)
{
    struct ca_arena a, b;

    ca_arena_init(&a, 64 << 10);
    ca_arena_init(&b, 64 << 10);
    ca_begin("kn_fill_wide_rows");
    for (unsigned i = 0; i < ca_cases(1000); i++) {
        unsigned value_B = ca_below(2) ? 8 : 16;
        uint64_t width = ca_below(ca_below(2) ? 20 : 300), rows = ca_below(9),
                 pitch_B = width * value_B + (ca_below(2) ? 0 : ca_below(90));
        size_t at = ca_arena_place(&a, width && rows ? (rows - 1) * pitch_B + width * value_B : 0);
        uint8_t value[16];

        ca_random_bytes(value, sizeof(value));
        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < width * value_B; x++)
                b.base[at + y * pitch_B + x] = value[x % value_B];
        kn_fill_wide_rows(a.base + at, pitch_B, value, value_B, width, rows);
        ca_same("kn_fill_wide_rows", &a, &b, "%u-byte values, %llux%llu", value_B,
                (unsigned long long)width, (unsigned long long)rows);
    }
    ca_arena_finish(&b);
    ca_arena_finish(&a);
}

void ca_check_models(const struct kn_dsp *dsp)
{
    (void)dsp;
    check_tile();
    check_copy_box();
    check_fill();
    check_fill_wide();
}
