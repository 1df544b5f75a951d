// SPDX-License-Identifier: MIT
// Properties of layouts and boxes of any shape: no two elements share a byte, all are inside, and
// copies touch only the box.
#include "box.h"
#include "check.h"
#include "format.h"
#include "layout.h"
#include "random.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 400, CANARY_B = 4096 };

static void check_injective(const struct dm_layout *l, const char *where)
{
    uint8_t *taken = calloc(1, l->total_B);
    uint64_t outside = 0, twice = 0, differs = 0;

    for (uint32_t level = 0; level < l->levels; level++) {
        const struct dm_layout_level *v = &l->level[level];

        for (uint64_t z = 0; z < dm_layout_depth(l, level); z++)
            for (uint64_t y = 0; y < v->height_el; y++)
                for (uint64_t x = 0; x < v->width_el; x++) {
                    uint64_t at_B = dm_layout_locate(l, level, x, y, z), last = l->element_B - 1;

                    if (at_B >= l->total_B || at_B + last >= l->total_B) {
                        outside++;
                        continue;
                    }
                    differs +=
                        dm_layout_locate_B(l, level, x * l->element_B + last, y, z) != at_B + last;
                    twice += taken[at_B]++ != 0;
                    if (last)
                        twice += taken[at_B + last]++ != 0;
                }
        CHECK_EQ(dm_layout_locate(l, level, v->width_el, 0, 0), DM_LAYOUT_NOWHERE, "%s", where);
        CHECK_EQ(dm_layout_locate(l, level, 0, v->height_el, 0), DM_LAYOUT_NOWHERE, "%s", where);
        CHECK_EQ(dm_layout_locate(l, level, 0, 0, dm_layout_depth(l, level)), DM_LAYOUT_NOWHERE,
                 "%s", where);
    }
    CHECK_EQ(dm_layout_locate(l, l->levels, 0, 0, 0), DM_LAYOUT_NOWHERE, "%s", where);
    CHECK_EQ(dm_layout_locate(l, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX), DM_LAYOUT_NOWHERE, "%s",
             where);
    CHECK_EQ(outside, 0, "elements outside: %s", where);
    CHECK_EQ(twice, 0, "bytes taken twice: %s", where);
    CHECK_EQ(differs, 0, "element not in one piece: %s", where);
    // SwiftShader does not round up the slices of block-compressed images.
    bool rounded = l->kind != DM_LAYOUT_SWIFTSHADER || l->block_px == 1;
    CHECK_EQ(l->size_B >= l->total_B && (!rounded || l->size_B % l->alignment_B == 0), true,
             "size: %s", where);
    free(taken);
}

// A surface with its own memory, guarded by canaries on both sides, and a copy that the model
// writes to.
struct field {
    struct dm_layout layout;
    struct dm_surface surface;
    struct dm_box_extent extent; // of the level, in bytes, rows, slices
    uint64_t size_B;             // including both canaries
    uint8_t *memory, *model;
};

static void field_init(struct field *f, const struct dm_layout *layout)
{
    f->surface = (struct dm_surface){0};
    if (layout) {
        f->layout = *layout;
        f->surface.layout = &f->layout;
        f->surface.level = random_below(layout->levels);
        f->extent.width_B = (uint64_t)layout->level[f->surface.level].width_el * layout->element_B;
        f->extent.height = layout->level[f->surface.level].height_el;
        f->extent.depth = dm_layout_depth(layout, f->surface.level);
        f->size_B = layout->size_B;
    } else {
        f->extent =
            (struct dm_box_extent){random_extent(600), random_extent(60), random_extent(12)};
        f->surface.pitch_B = f->extent.width_B + random_below(70);
        f->surface.slice_B = f->surface.pitch_B * f->extent.height + random_below(100);
        f->size_B = f->surface.slice_B * f->extent.depth;
    }
    f->size_B += 2 * CANARY_B;
    f->memory = malloc(f->size_B);
    f->model = malloc(f->size_B);
    f->surface.base = f->memory + CANARY_B;
    for (uint64_t i = 0; i < f->size_B; i++)
        f->memory[i] = (uint8_t)(random_state >> (i % 57)) + (uint8_t)(i * 31);
    random_below(2);
    memcpy(f->model, f->memory, f->size_B);
}

static void field_finish(struct field *f)
{
    free(f->memory);
    free(f->model);
}

static uint64_t locate(const struct field *f, uint64_t x_B, uint64_t y, uint64_t z)
{
    uint64_t at_B = f->surface.layout
                        ? dm_layout_locate_B(f->surface.layout, f->surface.level, x_B, y, z)
                        : z * f->surface.slice_B + y * f->surface.pitch_B + x_B;

    return CANARY_B + at_B;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct dm_position random_position(const struct field *f, struct dm_box_extent e)
{
    return (struct dm_position){random_below(f->extent.width_B - e.width_B + 1),
                                random_below(f->extent.height - e.height + 1),
                                random_below(f->extent.depth - e.depth + 1)};
}

// Boxes in one field may overlap: the result should be that of a copy through a buffer.
static void check_copy(struct field *d, struct field *s, const char *where)
{
    struct dm_box_extent e = {random_extent(smaller(d->extent.width_B, s->extent.width_B)),
                              random_extent(smaller(d->extent.height, s->extent.height)),
                              random_extent(smaller(d->extent.depth, s->extent.depth))};
    struct dm_position to, from;

    if (!random_below(4)) // whole levels, if they fit
        e = (struct dm_box_extent){smaller(d->extent.width_B, s->extent.width_B),
                                   smaller(d->extent.height, s->extent.height),
                                   smaller(d->extent.depth, s->extent.depth)};
    to = random_position(d, e);
    from = random_position(s, e);
    for (uint64_t z = 0; z < e.depth; z++)
        for (uint64_t y = 0; y < e.height; y++)
            for (uint64_t x = 0; x < e.width_B; x++)
                d->model[locate(d, to.x_B + x, to.y + y, to.z + z)] =
                    s->memory[locate(s, from.x_B + x, from.y + y, from.z + z)];
    CHECK_EQ(dm_box_copy(&d->surface, to, &s->surface, from, e), 0, "%s", where);
    CHECK_EQ(memcmp(d->memory, d->model, d->size_B), 0, "destination, %s", where);
    CHECK_EQ(memcmp(s->memory, s->model, s->size_B), 0, "source, %s", where);
}

static void check_fill(struct field *f, const char *where)
{
    unsigned value_B = 1u << random_below(5);
    uint8_t value[16];
    struct dm_box_extent e = {random_extent(f->extent.width_B), random_extent(f->extent.height),
                              random_extent(f->extent.depth)};
    struct dm_position at;

    for (unsigned i = 0; i < sizeof value; i++)
        value[i] = (uint8_t)random_below(256);
    e.width_B -= e.width_B % value_B;
    at = random_position(f, e);
    for (uint64_t z = 0; z < e.depth; z++)
        for (uint64_t y = 0; y < e.height; y++)
            for (uint64_t x = 0; x < e.width_B; x++)
                f->model[locate(f, at.x_B + x, at.y + y, at.z + z)] = value[x % value_B];
    CHECK_EQ(dm_box_fill(&f->surface, at, e, value, value_B), 0, "fill %u B, %s", value_B, where);
    CHECK_EQ(memcmp(f->memory, f->model, f->size_B), 0, "fill %u B, %s", value_B, where);
}

static void check_refusals(struct field *f, struct field *other, const char *where)
{
    struct dm_box_extent e = {1, 1, 1};
    struct dm_position zero = {0}, beyond[] = {{f->extent.width_B, 0, 0}, {0, f->extent.height, 0},
                                               {0, 0, f->extent.depth},   {UINT64_MAX, 0, 0},
                                               {0, UINT64_MAX, 0},        {0, 0, UINT64_MAX}};

    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(dm_box_copy(&f->surface, beyond[i], &other->surface, zero, e) == -EINVAL, true,
                 "%u, %s", i, where);
        CHECK_EQ(dm_box_copy(&other->surface, zero, &f->surface, beyond[i], e) == -EINVAL, true,
                 "%u, %s", i, where);
        CHECK_EQ(dm_box_fill(&f->surface, beyond[i], e, "", 1) == -EINVAL, true, "%u, %s", i,
                 where);
    }
    e.width_B = f->extent.width_B + 1;
    CHECK_EQ(dm_box_check(&f->surface, zero, e) == -EINVAL, true, "%s", where);
    e = (struct dm_box_extent){3, 1, 1};
    CHECK_EQ(dm_box_fill(&f->surface, zero, e, "\0", 2) == -EINVAL, true, "%s", where);
    e.width_B = 0;
    CHECK_EQ(dm_box_copy(&f->surface, zero, &other->surface, zero, e), 0, "%s", where);
    CHECK_EQ(memcmp(f->memory, f->model, f->size_B), 0, "%s", where);
}

// Copies inside one linear memory with overlapping boxes should equal copies through a buffer.
static void check_overlap(void)
{
    enum { PITCH_B = 40, ROWS = 30 };
    uint8_t memory[PITCH_B * ROWS], before[sizeof memory], want[sizeof memory];
    struct dm_surface s = {.base = memory, .pitch_B = PITCH_B, .slice_B = sizeof memory};

    for (unsigned round = 0; round < 200; round++) {
        struct dm_box_extent e = {1 + random_below(PITCH_B), 1 + random_below(ROWS), 1};
        struct dm_position from = {random_below(PITCH_B - e.width_B + 1),
                                   random_below(ROWS - e.height + 1), 0};
        struct dm_position to = {random_below(PITCH_B - e.width_B + 1),
                                 random_below(ROWS - e.height + 1), 0};

        for (unsigned i = 0; i < sizeof memory; i++)
            before[i] = memory[i] = want[i] = (uint8_t)random_below(256);
        for (uint64_t y = 0; y < e.height; y++)
            memcpy(want + (to.y + y) * PITCH_B + to.x_B, before + (from.y + y) * PITCH_B + from.x_B,
                   e.width_B);
        CHECK_EQ(dm_box_copy(&s, to, &s, from, e), 0, "overlap");
        CHECK_EQ(memcmp(memory, want, sizeof memory), 0, "overlap, round %u", round);
    }
}

static void check_absurd(void)
{
    static const struct dm_layout_desc absurd[] = {
        {.element_B = 4, .levels = 1},
        {.element_B = 0, .levels = 1, .width_px = 4},
        {.element_B = 4, .levels = 0, .width_px = 4},
        {.element_B = 4, .levels = 4, .width_px = 4},
        {.element_B = 4, .levels = UINT32_MAX, .width_px = 4},
        {.element_B = 4, .levels = 1, .width_px = UINT64_MAX},
        {.element_B = 4, .levels = 1, .width_px = 4, .height_px = UINT64_MAX},
        {.element_B = 4, .levels = 1, .width_px = 4, .height_px = 4, .depth = UINT64_MAX},
        {.element_B = 4, .levels = 1, .width_px = 4, .height_px = 4, .layers = UINT64_MAX},
        {.element_B = 4, .levels = 1, .width_px = 4, .height_px = 4, .depth = 2, .layers = 2},
        {.element_B = 4, .levels = 1, .width_px = 4, .depth = 2},
        {.element_B = UINT32_MAX, .levels = 1, .width_px = 4},
        {.element_B = 4, .levels = 1, .width_px = 4, .block_px = UINT32_MAX},
        {.element_B = 16, .levels = 1, .width_px = 1 << 24, .height_px = 1 << 24, .depth = 1 << 24},
        {.element_B = 16,
         .levels = 1,
         .width_px = 1 << 24,
         .height_px = 1 << 24,
         .layers = 1 << 24},
        {.kind = (enum dm_layout_kind)77, .element_B = 4, .levels = 1, .width_px = 4},
        {.kind = DM_LAYOUT_PITCH,
         .element_B = 4,
         .levels = 1,
         .width_px = 4,
         .height_px = 4,
         .pitch_B = 15},
        {.kind = DM_LAYOUT_PITCH,
         .element_B = 4,
         .levels = 1,
         .width_px = 4,
         .height_px = 4,
         .pitch_B = UINT64_MAX},
        {.kind = DM_LAYOUT_PITCH, .element_B = 4, .levels = 2, .width_px = 4, .height_px = 4},
    };

    for (unsigned i = 0; i < sizeof absurd / sizeof *absurd; i++)
        for (unsigned kind = 0; kind < 4; kind++) {
            struct dm_layout_desc d = absurd[i];
            struct dm_layout layout = {.levels = 4711};

            if (!d.kind)
                d.kind = (enum dm_layout_kind)kind;
            CHECK_EQ(dm_layout_init(&layout, &d) == -EINVAL, true, "absurd description %u", i);
            CHECK_EQ(layout.levels, 4711, "absurd description %u changed the layout", i);
        }
}

static void check_formats(void)
{
    unsigned count;
    const struct dm_format_info *all = dm_format_all(&count);

    for (unsigned i = 0; i < count; i++) {
        struct dm_format_plane plane;
        unsigned planes = dm_format_planes(&all[i]);

        CHECK_EQ(i == 0 || all[i - 1].format < all[i].format, true, "order of %s", all[i].name);
        CHECK_EQ(dm_format_info(all[i].format) == &all[i], true, "%s", all[i].name);
        CHECK_EQ(dm_format_by_name(all[i].name) == &all[i], true, "%s", all[i].name);
        CHECK_EQ(dm_format_element_B(&all[i], 0), 0, "%s", all[i].name);
        CHECK_EQ(dm_format_element_B(&all[i], UINT32_MAX), 0, "%s", all[i].name);
        CHECK_EQ(dm_format_plane(&all[i], planes, &plane) == -EINVAL, true, "%s", all[i].name);
        CHECK_EQ(dm_format_plane(&all[i], UINT32_MAX, &plane) == -EINVAL, true, "%s", all[i].name);
        for (unsigned p = 0; p < planes; p++)
            CHECK_EQ(dm_format_plane(&all[i], p, &plane) == (planes > 1 ? 0 : -EINVAL), true, "%s",
                     all[i].name);
    }
    CHECK_EQ(dm_format_info(0) == NULL && dm_format_info(UINT32_MAX) == NULL &&
                 dm_format_info(0x90) == NULL,
             true, "no format");
    CHECK_EQ(dm_format_by_name("") == NULL, true, "no format");
}

int main(void)
{
    check_formats();
    check_absurd();
    check_overlap();
    for (unsigned i = 0; i < SHAPES; i++) {
        struct dm_layout_desc d1 = random_desc(), d2 = random_desc();
        struct dm_layout l1, l2;
        struct field a, b, linear;
        char where[256], other[120];

        describe(where, sizeof where, &d1);
        describe(other, sizeof other, &d2);
        CHECK_EQ(dm_layout_init(&l1, &d1) == 0, true, "%s", where);
        CHECK_EQ(dm_layout_init(&l2, &d2) == 0, true, "%s", other);
        check_injective(&l1, where);
        snprintf(where + strlen(where), sizeof where - strlen(where), " with %s", other);
        field_init(&a, &l1);
        field_init(&b, &l2);
        field_init(&linear, NULL);
        check_copy(&a, &linear, where);
        check_copy(&linear, &a, where);
        check_copy(&a, &b, where);
        check_copy(&b, &linear, where);
        check_fill(&a, where);
        check_fill(&linear, where);
        check_copy(&a, &a, where);
        check_copy(&linear, &linear, where);
        check_refusals(&a, &b, where);
        field_finish(&a);
        field_finish(&b);
        field_finish(&linear);
    }
    return check_result("layout properties");
}
