// SPDX-License-Identifier: MIT
// Benchmarks of whole images through layouts: layers, mip chains, and the layouts of other drivers,
// against a memcpy of the same size.
#include "bench.h"
#include "box.h"

#include <stdio.h>
#include <string.h>

static void *(*volatile host_memcpy)(void *, const void *, size_t) = memcpy;

// The images on both sides of a copy. Without a layout, rows and slices have no gaps.
struct images {
    struct dm_layout dst, src;
    bool dst_linear, src_linear;
};

static struct dm_surface surface(const struct dm_layout *layout, bool linear, unsigned level,
                                 const uint8_t *base)
{
    const struct dm_layout_level *v = &layout->level[level];
    uint64_t row_B = (uint64_t)v->width_el * layout->element_B;
    struct dm_surface s = {
        .base = (void *)(uintptr_t)base, .layout = linear ? NULL : layout, .level = level};

    s.pitch_B = row_B;
    s.slice_B = row_B * v->height_el;
    return s;
}

static struct dm_box_extent extent_of(const struct dm_layout *layout, unsigned level)
{
    const struct dm_layout_level *v = &layout->level[level];

    return (struct dm_box_extent){(uint64_t)v->width_el * layout->element_B, v->height_el,
                                  dm_layout_depth(layout, level)};
}

static uint64_t bytes_of(const struct dm_layout *layout)
{
    uint64_t bytes = 0;

    for (unsigned level = 0; level < layout->levels; level++) {
        struct dm_box_extent e = extent_of(layout, level);
        bytes += e.width_B * e.height * e.depth;
    }
    return bytes;
}

static void run_boxes(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                      const uint8_t *src)
{
    const struct images *i = b->more;
    const struct dm_position origin = {0, 0, 0};

    if (!dsp) {
        host_memcpy(dst, src, b->bytes);
        return;
    }
    for (unsigned level = 0; level < i->dst.levels; level++) {
        struct dm_surface to = surface(&i->dst, i->dst_linear, level, dst),
                          from = surface(&i->src, i->src_linear, level, src);
        dm_box_copy(&to, origin, &from, origin, extent_of(&i->dst, level));
    }
}

// Copies an array onto itself, eight rows and four elements further on.
static void run_within(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                       const uint8_t *src)
{
    const struct images *i = b->more;
    const struct dm_position origin = {0, 0, 0}, further = {16, 8, 0};
    struct dm_surface s = surface(&i->dst, false, 0, dst);
    struct dm_box_extent e = extent_of(&i->dst, 0);

    if (!dsp) {
        host_memcpy(dst, src, b->bytes);
        return;
    }
    e.width_B -= further.x_B;
    e.height -= further.y;
    dm_box_copy(&s, further, &s, origin, e);
}

enum { LINEAR = -1 };

static void row_of(ca_bench_fn *run, const char *what, int dst_kind, int src_kind,
                   struct dm_layout_desc desc, double target)
{
    struct images i = {.dst_linear = dst_kind == LINEAR, .src_linear = src_kind == LINEAR};
    struct ca_bench b = {.name = "boxes", .run = run, .more = &i, .target = target};

    desc.kind = dst_kind == LINEAR ? DM_LAYOUT_LLVMPIPE : (enum dm_layout_kind)dst_kind;
    if (dm_layout_init(&i.dst, &desc))
        return;
    desc.kind = src_kind == LINEAR ? DM_LAYOUT_LLVMPIPE : (enum dm_layout_kind)src_kind;
    if (dm_layout_init(&i.src, &desc))
        return;
    b.bytes = bytes_of(&i.dst);
    b.dst_need_B = i.dst.size_B > b.bytes ? i.dst.size_B : b.bytes;
    b.src_need_B = i.src.size_B > b.bytes ? i.src.size_B : b.bytes;
    snprintf(b.detail, sizeof(b.detail), "%s %s", ca_size_text(b.bytes >> 10 << 10), what);
    ca_bench_row(&b);
}

static void row(const char *what, int dst_kind, int src_kind, struct dm_layout_desc desc,
                double target)
{
    row_of(run_boxes, what, dst_kind, src_kind, desc, target);
}

void ca_bench_layout(uint64_t min_B, uint64_t max_B)
{
    const int tiled = DM_LAYOUT_BLOCK_LINEAR, mesa = DM_LAYOUT_LLVMPIPE,
              swift = DM_LAYOUT_SWIFTSHADER;

    for (uint64_t size_B = min_B < 64 << 10 ? 64 << 10 : min_B; size_B <= max_B; size_B *= 16) {
        double target = size_B < 1 << 20 ? 0.9 : 0.85;
        struct dm_layout_desc plain = {.element_B = 4, .levels = 1, .width_px = 128}, layers, chain,
                              odd;

        while (plain.width_px * plain.width_px * 4 < size_B)
            plain.width_px *= 2;
        plain.height_px = size_B / plain.width_px / 4;
        layers = chain = odd = plain;
        layers.height_px /= 8, layers.layers = 8;
        while (chain.width_px >> chain.levels || chain.height_px >> chain.levels)
            chain.levels++;
        odd.width_px -= 7;
        odd.height_px -= 3;

        row("layers, linear > tiled", tiled, LINEAR, layers, target);
        row("layers, tiled > linear", LINEAR, tiled, layers, target);
        row("layers, tiled > tiled", tiled, tiled, layers, target);
        row("mip chain, Mesa > tiled", tiled, mesa, chain, 0.6);
        row("mip chain, tiled > Mesa", mesa, tiled, chain, 0.6);
        row("mip chain, tiled > tiled", tiled, tiled, chain, 0.6);
        row("mip chain, Mesa > Mesa", mesa, mesa, chain, 0.6);
        row("Mesa > tiled", tiled, mesa, odd, 0.6);
        row("tiled > Mesa", mesa, tiled, odd, 0.6);
        row("SwiftShader > tiled", tiled, swift, odd, 0.6);
        row("tiled > SwiftShader", swift, tiled, odd, 0.6);
        row("linear > Mesa", mesa, LINEAR, odd, 0.85);
        row("Mesa > linear", LINEAR, mesa, odd, 0.85);
        row_of(run_within, "tiled, overlapping itself", tiled, tiled, plain, 0);
    }
}
