// SPDX-License-Identifier: MIT
// Every element of the shapes dumped from an H100 against dm_layout_locate, and the same bytes
// through dm_box_copy; and the tiles of the shapes that can be sparse against dm_layout_tile_runs.
// The dump ends inside its last record, so the test compares the part of it that exists.
#include "box.h"
#include "check.h"
#include "layout.h"
#include "sparse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_ZLIB
#include <zlib.h>
#else
// An unpacked dump, for builds without zlib.
typedef FILE *gzFile;
#define gzopen fopen
#define gzread(f, to, size_B) ((int)fread(to, 1, size_B, f))
#define gzclose fclose
#endif

enum { MAGIC = 0x54494c45, LAYERED = 1, CUBEMAP = 4 };

struct header {
    uint32_t magic, width, height, depth, element_B, levels, flags, format, channels, slots;
};

// Numbers and writes the elements as the probe did, in linear memory, level by level.
static void number_element(uint8_t *element, uint32_t element_B, uint32_t id)
{
    for (uint32_t i = 0; i < element_B; i += 4) {
        uint32_t word = element_B < 4 ? id : (id & 0x0fffffff) | i / 4 << 28;

        memcpy(element + i, &word, element_B < 4 ? element_B : 4);
    }
}

static void check_locate(const struct header *h, const struct dm_layout *layout,
                         const uint32_t *slot, uint32_t slots, const char *where)
{
    uint64_t id = 0, filled = 0, misplaced = 0, cut = 0;

    for (uint32_t level = 0; level < layout->levels; level++) {
        const struct dm_layout_level *v = &layout->level[level];

        for (uint64_t z = 0; z < dm_layout_depth(layout, level); z++)
            for (uint64_t y = 0; y < v->height_el; y++)
                for (uint64_t x = 0; x < v->width_el; x++) {
                    uint64_t at_B = dm_layout_locate(layout, level, x, y, z);
                    uint32_t found = at_B / h->element_B < slots ? slot[at_B / h->element_B] : 0;

                    id++;
                    if (at_B / h->element_B >= slots && slots < h->slots) {
                        cut++;
                        continue;
                    }
                    if (h->element_B >= 4)
                        found &= 0x0fffffff;
                    misplaced += found != id;
                }
    }
    for (uint32_t i = 0; i < slots; i++)
        filled += slot[i] != 0;
    CHECK_EQ(misplaced, 0, "elements of %s", where);
    CHECK_EQ(filled + cut, id, "elements of %s", where);
}

// Checks the runs of one tile: they contain all elements of the tile (on the card), and no others.
// `id` is the number of the level's first element. Returns the number of bytes in the runs.
static uint64_t check_tile(const struct header *h, const struct dm_layout *layout,
                           const struct dm_sparse *sparse, const struct dm_tile *tile, uint32_t id,
                           const uint32_t *slot)
{
    const struct dm_layout_level *v = &layout->level[tile->level];
    const uint64_t first[3] = {(uint64_t)tile->at[0] * sparse->tile_width_px,
                               (uint64_t)tile->at[1] * sparse->tile_height_px,
                               (uint64_t)tile->at[2] * sparse->tile_depth};
    const uint64_t size[3] = {sparse->tile_width_px, sparse->tile_height_px, sparse->tile_depth};
    const uint64_t level[3] = {v->width_el, v->height_el, v->depth};
    struct dm_tile_run runs[DM_TILE_RUNS_MAX];
    unsigned count = dm_layout_tile_runs(layout, sparse, tile, runs);
    uint64_t want = 1, found = 0, foreign = 0, run_B = 0, end_B = 0;

    id += tile->layer * v->width_el * v->height_el;
    for (unsigned i = 0; i < 3; i++)
        want *= first[i] + size[i] < level[i] ? size[i] : level[i] - first[i];
    for (unsigned r = 0; r < count; r++) {
        CHECK_EQ(runs[r].tile_B >= end_B, true, "run %u of a tile begins in the one before", r);
        end_B = runs[r].tile_B + runs[r].size_B;
        run_B += runs[r].size_B;
        for (uint64_t at = runs[r].array_B / h->element_B, n = runs[r].size_B / h->element_B; n;
             at++, n--) {
            uint64_t rest = at < h->slots ? slot[at] : 0;
            bool inside = true;

            if (h->element_B >= 4)
                rest &= 0x0fffffff;
            if (!rest)
                continue;
            found++;
            rest -= id; // wraps for elements of other levels and layers, which are then outside
            for (unsigned i = 0; i < 3; i++) {
                uint64_t at_el = i < 2 ? rest % level[i] : rest;

                inside &= at_el - first[i] < size[i];
                rest /= level[i];
            }
            foreign += !inside;
        }
    }
    CHECK_EQ(end_B <= DM_TILE_B, true, "a tile of level %u ends at %" PRIu64, tile->level, end_B);
    CHECK_EQ(foreign, 0, "foreign elements in tile %u, %u, %u of level %u", tile->at[0],
             tile->at[1], tile->at[2], tile->level);
    CHECK_EQ(found, want, "elements in tile %u, %u, %u of level %u", tile->at[0], tile->at[1],
             tile->at[2], tile->level);
    return run_B;
}

// Checks dm_layout_tile_runs for every tile of the shape, if it can be sparse. Returns the number
// of tiles.
static unsigned check_tiles(const struct header *h, const struct dm_layout *layout,
                            const uint32_t *slot, const char *where)
{
    struct dm_sparse sparse;
    unsigned count = 0;
    uint32_t id = 1;

    if (dm_sparse_init(&sparse, layout))
        return 0;
    for (uint32_t level = 0; level < sparse.miptail_first_level; level++) {
        const struct dm_layout_level *v = &layout->level[level];
        uint32_t tiles[3];
        uint64_t level_B = 0;

        dm_sparse_tiles(&sparse, layout, level, tiles);
        for (uint32_t layer = 0; layer < layout->layers; layer++)
            for (uint32_t z = 0; z < tiles[2]; z++)
                for (uint32_t y = 0; y < tiles[1]; y++)
                    for (uint32_t x = 0; x < tiles[0]; x++, count++) {
                        struct dm_tile tile = {level, layer, {x, y, z}};

                        level_B += check_tile(h, layout, &sparse, &tile, id, slot);
                    }
        CHECK_EQ(level_B, v->size_B * layout->layers, "bytes of all tiles of level %u of %s", level,
                 where);
        id += v->width_el * v->height_el * (uint32_t)dm_layout_depth(layout, level);
    }
    return count;
}

// Copies all levels into a block-linear image and compares it with the card's; then reads them
// back.
static void check_copies(const struct header *h, const struct dm_layout *layout,
                         const uint32_t *slot, uint32_t slots, const char *where)
{
    uint8_t *image = calloc(1, layout->size_B), *want = calloc(1, layout->size_B);
    uint32_t id = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (slot[i])
            number_element(want + (uint64_t)i * h->element_B, h->element_B, slot[i]);
    for (uint32_t level = 0; level < layout->levels; level++) {
        const struct dm_layout_level *v = &layout->level[level];
        struct dm_box_extent extent = {(uint64_t)v->width_el * h->element_B, v->height_el,
                                       dm_layout_depth(layout, level)};
        uint64_t elements = v->width_el * extent.height * extent.depth;
        uint8_t *there = malloc(elements * h->element_B), *back = calloc(elements, h->element_B);
        struct dm_surface array = {.base = image, .layout = layout, .level = level};
        struct dm_surface linear = {
            .base = there, .pitch_B = extent.width_B, .slice_B = extent.width_B * extent.height};

        for (uint64_t i = 0; i < elements; i++)
            number_element(there + i * h->element_B, h->element_B, ++id);
        CHECK_EQ(
            dm_box_copy(&array, (struct dm_position){0}, &linear, (struct dm_position){0}, extent),
            0, "%s", where);
        linear.base = back;
        CHECK_EQ(
            dm_box_copy(&linear, (struct dm_position){0}, &array, (struct dm_position){0}, extent),
            0, "%s", where);
        CHECK_EQ(memcmp(there, back, elements * h->element_B), 0, "reading back level %u of %s",
                 level, where);
        free(there);
        free(back);
    }
    CHECK_EQ(
        memcmp(image, want, slots < h->slots ? (uint64_t)slots * h->element_B : layout->size_B), 0,
        "image of %s", where);
    free(image);
    free(want);
}

int main(int argc, char **argv)
{
    gzFile f = argc > 1 ? gzopen(argv[1], "rb") : NULL;
    struct header h;
    unsigned shapes = 0, cut = 0, tiles = 0;

    if (!f) {
        fprintf(stderr, "usage: %s tiling.bin.gz\n", argv[0]);
        return 2;
    }
    while (gzread(f, &h, sizeof h) == (int)sizeof h) {
        uint32_t *slot = malloc((size_t)h.slots * 4);
        bool layered = h.flags & (LAYERED | CUBEMAP);
        struct dm_layout_desc desc = {.kind = DM_LAYOUT_BLOCK_LINEAR,
                                      .element_B = h.element_B,
                                      .width_px = h.width,
                                      .height_px = h.height,
                                      .depth = layered ? 0 : h.depth,
                                      .layers = layered ? h.depth : 0,
                                      .cube = h.flags & CUBEMAP,
                                      .levels = h.levels};
        struct dm_layout layout;
        char where[96];
        uint32_t slots;
        int got_B;

        snprintf(where, sizeof where, "%ux%ux%u, %u B, %u levels, flags 0x%x", h.width, h.height,
                 h.depth, h.element_B, h.levels, h.flags);
        CHECK_EQ(h.magic, MAGIC, "%s", where);
        if (h.magic != MAGIC || !slot) {
            free(slot);
            break;
        }
        got_B = gzread(f, slot, h.slots * 4);
        slots = got_B > 0 ? (uint32_t)got_B / 4 : 0;
        cut += slots < h.slots;
        CHECK_EQ(dm_layout_init(&layout, &desc) == 0, true, "%s", where);
        // The slots end at the last element found; all are inside the layout.
        CHECK_EQ((uint64_t)h.slots * h.element_B <= layout.total_B, true, "%s", where);
        check_locate(&h, &layout, slot, slots, where);
        check_copies(&h, &layout, slot, slots, where);
        if (slots == h.slots)
            tiles += check_tiles(&h, &layout, slot, where);
        free(slot);
        shapes++;
    }
    gzclose(f);
    printf("%u shapes, %u tiles\n", shapes, tiles);
    CHECK_EQ(shapes, 40, "shapes in the dump");
    CHECK_EQ(cut, 1, "shapes cut short");
    CHECK_EQ(tiles > 0, true, "tiles in the dump");
    return check_result("tiling");
}
