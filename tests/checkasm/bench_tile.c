// SPDX-License-Identifier: MIT
// Benchmarks of the tile family: surfaces with the shapes of arrays, whole and ragged, against a
// memcpy of the same size.
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void *(*volatile host_memcpy)(void *, const void *, size_t) = memcpy;

// Whether memcpy copies row by row if there are gaps between the linear rows: then its source or
// its destination is spread over as much memory as the one of tiling.
static bool by_rows;

static void run_host(const struct ca_bench *b, uint8_t *dst, uint64_t dst_pitch_B,
                     const uint8_t *src, uint64_t src_pitch_B)
{
    const struct ca_box *s = &b->box;

    if (!by_rows || s->pitch_B == s->width_B) {
        host_memcpy(dst, src, b->bytes);
        return;
    }
    for (uint64_t row = 0; row < s->rows * s->slices; row++)
        host_memcpy(dst + row * dst_pitch_B, src + row * src_pitch_B, s->width_B);
}

static void run_tile(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                     const uint8_t *src)
{
    const struct ca_box *s = &b->box;

    if (dsp)
        ca_tile(dsp, s, dst, src);
    else
        run_host(b, dst, s->width_B, src, s->pitch_B);
}

static void run_untile(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                       const uint8_t *src)
{
    const struct ca_box *s = &b->box;

    if (dsp)
        ca_untile(dsp, s, dst, src);
    else
        run_host(b, dst, s->pitch_B, src, s->width_B);
}

static void run_retile(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                       const uint8_t *src)
{
    const struct ca_box *s = &b->box;
    struct ca_box from = *s;

    // The other surface has lower blocks, and its box may start at another byte of a GOB (value_B).
    if (from.desc.block_height_log2)
        from.desc.block_height_log2--;
    from.x_B += b->value_B;
    if (dsp)
        ca_retile(dsp, s, dst, &from, src);
    else
        host_memcpy(dst, src, b->bytes);
}

static void rows_of(const char *what, struct ca_box box, unsigned linear_shift_B, double target)
{
    struct ca_bench b = {.box = box};
    struct ca_box *s = &b.box;
    uint64_t tiled_B, linear_B;

    s->slice_B = s->slice_B ? s->slice_B : s->pitch_B * s->rows;
    b.bytes = s->width_B * s->rows * s->slices;
    b.target = target;
    tiled_B = kn_tiled_size_B(&s->desc, s->depth) + 512;
    linear_B = (s->slices - 1) * s->slice_B + (s->rows - 1) * s->pitch_B + s->width_B + 64;
    snprintf(b.detail, sizeof(b.detail), "%s %s",
             ca_size_text(b.bytes >> 10 ? b.bytes >> 10 << 10 : b.bytes), what);

    b.name = "tile";
    b.run = run_tile;
    b.dst_need_B = tiled_B;
    b.src_need_B = linear_B > b.bytes ? linear_B : b.bytes;
    b.src_shift_B = linear_shift_B;
    ca_bench_row(&b);
    b.name = "untile";
    b.run = run_untile;
    b.src_need_B = tiled_B > b.bytes ? tiled_B : b.bytes;
    b.dst_need_B = linear_B;
    b.src_shift_B = 0;
    b.dst_shift_B = linear_shift_B;
    ca_bench_row(&b);
    if (linear_shift_B)
        return;
    b.name = "retile";
    b.run = run_retile;
    b.dst_need_B = b.src_need_B = tiled_B;
    ca_bench_row(&b);
}

static struct ca_box whole(uint64_t width_B, uint64_t rows, uint64_t slices, unsigned a, unsigned b)
{
    struct ca_box s = {
        .width_B = width_B, .rows = rows, .slices = slices, .depth = slices, .pitch_B = width_B};

    s.desc.width_gob = (uint32_t)((width_B + 63) / 64);
    s.desc.height_gob = (uint32_t)(((rows + 7) / 8 + (1u << a) - 1) >> a << a);
    s.desc.block_height_log2 = (uint8_t)a;
    s.desc.block_depth_log2 = (uint8_t)b;
    return s;
}

// A box of random extents at a random place of a surface that is as large as it has to be.
static struct ca_box random_box(uint64_t bytes)
{
    const uint64_t element_B = 1u << ca_below(5);
    const uint64_t slices = ca_below(3) ? 1 : 2 + ca_below(62), area_B = bytes / slices;
    uint64_t width_B = 64, rows;
    unsigned a = (unsigned)ca_below(5);

    while (width_B * width_B < area_B)
        width_B *= 2;
    width_B = (width_B / 2 + ca_below(width_B)) / element_B * element_B;
    rows = area_B / width_B + 1;

    const uint64_t x_B = ca_below(2) ? 0 : ca_below(16) * element_B,
                   y = ca_below(2) ? 0 : ca_below(8);
    struct ca_box s = whole(x_B + width_B, y + rows, slices, a, slices > 1 ? 4 : 0);

    s.x_B = x_B;
    s.y = y;
    s.width_B = width_B;
    s.rows = rows;
    s.pitch_B = ca_below(2) ? width_B : (width_B + 255) / 256 * 256;
    return s;
}

void ca_bench_random_boxes(uint64_t min_B, uint64_t max_B)
{
    enum { BOXES = 40 };

    by_rows = true;
    for (unsigned i = 0; i < BOXES; i++) {
        char what[64];
        struct ca_box s = random_box(min_B + ca_below(max_B - min_B));

        snprintf(what, sizeof(what), "%u,%u %u*%u*%u/%u", (unsigned)s.x_B, (unsigned)s.y,
                 (unsigned)s.width_B, (unsigned)s.rows, (unsigned)s.slices, (unsigned)s.pitch_B);
        rows_of(what, s, 0, 0.85);
    }
}

void ca_bench_tile(uint64_t min_B, uint64_t max_B)
{
    for (uint64_t size_B = min_B < 4096 ? 4096 : min_B; size_B <= max_B; size_B *= 4) {
        double target = size_B < 64 << 10    ? 0
                        : size_B < 1 << 20   ? 0.9
                        : size_B < 256 << 20 ? 0.85
                                             : 0.9;
        double ragged = size_B >= 64 << 10 && size_B <= 1 << 20 ? 0.85 : 0.6;
        uint64_t side = 64;
        struct ca_box s;
        unsigned a = 4;

        while (side * side * 4 < size_B)
            side *= 2;
        while (a && 8u << a > side / 4 * 6)
            a--;
        s = whole(side * 4, size_B / (side * 4), 1, a, 0);
        rows_of("2D", s, 0, target);
        if (size_B > 64 << 20) // larger sizes give the same results and take seconds
            continue;
        rows_of("2D, linear + 16", s, 16, target);
        s.pitch_B += 192;
        rows_of("2D, pitch + 192", s, 0, target);
        // An RGBA8 picture whose width is not a power of two, at the alignment of an element.
        s = whole(side * 4 - 56, size_B / (side * 4) - 3, 1, a, 0);
        rows_of("2D, ragged", s, 0, ragged);
        s = whole(side * 4, size_B / (side * 4) - 1, 1, a, 0);
        s.x_B = 20;
        s.y = 1;
        s.width_B -= 44;
        s.rows -= 3;
        s.pitch_B = s.width_B;
        rows_of("2D, ragged box", s, 0, ragged);
        if (size_B >= 64 << 10) {
            uint64_t depth = size_B >= 1 << 20 ? 64 : 16, width_B = side * 4 / (depth / 8);
            s = whole(width_B, size_B / (width_B * depth), depth, 0, 4);
            rows_of("3D", s, 0, 0.85);
        }
    }
    // A column of elements, and the lower levels of a mip chain.
    for (unsigned element_B = 1; element_B <= 16; element_B *= 4) {
        struct ca_box s = whole(element_B, 1024, 1, 4, 0);
        char what[24];
        snprintf(what, sizeof(what), "column of %u B", element_B);
        rows_of(what, s, 0, 0);
    }
}
