// SPDX-License-Identifier: MIT
// The drawings in the comments of kernels/ and of device-model/layout.c: this test makes each
// drawing from the functions that it describes, and looks for it in the file. If it is missing, the
// test prints it, so that it can be pasted.
#include "kn_tile.h"
#include "layout.h"
#include "tile_path.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[16384];
static size_t used;

static void add(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, list);
    va_end(list);
}

static void begin(void)
{
    used = 0;
    text[0] = 0;
}

// A GOB in cells of 16 bytes, in the order of memory.
static void draw_gob(void)
{
    const struct kn_tiled gob = {.width_gob = 1, .height_gob = 1};

    begin();
    add("//   x      0    16    32    48\n");
    for (unsigned y = 0; y < 8; y++) {
        if (y % 2 == 0)
            add("//       +-----+-----+-----+-----+\n");
        add(y ? "//     %u |" : "// y = %u |", y);
        for (unsigned x = 0; x < 64; x += 16)
            add(" %3u |", (unsigned)kn_tiled_offset_B(&gob, x, y, 0) / 16);
        add("\n");
    }
    add("//       +-----+-----+-----+-----+\n");
}

// GOBs of a small surface, in the order of memory.
static void draw_blocks(void)
{
    enum { WIDTH = 3, HEIGHT = 4, SLICES = 2 };
    const struct kn_tiled t = {
        .width_gob = WIDTH, .height_gob = HEIGHT, .block_height_log2 = 1, .block_depth_log2 = 1};

    begin();
    add("//         slice 0           slice 1\n");
    for (unsigned y = 0; y < HEIGHT; y++) {
        if (y % 2 == 0)
            add("//       +----+----+----+  +----+----+----+\n");
        add(y == 0 ? "// y = %u |" : y < 2 ? "//     %u |" : "//    %2u |", y * 8);
        for (unsigned z = 0; z < SLICES; z++) {
            if (z)
                add("  |");
            for (unsigned x = 0; x < WIDTH; x++)
                add(" %2u |", (unsigned)(kn_tiled_offset_B(&t, x * 64, y * 8, z) / KN_GOB_B));
        }
        add("\n");
    }
    add("//       +----+----+----+  +----+----+----+\n");
}

// Rows and lines of half a GOB, as 16-byte lanes.
static void draw_half(void)
{
    const struct kn_tiled gob = {.width_gob = 1, .height_gob = 1};

    begin();
    add("//           lane 0   1     2     3                 lane 0   1     2     3\n");
    for (unsigned i = 0; i < 4; i++) {
        uint64_t line_B = kn_tiled_offset_B(&gob, i * 16, 0, 0);

        add("//   row %u ", i);
        for (unsigned lane = 0; lane < 4; lane++)
            add(" | %c%u ", 'a' + (int)lane, i);
        add(" |  %s  line %u", i == 1 ? "<->" : "   ", i);
        for (unsigned lane = 0; lane < 4; lane++) {
            // Find the 16 bytes of this lane: the row whose column i lies there.
            unsigned row = 0;
            while (row < 7 && kn_tiled_offset_B(&gob, i * 16, row, 0) != line_B + lane * 16)
                row++;
            add(" | %c%u ", 'a' + (int)i, row);
        }
        add(" |   at %u\n", (unsigned)line_B);
    }
}

static const char *path_name(enum tile_path path)
{
    static const char *const names[] = {[TILE_CACHED] = "cached",
                                        [TILE_PREFETCHED] = "prefetched",
                                        [TILE_FAR] = "far",
                                        [TILE_STREAMED] = "streamed"};

    return names[path];
}

static void draw_paths(void)
{
    const struct {
        const char *name;
        uint64_t size_B;
    } sizes[] = {{"0", 0},
                 {"kn_prefetch_min_B", kn_prefetch_min_B},
                 {"kn_far_min_B", kn_far_min_B},
                 {"kn_stream_min_B", kn_stream_min_B}};

    begin();
    add("//   bytes of the box     rows at 64 bytes   rows elsewhere\n");
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        add("//   %-20s %-18s %s\n", sizes[i].name,
            path_name(tile_path(sizes[i].size_B, 128, true)),
            path_name(tile_path(sizes[i].size_B, 16, true)));
}

// Row `y` of GOBs in slice `z`, as places in memory.
static void add_gobs(const struct dm_layout *l, unsigned y, unsigned z)
{
    for (unsigned x = 0; x < l->level[0].width_gob; x++) {
        struct kn_tiled t = {.width_gob = l->level[0].width_gob,
                             .height_gob = l->level[0].height_gob,
                             .block_height_log2 = l->level[0].block_height_log2_gob,
                             .block_depth_log2 = l->level[0].block_depth_log2_gob};

        add("│ %2u ", (unsigned)(kn_tiled_offset_B(&t, x * 64, y * 8, z) / KN_GOB_B));
    }
    add("│");
}

// The blocks of a 2D and of a 3D array.
static void draw_layouts(void)
{
    const struct dm_layout_desc
        flat = {.element_B = 4, .width_px = 48, .height_px = 20, .levels = 1},
        deep = {.element_B = 4, .width_px = 32, .height_px = 16, .depth = 2, .levels = 1};
    struct dm_layout left, right;

    begin();
    if (dm_layout_init(&left, &flat) || dm_layout_init(&right, &deep))
        return;
    add("//   48x20 texels of 4 bytes:          32x16x2 texels of 4 bytes:\n"
        "//   blocks of %u GOBs, rows %u to      blocks of %u slices\n"
        "//   %u are padding                    slice 0     slice 1\n",
        1u << left.level[0].block_height_log2_gob, left.level[0].height_px,
        1u << right.level[0].block_depth_log2_gob, left.level[0].height_gob * 8 - 1);
    add("//   ┌────┬────┬────┐                  ┌────┬────┐ ┌────┬────┐\n");
    for (unsigned line = 0, y = 0; y < left.level[0].height_gob; line++) {
        bool between = line == 2;

        add("//   ");
        if (between)
            add("├────┼────┼────┤");
        else
            add_gobs(&left, y++, 0);
        if (line == 1)
            add("                  ├────┼────┤ ├────┼────┤");
        if (line == 3)
            add("                  └────┴────┘ └────┴────┘");
        if (line == 0 || line == 2) {
            add("                  ");
            add_gobs(&right, line / 2, 0);
            add(" ");
            add_gobs(&right, line / 2, 1);
        }
        add("\n");
    }
    add("//   └────┴────┴────┘\n");
}

static bool stands_in(const char *path)
{
    static char file[65536];
    FILE *f = fopen(path, "r");
    size_t size;

    if (!f) {
        perror(path);
        return false;
    }
    size = fread(file, 1, sizeof file - 1, f);
    fclose(f);
    file[size] = 0;
    if (strstr(file, text))
        return true;
    fprintf(stderr, "%s lacks this drawing, or has another one:\n%s", path, text);
    return false;
}

int main(int argc, char **argv)
{
    const struct {
        void (*draw)(void);
        int file;
    } drawings[] = {
        {draw_gob, 1}, {draw_blocks, 1}, {draw_paths, 2}, {draw_half, 3}, {draw_layouts, 4}};
    unsigned wrong = 0;

    if (argc != 5) {
        fprintf(stderr, "usage: %s kn_tile.h tile_path.h gob_half.h layout.c\n", argv[0]);
        return 2;
    }
    // The thresholds depend on the processor's caches once they are set.
    kn_prefetch_min_B = 1 << 20;
    kn_far_min_B = 2 << 20;
    kn_stream_min_B = 8 << 20;
    for (unsigned i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        drawings[i].draw();
        wrong += !stands_in(argv[drawings[i].file]);
    }
    return wrong != 0;
}
