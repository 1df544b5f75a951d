// SPDX-License-Identifier: MIT
// Prints layouts of arrays as the page of `cardless trace --html` gets them, and what device-model
// says about each of their elements, so that a test can compare the page's own arithmetic.
#include "trace_html_layout.h"

#include "../layout/random.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a over the offsets of all elements, as 32-bit words; the page computes the same.
static uint32_t hash_places(const struct dm_layout *l)
{
    uint32_t hash = 2166136261u;

    for (uint32_t level = 0; level < l->levels; level++)
        for (uint64_t z = 0; z < dm_layout_depth(l, level); z++)
            for (uint64_t y = 0; y < l->level[level].height_el; y++)
                for (uint64_t x = 0; x < l->level[level].width_el; x++)
                    hash = (hash ^ (uint32_t)dm_layout_locate(l, level, x, y, z)) * 16777619u;
    return hash;
}

static int print_layout(const struct dm_layout_desc *desc, bool with_hash)
{
    struct dm_layout layout;

    if (dm_layout_init(&layout, desc))
        return 1;
    if (with_hash)
        printf("{\"hash\":%u,\"layout\":", hash_places(&layout));
    trace_html_layout(stdout, &layout);
    if (with_hash)
        putchar('}');
    return 0;
}

// The arrays of the synthetic trace, in its order.
static const struct dm_layout_desc demo[] = {
    {.element_B = 4, .width_px = 100, .height_px = 60, .layers = 3, .levels = 5},
    {.element_B = 4, .width_px = 64, .height_px = 64, .levels = 1},
    {.element_B = 8, .width_px = 32, .height_px = 24, .depth = 12, .levels = 2},
    {.kind = DM_LAYOUT_PITCH,
     .element_B = 1,
     .width_px = 200,
     .height_px = 40,
     .pitch_B = 256,
     .levels = 1},
    {.element_B = 16, .block_px = 4, .width_px = 256, .height_px = 128, .levels = 4},
};

// layouts demo: the arrays of the synthetic trace. layouts COUNT: random ones with their hashes.
int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0, failed = 0;

    printf("[");
    if (argc > 1 && !strcmp(argv[1], "demo"))
        for (unsigned i = 0; i < sizeof demo / sizeof *demo; i++) {
            fputs(i ? ",\n" : "", stdout);
            failed += print_layout(&demo[i], false);
        }
    for (int i = 0; i < count; i++) {
        struct dm_layout_desc desc = random_desc();

        fputs(i ? ",\n" : "", stdout);
        failed += print_layout(&desc, true);
    }
    printf("]\n");
    return failed != 0;
}
