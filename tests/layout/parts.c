// SPDX-License-Identifier: MIT
// Properties of parts of random layouts: layers, spans of boxes, tiles and mip tails of sparse
// arrays. Each is compared with dm_layout_locate, element by element.
#include "../sanitizers.h"
#include "arithmetic.h"
#include "check.h"
#include "random.h"
#include "sparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = SANITIZED ? 60 : 300 };

static void check_arithmetic(void)
{
    const uint64_t most = UINT64_MAX;
    uint64_t out;

    CHECK_EQ(dm_add(most, 1, &out), false, "overflow");
    CHECK_EQ(dm_add(most - 1, 1, &out), true, "no overflow");
    CHECK_EQ(out, most, "sum");
    CHECK_EQ(dm_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out), false, "overflow");
    CHECK_EQ(dm_mul(UINT64_C(1) << 32, 0xffffffff, &out), true, "no overflow");
    CHECK_EQ(dm_round_up(most, 2, &out), false, "overflow");
    CHECK_EQ(dm_round_up(most - 4095, 4096, &out), true, "already a multiple");
    CHECK_EQ(out, most - 4095, "already a multiple");
    CHECK_EQ(dm_round_up(most - 4094, 4096, &out), false, "one more");
    CHECK_EQ(dm_round_up(most, most, &out), true, "itself");
    CHECK_EQ(dm_round_up(0, 3, &out), true, "zero");
    CHECK_EQ(out, 0, "zero");
    CHECK_EQ(dm_div_up(most, 2), UINT64_C(1) << 63, "odd");
    CHECK_EQ(dm_log2_up(0), 0, "log2");
    CHECK_EQ(dm_log2_up(1), 0, "log2");
    CHECK_EQ(dm_log2_up(3), 2, "log2");
    CHECK_EQ(dm_log2_up(4), 2, "log2");
    CHECK_EQ(dm_log2_up(most), 64, "log2");
    CHECK_EQ(dm_layout_minify(0, 3), 0, "a dimension that does not exist");
    CHECK_EQ(dm_layout_minify(7, 2), 1, "minified");
    CHECK_EQ(dm_layout_minify(most, UINT32_MAX), 1, "minified past the end");
}

static void check_describe(const struct dm_layout *layout, const char *where)
{
    struct dm_layout_desc d = dm_layout_describe(layout);
    struct dm_layout again;

    memset(&again, 0, sizeof again);
    CHECK_EQ(dm_layout_init(&again, &d) == 0, true, "%s", where);
    CHECK_EQ(again.total_B, layout->total_B, "%s", where);
    CHECK_EQ(again.dimensions, layout->dimensions, "%s", where);
    for (uint32_t i = 0; i < layout->levels; i++)
        CHECK_EQ(memcmp(&again.level[i], &layout->level[i], sizeof again.level[i]), 0,
                 "level %u of %s", i, where);
}

static void check_layers(const struct dm_layout *layout, const char *where)
{
    struct dm_layout one = {.levels = 4711};

    CHECK_EQ(dm_layout_layer(layout, layout->layers, &one) == -EINVAL, true, "%s", where);
    CHECK_EQ(dm_layout_layer(layout, UINT32_MAX, &one) == -EINVAL, true, "%s", where);
    CHECK_EQ(one.levels, 4711, "a layer that does not exist, %s", where);
    for (uint32_t layer = 0; layer < layout->layers; layer++) {
        CHECK_EQ(dm_layout_layer(layout, layer, &one), 0, "%s", where);
        for (uint32_t level = 0; level < layout->levels; level++) {
            const struct dm_layout_level *v = &layout->level[level];

            CHECK_EQ(dm_layout_depth(&one, level), v->depth, "%s", where);
            for (unsigned i = 0; i < 10; i++) {
                uint64_t x = random_below(v->width_el), y = random_below(v->height_el),
                         z = random_below(v->depth);

                CHECK_EQ(dm_layout_locate(&one, level, x, y, z),
                         dm_layout_locate(layout, level, x, y, layout->layered ? layer : z),
                         "layer %u, level %u of %s", layer, level, where);
            }
        }
    }
}

static void check_rows(const struct dm_layout *layout, const char *where)
{
    for (uint32_t level = 0; level < layout->levels; level++) {
        const struct dm_layout_level *v = &layout->level[level];
        struct dm_layout_rows rows = dm_layout_rows(layout, level);
        uint64_t y = random_below(v->height_el), z = random_below(dm_layout_depth(layout, level));

        if (layout->kind != DM_LAYOUT_BLOCK_LINEAR)
            CHECK_EQ(rows.offset_B + z * rows.slice_B + y * rows.pitch_B,
                     dm_layout_locate(layout, level, 0, y, z), "%s", where);
    }
}

// The smallest and the largest offset in a box, byte by byte.
static void check_span(const struct dm_layout *layout, const char *where)
{
    struct dm_layout_box b = {.level = random_below(layout->levels)};
    const struct dm_layout_level *v = &layout->level[b.level];
    uint64_t width_B = (uint64_t)v->width_el * layout->element_B, height = v->height_el;
    uint64_t depth = dm_layout_depth(layout, b.level);
    uint64_t least = UINT64_MAX, most = 0, first, end;

    b.x_B = random_below(width_B);
    b.y = random_below(height);
    b.z = random_below(depth);
    b.width_B = 1 + random_below(width_B - b.x_B < 300 ? width_B - b.x_B : 300);
    b.height = 1 + random_below(height - b.y < 40 ? height - b.y : 40);
    b.depth = 1 + random_below(depth - b.z < 5 ? depth - b.z : 5);
    for (uint64_t z = b.z; z < b.z + b.depth; z++)
        for (uint64_t y = b.y; y < b.y + b.height; y++)
            for (uint64_t x = b.x_B; x < b.x_B + b.width_B; x++) {
                uint64_t at = dm_layout_locate_B(layout, b.level, x, y, z);

                least = at < least ? at : least;
                most = at > most ? at : most;
            }
    CHECK_EQ(dm_layout_span(layout, &b, &first, &end), 0, "%s", where);
    CHECK_EQ(first, least, "%s", where);
    CHECK_EQ(end, most + 1, "%s", where);
    b.width_B = width_B - b.x_B + 1;
    CHECK_EQ(dm_layout_span(layout, &b, &first, &end) == -EINVAL, true, "too wide, %s", where);
    b.width_B = 0;
    CHECK_EQ(dm_layout_span(layout, &b, &first, &end) == -EINVAL, true, "empty, %s", where);
    b.width_B = UINT64_MAX;
    CHECK_EQ(dm_layout_span(layout, &b, &first, &end) == -EINVAL, true, "wraps, %s", where);
}

// Each byte of the array belongs to exactly one run of one tile or tail.
static void check_partition(const struct dm_layout *layout, const struct dm_sparse *sparse,
                            const char *where)
{
    uint8_t *taken = calloc(1, layout->size_B);
    uint64_t twice = 0, missing = 0, outside = 0;
    struct dm_tile_run runs[DM_TILE_RUNS_MAX];
    struct dm_tile t;

    for (t.level = 0; t.level < sparse->miptail_first_level; t.level++) {
        uint32_t tiles[3];

        dm_sparse_tiles(sparse, layout, t.level, tiles);
        for (t.layer = 0; t.layer < layout->layers; t.layer++)
            for (uint32_t i = 0; i < tiles[0] * tiles[1] * tiles[2]; i++) {
                unsigned count;

                t.at[0] = i % tiles[0];
                t.at[1] = i / tiles[0] % tiles[1];
                t.at[2] = i / tiles[0] / tiles[1];
                count = dm_layout_tile_runs(layout, sparse, &t, runs);
                for (unsigned r = 0; r < count; r++)
                    for (uint64_t b = 0; b < runs[r].size_B; b++)
                        if (runs[r].array_B + b < layout->size_B)
                            twice += taken[runs[r].array_B + b]++;
                        else
                            outside++;
            }
    }
    for (uint32_t tail = 0; tail < dm_sparse_tails(sparse, layout); tail++)
        for (uint64_t at = 0; at < sparse->miptail_B; at += DM_TILE_B) {
            struct dm_tile_run run = dm_layout_tail_run(layout, sparse, tail, at, DM_TILE_B);

            CHECK_EQ(run.size_B <= DM_TILE_B, true, "%s", where);
            for (uint64_t b = 0; b < run.size_B; b++)
                if (run.array_B + b < layout->size_B)
                    twice += taken[run.array_B + b]++;
                else
                    outside++;
        }
    for (uint32_t level = 0; level < layout->levels; level++)
        for (uint64_t z = 0; z < dm_layout_depth(layout, level); z++)
            for (uint64_t y = 0; y < layout->level[level].height_el; y += 3)
                for (uint64_t x = 0; x < layout->level[level].width_el; x += 5)
                    missing += !taken[dm_layout_locate(layout, level, x, y, z)];
    CHECK_EQ(twice, 0, "bytes in two tiles: %s", where);
    CHECK_EQ(outside, 0, "bytes outside: %s", where);
    CHECK_EQ(missing, 0, "elements in no tile: %s", where);
    free(taken);
}

static void check_sparse(const char *where)
{
    static const uint32_t element_B[] = {1, 2, 4, 8, 16};
    struct dm_layout_desc d = {.element_B = element_B[random_below(5)], .levels = 1};
    struct dm_layout layout;
    struct dm_sparse sparse;
    unsigned shape = random_below(3);

    d.width_px = 1 + random_below(700);
    d.height_px = 1 + random_below(700);
    if (shape == 1)
        d.layers = 1 + random_below(4);
    if (shape == 2) {
        d.width_px = 1 + random_below(150);
        d.height_px = 1 + random_below(150);
        d.depth = 1 + random_below(70);
    }
    if (shape < 2 && d.element_B >= 8 && random_below(2))
        d.block_px = 4;
    d.levels = 1 + random_below(dm_layout_levels_most(d.width_px, d.height_px, d.depth));
    d.sparse = random_below(2);
    CHECK_EQ(dm_layout_init(&layout, &d), 0, "%s", where);
    CHECK_EQ(dm_sparse_init(&sparse, &layout), 0, "%s", where);
    CHECK_EQ(sparse.miptail_B <= layout.size_B, true, "%s", where);
    check_partition(&layout, &sparse, where);
}

// One axis, every offset and extent, against the rule: multiples of the tile's extent up to the
// level's edge, which may end the last tile (recorded: sparse_edges extents).
static void check_axis(void)
{
    enum { TILE = 4 };

    for (uint32_t level = 1; level < 14; level++)
        for (uint32_t offset = 0; offset < 20; offset++)
            for (uint32_t extent = 0; extent < 20; extent++) {
                uint32_t first = 0, tiles = 0, end = offset + extent;
                bool want = extent && offset % TILE == 0 && end <= level &&
                            (end % TILE == 0 || end == level);

                CHECK_EQ(dm_sparse_axis(TILE, level, offset, extent, &first, &tiles), want,
                         "level %u, offset %u, extent %u", level, offset, extent);
                if (want) {
                    CHECK_EQ(first * TILE, offset, "first tile");
                    CHECK_EQ((first + tiles) * TILE >= end && (first + tiles - 1) * TILE < end,
                             true, "tiles of level %u from %u to %u", level, offset, end);
                }
            }
    uint32_t first, tiles;
    CHECK_EQ(dm_sparse_axis(TILE, UINT32_MAX, UINT32_MAX - 3, UINT32_MAX, &first, &tiles), false,
             "an end past 32 bits");
}

static void check_refusals(void)
{
    const struct dm_layout_desc refused[] = {
        {.element_B = 4, .levels = 1, .width_px = 4096},
        {.element_B = 4, .levels = 1, .width_px = 64, .height_px = 64, .layers = 6, .cube = true},
        {.element_B = 3, .levels = 1, .width_px = 64, .height_px = 64},
        {.element_B = 32, .levels = 1, .width_px = 64, .height_px = 64},
        {.kind = DM_LAYOUT_PITCH, .element_B = 4, .levels = 1, .width_px = 64, .height_px = 64},
        {.kind = DM_LAYOUT_LLVMPIPE, .element_B = 4, .levels = 1, .width_px = 64, .height_px = 64},
    };
    struct dm_layout_desc small_word = {
        .element_B = 4, .word_B = 2, .levels = 1, .width_px = 64, .height_px = 64};
    struct dm_layout layout;
    struct dm_sparse sparse;

    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_EQ(dm_layout_init(&layout, &refused[i]), 0, "description %u", i);
        CHECK_EQ(dm_sparse_init(&sparse, &layout) == -EINVAL, true, "description %u", i);
    }
    CHECK_EQ(dm_layout_init(&layout, &small_word) == -EINVAL, true, "a word below an element");
}

int main(void)
{
    check_arithmetic();
    check_axis();
    check_refusals();
    for (unsigned i = 0; i < SHAPES; i++) {
        struct dm_layout_desc d = random_desc();
        struct dm_layout layout;
        char where[256];

        describe(where, sizeof where, &d);
        memset(&layout, 0, sizeof layout);
        CHECK_EQ(dm_layout_init(&layout, &d), 0, "%s", where);
        check_describe(&layout, where);
        check_layers(&layout, where);
        check_rows(&layout, where);
        check_span(&layout, where);
        snprintf(where, sizeof where, "sparse array %u", i);
        check_sparse(where);
    }
    return check_result("layout parts");
}
